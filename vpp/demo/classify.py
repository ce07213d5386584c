"""Candidate rules for labels: families of forms, each fitted to the batch."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from vpp.demo.batch import Batch, drawn, round_between, round_to
from vpp.demo.rule import All, Any, Case, Condition, Is, Pattern, Rule
from vpp.demo.terms import (
    EVEN,
    ODD,
    WHOLE,
    Arithmetic,
    Cell,
    Compare,
    Distance,
    Fold,
    Item,
    Items,
    Multiple,
    Number,
    OneOf,
    Tally,
    Term,
    total,
)

Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Split:
    """A condition, and the rows of the batch on which it holds."""

    condition: Condition
    mask: Mask


def split(batch: Batch, condition: Condition) -> Split:
    return Split(condition, np.array([condition.holds(row) is True for row in batch.rows]))


# --- how good a split is ------------------------------------------------------------------------------------


def _majority(codes: NDArray[np.int64], mask: Mask, classes: int) -> tuple[int, int]:
    counts = np.bincount(codes[mask], minlength=classes)
    best = int(counts.argmax())
    return best, int(mask.sum() - counts[best])


def _impurity(batch: Batch, mask: Mask, among: Mask) -> int:
    classes = len(batch.labels)
    inside, outside = mask & among, ~mask & among
    return _majority(batch.codes, inside, classes)[1] + _majority(batch.codes, outside, classes)[1]


def cut(batch: Batch, term: Term, among: Mask, rng: Generator) -> Split | None:
    """Return the threshold on a term with the fewest errors; among ties the widest gap, or a random one."""
    values = batch.values(term)
    usable = among & ~np.isnan(values)
    points = np.unique(values[usable])
    if len(points) < 2:
        return None
    below = values[None, :] <= points[:-1, None]
    errors = np.array([_impurity(batch, mask, usable) for mask in below])
    best = np.flatnonzero(errors == errors.min())
    gaps = (points[best + 1] - points[best]) / (points[-1] - points[0])
    chosen = int(rng.choice(best, p=gaps / gaps.sum())) if rng.random() < 0.5 else int(best[gaps.argmax()])
    low, high = float(points[chosen]), float(points[chosen + 1])
    whole = not isinstance(term, Cell) and low == math.floor(low) and high == math.floor(high)
    at = float(math.floor((low + high) / 2)) if whole else round_between(low, high)
    return Split(Is(term, Compare("<=", Number(at))), values <= at)


def membership(batch: Batch, name: str, among: Mask) -> Split | None:
    """Return the categories of a column whose most frequent label equals the first category's."""
    texts = [row.cells.get(name) for row in batch.rows]
    kinds = sorted({text for text, used in zip(texts, among, strict=True) if used and isinstance(text, str)})
    if len(kinds) < 2:
        return None
    masks = {kind: np.array([text == kind for text in texts]) for kind in kinds}
    leading = {kind: _majority(batch.codes, mask & among, len(batch.labels))[0] for kind, mask in masks.items()}
    group = tuple(kind for kind in kinds if leading[kind] == leading[kinds[0]])
    group = group if len(group) < len(kinds) else kinds[:1]  # type: ignore[assignment]
    mask = np.any([masks[kind] for kind in group], axis=0)
    return Split(Is(Cell(name), OneOf(tuple(group))), mask)


# --- lists of conditions ------------------------------------------------------------------------------------


def decide(batch: Batch, splits: Sequence[Split]) -> Rule:
    """Return the rule that tests the conditions in turn and answers each with its most frequent label."""
    left = batch.everything
    classes = len(batch.labels)
    cases = []
    for one in splits:
        here = one.mask & left
        label = batch.labels[_majority(batch.codes, here, classes)[0]]
        cases.append(Case(one.condition, label))
        left = left & ~one.mask
    rest = batch.labels[_majority(batch.codes, left if left.any() else ~left, classes)[0]]
    while cases and cases[-1].outcome == rest:
        cases.pop()
    return Rule(tuple(cases), rest)


def flipped(one: Split) -> Split:
    """Return the complement of a cut; other splits unchanged."""
    condition = one.condition
    if isinstance(condition, Is) and isinstance(condition.check, Compare) and condition.check.sign == "<=":
        return Split(Is(condition.term, Compare(">", condition.check.other)), ~one.mask)
    return one


def _purer_first(batch: Batch, one: Split, among: Mask, rng: Generator) -> Split:
    """Return the side with fewer errors, so that later conditions split the other side."""
    classes = len(batch.labels)
    inside = _majority(batch.codes, one.mask & among, classes)[1]
    outside = _majority(batch.codes, ~one.mask & among, classes)[1]
    turn = inside > outside or (inside == outside and rng.random() < 0.5)
    return flipped(one) if turn else one


def best_column(batch: Batch, among: Mask, rng: Generator) -> Split | None:
    columns = batch.numeric + batch.categories
    if not columns:
        return None
    few = rng.permutation(len(columns))[: int(rng.integers(1, 1 + min(len(columns), 6)))]
    splits = [
        cut(batch, Cell(name), among, rng) if name in batch.numeric else membership(batch, name, among)
        for name in (columns[at] for at in few)
    ]
    usable = [one for one in splits if one is not None]
    return min(usable, key=lambda one: _impurity(batch, one.mask, among), default=None)


def cuts(batch: Batch, rng: Generator) -> Rule | None:
    left = batch.everything
    splits: list[Split] = []
    for _ in range(int(np.clip(len(batch.labels) - 1 + rng.integers(0, 2), 1, 4))):
        one = best_column(batch, left, rng)
        if one is None or len(set(batch.codes[left])) < 2:
            break
        splits.append(_purer_first(batch, one, left, rng))
        left = left & ~splits[-1].mask
    return decide(batch, splits) if splits else None


def constant(batch: Batch, rng: Generator) -> Rule | None:
    return Rule((), batch.labels[0])


# --- two numbers at once ------------------------------------------------------------------------------------


def _two_columns(batch: Batch, rng: Generator) -> tuple[str, str]:
    first, second = sorted(rng.permutation(len(batch.numeric))[:2])
    return batch.numeric[first], batch.numeric[second]


def line(batch: Batch, rng: Generator) -> Rule | None:
    pair = _two_columns(batch, rng)
    weights = _direction(batch, pair, rng)
    if weights is None:
        return None
    term = total([(weight, Cell(name)) for weight, name in zip(weights, pair, strict=True)])
    one = cut(batch, term, batch.everything, rng)
    if one is None:
        return None
    one = _purer_first(batch, one, batch.everything, rng)
    rest = best_column(batch, ~one.mask, rng) if len(batch.labels) > 2 else None
    return decide(batch, [one] if rest is None else [one, rest])


def _direction(batch: Batch, pair: tuple[str, str], rng: Generator) -> tuple[float, float] | None:
    points = np.stack([batch.values(Cell(name)) for name in pair], axis=1)
    known = ~np.isnan(points).any(axis=1)
    label = int(rng.integers(min(2, len(batch.labels))))
    inside, outside = known & (batch.codes == label), known & (batch.codes != label)
    if not inside.any() or not outside.any():
        return None
    means = points[inside].mean(axis=0), points[outside].mean(axis=0)
    spread = points[inside].var(axis=0) + points[outside].var(axis=0) + 1e-3 * points[known].var(axis=0)
    if not (spread > 0).all():
        return None
    slope = (means[0] - means[1]) / spread
    if not slope.any():
        return None
    slope = slope / np.abs(slope).max()
    return round_to(float(slope[0]), 1), round_to(float(slope[1]), 1)


def circle(batch: Batch, rng: Generator) -> Rule | None:
    pair = _two_columns(batch, rng)
    points = np.stack([batch.values(Cell(name)) for name in pair], axis=1)
    label = int(rng.integers(len(batch.labels)))
    inside = points[(batch.codes == label) & ~np.isnan(points).any(axis=1)]
    if not len(inside):
        return None
    middle = inside.mean(axis=0) if rng.random() < 0.4 else np.zeros(2)
    spread = float(np.nanstd(points)) or 1.0
    decimals = 1 - math.floor(math.log10(spread))
    centre = tuple(float(round(one, decimals)) + 0.0 for one in middle)
    one = cut(batch, Distance((Cell(pair[0]), Cell(pair[1])), centre), batch.everything, rng)
    return None if one is None else decide(batch, [one])


# --- sequences ----------------------------------------------------------------------------------------------


def pattern(batch: Batch, rng: Generator) -> Rule | None:
    """Rule of one property of the sequence."""
    one = a_property(batch, rng)
    return None if one is None else decide(batch, [one])


def patterns(batch: Batch, rng: Generator) -> Rule | None:
    """Rule of two properties of the sequence, joined by `and` or `or`."""
    first, second = a_property(batch, rng), a_property(batch, rng)
    if first is None or second is None or first.condition == second.condition:
        return None
    parts = (first.condition, second.condition)
    if rng.random() < 0.6:
        return decide(batch, [Split(All(parts), first.mask & second.mask)])
    return decide(batch, [Split(Any(parts), first.mask | second.mask)])


def a_property(batch: Batch, rng: Generator) -> Split | None:
    if batch.length < 1:
        return None
    makers: dict[Callable[[Batch, Generator], Split | None], float] = {_bounded: 0.35, _arranged: 0.2}
    if batch.whole_numbers:
        makers |= {_divisible: 0.3, _containing: 0.15}
    return drawn(makers, rng)(batch, rng)


def _quantity(batch: Batch, rng: Generator) -> Term:
    part = _part(batch, rng)
    place = int(rng.integers(batch.length))
    other = _item(batch, (place + 1) % batch.length)
    choices: tuple[Term, ...] = (
        Fold("sum", WHOLE), Fold("sum", part), Fold("sum", part), Fold("max", WHOLE), Fold("min", WHOLE),
        Fold("product", WHOLE), Fold("product", part), Fold("distinct", WHOLE), Tally(WHOLE, EVEN), Tally(WHOLE, ODD),
        _item(batch, place), _item(batch, place), _item(batch, place), Arithmetic("-", _item(batch, place), other),
        Arithmetic("-", Fold("max", WHOLE), Fold("min", WHOLE)), Tally(WHOLE, Compare(">", Number(_level(batch, rng)))),
    )  # fmt: skip
    return choices[int(rng.integers(len(choices)))]


def _part(batch: Batch, rng: Generator) -> Items:
    """Draw a part of the sequence: its first or last items, or two of its columns."""
    if len(batch.numeric) >= 2 and rng.random() < 0.5:
        return Items(_two_columns(batch, rng))
    count = int(rng.integers(2, max(3, batch.length)))
    return Items((), None, count) if rng.random() < 0.5 else Items((), -count, None)


def _item(batch: Batch, place: int) -> Term:
    if batch.numeric and len(batch.numeric) == batch.length:
        return Cell(batch.numeric[place])
    return Item(WHOLE, -1 if place == batch.length - 1 else min(place, 4))


def _level(batch: Batch, rng: Generator) -> float:
    numbers = sorted({number for row in batch.rows for number in row.sequence})
    return float(numbers[int(rng.integers(len(numbers)))])


def _divisible(batch: Batch, rng: Generator) -> Split | None:
    divisor = int(rng.choice([2, 2, 2, 2, 3, 4]))
    return split(batch, Is(_quantity(batch, rng), Multiple(divisor)))


def _bounded(batch: Batch, rng: Generator) -> Split | None:
    one = cut(batch, _quantity(batch, rng), batch.everything, rng)
    return one if one is None or rng.random() < 0.5 else flipped(one)


def _containing(batch: Batch, rng: Generator) -> Split | None:
    few = {_level(batch, rng) for _ in range(int(rng.integers(1, 3)))}
    least = float(rng.choice([1, 1, 1, 2]))
    splits = [
        split(batch, Is(Tally(WHOLE, Compare("=", Number(number))), Compare(">=", Number(least))))
        for number in sorted(few)
    ]
    return min(splits, key=lambda one: _impurity(batch, one.mask, batch.everything))


def _arranged(batch: Batch, rng: Generator) -> Split | None:
    kinds = ("ascending", "descending", "distinct", "neighbours equal", "split pair", "palindrome")
    first, second = _item(batch, 0), _item(batch, batch.length - 1)
    uniform = [Is(Tally(WHOLE, check), Compare("=", Number(0.0))) for check in (EVEN, ODD)]
    choices: list[Condition] = [Pattern(kind, WHOLE) for kind in kinds]
    choices += [Is(first, Compare(">", second)), *uniform, Is(first, Compare("=", second))]
    return split(batch, choices[int(rng.integers(len(choices)))])


# --- which families -----------------------------------------------------------------------------------------

Family = Callable[[Batch, Generator], Rule | None]


def families(batch: Batch) -> dict[Family, float]:
    if batch.sequential:
        return {pattern: 6.0, patterns: 3.0, cuts: 1.0, constant: 0.3}
    weights: dict[Family, float] = {cuts: 5.0, constant: 0.2}
    if len(batch.numeric) >= 2:
        weights |= {line: 2.0, circle: 1.5} if len(batch.numeric) == 2 else {line: 1.0, circle: 0.2}
    return weights
