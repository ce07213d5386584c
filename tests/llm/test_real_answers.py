"""Holds the parsers to answers of real models, each judged by a reader: `real_answers.jsonl`, one JSON object a line.

role        learner or optimizer
model       the model's name
templates   the prompt templates of the question
table       the table of the question
labels      the known labels; null for a number, and for the optimizer
answer      the raw answer
value       the label, the number or the rule that it gives; null if it gives none
unreadable  true if parse_rule must refuse an optimizer's answer; other null values are left to later checks
why         the reason of the judgement, in a few words
"""

import json
from pathlib import Path
from typing import Any

import pytest

from vpp.llm.answers import parse_label, parse_number
from vpp.llm.rules import parse_rule

JUDGED: list[dict[str, Any]] = [
    json.loads(line) for line in Path(__file__).with_name("real_answers.jsonl").read_text("utf-8").splitlines()
]
LEARNER = [case for case in JUDGED if case["role"] == "learner"]
OPTIMIZER = [case for case in JUDGED if case["role"] == "optimizer"]
FIELDS = {"role", "model", "templates", "table", "labels", "answer", "value", "why"}


def name_of(case: dict[str, Any]) -> str:
    return f"{case['model']}-{case['why']}"


@pytest.mark.parametrize("case", LEARNER, ids=name_of)
def test_a_learners_answer_is_read_as_judged(case: dict[str, Any]) -> None:
    if case["labels"] is None:
        assert parse_number(case["answer"]).value == case["value"]
    else:
        assert parse_label(case["answer"], tuple(case["labels"])).value == case["value"]


@pytest.mark.parametrize("case", OPTIMIZER, ids=name_of)
def test_an_optimizers_rule_is_read_as_judged(case: dict[str, Any]) -> None:
    rule = parse_rule(case["answer"])
    if case["value"] is not None:
        assert rule.value == case["value"]
    elif case.get("unreadable"):
        assert rule.value is None
    assert (rule.value is None) == (rule.reason is not None)


def test_every_judgement_is_complete() -> None:
    assert {case["role"] for case in JUDGED} == {"learner", "optimizer"}
    for case in JUDGED:
        assert FIELDS <= case.keys() <= FIELDS | {"unreadable"}
        assert case["why"]
        assert case["value"] is None or case["labels"] is None or case["value"] in case["labels"]
