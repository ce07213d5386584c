"""Answers as models give them, each with its reading or the reason why it has none."""

import json
from pathlib import Path
from typing import Any

import pytest

from vpp.llm.answers import Parsed, parse_label, parse_number

COLLECTED = [json.loads(line) for line in Path(__file__).with_name("answers.jsonl").read_text("utf-8").splitlines()]


def read(case: dict[str, Any]) -> Parsed[Any]:
    if "labels" in case:
        return parse_label(case["answer"], tuple(case["labels"]))
    return parse_number(case["answer"], unit=case.get("unit", ""))


@pytest.mark.parametrize("case", COLLECTED, ids=lambda case: case["about"])
def test_an_awkward_answer_is_read_or_refused_with_its_reason(case: dict[str, Any]) -> None:
    parsed = read(case)
    assert parsed.value == case.get("value")
    assert case.get("reason", "") in (parsed.reason or "")
    assert (parsed.reason is None) == ("reason" not in case)
    assert parsed.inferred == case.get("inferred", False)


def test_enough_answers_are_collected() -> None:
    assert len({case["answer"] for case in COLLECTED}) >= 150
