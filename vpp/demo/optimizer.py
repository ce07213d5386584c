"""The optimizer: keeps its rule, revises it, fits another to the batch, or fits one to made-up rows."""

import hashlib
import math
import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import pairwise
from operator import mul
from typing import Any, TypeVar

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
        self.rows, self.targets = tuple(rows), np.array(targets, dtype=object)
        self.columns = columns or rules.columns_of(self.rows)
        self.labels = sorted(set(targets)) if isinstance(targets[0], str) else []
        self.every = np.ones(len(self.rows), dtype=bool)
        self.whole = rules.items(self.columns)
        cells = {
            rules.cell(column): [row[column.name] for row in rows if row.get(column.name)] for column in self.columns
        }
        self.numeric = [
            cell for cell, some in cells.items() if cell.type == "number" and not np.isnan(self.values(cell)).all()
        ]
        self.categories = [cell for cell, some in cells.items() if cell.type == "text" and len(set(some)) < len(some)]
        """Columns of texts, at least one of them in two rows."""
        self.is_sequential = any(column.kind == "numbers" for column in self.columns) or self._has_one_range()

    def _has_one_range(self) -> bool:
        """Return whether all columns hold small whole numbers of one range, unlike flags and years."""
        if len(self.numeric) < max(_FEWEST_COLUMNS, len(self.columns)):
            return False
        table = np.array(list(map(self.values, self.numeric)))
        is_even = np.ptp(np.nanmax(table, axis=1)) <= 0.5 * np.nanmax(np.abs(table)) + 2
        return bool(is_even and np.nanmax(table) - np.nanmin(table) <= _WIDEST_SPAN and not np.nansum(table % 1))

    def rule(self, *cases: tuple[Part | None, Part]) -> Rule:
        return Rule(self.columns, tuple(Case(*one) for one in cases))

    def answers(self, rule: Rule) -> NDArray[Any]:
        return np.array(list(map(rule.answer, self.rows)), dtype=object)

    def values(self, term: Part | Rule) -> Floats:
        """Values of a term, or numbers that a rule gives; NaN where it is not a number."""
        answers = self.answers(term if isinstance(term, Rule) else self.rule((None, term)))
        return np.array([value if isinstance(value, float) else math.nan for value in answers])

    def holds(self, condition: Part) -> Mask:
        return np.equal(self.values(self.rule((condition, number(1)))), 1)

    def wrong(self, rule: Rule) -> Mask:
        return np.array([answer != target for answer, target in zip(self.answers(rule), self.targets, strict=True)])

    def usual(self, among: Mask) -> Part:
        """Return the most frequent label of some rows, or of all if there are none; or the mean."""
        some = self.targets[among] if among.any() else self.targets
        if self.labels:
            return rules.label(max(self.labels, key=list(some).count))
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


def _two(choices: Sequence[T], rng: Generator) -> list[T]:
    return [choices[int(at)] for at in sorted(rng.permutation(len(choices))[:2])]


# --- conditions that part the rows `inside` from others, among some rows -----------------------------------

Split = Callable[[Batch, Mask, Mask, Generator], Part | None]


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


def _by_column(batch: Batch, inside: Mask, among: Mask, rng: Generator) -> Part | None:
    """Return the best condition on one of some columns."""
    cells = [*batch.numeric, *batch.categories]
    count = int(rng.integers(1, 1 + min(len(cells), 6))) if cells else 0
    some = [
        _threshold(batch, cell, inside, among, rng)
        if cell in batch.numeric
        else _membership(batch, cell, inside, among)
        for cell in (cells[at] for at in rng.permutation(len(cells))[:count])
    ]
    return min(filter(None, some), key=lambda one: (batch.holds(one) != inside)[among].sum(), default=None)


def _by_line(batch: Batch, inside: Mask, among: Mask, rng: Generator) -> Part | None:
    """Bound the weighted sum of two columns that parts the rows best, as Fisher's discriminant does."""
    pair = _two(batch.numeric, rng)
    points = np.stack(list(map(batch.values, pair)), axis=1)
    known = ~np.isnan(points).any(axis=1)
    some, others = points[known & inside], points[known & ~inside]
    if not len(some) or not len(others):
        return None
    spread = some.var(axis=0) + others.var(axis=0) + 1e-3 * points[known].var(axis=0)
    if not (spread > 0).all():
        return None
    slope = (some.mean(axis=0) - others.mean(axis=0)) / spread
    weights = [_rounded(float(one), 1) for one in slope / (np.abs(slope).max() or 1.0)]
    term = total(list(zip(weights, pair, strict=True)))
    return _threshold(batch, term, inside, among, rng) if any(weights) else None


def _by_distance(batch: Batch, inside: Mask, among: Mask, rng: Generator) -> Part | None:
    """Bound the distance from the origin, or from the middle of the rows inside."""
    pair, centre = _two(batch.numeric, rng), list[float]()
    if rng.random() < 0.4 and inside.any():
        values = [batch.values(cell) for cell in pair]
        decimals = 1 - math.floor(math.log10(float(np.nanstd(values)) or 1.0))
        centre = [round(float(np.nanmean(some[inside])), decimals) + 0.0 for some in values]
    term = node(rules.DISTANCE, *centre, *pair) if centre else node(rules.RADIUS, *pair)
    return _threshold(batch, term, inside, among, rng)


def _by_sequence(batch: Batch, inside: Mask, among: Mask, rng: Generator) -> Part | None:
    """Draw a property of sequences: a bound on a quantity, a remainder, numbers that it contains, or an arrangement."""
    numbers = sorted({one for row in batch.rows for one in _sequence(row)})
    kind = _draw({"bound": 0.3, "remainder": 0.35, "content": 0.1, "arrangement": 0.25}, rng)
    if kind == "arrangement" or not numbers:
        return node(_pick(rules.ARRANGEMENTS, rng), batch.whole)
    if kind == "content":
        return check(node(rules.COUNT, _pick(numbers, rng), batch.whole), rules.AT_LEAST, int(rng.choice([1, 1, 1, 2])))
    whole, length = batch.whole, min(len(_sequence(row)) for row in batch.rows)
    cells = batch.numeric if batch.numeric[1:] else [node(one, whole) for one in rules.ITEMS[: max(2, length)]]
    item, other = _two(cells, rng)
    part = rules.items(batch.columns, stop=int(rng.integers(2, max(3, length))))
    if batch.numeric[1:]:
        part = rules.items(batch.columns, [item.value.name, other.value.name])
    passing = node(rules.PASSING, node(rules.ABOVE, _pick(numbers, rng)), whole)
    ends = node(rules.LARGEST, whole), node(rules.SMALLEST, whole)
    sums = node(rules.SUM, whole), node(rules.SUM, part), node(rules.SUM, part)
    others = item, item, node(rules.MINUS, item, other), node(rules.EVENS, whole), passing
    quantity = _pick((*sums, *ends, *others), rng)
    if kind == "bound":
        return _threshold(batch, quantity, inside, among, rng)
    remainder = _pick([node(rules.EVEN), node(rules.ODD)] * 2 + [node(rules.DIVISIBLE, 3)], rng)
    return node(rules.IS, quantity, remainder)


# --- forms of rules ------------------------------------------------------------------------------------------


_JOINED = 1 / 3
"""Probability that a property of sequences is joined with another."""


def _cases(first: Split, batch: Batch, rng: Generator) -> Rule | None:
    """Part one label after another from the rest, each by one condition."""
    left, cases, split = batch.every, list[Case](), first
    count = len(batch.labels) - 1 + (rng.integers(0, 2) if first is _by_column else 0)
    for _ in range(int(np.clip(count, 1, 4))):
        labels = [label for label in batch.labels if (left & (batch.targets == label)).any()]
        if len(labels) < 2:
            break
        labels = labels if first is _by_column else [_pick(labels, rng)]
        conditions = [(split(batch, batch.targets == label, left, rng), batch.targets == label) for label in labels]
        errors = {one: (batch.holds(one) != inside)[left].sum() for one, inside in conditions if one}
        if not errors:
            break
        condition = _pick([one for one, error in errors.items() if error == min(errors.values())], rng)
        if first is _by_sequence and rng.random() < _JOINED:
            other = first(batch, batch.targets == labels[0], left, rng)
            condition = rules.joined(_draw({AND: 0.6, OR: 0.4}, rng), [condition, other]) if other else condition
        inside = batch.holds(condition) & left
        cases, left, split = [*cases, Case(condition, batch.usual(inside))], left & ~inside, _further(batch)
    rest = batch.usual(left)
    while cases and cases[-1].outcome == rest:
        cases = cases[:-1]
    return batch.rule(*cases, (None, rest)) if cases else None


def _further(batch: Batch) -> Split:
    return _by_sequence if batch.is_sequential else _by_column


def _usual(batch: Batch, _: Generator) -> Rule:
    return batch.rule((None, batch.usual(batch.every)))


def _formula(terms: Callable[[Batch, Generator], list[list[Part]]], batch: Batch, rng: Generator) -> Rule | None:
    """Fit weighted sums of terms by least squares, and return the best; where a column is missing, the mean."""
    y, digits, fits = np.array(batch.targets, dtype=float), int(rng.choice([2, 3, 3])), list[tuple[float, Rule]]()
    for some in terms(batch, rng):
        design = np.stack([*map(batch.values, some), np.ones(len(y))], axis=1)
        known = ~np.isnan(design).any(axis=1)
        if known.sum() > len(some) and np.linalg.matrix_rank(design[known]) > len(some):
            weights = [_rounded(float(one), digits) for one in np.linalg.lstsq(design[known], y[known], rcond=None)[0]]
            formula = total(list(zip(weights, [*some, None], strict=True)))
            absent = [
                check(cell, rules.ABSENT) for cell in batch.numeric if cell.needs and cell.needs[0] in formula.needs
            ]
            rule = batch.rule(*((one, batch.usual(batch.every)) for one in absent), (None, formula))
            fits.append((float(np.mean(_misses(batch, rule) ** 2)), rule))
    return min(fits, key=lambda fit: fit[0])[1] if fits else None


def _column(batch: Batch, rng: Generator) -> Part:
    """Draw a column, those that the target follows more often."""
    weights = {}
    for cell in batch.numeric:
        x, y = batch.values(cell), np.array(batch.targets, dtype=float)
        known = ~np.isnan(x)
        is_flat = known.sum() < 3 or x[known].std() == 0 or y[known].std() == 0
        weights[cell] = 0.1 + (0.0 if is_flat else float(np.corrcoef(x[known], y[known])[0, 1]) ** 2)
    return _draw(weights, rng)


def _polynomial(degree: int, batch: Batch, rng: Generator) -> list[list[Part]]:
    cell = _column(batch, rng)
    return [[*(node(rules.POWER, cell, power) for power in range(degree, 1, -1)), cell]]


def _plane(batch: Batch, rng: Generator) -> list[list[Part]]:
    count = int(rng.integers(2, 1 + min(4, len(batch.numeric))))
    return [list(dict.fromkeys(_column(batch, rng) for _ in range(3 * count)))[:count]]


def _wave(batch: Batch, rng: Generator) -> list[list[Part]]:
    """Return sine and cosine of every frequency from 0.3 to 2 periods over the rows' range."""
    cell = _column(batch, rng)
    span = float(np.ptp(batch.values(cell)[~np.isnan(batch.values(cell))]))
    turns = [_rounded(turn * math.pi / span, 2) for turn in np.linspace(0.6, 4, 24)] if span > 0 else []
    return [[node(wave, node(rules.TIMES, turn, cell)) for wave in (rules.SIN, rules.COS)] for turn in turns]


Form = Callable[[Batch, Generator], Rule | None]
_FORMS: dict[str, dict[Form, tuple[Sequence[float], str]]] = {
    "columns": {
        partial(_cases, _by_column): ((5, 5, 5, 5), "threshold|cut-off"), _usual: ((0.2, 0.2, 0.2, 0.2), "(?!)"),
        partial(_cases, _by_line): ((0, 0, 2, 1), "line|straight"),
        partial(_cases, _by_distance): ((0, 0, 1.5, 0.2), "circ|radius|ring|distance"),
    },
    "sequences": {partial(_cases, _by_sequence): ((45,) * 4, "(?!)"), _usual: ((0.2,) * 4, "(?!)")},
    "numbers": {
        _usual: ((0.5, 0.5, 0.5, 0.5), "(?!)"),
        partial(_formula, partial(_polynomial, 1)): ((0, 3, 3, 3), "line|straight"),
        partial(_formula, _plane): ((0, 0, 4, 4), "line|straight"),
        partial(_formula, partial(_polynomial, 2)): ((0, 2, 1, 1), "parabola|quadratic|polynomial"),
        partial(_formula, partial(_polynomial, 3)): ((0, 0.7, 0.3, 0.3), "cubic|polynomial"),
        partial(_formula, _wave): ((0, 0.8, 0.3, 0.3), "sine|sinus|wave|periodic|oscillat"),
    },
}  # fmt: skip
"""How often a form is drawn, for tables of no, one, two and more columns of numbers; words of a belief that it is."""
_HINTED = 12.0
"""Weight factor of a form that the prior text hints at."""


def forms(batch: Batch, prior: str = "") -> dict[Form, float]:
    """Return weights of the forms of rules that suit the rows, and the text before the rule."""
    some = _FORMS["numbers" if not batch.labels else "sequences" if batch.is_sequential else "columns"]
    at, belief = min(len(batch.numeric), 3), prior.lower()
    weights = {form: each[at] * (_HINTED if re.search(hints, belief) else 1) for form, (each, hints) in some.items()}
    return {form: weight for form, weight in weights.items() if weight}


# --- revisions of a rule -------------------------------------------------------------------------------------


def revisions(rule: Rule, batch: Batch, rng: Generator) -> Iterator[tuple[str, Rule]]:
    """Yield rules of labels like the current one, after the name of the change."""
    cases = [case for case in rule.cases if case.condition and batch.labels]
    wrong, left, split, most = batch.wrong(rule), batch.every, _further(batch), 0
    # Another property of sequences is drawn, not fitted.
    is_exchanged = not batch.is_sequential or rng.random() < _EXCHANGED
    narrower, exchanged = list[Rule](), int(rng.integers(max(1, len(cases)))) if is_exchanged else -1
    for at, (condition, outcome) in enumerate(cases):
        assert condition
        inside = left & batch.holds(condition)
        word, parts = (condition.phrase, condition.parts) if condition.phrase in (AND, OR) else (AND, (condition,))

        def replaced(*conditions: Part, at: int = at, word: Any = word) -> Rule:
            case = [rule.cases[at]._replace(condition=rules.joined(word, conditions))] if conditions else []
            return rule._replace(cases=(*rule.cases[:at], *case, *rule.cases[at + 1 :]))

        for i, part in enumerate(parts):
            others = (*parts[:i], *parts[i + 1 :])
            moved = [replaced(*parts[:i], one, *parts[i + 1 :]) for one in _with_bounds(part, batch)]
            errors = np.array([batch.wrong(one).sum() for one in moved])
            if moved:
                yield "a bound moved", moved[int(rng.choice(np.flatnonzero(errors == errors.min())))]
            if others or cases[1:]:
                yield f"one of its {'parts' if others else 'cases'} left out", replaced(*others)
        if at == exchanged and (other := split(batch, batch.targets == outcome.value, left, rng)):
            yield "another column", replaced(other)
        if (wrong & inside).sum() > most and (further := split(batch, ~wrong, inside, rng)):
            most, narrower = int((wrong & inside).sum()), [replaced(rules.joined(AND, [condition, further]))]
        left = left & ~inside
    yield from (("a further condition", one) for one in narrower)
    missed = sorted(set(batch.targets[wrong & left]))
    label = _pick(missed, rng) if missed and cases else None
    if label and (wider := split(batch, batch.targets == label, left, rng)):
        yield "a further case", batch.rule(*cases, (wider, rules.label(label)), *rule.cases[len(cases) :])


def _with_bounds(condition: Part, batch: Batch) -> list[Part]:
    """Return a bound on a value with every other number between values of the batch."""
    term, bound = condition.parts if condition.phrase == rules.IS else (condition, condition)
    if bound.phrase is None or bound.phrase not in rules.BOUNDS:
        return []
    points = np.unique(batch.values(term))
    return [check(term, bound.phrase, _between(term, *gap)) for gap in pairwise(points[~np.isnan(points)].tolist())]


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
_EXCHANGED = 0.5
"""Probability that a revision of a rule for sequences has another property."""
_HASTE = 0.4
"""Probability of a revision of a rule for labels whose fit is not looked at, at temperature 1."""
_REACH = 2.0
"""Largest error of a formula on any row, in ranges of the targets."""
_PROBES = 200


def propose(question: OptimizerQuestion | PriorQuestion, *, temperature: float, seed: int) -> str:
    """Answer with a rule; without rows, with one that is fitted to made-up rows."""
    key = repr((question, float(temperature), int(seed))).encode(errors="replace")
    rng = np.random.default_rng(int.from_bytes(hashlib.sha256(key).digest()[:16]))
    if isinstance(question, PriorQuestion):
        reasoning, text = "I have seen no row, so this is a guess.", _guess(question, rng).say()
    else:
        reasoning, text = _revision(question, temperature, rng)
    return f"Reasoning: {reasoning}\n\nNew rule:\n{text}"


def _revision(question: OptimizerQuestion, temperature: float, rng: Generator) -> tuple[str, str]:
    """Return the reasoning and the next rule's text: the current one word for word if it stays."""
    targets: Sequence[Any] = question.targets if question.labels else list(map(rules.read_number, question.targets))
    every = zip(map(rules.read_row, question.inputs), targets, strict=True)
    pairs = [(row, target) for row, target in every if row and target is not None]
    if not pairs:
        rest = rules.label(question.labels[0]) if question.labels else number(0)
        return "I can read no rows here.", Rule((), (Case(None, rest),)).say()
    batch = Batch(*zip(*pairs, strict=True))
    reading = read_rule(question.rule, batch.columns, question.labels)
    current = reading.rule
    ideas = _ideas(batch, current, question.rule[: reading.start], temperature, rng)
    luck = temperature * _BOLDNESS * rng.gumbel(size=len(ideas))
    order = np.argsort(-(np.array([score for _, score, _ in ideas]) + luck))
    differs = teller(batch, current, rng) if current else lambda _: True
    rule, _, why = next((ideas[at] for at in order if ideas[at][0] == current or differs(ideas[at][0])), ideas[0])
    return why, question.rule[reading.start :].strip() if rule == current else rule.say()


def _ideas(
    batch: Batch, current: Rule | None, prior: str, temperature: float, rng: Generator
) -> list[tuple[Rule, float, str]]:
    """Return the current rule, revisions of it, and rules of other forms, each with its score and the reason."""
    seen = batch
    if not batch.labels or (current is None and not batch.is_sequential):
        # Some of the rows, so that a first rule may be too simple, or use a column that means nothing. But a few
        # sequences fit too many properties: the rule guessed from them would hardly ever be the right one.
        share = 1 - temperature * rng.uniform(*((0.3, 1.1) if batch.labels else (0.5, 1.4)))
        count = max(_FEWEST_ROWS, round(len(batch.rows) * float(np.clip(share, 0, 1))))
        chosen = sorted(rng.permutation(len(batch.rows))[:count])
        seen = Batch([batch.rows[at] for at in chosen], batch.targets[chosen].tolist(), batch.columns)
    ideas = list[tuple[Rule, float, str]]()
    if current is not None:
        # Ten rows may have one label by chance: a rule that tells labels apart is not given up for it.
        is_useful = not batch.wrong(current).any() or len(set(batch.answers(current))) > 1
        staying = _STAYING * is_useful if batch.labels else _STAYING_FORMULA
        near = list(revisions(current, seen, rng))
        if near and rng.random() < temperature * _HASTE:
            return [(current, -math.inf, ""), *((rule, 0.0, f"I try {words}.") for words, rule in near)]
        ideas = [_idea(seen, current, staying, "I keep the rule: it")]
        ideas += [_idea(seen, rule, _NEAR, f"The rule with {words}") for words, rule in near]
    weights = forms(seen, prior)
    some = [_draw(weights, rng)(seen, rng) for _ in range(1 + int(rng.poisson(temperature)))]
    ideas += [_idea(seen, rule, 0.0, "A rule of another form") for rule in some if rule]
    if not batch.labels:
        reach = _REACH * float(np.ptp(batch.targets)) + 1e-9
        ideas = [one for one in ideas if one[0] == current or np.abs(_misses(batch, one[0])).max() <= reach]
    return ideas or [(_usual(batch, rng), 0.0, "I see no form here, so I take the most common answer.")]


def _idea(seen: Batch, rule: Rule, bonus: float, words: str) -> tuple[Rule, float, str]:
    """Score a rule by its errors, or by the log-likelihood of a formula, less penalties for length."""
    size = len(seen.rows)
    if seen.labels:
        length, errors = sum(len(rules.leaves(one)) for one, _ in rule.cases if one), int(seen.wrong(rule).sum())
        fit = f"{words} gets {size - errors} of the {size} rows I looked at right."
        return rule, bonus - errors - _PER_CONDITION * length, fit
    length, mean_square = len(re.findall(" [-+] |output", rule.say())), float(np.mean(_misses(seen, rule) ** 2))
    floor = 1e-3 * float(np.var(seen.targets)) + 1e-12
    fit = f"{words} misses by {math.sqrt(mean_square):.3g} (root mean square) on the {size} rows I looked at."
    return rule, bonus - 0.5 * size * math.log(mean_square + floor) - _PER_TERM * length, fit


def _misses(batch: Batch, formula: Rule) -> Floats:
    """Errors of a formula; a value that it does not give counts as the largest target."""
    targets = np.array(batch.targets, dtype=float)
    misses = np.nan_to_num(batch.values(formula) - targets, nan=float(np.abs(targets).max()))
    return np.array(misses.clip(-1e150, 1e150))


def teller(batch: Batch, old: Rule, rng: Generator) -> Callable[[Rule], bool]:
    """Return a function that tells whether a rule answers some row, or some mixture of the rows, differently."""
    some = rng.integers(len(batch.rows), size=(_PROBES, len(batch.columns)))
    names = [column.name for column in batch.columns]
    mixtures = [{name: batch.rows[at].get(name) for name, at in zip(names, each, strict=True)} for each in some]
    probes = [*batch.rows, *mixtures]
    answers = list(map(old.answer, probes))
    return lambda rule: list(map(rule.answer, probes)) != answers


# --- rules without rows, fitted to made-up ones --------------------------------------------------------------

_ROWS, _SEQUENCE_LENGTH = 10, 4
_TRIES = 8
"""Most draws until a rule has a condition."""
_SCALES = (0.5, 0.7, 1.0, 1.5, 2.0, 3.0, 5.0, 10.0)
_LETTERS = "aeionrst"


def _guess(question: PriorQuestion, rng: Generator) -> Rule:
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
    weights = forms(batch, question.rule)
    tries = (_draw(weights, rng)(batch, rng) for _ in range(_TRIES))
    some = (rule for rule in tries if rule is not None and (rule.cases[1:] or not labels))
    return next(some, batch.rule((None, rules.label(labels[0]) if labels else number(0))))


def _cell(kind: str, scale: float | None, rng: Generator) -> rules.Value:
    if kind == "sequence":
        return tuple(float(digit) for digit in rng.integers(10, size=_SEQUENCE_LENGTH))
    return float(rng.integers(10)) if scale is None else _rounded(scale * float(rng.normal()), 2)
