"""Holds the parsers to answers of real models, each judged by a reader: `real_answers.jsonl`, one JSON object a line.

role        learner or optimizer
model       the model's name
templates   the prompt templates of the question
table       the table of the question; "made-up" ones are those of tests/models/rules.py
labels      the known labels; null for a number, and for the optimizer
answer      the raw answer
value       the label, the number or the rule that it gives; null if it gives none
asked_again true if a learner's answer gives its value in a sentence alone, so that the model is asked again
unreadable  true if parse_rule must refuse an optimizer's answer
refused     true if parse_rule or the guard must refuse an optimizer's answer; other null values are not tested
passes      true if the guard does not notice it
why         the reason of the judgement, in a few words
"""

import json
from functools import cache
from pathlib import Path
from typing import Any

from tests.models.rules import TABLES as MADE_UP
from tests.models.rules import dataset_of
from vpp.answers import parse_label, parse_number, parse_rule
from vpp.data.dataset import Dataset
from vpp.llm.optimizer import fault_of

from .tables import TABLES

JUDGED: list[dict[str, Any]] = [
    json.loads(line) for line in Path(__file__).with_name("real_answers.jsonl").read_text("utf-8").splitlines()
]
LEARNER = [case for case in JUDGED if case["role"] == "learner"]
OPTIMIZER = [case for case in JUDGED if case["role"] == "optimizer"]
OF_NAMES = {f"made-up {made_up.name}": made_up for made_up in MADE_UP}


def test_learners_answers_are_read_as_judged() -> None:
    judged = [(case, None if case.get("asked_again") else case["value"]) for case in LEARNER]
    wrong = [(case, read) for case, value in judged if (read := read_by(case)) != value]
    assert wrong == []


def read_by(case: dict[str, Any]) -> str | float | None:
    if case["labels"] is None:
        return parse_number(case["answer"]).value
    return parse_label(case["answer"], tuple(case["labels"])).value


def test_optimizers_rules_are_read_as_judged() -> None:
    wrong = []
    for case in OPTIMIZER:
        rule = parse_rule(case["answer"])
        is_judged = case["value"] is not None or bool(case.get("unreadable"))
        if (is_judged and rule.value != case["value"]) or (rule.value is None) == (rule.reason is None):
            wrong.append((case, rule))
    assert wrong == []


@cache
def table_of(name: str) -> Dataset:
    if made_up := OF_NAMES.get(name):
        return dataset_of(made_up, made_up.rules[0])
    return TABLES[name if name in ("loan", "deception") else "graded admission"]


def test_the_guard_refuses_the_texts_that_are_no_rule_for_the_table() -> None:
    wrong = []
    for case in (case for case in OPTIMIZER if case["value"] or case.get("refused")):
        rule = parse_rule(case["answer"]).value
        fault = "unreadable" if rule is None else fault_of(rule, table_of(case["table"]))
        if (fault is not None) != bool(case.get("refused") and not case.get("passes")):
            wrong.append((case, fault))
    assert wrong == []
