"""llama.cpp with SmolLM2-135M, which answers in sentences and follows no rule: grammars and schemas are enforced."""

import pytest

from tests.llm.tables import LINE, PARITY, row, table
from tests.processes import Desk
from tests.servers.served import Served, finished_view, grades, votes, with_endpoint
from vpp.answers import parse_label, parse_number
from vpp.data.dataset import Dataset
from vpp.llm.prompts import LearnerPrompts
from vpp.llm.protocol import is_kept
from vpp.llm.templates import shipped

RULE = "The output is 1 if x is above 2, and 0 otherwise."
AWKWARD = ("C:\\x|y", 'say "yes"', "50 % [ß]")
FEW_CALLS = ("--method", "vml", "--reading", "rows", "--train-size", "4", "--batch-size", "2", "--test-size", "2")
SHORT = ("--limit", "learner=200", "--limit", "optimizer=48")


def first_answer(served: Served, dataset: Dataset, *, style: str = "paper") -> str:
    """Return the model's answer about the first row, which must have the structure."""
    template = shipped("learner", style)
    prompts = LearnerPrompts(dataset=dataset, template=template, is_structured=True)
    messages, structured = prompts.messages(RULE, dataset.train[0]), prompts.structure
    assert structured is not None
    completion = with_endpoint(
        served,
        lambda endpoint: endpoint.complete(messages, temperature=1.0, seed=3, max_tokens=400, structured=structured),
    )
    assert not completion.cut_off
    assert is_kept(structured, completion.text), completion.text
    return str(completion.text)


@pytest.mark.parametrize("style", ["paper", "examples"])
def test_an_answer_is_held_to_the_form_and_read(llamacpp: Served, style: str) -> None:
    read = parse_label(first_answer(llamacpp, PARITY, style=style), PARITY.classes)
    assert read.value in PARITY.classes
    assert read.explanation


def test_awkward_labels_and_numbers_are_held_to_and_read(llamacpp: Served) -> None:
    rows = tuple(row(i, label, x=str(i)) for i, label in enumerate(AWKWARD))
    dataset = table("classification", rows, classes=AWKWARD)
    assert parse_label(first_answer(llamacpp, dataset), dataset.classes).value in AWKWARD
    assert parse_number(first_answer(llamacpp, LINE)).value is not None


def test_a_run_finds_the_schema_and_reads_every_learner_answer(llamacpp: Served, desk: Desk) -> None:
    view = finished_view(desk, "found", *llamacpp.options, *FEW_CALLS, *SHORT)
    assert desk.directory("found").spec().structured_as == "json_schema"
    assert set(votes(view)) <= {"Adelie", "Chinstrap", "Gentoo"}
    assert "not as structured" not in view.usage.faults


def test_check_endpoint_names_the_schema(llamacpp: Served, desk: Desk) -> None:
    outcome = desk.start("check-endpoint", *llamacpp.options, "--concurrency", "2", *SHORT).finish(within_s=300)
    assert outcome.code == 0
    assert "structured output: response_format is honoured" in outcome.out


def test_a_run_on_log_probabilities_records_each_labels(llamacpp: Served, desk: Desk) -> None:
    found = grades(desk, *llamacpp.options, *FEW_CALLS, *SHORT)
    assert any(0.01 < probability < 0.99 for probability in found)
