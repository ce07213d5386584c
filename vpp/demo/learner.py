"""The learner: applies a rule to one or several inputs, and explains the answer."""

import json
import math
import re
from dataclasses import dataclass

from vpp.demo.explain import explain
from vpp.demo.prompt import LearnerQuestion, PackQuestion, Style
from vpp.demo.read_rule import Reading, read_rule
from vpp.demo.values import read_row
from vpp.demo.write_rule import say_number


@dataclass(frozen=True, slots=True)
class Answer:
    """The learner's answer for one input."""

    explanation: str
    output: str


def answer(question: LearnerQuestion) -> Answer:
    """Apply the rule; make a constant guess, and say so, if the rule cannot be applied."""
    row = read_row(question.input)
    reading = read_rule(question.rule, tuple(row.cells), question.labels)
    if reading.rule is None:
        return _guess(question, "The rule says nothing that I can read")
    value = reading.rule.answer(row)
    if isinstance(value, float) and not math.isfinite(value):
        return _guess(question, "The rule gives a number beyond all that I can write")
    why = explain(reading.rule, row, value) + _left_out(reading)
    if isinstance(value, float):
        return Answer(why, say_number(float(f"{value:.10g}")))
    if isinstance(value, str):
        return Answer(why, value)
    return _guess(question, why.removesuffix("."))


def _left_out(reading: Reading) -> str:
    return " Part of the rule I could not read." if reading.unread else ""


def _guess(question: LearnerQuestion, why: str) -> Answer:
    output = question.labels[0] if question.labels else "0"
    return Answer(f"{why}, so {output} is only a guess.", output)


def write(answered: Answer, style: Style = "text", number: str = "") -> str:
    """Format the answer; with its input's number for one of several."""
    why = " ".join(answered.explanation.split()) if number else answered.explanation
    mark = f" [{number}]" if number else ""
    if style == "json":
        asked = {"number": int(number)} if number else {}
        return json.dumps({**asked, "explanation": why, "output": answered.output}, ensure_ascii=False)
    output = f"Output{mark}: {answered.output}"
    return output if style == "brief" else f"Explanation{mark}: {why}\n{output}"


_NAMED = re.compile(r"(?m)^\[(\d+)\]")


def write_pack(question: PackQuestion, complaint: str = "") -> str:
    """Answer every numbered input, or only those that a complaint names at the start of a line."""
    named = set(_NAMED.findall(complaint)) or {number for number, _ in question.inputs}
    answers = (
        (number, answer(LearnerQuestion(question.rule, text, question.labels)))
        for number, text in question.inputs
        if number in named
    )
    return "\n".join(write(given, question.style, number) for number, given in answers)
