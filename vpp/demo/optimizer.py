"""The optimizer: keeps its rule, revises it, fits another to the batch, or fits one to made-up rows."""

import hashlib
import math
import re
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property, partial
from itertools import pairwise
from operator import mul
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from vpp.demo import rules
from vpp.demo.prompt import Column, OptimizerQuestion, PriorQuestion
from vpp.demo.reading import read_rule
from vpp.demo.rules import AND, OR, Case, Part, Row, Rule, check, choice, node, number, total

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]
T = TypeVar("T")

# --- batches -------------------------------------------------------------------------------------------------

_WIDEST_SPAN, _FEWEST_COLUMNS = 20, 3


class Batch:
    """Rows with their targets: labels for classification, else numbers. Masks have an item for each row."""

    def __init__(self, rows: Sequence[Row], targets: Sequence[Any], columns: tuple[Column, ...] = ()) -> None:
        """columns: of the table that the rows are some of."""
        self.rows, self.targets = tuple(rows), tuple(targets)
        self.columns, self.labels = columns or rules.columns_of(self.rows), sorted(set(targets))
        self.has_labels = isinstance(targets[0], str)
        self.every = np.ones(len(self.rows), dtype=bool)
        self.whole = rules.items(self.columns)
        cells = [[row[one.name] for row in rows if row.get(one.name) is not None] for one in self.columns]
        some = [(rules.cell(column), each) for column, each in zip(self.columns, cells, strict=True) if each]
        self.numeric = [cell for cell, _ in some if cell.value.kind == "number"]
        self.categories = [cell for cell, each in some if cell.value.kind == "text" and len(set(each)) < len(each)]
        """Columns of texts, at least one of them in two rows."""

    @cached_property
    def is_sequential(self) -> bool:
        """Return whether rows are sequences: a cell holds one, or all columns hold small whole numbers of one range."""
        if any(one.kind == "numbers" for one in self.columns):
            return True
        if len(self.numeric) < max(_FEWEST_COLUMNS, len(self.columns)):
            return False
        table = np.array(list(map(self.values, self.numeric)))
        largest, span = np.nanmax(table, axis=1), np.nanmax(table) - np.nanmin(table)
        # Columns of one sequence have similar maxima, unlike flags and years.
        is_even = np.ptp(largest) <= 0.5 * np.nanmax(np.abs(table)) + 2
        return bool(is_even and span <= _WIDEST_SPAN and not np.nansum(table % 1))

    def rule(self, *cases: tuple[Part | None, Part]) -> Rule:
        return Rule(self.columns, tuple(Case(*one) for one in cases))

    def answers(self, rule: Rule) -> list[rules.Value]:
        return list(map(rules.compiled(rule), self.rows))

    def values(self, term: Part | Rule) -> Floats:
        """Values of a term, or numbers that a rule gives; NaN where it is not a number."""
        answers = self.answers(term if isinstance(term, Rule) else self.rule((None, term)))
        return np.array([value if isinstance(value, float) else math.nan for value in answers])

    def holds(self, condition: Part) -> Mask:
        return np.equal(self.values(self.rule((condition, number(1)))), 1)

    def has(self, target: Any) -> Mask:
        return np.array([one == target for one in self.targets])

    def wrong(self, rule: Rule) -> Mask:
        return np.array([answer != target for answer, target in zip(self.answers(rule), self.targets, strict=True)])

    def misses(self, condition: Part, inside: Mask, among: Mask) -> int:
        """Number of some rows that a condition puts on the wrong side."""
        return int((self.holds(condition) != inside)[among].sum())

    def usual(self, among: Mask) -> Part:
        """Return the most frequent label of some rows, or of all if there are none; or the mean."""
        some = [target for target, used in zip(self.targets, among, strict=True) if used or not among.any()]
        if self.has_labels:
            return rules.label(max(self.labels, key=some.count))
        return number(_rounded(float(np.mean(some)), 3))


def _sequence(row: Row) -> tuple[float, ...]:
    lists = [cell for cell in row.values() if isinstance(cell, tuple)]
    return lists[0] if lists else tuple(cell for cell in row.values() if isinstance(cell, float))


def _rounded(value: float, digits: int) -> float:
    return float(f"{value:.{digits}g}") + 0.0


def _between(term: Part, low: float, high: float) -> float:
    """Return the shortest number close to the middle of a gap; a whole one between whole values of a computed term."""
    middle, reach = (low + high) / 2, (high - low) / 5
    if term.kind != "X" and low % 1 == high % 1 == 0:
        return float(math.floor(middle))
    first = -math.floor(math.log10(max(abs(low), abs(high), reach)))
    shorter = (round(middle, decimals) for decimals in range(first, 16))
    return next((one for one in shorter if abs(one - middle) <= reach), middle) + 0.0


def _draw(weights: dict[T, float], rng: Generator) -> T:
    p = np.array(list(weights.values()))
    return list(weights)[int(rng.choice(len(p), p=p / p.sum()))]


def _pick(choices: Sequence[T], rng: Generator) -> T:
    return choices[int(rng.integers(len(choices)))]


def _two(choices: Sequence[T], rng: Generator) -> tuple[T, T]:
    first, second = sorted(rng.permutation(len(choices))[:2])
    return choices[first], choices[second]


# --- conditions that part the rows `inside` from others, among some rows -----------------------------------


def _threshold(batch: Batch, term: Part, inside: Mask, among: Mask, rng: Generator) -> Part | None:
    """Return the bound with the fewest errors; among ties the widest gap, or a random one."""
    values = batch.values(term)
    usable = among & ~np.isnan(values)
    points = np.unique(values[usable])
    if len(points) < 2:
        return None
    wrong = ((values[usable, None] <= points[:-1]) != inside[usable, None]).sum(axis=0)
    errors = np.minimum(wrong, usable.sum() - wrong)
    best = np.flatnonzero(errors == errors.min())
    gaps = (points[best + 1] - points[best]) / (points[-1] - points[0])
    at = int(rng.choice(best, p=gaps / gaps.sum())) if rng.random() < 0.5 else int(best[gaps.argmax()])
    bound = _between(term, float(points[at]), float(points[at + 1]))
    return check(term, rules.AT_MOST if wrong[at] == errors[at] else rules.ABOVE, bound)


def _membership(batch: Batch, cell: Part, inside: Mask, among: Mask) -> Part | None:
    """Return the condition for the categories that are mostly inside; None if these are none or all."""
    cells = np.array([row.get(cell.value.name) for row in batch.rows], dtype=object)
    kinds = sorted({one for one in cells[among] if isinstance(one, str)})
    chosen = [kind for kind in kinds if (cells[among & inside] == kind).sum() > (cells[among & ~inside] == kind).sum()]
    return check(cell, rules.ONE_OF, choice(*chosen)) if 0 < len(chosen) < len(kinds) else None


def _split(batch: Batch, inside: Mask, among: Mask, rng: Generator) -> Part | None:
    """Return the best condition on one of some columns, or a property of the sequence."""
    if batch.is_sequential:
        return _property(batch, inside, among, rng)
    cells = [*batch.numeric, *batch.categories]
    count = int(rng.integers(1, 1 + min(len(cells), 6))) if cells else 0
    some = [cells[at] for at in rng.permutation(len(cells))[:count]]
    conditions = [
        _membership(batch, cell, inside, among)
        if cell in batch.categories
        else _threshold(batch, cell, inside, among, rng)
        for cell in some
    ]
    return min(filter(None, conditions), key=lambda one: batch.misses(one, inside, among), default=None)


def _property(batch: Batch, inside: Mask, among: Mask, rng: Generator) -> Part | None:
    """Draw a property of sequences: a bound on a quantity, a remainder, numbers that it contains, or an arrangement."""
    sequences = list(map(_sequence, batch.rows))
    if not all(sequences):
        return None
    numbers = sorted({number for sequence in sequences for number in sequence})
    is_whole = all(number == math.floor(number) for number in numbers)
    kinds = {"bound": 0.35, "arrangement": 0.2} | ({"remainder": 0.3, "content": 0.15} if is_whole else {})
    match _draw(kinds, rng):
        case "bound":
            return _threshold(batch, _quantity(batch, numbers, rng), inside, among, rng)
        case "remainder":
            divisor, quantity = int(rng.choice([2, 2, 2, 2, 3, 4])), _quantity(batch, numbers, rng)
            test = node(rules.DIVISIBLE, divisor) if divisor > 2 else node(_pick((rules.EVEN, rules.ODD), rng))
            return node(rules.IS, quantity, test)
        case "content":
            count = node(rules.COUNT, _pick(numbers, rng), batch.whole)
            return check(count, rules.AT_LEAST, int(rng.choice([1, 1, 1, 2])))
        case "arrangement":
            return node(_pick(rules.ARRANGEMENTS, rng), batch.whole)
    return None


def _quantity(batch: Batch, numbers: Sequence[float], rng: Generator) -> Part:
    whole, length = batch.whole, min(len(_sequence(row)) for row in batch.rows)
    count, at = int(rng.integers(2, max(3, length))), int(rng.integers(length))
    parts = [rules.items(batch.columns, stop=count), rules.items(batch.columns, start=-count)]
    if batch.numeric[1:]:
        parts += [rules.items(batch.columns, [cell.value.name for cell in _two(batch.numeric, rng)])] * 2
    part = _pick(parts, rng)
    cells = batch.numeric or [node(one, whole) for one in rules.ITEMS[:length]]
    item, other = cells[at % len(cells)], cells[(at + 1) % len(cells)]
    above = node(rules.ABOVE, _pick(numbers, rng))
    return _pick(
        (
            node(rules.SUM, whole), node(rules.SUM, part), node(rules.SUM, part), node(rules.LARGEST, whole),
            node(rules.SMALLEST, whole), node(rules.PRODUCT, whole), node(rules.PRODUCT, part),
            node(rules.DISTINCT, whole), node(rules.EVENS, whole), node(rules.ODDS, whole), item, item, item,
            node(rules.MINUS, item, other), node(rules.RANGE, whole), node(rules.PASSING, above, whole),
        ),
        rng,
    )  # fmt: skip


# --- families of rules for labels ----------------------------------------------------------------------------


def _decided(batch: Batch, cases: Sequence[Case], left: Mask) -> Rule:
    """Return the rule of the cases; other rows have the most frequent label of those that are left."""
    rest = batch.usual(left)
    while cases and cases[-1].outcome == rest:
        cases = cases[:-1]
    return batch.rule(*cases, (None, rest))


def _cuts(batch: Batch, rng: Generator) -> Rule | None:
    """Part one label after another from the rest, each by one condition."""
    left, cases = batch.every, list[Case]()
    for _ in range(int(np.clip(len(batch.labels) - 1 + rng.integers(0, 2), 1, 4))):
        masks = {label: batch.has(label) for label in batch.labels if (batch.has(label) & left).any()}
        splits = [(_split(batch, inside, left, rng), label) for label, inside in masks.items() if len(masks) > 1]
        errors = {(one, label): batch.misses(one, masks[label], left) for one, label in splits if one}
        if not errors:
            break
        condition, label = _pick([one for one, error in errors.items() if error == min(errors.values())], rng)
        cases.append(Case(condition, rules.label(label)))
        left = left & ~batch.holds(condition)
    return _decided(batch, cases, left) if cases else None


def _usual(batch: Batch, _: Generator) -> Rule:
    return batch.rule((None, batch.usual(batch.every)))


def _pattern(batch: Batch, rng: Generator) -> Rule | None:
    """Part the labels by one property of the sequence, or by two."""
    inside = batch.has(batch.labels[0])
    some = [_property(batch, inside, batch.every, rng) for _ in range(1 + int(rng.random() < 1 / 3))]
    parts = list(filter(None, some))
    if not parts:
        return None
    condition = rules.joined(_draw({AND: 0.6, OR: 0.4}, rng), parts)
    holds = batch.holds(condition)
    return _decided(batch, [Case(condition, batch.usual(holds))], ~holds)


Place = Callable[[tuple[Part, Part], Floats, Floats, Generator], Part | None]
"""Makes a value of two columns. (n, 2) points of a label, (m, 2) other points."""


def _shape(place: Place, batch: Batch, rng: Generator) -> Rule | None:
    """Part a label by a bound on a value of two columns; of three labels, another by a condition."""
    pair, label = _two(batch.numeric, rng), _pick(batch.labels, rng)
    points = np.stack(list(map(batch.values, pair)), axis=1)
    known, inside = ~np.isnan(points).any(axis=1), batch.has(label)
    term = place(pair, points[known & inside], points[known & ~inside], rng)
    bound = term and _threshold(batch, term, inside, batch.every, rng)
    if bound is None:
        return None
    cases, left = [Case(bound, rules.label(label))], ~batch.holds(bound)
    if len(batch.labels) > 2 and left.any():
        other = batch.usual(left)
        if rest := _split(batch, batch.has(other.value), left, rng):
            cases, left = [*cases, Case(rest, other)], left & ~batch.holds(rest)
    return _decided(batch, cases, left)


def _slope(pair: tuple[Part, Part], points: Floats, others: Floats, _: Generator) -> Part | None:
    """Return the weighted sum that separates the points, as Fisher's discriminant does."""
    if not len(points) or not len(others):
        return None
    spread = points.var(axis=0) + others.var(axis=0) + 1e-3 * np.concatenate([points, others]).var(axis=0)
    if not (spread > 0).all():
        return None
    slope = (points.mean(axis=0) - others.mean(axis=0)) / spread
    weights = [_rounded(float(one), 1) for one in slope / (np.abs(slope).max() or 1.0)]
    return total(list(zip(weights, pair, strict=True))) if any(weights) else None


def _distance(pair: tuple[Part, Part], points: Floats, others: Floats, rng: Generator) -> Part | None:
    """Return the distance from the origin, or from the middle of the points."""
    cells = node(rules.POINT, *pair)
    if not len(points) or rng.random() < 0.6:
        return node(rules.RADIUS, cells)
    decimals = 1 - math.floor(math.log10(float(np.concatenate([points, others]).std()) or 1.0))
    centre = [float(round(one, decimals)) + 0.0 for one in points.mean(axis=0)]
    return node(rules.DISTANCE, node(rules.POINT, *centre), cells)


# --- families of formulas ------------------------------------------------------------------------------------


def _least_squares(batch: Batch, terms: Sequence[Part], rng: Generator) -> Rule | None:
    """Return the rule of a weighted sum of the terms; where a column is missing, the mean."""
    columns, y = [batch.values(term) for term in terms], np.array(batch.targets)
    known = ~np.isnan(np.array([*columns, y])).any(axis=0)
    design = np.stack([*columns, np.ones(len(y))], axis=1)[known]
    if len(design) < len(terms) + 1:
        return None
    solution, _, rank, _ = np.linalg.lstsq(design, y[known], rcond=None)
    if rank < design.shape[1]:
        return None
    digits = int(rng.choice([2, 3, 3]))
    weights = [_rounded(float(weight), digits) for weight in solution]
    formula = total([*zip(weights[:-1], terms, strict=True), (weights[-1], None)])
    missing = [cell for cell in batch.numeric if cell.needs and cell.needs == formula.needs[:1]]
    return batch.rule(*((check(cell, rules.ABSENT), batch.usual(batch.every)) for cell in missing), (None, formula))


def _column(batch: Batch, rng: Generator) -> Part:
    """Draw a column, those that the target follows more often."""
    weights = {}
    for cell in batch.numeric:
        x, y = batch.values(cell), np.array(batch.targets)
        known = ~np.isnan(x)
        is_flat = known.sum() < 3 or x[known].std() == 0 or y[known].std() == 0
        weights[cell] = 0.1 + (0.0 if is_flat else float(np.corrcoef(x[known], y[known])[0, 1]) ** 2)
    return _draw(weights, rng)


def _polynomial(degree: int, batch: Batch, rng: Generator) -> Rule | None:
    cell = _column(batch, rng)
    return _least_squares(batch, [*(node(rules.POWER, cell, power) for power in range(degree, 1, -1)), cell], rng)


def _plane(batch: Batch, rng: Generator) -> Rule | None:
    count = int(rng.integers(2, 1 + min(4, len(batch.numeric))))
    return _least_squares(batch, list(dict.fromkeys(_column(batch, rng) for _ in range(3 * count)))[:count], rng)


def _wave(batch: Batch, rng: Generator) -> Rule | None:
    """Fit a * sin(b * x) + c * cos(b * x) + d, with the best b on a grid from 0.3 to 2 periods over the rows' range."""
    cell = _column(batch, rng)
    span = float(np.nanmax(batch.values(cell)) - np.nanmin(batch.values(cell)))
    fits = []
    for turns in np.linspace(0.6, 4, 24) if span > 0 else ():
        angle = node(rules.TIMES, _rounded(turns * math.pi / span, 2), cell)
        fits.append(_least_squares(batch, [node(rules.SIN, angle), node(rules.COS, angle)], rng))
    return min(
        filter(None, fits), key=lambda fit: float(np.nansum((batch.values(fit) - batch.targets) ** 2)), default=None
    )


def _groups(batch: Batch, rng: Generator) -> Rule | None:
    """Give each category its mean."""
    cell = _pick(batch.categories, rng)
    kinds = sorted({one for row in batch.rows if isinstance(one := row.get(cell.value.name), str)})[:8]
    conditions = [check(cell, rules.ONE_OF, choice(kind)) for kind in kinds]
    return batch.rule(*((one, batch.usual(batch.holds(one))) for one in conditions), (None, batch.usual(batch.every)))


Fit = Callable[[Batch, Generator], Rule | None]
_FORMULAS: dict[Fit, tuple[Sequence[float], str]] = {
    _usual: ((0.5, 0.5, 0.5, 0.5), "(?!)"), partial(_polynomial, 1): ((0, 3, 3, 3), "line|straight"),
    _plane: ((0, 0, 4, 4), "line|straight"), partial(_polynomial, 2): ((0, 2, 1, 1), "parabola|quadratic|polynomial"),
    partial(_polynomial, 3): ((0, 0.7, 0.3, 0.3), "cubic|polynomial"),
    _wave: ((0, 0.8, 0.3, 0.3), "sine|sinus|wave|periodic|oscillat"),
}  # fmt: skip
"""How often a form is drawn, for tables of no, one, two and more columns of numbers; words of a belief that it is."""
_OF_LABELS: dict[Fit, tuple[Sequence[float], str]] = {
    _cuts: ((5, 5, 5, 5), "threshold|cut-off"), _usual: ((0.2, 0.2, 0.2, 0.2), "(?!)"),
}  # fmt: skip
_OF_COLUMNS = _OF_LABELS | {
    partial(_shape, _slope): ((0, 0, 2, 1), "line|straight"),
    partial(_shape, _distance): ((0, 0, 1.5, 0.2), "circ|radius|ring|distance"),
}
_OF_SEQUENCES = _OF_LABELS | {_pattern: ((40, 40, 40, 40), "even|odd|parity|contain")}


def families(batch: Batch, prior: str = "", power: float = 1.0) -> dict[Fit, float]:
    """Return weights of the forms of rules that suit the rows, and the text before the rule; all to a power."""
    forms = (_OF_SEQUENCES if batch.is_sequential else _OF_COLUMNS) if batch.has_labels else _FORMULAS
    if batch.categories and not batch.has_labels:
        forms = forms | {_groups: ((2, 2, 2, 2), "(?!)")}
    at, belief = min(len(batch.numeric), 3), prior.lower()
    weights = {fit: some[at] * (_HINTED if re.search(hints, belief) else 1) for fit, (some, hints) in forms.items()}
    return {fit: weight**power for fit, weight in weights.items() if weight}


_HINTED = 12.0
"""Weight factor of a family that the prior text hints at."""

# --- revisions of a rule -------------------------------------------------------------------------------------

_BOUNDS = (rules.ABOVE, rules.BELOW, rules.AT_LEAST, rules.AT_MOST)
_MOST_BOUNDS = 6


def revisions(rule: Rule, batch: Batch, rng: Generator) -> Iterator[tuple[str, Rule]]:
    """Yield rules like the current one, after the name of the change."""
    if not batch.has_labels:
        yield from _refitted(rule, batch, rng)
        return
    wrong, left = batch.wrong(rule), [batch.every]
    cases = [(one, outcome) for one, outcome in rule.cases if one]
    for at, (condition, _) in enumerate(cases):
        left.append(left[-1] & ~batch.holds(condition))
        yield from (("a bound moved", one) for one in _with_bound_moved(rule, at, condition, batch, rng))
        parts = condition.parts if condition.phrase in (AND, OR) else ()
        for part in parts:
            rest = rules.joined(condition.phrase or AND, [one for one in parts if one != part])
            yield "one of its parts left out", _with(rule, at, rest)
        if len(cases) > 1:
            yield "one of its cases left out", _with(rule, at, None)
    if cases and not batch.is_sequential:
        at = int(rng.integers(len(cases)))
        if other := _split(batch, batch.has(cases[at][1].value), left[at], rng):
            yield "another column", _with(rule, at, other)
    errors = [wrong & before & ~after for before, after in pairwise(left)]
    worst = max(range(len(cases)), key=lambda at: int(errors[at].sum()), default=0)
    if cases and errors[worst].any() and (narrower := _split(batch, ~wrong, left[worst] & ~left[worst + 1], rng)):
        yield "a further condition", _with(rule, worst, rules.joined(AND, [cases[worst][0], narrower]))
    missed = [label for label in batch.labels if (wrong & left[-1] & batch.has(label)).any()]
    label = _pick(missed, rng) if missed else ""
    if label and (wider := _split(batch, batch.has(label), left[-1], rng)):
        yield "a further case", batch.rule(*cases, (wider, rules.label(label)), *rule.cases[len(cases) :])


def _with(rule: Rule, at: int, condition: Part | None) -> Rule:
    """Return the rule with another condition of a case, or without the case."""
    case = () if condition is None else (rule.cases[at]._replace(condition=condition),)
    return rule._replace(cases=(*rule.cases[:at], *case, *rule.cases[at + 1 :]))


def _with_bound_moved(rule: Rule, at: int, condition: Part, batch: Batch, rng: Generator) -> Iterator[Rule]:
    """Yield the rule with each bound of a case where it has the fewest errors."""
    for old in rules.conditions_in(condition)[:_MOST_BOUNDS]:
        if old.phrase == rules.IS and old.parts[1].phrase in _BOUNDS and old.parts[1].parts[0].kind == "D":
            term, bound = old.parts
            points = np.unique(batch.values(term))
            gaps = pairwise(points[~np.isnan(points)].tolist())
            bounds = [check(term, bound.phrase or rules.ABOVE, _between(term, low, high)) for low, high in gaps]
            moved = [_with(rule, at, _swapped(condition, old, new)) for new in bounds]
            errors = np.array([batch.wrong(one).sum() for one in moved])
            if moved:
                yield moved[int(rng.choice(np.flatnonzero(errors == errors.min())))]


def _swapped(condition: Part, old: Part, new: Part) -> Part:
    if condition.phrase == rules.NOT:
        return node(rules.NOT, _swapped(condition.parts[0], old, new))
    if condition.phrase in (AND, OR):
        return rules.joined(condition.phrase, [_swapped(one, old, new) for one in condition.parts])
    return new if condition == old else condition


def _refitted(rule: Rule, batch: Batch, rng: Generator) -> Iterator[tuple[str, Rule]]:
    *cases, last = rule.cases
    if last.condition is None:
        basis = dict.fromkeys(term for term in rules.terms_in(last.outcome) if term.kind != "D")
        if fit := _least_squares(batch, list(basis), rng):
            yield "other coefficients", batch.rule(*cases, fit.cases[-1])


# --- proposals -----------------------------------------------------------------------------------------------

_FEWEST_ROWS = 3
_BOLDNESS = 0.3
"""Scale of the random part of a candidate's score at temperature 1. Scores are in errors, or in log-likelihood."""
_PER_CONDITION, _PER_TERM = 0.4, 1.0
"""Penalty of a condition, and of a term of a formula."""
_STAYING, _STAYING_FORMULA = 1.6, 0.5
"""Bonus of the current rule; of one for labels only if it tells some apart, or has no error."""
_NEAR = 0.3
"""Bonus of a revision of the current rule."""
_HASTE = 0.4
"""Probability of a revision of a rule for labels whose fit is not looked at, at temperature 1."""
_REACH = 2.0
"""Largest error of a formula on any row, in ranges of the targets."""
_PROBES = 200


class Idea(NamedTuple):
    """A candidate for the next rule."""

    rule: Rule
    score: float
    why: str


def propose(question: OptimizerQuestion | PriorQuestion, *, temperature: float, seed: int) -> str:
    """Answer with a rule; without rows, with one that is fitted to made-up rows."""
    key = repr((question, float(temperature), int(seed))).encode(errors="replace")
    rng = np.random.default_rng(int.from_bytes(hashlib.sha256(key).digest()[:16]))
    if isinstance(question, PriorQuestion):
        reasoning, text = "I have seen no row, so this is a guess.", _guess(question, temperature, rng).say()
    else:
        reasoning, text = _revision(question, temperature, rng)
    return f"Reasoning: {reasoning}\n\n{question.heading}:\n{text}"


def _revision(question: OptimizerQuestion, temperature: float, rng: Generator) -> tuple[str, str]:
    """Return the reasoning and the next rule's text: the current one word for word if it stays."""
    targets: Sequence[Any] = question.targets if question.labels else list(map(rules.read_number, question.targets))
    rows = list(map(rules.read_row, question.inputs))
    pairs = [(row, target) for row, target in zip(rows, targets, strict=True) if target is not None and row]
    if not pairs:
        rest = rules.label(question.labels[0]) if question.labels else number(0)
        return "I can read no rows here.", Rule((), (Case(None, rest),)).say()
    batch = Batch(*zip(*pairs, strict=True))
    reading = read_rule(question.rule, batch.columns, question.labels)
    ideas = _ideas(batch, reading.rule, question.rule[: reading.start], temperature, rng)
    luck = temperature * _BOLDNESS * rng.gumbel(size=len(ideas))
    order = np.argsort(-(np.array([idea.score for idea in ideas]) + luck))
    differs = teller(batch, reading.rule, rng) if reading.rule else None
    ranked = [ideas[at] for at in order if not differs or ideas[at].rule == reading.rule or differs(ideas[at].rule)]
    rule, _, why = (ranked or ideas)[0]
    return why, question.rule[reading.start :].strip() if rule == reading.rule else rule.say()


def _ideas(batch: Batch, current: Rule | None, prior: str, temperature: float, rng: Generator) -> list[Idea]:
    """Return the current rule, revisions of it, and rules of other forms."""
    seen = batch
    if not batch.has_labels or (current is None and not batch.is_sequential):
        # Some of the rows, so that a first rule may be too simple, or use a column that means nothing. But a few
        # sequences fit too many properties: the rule guessed from them would hardly ever be the right one.
        share = 1 - temperature * rng.uniform(*((0.3, 1.1) if batch.has_labels else (0.5, 1.4)))
        count = max(_FEWEST_ROWS, round(len(batch.rows) * float(np.clip(share, 0, 1))))
        chosen = sorted(rng.permutation(len(batch.rows))[:count])
        seen = Batch([batch.rows[at] for at in chosen], [batch.targets[at] for at in chosen], batch.columns)

    def idea(rule: Rule, bonus: float, words: str) -> Idea:
        return Idea(rule, _score(seen, rule) + bonus, f"{words} {_fit(seen, rule)}.")

    ideas = []
    if current is not None:
        # Ten rows may have one label by chance: a rule that tells labels apart is not given up for it.
        is_useful = not batch.wrong(current).any() or len(set(batch.answers(current))) > 1
        ideas.append(
            idea(current, _STAYING * is_useful if batch.has_labels else _STAYING_FORMULA, "I keep the rule: it")
        )
        near = list(revisions(current, seen, rng))
        if near and batch.has_labels and rng.random() < temperature * _HASTE:
            return [ideas[0]._replace(score=-math.inf), *(Idea(rule, 0.0, f"I try {words}.") for words, rule in near)]
        ideas += [idea(rule, _NEAR, f"The rule with {words}") for words, rule in near]
    weights = families(seen, prior)
    some = [_draw(weights, rng)(seen, rng) for _ in range(1 + int(rng.poisson(temperature)))]
    ideas += [idea(rule, 0.0, "A rule of another form") for rule in filter(None, some)]
    if not batch.has_labels:
        reach = _REACH * float(np.ptp(batch.targets)) + 1e-9
        misses = [np.abs(batch.values(one.rule) - batch.targets).max() for one in ideas]
        ideas = [one for one, miss in zip(ideas, misses, strict=True) if one.rule == current or miss <= reach]
    return ideas or [Idea(_usual(batch, rng), 0.0, "I see no form here, so I take the most common answer.")]


def _mean_square(seen: Batch, formula: Rule) -> float:
    misses = np.nan_to_num(seen.values(formula) - seen.targets, nan=float(np.abs(seen.targets).max()))
    with np.errstate(over="ignore"):
        return float((misses**2).mean())


def _score(seen: Batch, rule: Rule) -> float:
    """Return minus the errors, or the log-likelihood of a formula, less penalties for length."""
    if seen.has_labels:
        length = sum(len(rules.conditions_in(one)) for one, _ in rule.cases if one)
        return -float(seen.wrong(rule).sum()) - _PER_CONDITION * length
    length = len(rule.cases) - 1 + sum(len(rules.terms_in(outcome)) for _, outcome in rule.cases)
    floor = 1e-3 * float(np.var(seen.targets)) + 1e-12
    return -0.5 * len(seen.rows) * math.log(_mean_square(seen, rule) + floor) - _PER_TERM * length


def _fit(seen: Batch, rule: Rule) -> str:
    size = len(seen.rows)
    if seen.has_labels:
        return f"gets {size - int(seen.wrong(rule).sum())} of the {size} rows I looked at right"
    return f"misses by {math.sqrt(_mean_square(seen, rule)):.3g} (root mean square) on the {size} rows I looked at"


def teller(batch: Batch, old: Rule, rng: Generator) -> Callable[[Rule], bool]:
    """Return a function that tells whether a rule answers some row, or some mixture of the rows, differently."""
    pairs = rng.integers(len(batch.rows), size=(_PROBES, len(batch.columns), 2))
    shares = rng.random((_PROBES, len(batch.columns)))
    rows, names = batch.rows, [column.name for column in batch.columns]
    probes = list(rows)
    for some, each in zip(pairs, shares.tolist(), strict=True):
        cells = zip(names, some, each, strict=True)
        probes.append({key: _mixed(rows[at].get(key), rows[to].get(key), share) for key, (at, to), share in cells})
    answers = list(map(rules.compiled(old), probes))
    return lambda rule: list(map(rules.compiled(rule), probes)) != answers


def _mixed(one: rules.Value, other: rules.Value, share: float) -> rules.Value:
    if not isinstance(one, float) or not isinstance(other, float):
        return one
    value = one + share * (other - one)
    return float(round(value)) if one % 1 == other % 1 == 0 else value


# --- rules without rows, fitted to made-up ones --------------------------------------------------------------

_ROWS = 10
_SEQUENCE_LENGTH = 4
_TRIES = 8
"""Most draws until a rule has a condition."""
_COLDEST = 0.2
"""Lowest effective temperature of the choice of a form."""
_SCALES = (0.5, 0.7, 1.0, 1.5, 2.0, 3.0, 5.0, 10.0)
_LETTERS = "aeionrst"


def _guess(question: PriorQuestion, temperature: float, rng: Generator) -> Rule:
    texts = [name for name, kind in question.columns if kind not in ("number", "sequence")]
    labels = [question.labels[int(at)] for at in rng.permutation(len(question.labels))]
    if labels and texts and rng.random() < len(texts) / len(question.columns):
        cell = rules.cell(Column("c0", _pick(texts, rng), "text", (), False))
        letter = check(cell, rules.CONTAIN, choice(_pick(_LETTERS, rng)))
        return Rule((cell.value,), (Case(letter, rules.label(labels[0])), Case(None, rules.label(labels[-1]))))
    # All columns hold digits, or numbers about zero.
    scale = float(rng.choice(_SCALES)) if rng.random() < 0.4 else None
    columns = [(name, kind) for name, kind in question.columns if name not in texts]
    rows = [{name: _cell(kind, scale, rng) for name, kind in columns} for _ in range(_ROWS)]
    slopes = rng.integers(-4, 5, size=len(columns))
    numbers = [float(sum(map(mul, slopes, _sequence(row))) + rng.integers(-5, 6) + rng.normal()) for row in rows]
    batch = Batch(rows, [labels[at % len(labels)] for at in range(_ROWS)] if labels else numbers)
    weights = families(batch, question.rule, 1 / max(temperature, _COLDEST))
    tries = (_draw(weights, rng)(batch, rng) for _ in range(_TRIES))
    some = (rule for rule in tries if rule is not None and (rule.cases[1:] or not labels))
    return next(some, batch.rule((None, rules.label(labels[0]) if labels else number(0))))


def _cell(kind: str, scale: float | None, rng: Generator) -> rules.Value:
    if kind == "sequence":
        return tuple(float(digit) for digit in rng.integers(10, size=_SEQUENCE_LENGTH))
    return float(rng.integers(10)) if scale is None else _rounded(scale * float(rng.normal()), 2)
