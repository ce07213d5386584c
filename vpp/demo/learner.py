"""The learner: applies a rule to an input, and explains the answer."""

import json
import math
from string import ascii_uppercase
from typing import NamedTuple

from vpp.demo.prompt import LearnerQuestion
from vpp.demo.reading import read_rule
from vpp.demo.rules import read_row
from vpp.demo.writing import explain, say_number

SURE = 0.98
"""Probability of the label that a rule gives."""


class Answer(NamedTuple):
    explanation: str
    output: str
    is_guess: bool = False
    """True if the rule gives nothing for the input."""


def answer(question: LearnerQuestion) -> Answer:
    """Apply the rule to the input; make a constant guess, and say so, if the rule cannot be applied."""
    row = read_row(question.input)
    reading = read_rule(question.rule, tuple(row.cells), question.labels)
    value = None if reading.rule is None else reading.rule.answer(row)
    if reading.rule is None:
        why = "The rule says nothing that I can read"
    elif isinstance(value, float) and not math.isfinite(value):
        why, value = "The rule gives a number beyond all that I can write", None
    else:
        why = explain(reading.rule, row, value) + (" Part of the rule I could not read." if reading.unread else "")
    if isinstance(value, str | float):
        return Answer(why, value if isinstance(value, str) else say_number(float(f"{value:.10g}")))
    output = question.labels[0] if question.labels else "0"
    return Answer(f"{why.removesuffix('.')}, so {output} is only a guess.", output, is_guess=True)


def letter_shares(question: LearnerQuestion) -> dict[str, float]:
    """Return the probability of each label's letter: nearly 1 for what the rule gives, equal ones for a guess."""
    reply = answer(question)
    n = len(question.labels)
    sure, others = (1 / n, 1 / n) if reply.is_guess or n == 1 else (SURE, (1 - SURE) / (n - 1))
    pairs = zip(ascii_uppercase, question.labels, strict=False)
    return {letter: sure if label == reply.output else others for letter, label in pairs}


def respond(question: LearnerQuestion) -> str:
    if question.style == "letter":
        return max((shares := letter_shares(question)), key=lambda letter: shares[letter])
    reply = answer(question)
    if question.style == "json":
        return json.dumps({"explanation": reply.explanation, "output": reply.output}, ensure_ascii=False)
    return f"Explanation: {reply.explanation}\nOutput: {reply.output}"
