"""The learner: applies a rule to an input and explains the answer, or writes the rule as a function `predict`."""

import json
from string import ascii_uppercase
from typing import NamedTuple

from vpp.demo import rules
from vpp.demo.prompt import LearnerQuestion, ProgramQuestion
from vpp.demo.reading import read_rule
from vpp.demo.rules import AND, IS, IS_NOT, NOT, OR, Case, Node, Number, Row, Rule, Value, say

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
    reading = read_rule(question.rule, tuple(row), question.labels)
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
    reading = read_rule(question.rule, tuple(column.name for column in question.columns), question.labels)
    if reading.rule is None or reading.unread:
        return REFUSAL
    return reading.rule.program(question.columns, rules.quoted(question.labels[0]) if question.labels else "0")


def _explanation(rule: Rule, row: Row, value: Value) -> str:
    case = rule.deciding(row)
    outcome = rule.otherwise if case is None else case.outcome
    reasons = [_fact(one.condition, row) for one in (rule.cases[:3] if case is None else [case])]
    if isinstance(outcome, str | Number):
        result = f"the rule gives {outcome if isinstance(outcome, str) else _say(value)}"
    elif value is None or outcome is None:
        result = f"{say(outcome)} cannot be worked out" if outcome else "the rule leaves this open"
    else:
        names = sorted(set(rules.names_in(outcome)))[:4]
        cells = ", ".join(f"{say(rules.Cell(name))} = {_say(row.get(name))}" for name in names)
        result = f"{say(outcome)} = {_say(value)}" + (f" for {cells}" if cells else "")
    every = " for every input" if isinstance(outcome, str) else ""
    text = f"{'; '.join(reasons)}, so {result}." if reasons else f"{result}{every}."
    return text[0].upper() + text[1:]


def _holds(condition: Node, row: Row) -> bool:
    return Rule((Case(condition, "yes"),), "no").answer(row) == "yes"


def _fact(condition: Node, row: Row) -> str:
    """Say why a condition holds in a row or fails: the first part that decides, or every part."""
    holds = _holds(condition, row)
    match condition:
        case Node(phrase, parts) if phrase in (AND, OR):
            deciding = [one for one in parts if _holds(one, row) is (phrase == OR)]
            return " and ".join(_fact(one, row) for one in deciding[:1] or parts[:4])
        case Node(phrase, (part,)) if phrase == NOT:
            return _fact(part, row)
        case Node(phrase, (term, check)) if phrase in (IS, IS_NOT):
            value = _say(Rule((), term).answer(row))
            verdict = say(Node(IS if holds is (phrase == IS) else IS_NOT, (term, check)))
            return f"{say(term)} is {value}, which {verdict.removeprefix(f'{say(term)} ')}"
    return f"{'' if holds else 'it is not so that '}{say(condition)}"


def _say(value: Value) -> str:
    if isinstance(value, tuple):
        return " ".join(map(_say, value[:12]))
    return (
        "missing"
        if value is None
        else value[:80]
        if isinstance(value, str)
        else rules.say_number(float(f"{value:.6g}"))
    )
