"""The learner: applies a rule to an input and explains the answer, or writes the rule as a function `predict`."""

import json
from string import ascii_uppercase
from typing import NamedTuple

from vpp.demo import rules
from vpp.demo.prompt import LearnerQuestion, ProgramQuestion
from vpp.demo.reading import read_rule
from vpp.demo.rules import Part, Row, Rule, Value

SURE = 0.98
"""Probability of the label that a rule gives."""


class Answer(NamedTuple):
    explanation: str
    output: str
    is_guess: bool = False
    """True if the rule gives nothing for the input."""


def answer(question: LearnerQuestion) -> Answer:
    """Apply the rule to the input; make a constant guess, and say so, if the rule cannot be applied."""
    row = rules.read_row(question.input)
    reading = read_rule(question.rule, rules.columns_of([row]), question.labels)
    value = reading.rule.answer(row) if reading.rule else None
    why = _explanation(reading.rule, row, value) if reading.rule else "The rule says nothing that I can read."
    why += " Part of the rule I could not read." if reading.rule and reading.unread else ""
    if isinstance(value, str | float):
        return Answer(why, value if isinstance(value, str) else rules.say_number(float(f"{value:.10g}")))
    output = question.labels[0] if question.labels else "0"
    return Answer(f"{why.removesuffix('.')}, so {output} is only a guess.", output, is_guess=True)


def letter_shares(question: LearnerQuestion) -> dict[str, float]:
    """Return the probability of each label's letter: nearly 1 for what the rule gives, equal ones for a guess."""
    reply, n = answer(question), len(question.labels)
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


def write_program(question: ProgramQuestion) -> str:
    """Write the rule as a program; `no program` if a part of it cannot be read."""
    reading = read_rule(question.rule, question.columns, question.labels)
    if reading.rule is None or reading.unread:
        return "no program"
    return reading.rule.program(rules.quoted(question.labels[0]) if question.labels else "0")


def _explanation(rule: Rule, row: Row, value: Value) -> str:
    """Name what the conditions of the deciding case are about; without one, of every case."""
    if value is None:
        return "The rule gives nothing for this input."
    conditions = [case.condition for case in rule.cases if case.condition]
    deciding = next((one for one in conditions if one.of(row)), None)
    facts = [_fact(one, row) for each in ([deciding] if deciding else conditions) for one in rules.leaves(each)][:4]
    text = f"{'; '.join(facts)}, so the rule gives {_say(value)}." if facts else f"the rule gives {_say(value)}."
    return text[0].upper() + text[1:]


def _fact(condition: Part, row: Row) -> str:
    words, term = condition.words if condition.of(row) else rules.node(rules.NOT, condition).words, condition.parts[0]
    if condition.phrase not in (rules.IS, rules.ONE_OF, rules.ABSENT):
        return words
    return f"{term.words} is {_say(term.of(row))}, which {words.removeprefix(f'{term.words} ')}"


def _say(value: Value) -> str:
    if isinstance(value, int | float):
        return rules.say_number(float(f"{value:.6g}"))
    return str(value)[:80] if value is not None else "missing"
