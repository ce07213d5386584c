"""The optimizer: returns a rule that fits its batch, or writes another that is fitted to the batch."""

import hashlib
import json

import numpy as np
from numpy.random import Generator

from vpp.demo.batch import Batch
from vpp.demo.candidates import Request, label_ideas, number_ideas
from vpp.demo.prompt import OptimizerQuestion, PriorQuestion, Question
from vpp.demo.read_rule import read_rule
from vpp.demo.rule import Rule
from vpp.demo.terms import Number
from vpp.demo.values import read_number, read_row
from vpp.demo.write_rule import Unsayable, say_rule

_BOLDNESS = 0.3
"""Scale of the random part of a candidate's score at temperature 1."""


def propose(question: OptimizerQuestion, *, temperature: float, seed: int) -> str:
    """Write the reasoning and the next rule."""
    batch = read_batch(question)
    reading = read_rule(question.rule, batch.names, question.labels)
    request = Request(question, batch, reading, temperature, generator(question, temperature, seed))
    reasoning, rule = _next(request) if batch.rows else ("I can read no rows here.", reading.rule)
    is_kept = rule is not None and rule is reading.rule
    text = question.rule[reading.start :].strip() if is_kept else written(rule, question.labels)
    return write(question, reasoning, text)


def write(question: OptimizerQuestion | PriorQuestion, reasoning: str, text: str) -> str:
    """Format the reasoning and the rule."""
    if question.style == "json":
        return json.dumps({"reasoning": reasoning, "new_rule": text}, ensure_ascii=False)
    rule = f"{question.heading}:\n{text}"
    return rule if question.style == "brief" else f"Reasoning: {reasoning}\n\n{rule}"


def written(rule: Rule | None, labels: tuple[str, ...]) -> str:
    """Write the rule; a constant one if there is none, or if it cannot be written."""
    try:
        if rule is not None:
            return say_rule(rule)
    except Unsayable:
        pass
    return say_rule(Rule((), labels[0] if labels else Number(0.0)))


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


def _next(request: Request) -> tuple[str, Rule]:
    """Return the reasoning and the next rule: the current one, or one that means something else."""
    ideas = label_ideas(request) if request.question.labels else number_ideas(request)
    boldness = request.temperature * _BOLDNESS
    idea = max(ideas, key=lambda one: one.score + boldness * request.rng.gumbel())
    current = request.current
    if current is None or request.batch.tells_apart(current, idea.rule, request.rng):
        return idea.why, idea.rule
    return ideas[0].why, current
