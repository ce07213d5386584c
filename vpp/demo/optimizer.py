"""The optimizer: keeps a rule that fits its batch, and otherwise writes another, fitted to the batch alone."""

import hashlib
import json

import numpy as np
from numpy.random import Generator

from vpp.demo.batch import Batch
from vpp.demo.label_ideas import label_ideas
from vpp.demo.number_ideas import number_ideas
from vpp.demo.prompt import OptimizerQuestion, PriorQuestion, Question
from vpp.demo.read_rule import read_rule
from vpp.demo.rule import Number, Rule
from vpp.demo.sitting import Current, Idea, Sitting
from vpp.demo.values import read_number, read_row
from vpp.demo.wording import Style, Unsayable, say_rule

_BOLDNESS = 0.3
"""How far chance decides between ideas at temperature 1, in units of their scores."""
_REWORDING = 0.3
"""How often a kept rule is put in other words at temperature 1."""


def propose(question: OptimizerQuestion, *, temperature: float, seed: int) -> str:
    """Reasoning and the next rule, in the asked form."""
    batch = read_batch(question)
    reading = read_rule(question.rule, batch.names, question.labels)
    sitting = Sitting(question, batch, reading, temperature, generator(question, temperature, seed))
    reasoning, text = _next(sitting)
    return write(question, reasoning, text)


def write(question: OptimizerQuestion | PriorQuestion, reasoning: str, text: str) -> str:
    """Reasoning and the rule, in the asked form."""
    if question.style == "json":
        return json.dumps({"reasoning": reasoning, "new_rule": text}, ensure_ascii=False)
    rule = f"{question.heading}:\n{text}"
    return rule if question.style == "brief" else f"Reasoning: {reasoning}\n\n{rule}"


def generator(question: Question, temperature: float, seed: int) -> Generator:
    """Random numbers that depend on the request alone."""
    text = repr((question, float(temperature), int(seed)))
    return np.random.default_rng(int.from_bytes(hashlib.sha256(text.encode(errors="replace")).digest()[:16]))


def read_batch(question: OptimizerQuestion) -> Batch:
    """The rows and targets; where a target that should be a number is none, its row is left out."""
    rows = [read_row(text) for text in question.inputs]
    if question.labels:
        return Batch(tuple(rows), question.targets)
    numbers = [read_number(text) for text in question.targets]
    kept = [(row, number) for row, number in zip(rows, numbers, strict=True) if number is not None]
    return Batch(tuple(row for row, _ in kept), tuple(number for _, number in kept))


def _next(sitting: Sitting) -> tuple[str, str]:
    """Why, and the next rule's words."""
    current = sitting.current
    if not sitting.batch.rows:
        return "I can read no rows here.", current.text if current else say_rule(_guess(sitting), Style())
    ideas = label_ideas(sitting) if sitting.question.labels else number_ideas(sitting)
    boldness = sitting.temperature * _BOLDNESS
    idea = max(ideas, key=lambda one: one.score + boldness * sitting.rng.gumbel())
    if current is not None and idea.rule == current.rule:
        return _kept(sitting, current, idea)
    return idea.why, _said(sitting, idea.rule) or say_rule(_guess(sitting), Style())


def _guess(sitting: Sitting) -> Rule:
    """A constant, where nothing better can be said."""
    return Rule((), sitting.question.labels[0] if sitting.question.labels else Number(0.0))


def _said(sitting: Sitting, rule: Rule) -> str | None:
    """The rule in words of one style or another; None where there are no words for it."""
    try:
        return say_rule(rule, _style(sitting))
    except Unsayable:
        return None


def _kept(sitting: Sitting, current: Current, idea: Idea) -> tuple[str, str]:
    """The same text, or the same rule in other words where they surely mean the same."""
    if sitting.reading.unread or sitting.rng.random() >= _REWORDING * sitting.temperature:
        return idea.why, current.text
    text = _said(sitting, current.rule)
    if text is None or read_rule(text, sitting.batch.names, sitting.question.labels).rule != current.rule:
        return idea.why, current.text
    return f"{idea.why} I only reword it.", text


def _style(sitting: Sitting) -> Style:
    """How this answer puts things."""
    batch, rng = sitting.batch, sitting.rng
    nouns = ("integer", "number", "digit") if batch.sequential and batch.whole_numbers else ("number", "value")
    return Style(
        frame=int(rng.integers(12)),
        signs=bool(rng.random() < 0.25),
        noun=nouns[int(rng.integers(len(nouns)))],
        synonym=int(rng.integers(12)),
        target=sitting.reading.target,
        names=batch.names,
    )
