"""Answers as models give them, each with its reading or the reason why it has none."""

import json
from pathlib import Path
from typing import Any

from vpp.llm.answers import Parsed, parse_label, parse_number

COLLECTED = [json.loads(line) for line in Path(__file__).with_name("answers.jsonl").read_text("utf-8").splitlines()]


def read(case: dict[str, Any]) -> Parsed[Any]:
    if "labels" in case:
        return parse_label(case["answer"], tuple(case["labels"]))
    return parse_number(case["answer"], unit=case.get("unit", ""))


def test_awkward_answers_are_read_or_refused_with_their_reasons() -> None:
    wrong = []
    for case in COLLECTED:
        parsed, reason = read(case), case.get("reason")
        is_refused = parsed.reason is not None and reason is not None and reason in parsed.reason
        is_read = parsed.reason is None and reason is None
        if (parsed.value, parsed.inferred) != (case.get("value"), case.get("inferred", False)) or not (
            is_read or is_refused
        ):
            wrong.append((case, parsed))
    assert wrong == []


def test_enough_answers_are_collected() -> None:
    assert len({case["answer"] for case in COLLECTED}) >= 150
