"""Refinements of a rule for labels, from what its wrong rows have in common."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.random import Generator

from vpp.demo.batch import Batch, round_between
from vpp.demo.classify import Mask, Split, a_property, cut, flipped
from vpp.demo.rule import All, Case, Condition, Is, Rule
from vpp.demo.terms import Cell, Compare, Number, OneOf

_MOST_COMMON = 2
"""Most conditions that describe the missed rows of a label."""


def refined(rule: Rule, batch: Batch, rng: Generator) -> Iterator[Rule]:
    deciding = [rule.deciding(row) for row in batch.rows]
    right = np.array([rule.answer(row) == target for row, target in zip(batch.rows, batch.targets, strict=True)])
    decided = [np.array([one is case for one in deciding]) for case in rule.cases]
    if decided:
        worst = max(range(len(decided)), key=lambda at: int((decided[at] & ~right).sum()))
        yield from _narrowed(rule, worst, batch, decided[worst] & right, decided[worst] & ~right, rng)
    yield from _widened(rule, batch, np.array([one is None for one in deciding]), ~right, rng)


def _narrowed(rule: Rule, at: int, batch: Batch, right: Mask, wrong: Mask, rng: Generator) -> Iterator[Rule]:
    if not (right.any() and wrong.any()):
        return
    sides = list(_sides(batch, right, wrong, rng))
    one = max(sides, key=lambda side: int((side.mask & right).sum() - (side.mask & wrong).sum()), default=None)
    if one is not None and (one.mask & right).any() and not (one.mask & wrong).all():
        case = rule.cases[at]
        parts = case.condition.parts if isinstance(case.condition, All) else (case.condition,)
        narrower = replace(case, condition=All((*parts, one.condition)))
        yield replace(rule, cases=(*rule.cases[:at], narrower, *rule.cases[at + 1 :]))


def _sides(batch: Batch, right: Mask, wrong: Mask, rng: Generator) -> Iterator[Split]:
    if batch.sequential:
        one = a_property(batch, rng)
        yield from () if one is None else (one, flipped(one))
        return
    for name in _few(batch, rng):
        if name in batch.categories:
            yield from _values(batch, name, _mostly(batch, name, right, wrong))
        elif (bound := cut(batch, Cell(name), right | wrong, rng)) is not None:
            yield from (bound, flipped(bound))


def _widened(rule: Rule, batch: Batch, rest: Mask, wrong: Mask, rng: Generator) -> Iterator[Rule]:
    """Yield the rule with a new case for a label: a condition that its missed rows share and other rows lack."""
    missed = [label for at, label in enumerate(batch.labels) if (rest & wrong & (batch.codes == at)).any()]
    if not missed:
        return
    label = missed[int(rng.integers(len(missed)))]
    inside = rest & (batch.codes == batch.labels.index(label))
    condition = common(batch, inside, rest & ~inside, rng)
    if condition is not None:
        yield replace(rule, cases=(*rule.cases, Case(condition, label)))


def common(batch: Batch, inside: Mask, outside: Mask, rng: Generator) -> Condition | None:
    """Return one or two conditions that hold on all rows inside and exclude some outside; None if none does."""
    if batch.sequential:
        one = a_property(batch, rng)
        return None if one is None or not one.mask[inside].all() else one.condition
    splits = (_holding(batch, name, inside, outside) for name in _few(batch, rng, least=_MOST_COMMON))
    some = [one.condition for one in splits if one is not None][: int(rng.integers(1, 1 + _MOST_COMMON))]
    return None if not some else some[0] if len(some) == 1 else All(tuple(some))


def _few(batch: Batch, rng: Generator, *, least: int = 1) -> list[str]:
    """Return some columns in random order, at least `least` if the batch has them."""
    columns = batch.numeric + batch.categories
    count = int(rng.integers(least, 1 + max(least, len(columns))))
    return [columns[at] for at in rng.permutation(len(columns))[:count]]


def _holding(batch: Batch, name: str, inside: Mask, outside: Mask) -> Split | None:
    """Return the condition on a column that holds on all rows inside and the fewest outside; None if on all outside."""
    if name in batch.categories:
        ways = list(_values(batch, name, _kinds(batch, name, inside)))
    else:
        ways = list(_bounds(batch, name, inside, outside))
    useful = [one for one in ways if one.mask[inside].all() and not one.mask[outside].all()]
    return min(useful, key=lambda one: int(one.mask[outside].sum()), default=None)


def _bounds(batch: Batch, name: str, inside: Mask, outside: Mask) -> Iterator[Split]:
    """Yield a lower and an upper bound around all values inside, halfway to the next value outside."""
    values = batch.values(Cell(name))
    low, high = float(values[inside].min()), float(values[inside].max())
    below, above = values[outside & (values < low)], values[outside & (values > high)]
    if below.size:
        at = round_between(float(below.max()), low)
        yield Split(Is(Cell(name), Compare(">", Number(at))), values > at)
    if above.size:
        at = round_between(high, float(above.min()))
        yield Split(Is(Cell(name), Compare("<=", Number(at))), values <= at)


def _texts(batch: Batch, name: str) -> list[object]:
    return [row.cells.get(name) for row in batch.rows]


def _kinds(batch: Batch, name: str, among: Mask) -> list[str]:
    texts = _texts(batch, name)
    return sorted({text for text, used in zip(texts, among, strict=True) if used and isinstance(text, str)})


def _mostly(batch: Batch, name: str, right: Mask, wrong: Mask) -> list[str]:
    texts = np.array(_texts(batch, name), dtype=object)
    return [kind for kind in _kinds(batch, name, right) if (texts[right] == kind).sum() > (texts[wrong] == kind).sum()]


def _values(batch: Batch, name: str, kinds: Sequence[str]) -> Iterator[Split]:
    if kinds:
        mask = np.array([text in kinds for text in _texts(batch, name)])
        yield Split(Is(Cell(name), OneOf(tuple(kinds))), mask)
