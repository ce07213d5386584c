import json
import math
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from vpp.answers import (
    _UNSURE,
    RULE_LIMIT,
    Parsed,
    cut_thinking,
    parse_label,
    parse_number,
    parse_rule,
    shown_label,
    why_unreadable,
)

BITS = ("0", "1")
SPECIES = ("Adelie", "Chinstrap", "Gentoo")
ODD_CLASSES = (
    *("1", "1.0", "yes", "Yes", "Class 1", "a", "a b", "a.", "**a**"),
    *("no", "not", "été", "<=50K", ">50K", '"q"'),
)

FORMS = (
    "Explanation: it says so.\nOutput: {}",
    "Explanation: it says so. Output: {}",
    "**Explanation:** it says so.\n**Output:** {}",
    "**Explanation**: it says so.\n**Output**: **{}**",
    "Explanation: it says so.\n**Output: {}**",
    "## Output: {}",
    "- Output: `{}`",
    "> output = {}",
    "Output:\n\n{}",
    "Output:\n```\n{}\n```",
    "```text\nOutput: {}\n```",
    'Output: "{}"',
    "Output: “{}”",
    "Output: {}.",
    "Output: \\boxed{{{}}}",
    "Output: class {}",
    "Output: label: {}",
    "Final output: {}",
    "<think>Output: wrong</think>\nOutput: {}",
    "it thinks aloud, Output: 3 </think>Output: {}\r\n",
    "Output: nonsense\nOutput: {}\nOutput: one of the labels, nothing else",
    "{}",
    "```\n{}\n```",
)


COLLECTED = [json.loads(line) for line in Path(__file__).with_name("answers.jsonl").read_text("utf-8").splitlines()]


def read(case: dict[str, Any]) -> Parsed[Any]:
    if "labels" in case:
        return parse_label(case["answer"], tuple(case["labels"]))
    return parse_number(case["answer"], unit=case.get("unit", ""))


def test_awkward_answers_are_read_or_refused_with_their_reasons() -> None:
    wrong = []
    for case in COLLECTED:
        parsed, reason = read(case), case.get("reason")
        value = None if case.get("asked_again") else case.get("value")
        is_refused = parsed.reason is not None and (reason is None or reason in parsed.reason)
        if parsed.value != value or is_refused != (value is None):
            wrong.append((case, parsed))
    assert wrong == []


def test_a_label_is_read_in_every_form() -> None:
    for form, label in product(FORMS, SPECIES):
        assert parse_label(form.format(label), SPECIES).value == label, (form, label)


def test_a_number_is_read_in_every_form() -> None:
    for form, number in product(FORMS, ("0", "-3", "7.25", "1e-05", "−2.5", "1,234.5")):
        expected = float(number.replace("−", "-").replace(",", ""))
        assert parse_number(form.format(number)).value == expected, (form, number)


@pytest.mark.parametrize(
    ("written", "expected", "value"),
    [
        ("12.345", (5_000, 20_000), None),
        ("-12.345", (-20_000, -5_000), None),
        ("12.345", (0, 20_000), None),
        ("12.345", (0, 10), 12.345),
        ("12.345", None, 12.345),
        ("12.3450", (5_000, 20_000), 12.345),
        ("0.345", (5_000, 20_000), 0.345),
        ("12,345", (5_000, 20_000), 12_345),
        ("12,345", (0, 20_000), None),
        ("12,345", (0, 10), None),
        ("12,345", None, 12_345),
    ],
)
def test_a_mark_before_three_digits_is_read_only_if_the_targets_tell_which_it_is(
    written: str, expected: tuple[float, float] | None, value: float | None
) -> None:
    for form in FORMS:
        assert parse_number(form.format(written), expected=expected).value == value, form


def test_the_explanation_is_the_text_before_the_output_or_its_field_in_json() -> None:
    assert parse_label("Explanation: the sum\nis even.\nOutput: 1", BITS).explanation == "the sum is even."
    assert parse_label("The sum is even.\nOutput: 1", BITS).explanation == "The sum is even."
    assert parse_label('{"explanation": "the sum is even", "output": 1}', BITS).explanation == "the sum is even"


labels = st.text(max_size=30) | st.sampled_from(
    [*ODD_CLASSES, "</think>", "a\nb", "a\\nb", "x" * 2100, "**", "``", "{a}"]
)
class_lists = st.lists(labels, min_size=1, max_size=6, unique=True).map(tuple)
AS_ASKED = ("Explanation: x\nOutput: {}", "Explanation: x. Output: {}", "**Output:** {}", "Explanation: x\nOutput:\n{}")


@given(class_lists, st.sampled_from(AS_ASKED), st.booleans(), st.data())
def test_distinguishable_labels_are_read_back_as_shown_and_from_json(
    classes: tuple[str, ...], form: str, is_ascii: bool, data: st.DataObject
) -> None:
    assume(why_unreadable(classes) is None)
    label = data.draw(st.sampled_from(classes))
    assume(not (form.endswith("\n{}") and _UNSURE.fullmatch(shown_label(label))))
    assert parse_label(form.replace("{}", shown_label(label)), classes).value == label
    text = json.dumps({"explanation": "x", "output": shown_label(label)}, ensure_ascii=is_ascii)
    assert parse_label(text, classes).value == label


@given(st.floats(allow_nan=False, allow_infinity=False), st.sampled_from(FORMS))
def test_any_number_is_read_back(number: float, form: str) -> None:
    assert parse_number(form.format(repr(number))).value == number


@given(st.integers(-(10**12), 10**12))
def test_thousands_are_read_back(number: int) -> None:
    assert parse_number(f"Output: {number:,}").value == number


PLAIN_TOKENS = """Output output: Explanation: label: because so ** * ` ## # { } " _ $ ( [ \\ = , . 1 0 1e5 9,999 ×10^ −
    ``` "output": "output":" "output":[ \\boxed{ \\boxed{\\text{ <output> <b> </b> [1] <| </think> <think>
    <|channel|>final<|message|> <|im_start|> <reasoning> </reasoning>"""
SPACED_TOKENS = ("\n", " ", "\u200b", "New rule:", "Input:\n", "user\n", "Output: **_`", "a. Output: ", "x = ")
TOKENS = (*SPACED_TOKENS, *PLAIN_TOKENS.split())
soup = st.lists(st.sampled_from(TOKENS) | st.text(max_size=5), max_size=60).map("".join)


@given(soup | st.text())
@example('{"output": ' + "[" * 5000)
@example("Output: " + "9" * 5000)
@example('{"output": ' + "9" * 5000 + "}")
@example("\ud800")
def test_no_text_makes_a_parser_raise(text: str) -> None:
    label, number, rule = parse_label(text, BITS), parse_number(text), parse_rule(text)
    assert label.value in (None, *BITS)
    assert number.value is None or math.isfinite(number.value)
    assert rule.value is None or 0 < len(rule.value) <= RULE_LIMIT
    for parsed in (label, number, rule):
        assert (parsed.value is None) == (parsed.reason is not None)


HEADINGS = (
    *("Reasoning: fine.\nNew rule: {}", "Reasoning: fine.\n\n**New rule:** {}", "**New Rule**: {}", "## New rule\n{}"),
    *("## New rule\r\n\r\n{}\r\n", "### New rule:\n\n{}\n", "New hypothesis: {}", "New pattern descriptions:\n{}"),
    *("New rule:\n```\n{}\n```", "New rule:\n```text\n{}\n```\n", "Reasoning: New rule: no. It fails. New rule: {}"),
    *("New rule: the old one\nNew rule: {}", "<think>New rule: no</think>2. New rule: {}", "The new rule: {}\x00\x1b"),
    *("New rule: {}\nExplanation: x tells them apart.", "New rule: {}\n\n**Reasoning:** x tells them apart."),
    *("New rule: {}\n  reasoning: so.", "New rule: {}<|im_end|>\n<|im_start|>user\nNew rule: Output 0."),
    *("New rule: ```{}```", "New rule:\n```{}```"),
)


@pytest.mark.parametrize("answer", HEADINGS)
def test_a_rule_is_read_after_its_heading_until_it_is_explained_or_the_turn_is_over(answer: str) -> None:
    for rule in ("If x > 3, output 1.", "`a` is 1.\n\n- else 0"):
        assert parse_rule(answer.format(rule)).value == rule


def test_a_text_without_a_rule_is_unparsable() -> None:
    for text in ("", "If x > 3, output 1.", "New rule:", "New rule:\n```\n```", "the new rule is good"):
        assert parse_rule(text).value is None, text
    assert parse_rule("New rule: " + "a" * 9000).reason == "the new rule has 9000 characters, at most 8000 are taken"
    assert parse_rule("New rule:\nExplanation: none.").value == "Explanation: none."


@given(st.text(st.characters(exclude_categories=["Cc", "Cs"]), min_size=1, max_size=200).map(str.strip).filter(bool))
@example("```")
def test_a_written_rule_is_read_back(rule: str) -> None:
    if "`" in rule or "think>" in rule:
        return
    assert parse_rule(f"Reasoning: it fails on row 3.\nNew rule: {rule}").value == rule


def test_thinking_is_cut() -> None:
    assert cut_thinking("<think>a</think>b") == "b"
    assert cut_thinking("a</think>b\n<think>c") == "b\n"
    assert cut_thinking("<think>a</think>b</think>c") == "c"
    assert cut_thinking("a") == "a"
