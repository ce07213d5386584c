"""The learner: applies a rule to one or several inputs, and explains the answer."""

import json
import math
import re
from dataclasses import dataclass
from string import ascii_uppercase

from vpp.demo.prompt import LearnerQuestion, Style
from vpp.demo.reading import read_rule
from vpp.demo.rules import read_row
from vpp.demo.writing import explain, say_number

SURE = 0.98
"""Probability of the label that a rule gives."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The learner's answer for one input."""

    explanation: str
    output: str
    is_guess: bool = False
    """True if the rule gives nothing for the input."""


def answer(rule: str, text: str, labels: tuple[str, ...]) -> Answer:
    """Apply the rule to an input; make a constant guess, and say so, if the rule cannot be applied."""
    row = read_row(text)
    reading = read_rule(rule, tuple(row.cells), labels)
    if reading.rule is None:
        return _guess(labels, "The rule says nothing that I can read")
    value = reading.rule.answer(row)
    if isinstance(value, float) and not math.isfinite(value):
        return _guess(labels, "The rule gives a number beyond all that I can write")
    left_out = " Part of the rule I could not read." if reading.unread else ""
    why = explain(reading.rule, row, value) + left_out
    if isinstance(value, float):
        return Answer(why, say_number(float(f"{value:.10g}")))
    if isinstance(value, str):
        return Answer(why, value)
    return _guess(labels, why.removesuffix("."))


def _guess(labels: tuple[str, ...], why: str) -> Answer:
    output = labels[0] if labels else "0"
    return Answer(f"{why}, so {output} is only a guess.", output, is_guess=True)


def letter_shares(question: LearnerQuestion) -> dict[str, float]:
    """Return the probability of each label's letter: nearly 1 for what the rule gives, equal ones for a guess."""
    answered = answer(question.rule, question.inputs[0][1], question.labels)
    n = len(question.labels)
    sure, others = (1 / n, 1 / n) if answered.is_guess or n == 1 else (SURE, (1 - SURE) / (n - 1))
    return {
        letter: sure if label == answered.output else others
        for letter, label in zip(ascii_uppercase, question.labels, strict=False)
    }


_NAMED = re.compile(r"(?m)^\[(\d+)\]")


def respond(question: LearnerQuestion, complaint: str = "") -> str:
    """Answer every input, or only the numbered ones that a complaint names at the start of a line."""
    if question.style == "letter":
        return max((shares := letter_shares(question)), key=lambda letter: shares[letter])
    named = set(_NAMED.findall(complaint)) or {number for number, _ in question.inputs}
    answered = [
        (number, answer(question.rule, text, question.labels))
        for number, text in question.inputs
        if number in named or not number
    ]
    return "\n".join(_write(one, question.style, number) for number, one in answered)


def _write(answered: Answer, style: Style, number: str) -> str:
    why = " ".join(answered.explanation.split()) if number else answered.explanation
    mark = f" [{number}]" if number else ""
    if style == "json":
        asked = {"number": int(number)} if number else {}
        return json.dumps({**asked, "explanation": why, "output": answered.output}, ensure_ascii=False)
    output = f"Output{mark}: {answered.output}"
    return output if style == "brief" else f"Explanation{mark}: {why}\n{output}"
