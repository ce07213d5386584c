"""llama.cpp with SmolLM2-135M, which answers in sentences and follows no rule: grammars and schemas are enforced."""

import re

import pytest

from tests.llm.tables import LINE, PARITY, row, table
from tests.processes import Desk
from tests.servers.served import Served
from tests.servers.whole import asked, finished, graded, votes
from vpp.data.dataset import Dataset
from vpp.llm.answers import parse_label, parse_number
from vpp.llm.check import honoured, try_carriers
from vpp.llm.forms import Carrier, is_kept
from vpp.llm.prompts import LearnerPrompts
from vpp.llm.templates import shipped

RULE = "The output is 1 if x is above 2, and 0 otherwise."
AWKWARD = ("C:\\x|y", 'say "yes"', "50 % [ß]")
FEW_CALLS = ("--method", "vml", "--train-size", "4", "--batch-size", "2", "--test-size", "2")
SHORT = ("--limit", "learner=200", "--limit", "optimizer=48")
CARRIERS: tuple[Carrier, ...] = ("grammar", "json_schema")


def answered(served: Served, carrier: Carrier, dataset: Dataset, *, style: str = "paper") -> str:
    """Return the model's answer about the first row, which must have the structure."""
    template = shipped("learner", style)
    prompts = LearnerPrompts(dataset=dataset, template=template, carrier=carrier)
    messages, structured = prompts.messages(RULE, dataset.train[0]), prompts.structure
    assert structured is not None
    completion = asked(
        served,
        lambda endpoint: endpoint.complete(messages, temperature=1.0, seed=3, max_tokens=400, structured=structured),
    )
    assert completion.finish_reason == "stop"
    assert is_kept(structured, completion.text), completion.text
    return str(completion.text)


def test_a_grammar_is_honoured_and_vllms_field_is_ignored(llamacpp: Served) -> None:
    found = asked(llamacpp, try_carriers)
    assert [one.outcome for one in found] == ["ignored", "honoured"]
    assert honoured(found) == "grammar"


@pytest.mark.parametrize("carrier", CARRIERS)
@pytest.mark.parametrize("style", ["paper", "examples", "terse", "json"])
def test_an_answer_is_held_to_the_form_and_read(llamacpp: Served, carrier: Carrier, style: str) -> None:
    said = answered(llamacpp, carrier, PARITY, style=style)
    read = parse_label(said, PARITY.classes)
    assert read.value in PARITY.classes
    assert bool(read.explanation) == (style != "terse")


@pytest.mark.parametrize("carrier", CARRIERS)
def test_awkward_labels_are_held_to_and_read(llamacpp: Served, carrier: Carrier) -> None:
    dataset = table(
        "classification", tuple(row(i, label, x=str(i)) for i, label in enumerate(AWKWARD)), classes=AWKWARD
    )
    said = answered(llamacpp, carrier, dataset)
    assert parse_label(said, dataset.classes).value in AWKWARD


@pytest.mark.parametrize("carrier", CARRIERS)
def test_a_number_is_held_to_and_read(llamacpp: Served, carrier: Carrier) -> None:
    assert parse_number(answered(llamacpp, carrier, LINE)).value is not None


def test_an_explanation_cannot_be_empty_or_run_over_its_line(llamacpp: Served) -> None:
    said = answered(llamacpp, "grammar", PARITY)
    assert re.fullmatch(r"Explanation: \S[^\n]*\nOutput: [01]", said)


def test_a_run_finds_the_grammar_and_reads_every_learner_answer(llamacpp: Served, desk: Desk) -> None:
    view = finished(desk, "found", *llamacpp.options, *FEW_CALLS, *SHORT)
    assert desk.directory("found").spec().structured_as == "grammar"
    assert votes(view)
    assert set(votes(view)) <= {"Adelie", "Chinstrap", "Gentoo"}
    assert "not as structured" not in view.usage.faults


def test_check_endpoint_names_the_grammar(llamacpp: Served, desk: Desk) -> None:
    outcome = desk.start("check-endpoint", *llamacpp.options, "--concurrency", "2", *SHORT).finish(within_s=300)
    assert outcome.code == 0
    assert "structured output: honoured through grammar" in outcome.out


def test_a_run_on_log_probabilities_records_each_labels(llamacpp: Served, desk: Desk) -> None:
    found = graded(desk, *llamacpp.options, *FEW_CALLS, *SHORT)
    assert any(0.01 < probability < 0.99 for probability in found)
