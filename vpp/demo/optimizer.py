"""The optimizer: keeps its rule, writes another that is fitted to the batch, or tries a variation of it."""

import hashlib
import json
from collections.abc import Callable, Iterator

import numpy as np
from numpy.random import Generator

from vpp.demo.batch import Batch
from vpp.demo.candidates import Request, label_ideas, number_ideas
from vpp.demo.prompt import OptimizerQuestion, PriorQuestion, Question
from vpp.demo.read_rule import read_rule
from vpp.demo.rule import Rule
from vpp.demo.terms import Cell, Number
from vpp.demo.values import Row, Value, read_number, read_row, same
from vpp.demo.write_rule import Unsayable, say_rule

_BOLDNESS = 0.3
"""Scale of the random part of a candidate's score at temperature 1."""
_PROBES = 200
_NOISE = 0.1
"""Noise of a probe's number, in ranges of its column."""


def propose(question: OptimizerQuestion, *, temperature: float, seed: int) -> str:
    batch = read_batch(question)
    reading = read_rule(question.rule, batch.names, question.labels)
    request = Request(question, batch, reading, temperature, generator(question, temperature, seed))
    reasoning, rule = _next(request) if batch.rows else ("I can read no rows here.", reading.rule)
    is_kept = rule is not None and rule is reading.rule
    text = question.rule[reading.start :].strip() if is_kept else written(rule, question.labels)
    return write(question, reasoning, text)


def write(question: OptimizerQuestion | PriorQuestion, reasoning: str, text: str) -> str:
    if question.style == "json":
        return json.dumps({"reasoning": reasoning, "new_rule": text}, ensure_ascii=False)
    rule = f"{question.heading}:\n{text}"
    return rule if question.style == "brief" else f"Reasoning: {reasoning}\n\n{rule}"


def written(rule: Rule | None, labels: tuple[str, ...]) -> str:
    try:
        if rule is not None:
            return say_rule(rule)
    except Unsayable:
        pass
    return say_rule(Rule((), labels[0] if labels else Number(0.0)))


def generator(question: Question, temperature: float, seed: int) -> Generator:
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
    """Return the reasoning and the next rule: the current one, or the best idea that means something else."""
    ideas = label_ideas(request) if request.question.labels else number_ideas(request)
    boldness = request.temperature * _BOLDNESS
    luck = boldness * request.rng.gumbel(size=len(ideas))
    scores = [idea.score for idea in ideas] + luck
    ranked = [ideas[at] for at in np.argsort(-scores)]
    current = request.current
    if current is None:
        return ranked[0].why, ranked[0].rule
    differs = teller(request.batch, current, request.rng)
    chosen = next((one for one in ranked if one.rule == current or differs(one.rule)), ideas[0])
    return chosen.why, current if chosen.rule == current else chosen.rule


# --- synonyms -----------------------------------------------------------------------------------------------


def teller(batch: Batch, old: Rule, rng: Generator) -> Callable[[Rule], bool]:
    rows = [*batch.rows, *_probes(batch, rng)]
    answers = [old.answer(row) for row in rows]
    return lambda new: any(not same(given, new.answer(row)) for given, row in zip(answers, rows, strict=True))


def _probes(batch: Batch, rng: Generator) -> Iterator[Row]:
    """Yield rows whose cells come from different rows; numbers with noise, whole numbers whole."""
    origins = rng.integers(len(batch.rows), size=(_PROBES, len(batch.names)))
    noise = rng.uniform(-_NOISE, _NOISE, size=origins.shape)
    spans = [_span(batch, name) for name in batch.names]
    for places, moves in zip(origins, noise * spans, strict=True):
        cells = [batch.rows[at].cells.get(name) for name, at in zip(batch.names, places, strict=True)]
        moved = [_moved(cell, move, rng) for cell, move in zip(cells, moves, strict=True)]
        yield Row(dict(zip(batch.names, moved, strict=True)))


def _span(batch: Batch, name: str) -> float:
    """Return the range of a numeric column; 0 of any other."""
    values = batch.values(Cell(name))
    return float(np.nanmax(values) - np.nanmin(values)) if name in batch.numeric else 0.0


def _moved(cell: Value, move: float, rng: Generator) -> Value:
    if isinstance(cell, tuple):
        return tuple(rng.permutation(cell).tolist())
    if not isinstance(cell, float):
        return cell
    return float(round(cell + move)) if cell == round(cell) else float(cell + move)
