"""The optimizer: keeps a rule that fits its batch, or writes another that is fitted to the batch."""

import hashlib
import json

import numpy as np
from numpy.random import Generator

from vpp.demo.batch import Batch
from vpp.demo.candidates import Current, Idea, Request, label_ideas, number_ideas
from vpp.demo.prompt import OptimizerQuestion, PriorQuestion, Question
from vpp.demo.read_rule import read_rule
from vpp.demo.rule import Rule
from vpp.demo.terms import Number
from vpp.demo.values import read_number, read_row
from vpp.demo.write_rule import say_rule
from vpp.demo.write_terms import Style, Unsayable

_BOLDNESS = 0.3
"""Scale of the random part of a candidate's score at temperature 1."""
_REWORDING = 0.3
"""Probability that a kept rule is reworded at temperature 1."""


def propose(question: OptimizerQuestion, *, temperature: float, seed: int) -> str:
    """Write the reasoning and the next rule."""
    batch = read_batch(question)
    reading = read_rule(question.rule, batch.names, question.labels)
    request = Request(question, batch, reading, temperature, generator(question, temperature, seed))
    reasoning, text = _next(request)
    return write(question, reasoning, text)


def write(question: OptimizerQuestion | PriorQuestion, reasoning: str, text: str) -> str:
    """Format the reasoning and the rule."""
    if question.style == "json":
        return json.dumps({"reasoning": reasoning, "new_rule": text}, ensure_ascii=False)
    rule = f"{question.heading}:\n{text}"
    return rule if question.style == "brief" else f"Reasoning: {reasoning}\n\n{rule}"


def generator(question: Question, temperature: float, seed: int) -> Generator:
    """Return a random generator seeded by the request alone."""
    text = repr((question, float(temperature), int(seed)))
    return np.random.default_rng(int.from_bytes(hashlib.sha256(text.encode(errors="replace")).digest()[:16]))


def read_batch(question: OptimizerQuestion) -> Batch:
    """Parse the rows and targets; drop rows whose target should be a number and is not."""
    rows = [read_row(text) for text in question.inputs]
    if question.labels:
        return Batch(tuple(rows), question.targets)
    numbers = [read_number(text) for text in question.targets]
    pairs = [(row, number) for row, number in zip(rows, numbers, strict=True) if number is not None]
    return Batch(tuple(row for row, _ in pairs), tuple(number for _, number in pairs))


def _next(request: Request) -> tuple[str, str]:
    """Return the reasoning and the text of the next rule."""
    current = request.current
    if not request.batch.rows:
        return "I can read no rows here.", current.text if current else say_rule(_guess(request), Style())
    ideas = label_ideas(request) if request.question.labels else number_ideas(request)
    boldness = request.temperature * _BOLDNESS
    idea = max(ideas, key=lambda one: one.score + boldness * request.rng.gumbel())
    if current is not None and idea.rule == current.rule:
        return _kept(request, current, idea)
    return idea.why, _written(request, idea.rule) or say_rule(_guess(request), Style())


def _guess(request: Request) -> Rule:
    """Return a constant rule."""
    return Rule((), request.question.labels[0] if request.question.labels else Number(0.0))


def _written(request: Request, rule: Rule) -> str | None:
    """Write the rule in a random style; None if it cannot be written."""
    try:
        return say_rule(rule, _style(request))
    except Unsayable:
        return None


def _kept(request: Request, current: Current, idea: Idea) -> tuple[str, str]:
    """Return the same text, or a rewording that reads back as the same rule."""
    if request.reading.unread or request.rng.random() >= _REWORDING * request.temperature:
        return idea.why, current.text
    text = _written(request, current.rule)
    if text is None or read_rule(text, request.batch.names, request.question.labels).rule != current.rule:
        return idea.why, current.text
    return f"{idea.why} I only reword it.", text


def _style(request: Request) -> Style:
    batch = request.batch
    nouns = ("integer", "number", "digit") if batch.sequential and batch.whole_numbers else ("number", "value")
    return Style.drawn(request.rng, nouns, target=request.reading.target, names=batch.names)
