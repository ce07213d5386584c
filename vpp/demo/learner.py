"""The learner: applies a rule to an input and explains the answer, or writes the rule as a function `predict`."""

import json
from string import ascii_uppercase
from typing import NamedTuple

from vpp.demo import rules
from vpp.demo.prompt import LearnerQuestion, ProgramQuestion
from vpp.demo.reading import read_rule
from vpp.demo.rules import AND, IS, IS_NOT, NOT, OR, Case, Part, Row, Rule, Value, node

SURE = 0.98
"""Probability of the label that a rule gives."""
REFUSAL = "no program"


class Answer(NamedTuple):
    explanation: str
    output: str
    is_guess: bool = False
    """True if the rule gives nothing for the input."""


def answer(question: LearnerQuestion) -> Answer:
    """Apply the rule to the input; make a constant guess, and say so, if the rule cannot be applied."""
    row = rules.read_row(question.input)
    reading = read_rule(question.rule, rules.columns_of([row]), question.labels)
    if reading.rule is None:
        why, value = "The rule says nothing that I can read", None
    else:
        value = reading.rule.answer(row)
        why = _explanation(reading.rule, row, value) + (" Part of the rule I could not read." if reading.unread else "")
    if isinstance(value, str | float):
        return Answer(why, value if isinstance(value, str) else rules.say_number(float(f"{value:.10g}")))
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


def write_program(question: ProgramQuestion) -> str:
    """Write the rule as a program; `no program` if a part of it cannot be read."""
    reading = read_rule(question.rule, question.columns, question.labels)
    if reading.rule is None or reading.unread:
        return REFUSAL
    return reading.rule.program(rules.quoted(question.labels[0]) if question.labels else "0")


def _explanation(rule: Rule, row: Row, value: Value) -> str:
    place = rule.places().answer(row)
    at = int(place) if isinstance(place, float) and place >= 0 else None
    rest = rule.cases[-1].outcome if rule.cases[-1].condition is None else None
    outcome = rest if at is None else rule.cases[at].outcome
    cases = rule.cases[:3] if at is None else [rule.cases[at]]
    reasons = [_fact(rule, one.condition, row) for one in cases if one.condition]
    if outcome is None:
        result = "the rule leaves this open"
    elif outcome.kind in "SD":
        result = f"the rule gives {outcome.value if outcome.kind == 'S' else _say(value)}"
    elif value is None:
        result = f"{outcome.words} cannot be worked out"
    else:
        cells = sorted(set(rules.cells_in(outcome)))[:4]
        facts = ", ".join(f"{cell.words} = {_say(row.get(cell.value.name))}" for cell in cells)
        result = f"{outcome.words} = {_say(value)}" + (f" for {facts}" if facts else "")
    every = " for every input" if outcome and outcome.kind == "S" else ""
    text = f"{'; '.join(reasons)}, so {result}." if reasons else f"{result}{every}."
    return text[0].upper() + text[1:]


def _value(rule: Rule, row: Row, term: Part, condition: Part | None = None) -> Value:
    return rule._replace(cases=(Case(condition, term),)).answer(row)


def _fact(rule: Rule, condition: Part, row: Row) -> str:
    """Say why a condition holds in a row or fails: the first part that decides, or every part."""

    def holds(one: Part) -> bool:
        return _value(rule, row, rules.number(1), one) == 1

    phrase, parts = condition.phrase, condition.parts
    if phrase in (AND, OR):
        deciding = [one for one in parts if holds(one) is (phrase == OR)]
        return " and ".join(_fact(rule, one, row) for one in deciding[:1] or parts[:4])
    if phrase == NOT:
        return _fact(rule, parts[0], row)
    if phrase in (IS, IS_NOT):
        value, term = _say(_value(rule, row, parts[0])), parts[0].words
        verdict = node(IS if holds(condition) is (phrase == IS) else IS_NOT, *parts).words
        return f"{term} is {value}, which {verdict.removeprefix(f'{term} ')}"
    return f"{'' if holds(condition) else 'it is not so that '}{condition.words}"


def _say(value: Value) -> str:
    if isinstance(value, tuple):
        return " ".join(map(_say, value[:12]))
    if isinstance(value, float):
        return rules.say_number(float(f"{value:.6g}"))
    return "missing" if value is None else value[:80]
