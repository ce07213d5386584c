"""Answers that a server holds to a schema: what is sent, what is kept, and how it is read."""

import json

import pytest

from vpp.data.answers import one_line
from vpp.data.dataset import Dataset
from vpp.llm.answers import parse_label, parse_number
from vpp.llm.learner import LearnerOptions, LlmLearner
from vpp.llm.limits import Counters
from vpp.llm.prompts import LearnerPrompts
from vpp.llm.protocol import Structure, is_kept, request_options
from vpp.llm.templates import shipped

from .stub import chat, endpoint_of, script
from .tables import LINE, PARITY, row, table

KEPT = r'{"explanation": "\"8\" is even", "output": "1"}'
BROKEN = (
    "no JSON",
    KEPT.replace('"1"', '"2"'),
    KEPT.replace('"1"', "1"),
    KEPT.replace("\\", ""),
    '{"explanation": "", "output": "1"}',
    '{"explanation": "even", "output": "1", "more": 1}',
    '["even", "1"]',
)


def structure(dataset: Dataset) -> Structure:
    held = LearnerPrompts(dataset=dataset, template=shipped("learner"), is_structured=True).structure
    assert held
    return held


def test_a_schema_is_sent_with_the_explanation_first_and_every_label() -> None:
    sent = request_options(structure(PARITY))["response_format"]["json_schema"]
    assert sent["strict"]
    assert sent["schema"]["required"] == list(sent["schema"]["properties"]) == ["explanation", "output"]
    assert sent["schema"]["properties"]["output"]["enum"] == ["0", "1"]
    assert sent["schema"]["additionalProperties"] is False
    assert request_options(None) == {}


def test_an_answer_that_breaks_the_schema_is_noticed() -> None:
    assert is_kept(structure(PARITY), KEPT)
    assert parse_label(KEPT, PARITY.classes).explanation == '"8" is even'
    assert [said for said in BROKEN if is_kept(structure(PARITY), said)] == []


@pytest.mark.parametrize("number", ["0", "-3.25", "1.5e-7", "1e300", "7"])
def test_a_number_held_to_a_schema_is_read(number: str) -> None:
    said = f'{{\n  "explanation": "it is even",\n  "output": {number}\n}}'
    assert is_kept(structure(LINE), said)
    assert parse_number(said).value == float(number)
    assert not is_kept(structure(LINE), said.replace(number, "NaN"))


@pytest.mark.parametrize("label", ["a.b", "50% (or more)", "C:\\x|y", "weiß", '"[x]"', "two\nlines"])
def test_a_label_of_any_text_is_held_to_and_read(label: str) -> None:
    dataset = table("classification", (row(0, label, x="1"),), classes=("other", label))
    said = json.dumps({"explanation": "x", "output": one_line(label)})
    assert is_kept(structure(dataset), said)
    assert parse_label(said, dataset.classes).value == label


async def test_a_server_that_ignores_the_structure_is_read_all_the_same() -> None:
    prompts = LearnerPrompts(dataset=PARITY, template=shipped("learner", "paper"), is_structured=True)
    async with endpoint_of(script(chat("It is even.\nOutput: 1"))) as (endpoint, stub):
        learner = LlmLearner(endpoint, prompts, LearnerOptions(seed=0, max_tokens=9), counters=Counters())
        assert [each.value for each in await learner.predict("a rule", PARITY.train)] == ["1", "1", "1"]
        assert [body["response_format"] for body in stub.bodies] == [*request_options(prompts.structure).values()] * 3
