"""Batches of rows, and families of rules fitted to them: for labels, and for numbers."""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from vpp.demo import rules
from vpp.demo.rules import WHOLE, Case, Cell, Compare, Fold, Formula, Is, Number, Rule, Tally, Term, total

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]
F = TypeVar("F")

_WIDEST_SPAN = 20
_FEWEST_COLUMNS = 3


@dataclass(frozen=True)
class Batch:
    """Rows with their targets: labels for classification, else numbers."""

    rows: tuple[rules.Row, ...]
    targets: tuple[str, ...] | tuple[float, ...]

    @cached_property
    def names(self) -> tuple[str, ...]:
        return tuple(self.rows[0].cells) if self.rows else ()

    @cached_property
    def numeric(self) -> tuple[str, ...]:
        """Columns with numbers or missing cells only."""
        return tuple(name for name in self.names if _hold(self.cells(name), float))

    @cached_property
    def categories(self) -> tuple[str, ...]:
        """Columns with texts or missing cells only, at least one text in two rows."""
        columns = {name: self.cells(name) for name in self.names if _hold(self.cells(name), str)}
        return tuple(name for name, cells in columns.items() if any(cells.count(cell) > 1 for cell in cells if cell))

    @cached_property
    def columns(self) -> tuple[str, ...]:
        return self.numeric + self.categories

    def cells(self, name: str) -> list[object]:
        return [row.cells.get(name) for row in self.rows]

    def kinds(self, name: str, among: Mask) -> list[str]:
        """Sorted texts of a column in some rows."""
        cells = zip(self.cells(name), among, strict=True)
        return sorted({cell for cell, used in cells if used and isinstance(cell, str)})

    @cached_property
    def sequential(self) -> bool:
        """Return whether rows are sequences: a cell holds one, or all columns hold small whole numbers of one range."""
        if any(isinstance(value, tuple) for value in self.rows[0].cells.values()):
            return True
        if len(self.numeric) < max(_FEWEST_COLUMNS, len(self.names)):
            return False
        every = [number for row in self.rows for number in row.numbers]
        whole = all(number == math.floor(number) for number in every)
        if not whole or max(every) - min(every) > _WIDEST_SPAN:
            return False
        # Columns of one sequence have similar maxima, unlike flags and years.
        largest = [float(np.nanmax(self.values(Cell(name)))) for name in self.numeric]
        return max(largest) - min(largest) <= 0.5 * max(abs(number) for number in largest) + 2

    @cached_property
    def length(self) -> int:
        return min(len(row.sequence) for row in self.rows)

    def values(self, term: Term) -> Floats:
        """(size,) the term's value in each row; NaN if it is not a number."""
        return _numbers(term.of(row) for row in self.rows)

    @cached_property
    def labels(self) -> tuple[str, ...]:
        texts = [str(target) for target in self.targets]
        return tuple(sorted(set(texts), key=lambda label: (-texts.count(label), label)))

    @cached_property
    def codes(self) -> NDArray[np.int64]:
        """(size,) index of each target in `labels`."""
        return np.array([self.labels.index(str(target)) for target in self.targets])

    @cached_property
    def everything(self) -> Mask:
        return np.ones(len(self.rows), dtype=bool)

    @cached_property
    def y(self) -> Floats:
        return np.array([float(target) for target in self.targets])

    def errors(self, rule: Rule) -> int:
        return sum(rule.answer(row) != target for row, target in zip(self.rows, self.targets, strict=True))

    def predictions(self, rule: Rule) -> Floats:
        return _numbers(rule.answer(row) for row in self.rows)


def part(batch: Batch, mask: Mask) -> Batch:
    at = np.flatnonzero(mask)
    return Batch(tuple(batch.rows[one] for one in at), tuple(batch.targets[one] for one in at))  # type: ignore[arg-type]


def _hold(cells: list[object], kind: type) -> bool:
    return any(cell is not None for cell in cells) and all(isinstance(cell, kind | None) for cell in cells)


def _numbers(values: Iterable[rules.Value]) -> Floats:
    return np.array([value if isinstance(value, float) else math.nan for value in values])


def round_to(value: float, digits: int) -> float:
    return float(f"{value:.{digits}g}") + 0.0


def round_between(low: float, high: float, share: float = 0.2) -> float:
    """Return the shortest number close to the middle of a gap, within a share of its width; low without a gap."""
    middle, reach = (low + high) / 2, (high - low) * share
    if not reach > 0:
        return low
    decimals = -math.floor(math.log10(max(abs(low), abs(high), reach)))
    while decimals < 15 and abs(round(middle, decimals) - middle) > reach:
        decimals += 1
    return float(round(middle, decimals)) + 0.0


def draw(weights: dict[F, float], rng: Generator) -> F:
    p = np.array(list(weights.values()))
    return list(weights)[int(rng.choice(len(p), p=p / p.sum()))]


def pick(choices: Sequence[F], rng: Generator) -> F:
    return choices[int(rng.integers(len(choices)))]


class Split(NamedTuple):
    """A condition, and the rows of the batch on which it holds."""

    condition: rules.Condition
    mask: Mask


def _split(batch: Batch, condition: rules.Condition) -> Split:
    return Split(condition, np.array([condition.holds(row) is True for row in batch.rows]))


def _majority(batch: Batch, mask: Mask) -> tuple[str, int]:
    """Return the most frequent label of some rows, and how many of them have another."""
    counts = np.bincount(batch.codes[mask], minlength=len(batch.labels))
    best = int(counts.argmax())
    return batch.labels[best], int(mask.sum() - counts[best])


def _impurity(batch: Batch, mask: Mask, among: Mask) -> int:
    return _majority(batch, mask & among)[1] + _majority(batch, ~mask & among)[1]


def cut(batch: Batch, term: Term, among: Mask, rng: Generator) -> Split | None:
    """Return the threshold on a term with the fewest errors; among ties the widest gap, or a random one."""
    values = batch.values(term)
    usable = among & ~np.isnan(values)
    points = np.unique(values[usable])
    if len(points) < 2:
        return None
    errors = np.array([_impurity(batch, values <= point, usable) for point in points[:-1]])
    best = np.flatnonzero(errors == errors.min())
    gaps = (points[best + 1] - points[best]) / (points[-1] - points[0])
    chosen = int(rng.choice(best, p=gaps / gaps.sum())) if rng.random() < 0.5 else int(best[gaps.argmax()])
    low, high = float(points[chosen]), float(points[chosen + 1])
    whole = not isinstance(term, Cell) and low == math.floor(low) and high == math.floor(high)
    at = float(math.floor((low + high) / 2)) if whole else round_between(low, high)
    return Split(Is(term, Compare("<=", Number(at))), values <= at)


def membership(batch: Batch, name: str, kinds: Sequence[str]) -> Split:
    return Split(Is(Cell(name), rules.OneOf(tuple(kinds))), np.array([cell in kinds for cell in batch.cells(name)]))


def _leading(batch: Batch, name: str, among: Mask) -> Split | None:
    """Return the categories of a column whose most frequent label equals the first category's."""
    kinds = batch.kinds(name, among)
    label = [_majority(batch, membership(batch, name, [kind]).mask & among)[0] for kind in kinds]
    group = [kind for kind, one in zip(kinds, label, strict=True) if one == label[0]]
    return membership(batch, name, group if len(group) < len(kinds) else kinds[:1]) if len(kinds) > 1 else None


def _decide(batch: Batch, *splits: Split) -> Rule:
    """Return the rule that tests the conditions in turn and answers each with its most frequent label."""
    left = batch.everything
    cases = []
    for one in splits:
        cases.append(Case(one.condition, _majority(batch, one.mask & left)[0]))
        left = left & ~one.mask
    rest = _majority(batch, left if left.any() else ~left)[0]
    while cases and cases[-1].outcome == rest:
        cases.pop()
    return Rule(tuple(cases), rest)


def flipped(one: Split) -> Split:
    """Return the complement of a cut; other splits unchanged."""
    match one.condition:
        case Is(term=term, check=Compare(sign="<=", other=other)):
            return Split(Is(term, Compare(">", other)), ~one.mask)
    return one


def _purer_first(batch: Batch, one: Split, among: Mask, rng: Generator) -> Split:
    """Return the side with fewer errors, so that later conditions split the other side."""
    inside, outside = (_majority(batch, mask & among)[1] for mask in (one.mask, ~one.mask))
    return flipped(one) if inside > outside or (inside == outside and rng.random() < 0.5) else one


def best_column(batch: Batch, among: Mask, rng: Generator) -> Split | None:
    if not batch.columns:
        return None
    few = rng.permutation(len(batch.columns))[: int(rng.integers(1, 1 + min(len(batch.columns), 6)))]
    splits = [
        cut(batch, Cell(name), among, rng) if name in batch.numeric else _leading(batch, name, among)
        for name in (batch.columns[at] for at in few)
    ]
    usable = [one for one in splits if one is not None]
    return min(usable, key=lambda one: _impurity(batch, one.mask, among), default=None)


LabelFamily = Callable[[Batch, Generator], Rule | None]


def cuts(batch: Batch, rng: Generator) -> Rule | None:
    left = batch.everything
    splits: list[Split] = []
    for _ in range(int(np.clip(len(batch.labels) - 1 + rng.integers(0, 2), 1, 4))):
        one = best_column(batch, left, rng)
        if one is None or len(set(batch.codes[left])) < 2:
            break
        splits.append(_purer_first(batch, one, left, rng))
        left = left & ~splits[-1].mask
    return _decide(batch, *splits) if splits else None


def _commonest(batch: Batch, _: Generator) -> Rule | None:
    return Rule((), batch.labels[0])


def _two_columns(batch: Batch, rng: Generator) -> tuple[str, str]:
    first, second = sorted(rng.permutation(len(batch.numeric))[:2])
    return batch.numeric[first], batch.numeric[second]


def border(batch: Batch, rng: Generator) -> Rule | None:
    """Return the rule of a straight line through two columns."""
    slope = _slope(batch, rng)
    one = None if slope is None else cut(batch, slope, batch.everything, rng)
    if one is None:
        return None
    one = _purer_first(batch, one, batch.everything, rng)
    rest = best_column(batch, ~one.mask, rng) if len(batch.labels) > 2 else None
    return _decide(batch, one) if rest is None else _decide(batch, one, rest)


def _points(batch: Batch, pair: tuple[str, str]) -> tuple[Floats, Mask]:
    """(size, 2) values of two columns, and which rows have both."""
    points = np.stack([batch.values(Cell(name)) for name in pair], axis=1)
    return points, np.all(~np.isnan(points), axis=1)


def _slope(batch: Batch, rng: Generator) -> Term | None:
    """Return a weighted sum of two columns that separates a label from the others."""
    pair = _two_columns(batch, rng)
    points, known = _points(batch, pair)
    label = int(rng.integers(min(2, len(batch.labels))))
    inside, outside = points[known & (batch.codes == label)], points[known & (batch.codes != label)]
    if not len(inside) or not len(outside):
        return None
    spread = inside.var(axis=0) + outside.var(axis=0) + 1e-3 * points[known].var(axis=0)
    if not (spread > 0).all():
        return None
    slope = (inside.mean(axis=0) - outside.mean(axis=0)) / spread
    if not slope.any():
        return None
    weights = (round_to(float(one), 1) for one in slope / np.abs(slope).max())
    return total([(weight, Cell(name)) for weight, name in zip(weights, pair, strict=True)])


def circle(batch: Batch, rng: Generator) -> Rule | None:
    pair = _two_columns(batch, rng)
    points, known = _points(batch, pair)
    inside = points[(batch.codes == int(rng.integers(len(batch.labels)))) & known]
    if not len(inside):
        return None
    middle = inside.mean(axis=0) if rng.random() < 0.4 else np.zeros(2)
    decimals = 1 - math.floor(math.log10(float(np.nanstd(points)) or 1.0))
    centre = tuple(float(round(one, decimals)) + 0.0 for one in middle)
    one = cut(batch, rules.Distance((Cell(pair[0]), Cell(pair[1])), centre), batch.everything, rng)
    return None if one is None else _decide(batch, one)


def pattern(batch: Batch, rng: Generator) -> Rule | None:
    one = a_property(batch, rng)
    return None if one is None else _decide(batch, one)


def _patterns(batch: Batch, rng: Generator) -> Rule | None:
    first, second = a_property(batch, rng), a_property(batch, rng)
    if first is None or second is None or first.condition == second.condition:
        return None
    both = rng.random() < 0.6
    mask = first.mask & second.mask if both else first.mask | second.mask
    return _decide(batch, Split(rules.Joint("and" if both else "or", (first.condition, second.condition)), mask))


def a_property(batch: Batch, rng: Generator) -> Split | None:
    if batch.length < 1:
        return None
    makers: dict[Callable[[Batch, Generator], Split | None], float] = {_bounded: 0.35, _arranged: 0.2}
    if all(number == math.floor(number) for row in batch.rows for number in row.sequence):
        makers |= {_divisible: 0.3, _containing: 0.15}
    return draw(makers, rng)(batch, rng)


def _quantity(batch: Batch, rng: Generator) -> Term:
    part = _part(batch, rng)
    place = int(rng.integers(batch.length))
    item, other = _item(batch, place), _item(batch, (place + 1) % batch.length)
    choices: tuple[Term, ...] = (
        Fold("sum", WHOLE), Fold("sum", part), Fold("sum", part), Fold("largest", WHOLE), Fold("smallest", WHOLE),
        Fold("product", WHOLE), Fold("product", part), Fold("distinct", WHOLE), Tally(WHOLE, rules.EVEN),
        Tally(WHOLE, rules.ODD), item, item, item, Formula("-", (item, other)),
        Formula("-", (Fold("largest", WHOLE), Fold("smallest", WHOLE))),
        Tally(WHOLE, Compare(">", Number(_level(batch, rng)))),
    )  # fmt: skip
    return pick(choices, rng)


def _part(batch: Batch, rng: Generator) -> rules.Items:
    """Draw a part of the sequence: its first or last items, or two of its columns."""
    if len(batch.numeric) >= 2 and rng.random() < 0.5:
        return rules.Items(_two_columns(batch, rng))
    count = int(rng.integers(2, max(3, batch.length)))
    return rules.Items(stop=count) if rng.random() < 0.5 else rules.Items(start=-count)


def _item(batch: Batch, place: int) -> Term:
    if batch.numeric and len(batch.numeric) == batch.length:
        return Cell(batch.numeric[place])
    return Fold("last" if place == batch.length - 1 else list(rules.ORDINALS)[min(place, 4)], WHOLE)


def _level(batch: Batch, rng: Generator) -> float:
    return float(pick(sorted({number for row in batch.rows for number in row.sequence}), rng))


def _divisible(batch: Batch, rng: Generator) -> Split | None:
    check = rules.Multiple(int(rng.choice([2, 2, 2, 2, 3, 4])))
    return _split(batch, Is(_quantity(batch, rng), check))


def _bounded(batch: Batch, rng: Generator) -> Split | None:
    one = cut(batch, _quantity(batch, rng), batch.everything, rng)
    return one if one is None or rng.random() < 0.5 else flipped(one)


def _containing(batch: Batch, rng: Generator) -> Split | None:
    few = {_level(batch, rng) for _ in range(int(rng.integers(1, 3)))}
    least = Compare(">=", Number(float(rng.choice([1, 1, 1, 2]))))
    splits = [_split(batch, Is(Tally(WHOLE, Compare("=", Number(number))), least)) for number in sorted(few)]
    return min(splits, key=lambda one: _impurity(batch, one.mask, batch.everything))


def _arranged(batch: Batch, rng: Generator) -> Split | None:
    first, last = _item(batch, 0), _item(batch, batch.length - 1)
    uniform = [Is(Tally(WHOLE, check), Compare("=", Number(0.0))) for check in (rules.EVEN, rules.ODD)]
    choices: list[rules.Condition] = [rules.Pattern(kind, WHOLE) for kind in rules.PATTERNS]
    choices += [Is(first, Compare(">", last)), *uniform, Is(first, Compare("=", last))]
    return _split(batch, pick(choices, rng))


def label_families(batch: Batch) -> dict[LabelFamily, float]:
    if batch.sequential:
        return {pattern: 6.0, _patterns: 3.0, cuts: 1.0, _commonest: 0.3}
    weights: dict[LabelFamily, float] = {cuts: 5.0, _commonest: 0.2}
    if len(batch.numeric) >= 2:
        weights |= {border: 2.0, circle: 1.5} if len(batch.numeric) == 2 else {border: 1.0, circle: 0.2}
    return weights


NumberFamily = Callable[[Batch, Floats, Generator], Rule | None]
"""Fits a formula to the rows whose weight is 1, not 0."""


def least_squares(batch: Batch, terms: Sequence[Term], selected: Floats, digits: int) -> Term | None:
    columns = [batch.values(term) for term in terms]
    known = (selected > 0) & ~np.isnan(np.array([*columns, batch.y])).any(axis=0)
    if known.sum() < len(terms) + 1:
        return None
    design = np.stack([*columns, np.ones(len(batch.rows))], axis=1)[known]
    solution, _, rank, _ = np.linalg.lstsq(design, batch.y[known], rcond=None)
    if rank < design.shape[1]:
        return None
    weights = [round_to(float(weight), digits) for weight in solution]
    return total([*zip(weights[:-1], terms, strict=True), (weights[-1], None)])


def some_digits(rng: Generator) -> int:
    return int(rng.choice([2, 3, 3]))


def _column(batch: Batch, rng: Generator) -> Cell:
    return draw({Cell(name): _correlation(batch.values(Cell(name)), batch.y) ** 2 + 0.1 for name in batch.numeric}, rng)


def _correlation(x: Floats, y: Floats) -> float:
    known = ~np.isnan(x)
    if known.sum() < 3 or x[known].std() == 0 or y[known].std() == 0:
        return 0.0
    return float(np.corrcoef(x[known], y[known])[0, 1])


def mean(batch: Batch, rows: Mask, digits: int = 3) -> Number:
    return Number(round_to(float(batch.y[rows].mean()), digits))


def _flat(batch: Batch, selected: Floats, rng: Generator) -> Rule | None:
    return Rule((), mean(batch, selected > 0, some_digits(rng)))


def _polynomial(degree: int) -> NumberFamily:
    def fit(batch: Batch, selected: Floats, rng: Generator) -> Rule | None:
        cell = _column(batch, rng)
        powers = [Formula("^", (cell, Number(float(power)))) for power in range(degree, 1, -1)]
        return _with_missing(batch, cell, least_squares(batch, [*powers, cell], selected, some_digits(rng)))

    return fit


line, quadratic, cubic = _polynomial(1), _polynomial(2), _polynomial(3)


def plane(batch: Batch, selected: Floats, rng: Generator) -> Rule | None:
    count = int(rng.integers(2, 1 + min(4, len(batch.numeric))))
    chosen = list(dict.fromkeys(_column(batch, rng) for _ in range(3 * count)))[:count]
    return _with_missing(batch, chosen[0], least_squares(batch, chosen, selected, 3))


def sine(batch: Batch, selected: Floats, rng: Generator) -> Rule | None:
    """Return the rule a * sin(b * x + c) + d, with b on a grid from 0.3 to 2 periods over the rows' range."""
    cell = _column(batch, rng)
    known = (selected > 0) & ~np.isnan(batch.values(cell))
    x, y = batch.values(cell)[known], batch.y[known]
    span = float(np.ptp(x)) if known.sum() > 3 else 0.0
    if span <= 0:
        return None
    rates = np.unique([round_to(turns * np.pi / span, 2) for turns in np.linspace(0.6, 4, 24)])
    designs = [np.stack([np.sin(rate * x), np.cos(rate * x), np.ones(len(x))], axis=1) for rate in rates]
    waves = [np.linalg.lstsq(design, y, rcond=0.05)[0] for design in designs]
    misses = [((design @ wave - y) ** 2).sum() for design, wave in zip(designs, waves, strict=True)]
    best = int(np.argmin(misses))
    along, across, level = (float(weight) for weight in waves[best])
    shift, digits = round(float(np.arctan2(across, along)), 2), some_digits(rng)
    angle = total([(float(rates[best]), cell), *([(shift, None)] if shift else [])])
    height = round_to(float(np.hypot(along, across)), digits)
    return Rule((), total([(height, Formula("sin", (angle,))), (round_to(level, digits), None)]))


def groups(batch: Batch, selected: Floats, rng: Generator) -> Rule | None:
    name = pick(batch.categories, rng)
    splits = [membership(batch, name, [kind]) for kind in batch.kinds(name, batch.everything)[:8]]
    cases = tuple(Case(one.condition, mean(batch, one.mask)) for one in splits)
    return Rule(cases, mean(batch, batch.everything))


def _with_missing(batch: Batch, cell: Cell, term: Term | None) -> Rule | None:
    has_missing = bool(np.isnan(batch.values(cell)).any())
    cases = (Case(Is(cell, rules.Absent()), mean(batch, batch.everything)),) if has_missing else ()
    return None if term is None else Rule(cases, term)


def number_families(batch: Batch) -> dict[NumberFamily, float]:
    weights: dict[NumberFamily, float] = {_flat: 0.5}
    if batch.numeric:
        weights |= {line: 3.0, quadratic: 2.0, cubic: 0.7, sine: 0.8}
    if len(batch.numeric) >= 2:
        weights |= {plane: 4.0, quadratic: 1.0, cubic: 0.3, sine: 0.3}
    if batch.categories:
        weights[groups] = 2.0
    return weights
