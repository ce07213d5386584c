"""The optimizer: draws rules from the table of phrases, fits them to the batch, and takes one by its fit and by luck.

Candidates are the current rule, revisions of it, and rules of other forms. Without a batch, it fits to made-up rows.
"""

import hashlib
import math
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from vpp.demo import rules
from vpp.demo.reading import read_rule
from vpp.demo.rules import ABSENT, AND, COUNT, IS, ONE_OF, OR, Case, Column, Part, Row, Rule, node, number, total

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]
T = TypeVar("T")


class PriorQuestion(NamedTuple):
    """Write a rule without any row. rule: sentences at the beginning of every rule. columns: (name, kind)."""

    rule: str
    columns: tuple[tuple[str, str], ...]
    labels: tuple[str, ...]


class OptimizerQuestion(NamedTuple):
    """Improve a rule on a batch. Draws follow from all fields."""

    rule: str
    inputs: tuple[str, ...]
    targets: tuple[str, ...]
    labels: tuple[str, ...]


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
        cells = list(map(rules.cell, self.columns))
        self.numeric = [one for one in cells if one.value.kind == "number" and not np.isnan(self.values(one)).all()]
        self.cells = [one for one in cells if one in self.numeric or one.value.kind == "text"]
        self.is_sequential = any(column.kind == "numbers" for column in self.columns) or self._has_one_range()

    def _has_one_range(self) -> bool:
        """Return whether all columns hold small whole numbers of one range, unlike flags and years."""
        if len(self.numeric) < max(_FEWEST_COLUMNS, len(self.columns)):
            return False
        table = np.array(list(map(self.values, self.numeric)))
        is_even = np.ptp(np.nanmax(table, axis=1)) <= 0.5 * np.nanmax(np.abs(table)) + 2
        return bool(is_even and np.nanmax(table) - np.nanmin(table) <= _WIDEST_SPAN and not np.nansum(table % 1))

    def values(self, term: Part | Rule) -> Floats:
        """Values of a term, or numbers that a rule gives; NaN where it gives none."""
        rule = term if isinstance(term, Rule) else Rule(self.columns, (Case(None, term),))
        return np.array(list(map(rule.answer, self.rows)), dtype=float)

    def holds(self, condition: Part) -> Mask:
        return np.equal(self.values(Rule(self.columns, (Case(condition, number(1)),))), 1)

    def wrong(self, rule: Rule) -> Mask:
        return np.array([rule.answer(row) != target for row, target in zip(self.rows, self.targets, strict=True)])

    @property
    def constant(self) -> Rule:
        return Rule(self.columns, (Case(None, self.usual(self.every)),))

    def usual(self, among: Mask) -> Part:
        """Return the most frequent label of some rows, or of all if there are none; or the mean."""
        some = self.targets[among] if among.any() else self.targets
        if self.labels:
            return rules.label(max(self.labels, key=list(some).count))
        return number(_rounded(float(np.mean(some)), 3))


def _rounded(value: float, digits: int) -> float:
    return float(f"{value:.{digits}g}") + 0.0


def _draw(weights: dict[T, float], rng: Generator) -> T:
    p = np.array(list(weights.values()))
    return list(weights)[int(rng.choice(len(p), p=p / p.sum()))]


def _pick(choices: Sequence[T], rng: Generator) -> T:
    return choices[int(rng.integers(len(choices)))]


# --- conditions that part the rows `inside` from others, among some rows -----------------------------------


def _bound(batch: Batch, term: Part, inside: Mask, among: Mask, rng: Generator) -> Part | None:
    """Return the bound of a term with the fewest errors; among ties the widest gap, or a random one."""
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
    middle, reach = (points[at] + points[at + 1]) / 2, (points[at + 1] - points[at]) / 5
    shortest = next((one for one in (_rounded(middle, n) for n in range(1, 17)) if abs(one - middle) <= reach), middle)
    is_whole = term.kind != "X" and not (points % 1).any()
    check = "at most {V}" if wrong[at] == errors[at] else "greater than {V}"
    return node(IS, term, node(check, float(math.floor(middle)) if is_whole else float(shortest)))


def _check(batch: Batch, term: Part, inside: Mask, among: Mask, rng: Generator) -> Part | None:
    """Return a bound, or the categories that are mostly inside; None if these are none or all."""
    if term.kind != "X" or term.value.kind != "text":
        return _bound(batch, term, inside, among, rng)
    cells = np.array([row.get(term.value.name) for row in batch.rows], dtype=object)
    kinds = sorted({one for one in cells[among] if isinstance(one, str)})
    chosen = [kind for kind in kinds if (cells[among & inside] == kind).sum() > (cells[among & ~inside] == kind).sum()]
    is_repeated = len(kinds) < among.sum()
    return node(ONE_OF, term, rules.choice(*chosen)) if is_repeated and 0 < len(chosen) < len(kinds) else None


def _condition(form: str, batch: Batch, inside: Mask, among: Mask, rng: Generator) -> Part | None:
    """Return the best check of a form: of the columns drawn, of a weighted sum, of a distance, or of a sequence."""
    if form == "sequence":
        return _property(batch, inside, among, rng)
    cells = batch.cells if form == "column" else batch.numeric
    some = [cells[at] for at in sorted(rng.permutation(len(cells))[: rng.integers(1, 7) if form == "column" else 2])]
    if form == "line":
        table = np.stack([*map(batch.values, some), batch.every], axis=1)
        usable = among & ~np.isnan(table).any(axis=1)
        slope = np.linalg.lstsq(table[usable], inside[usable].astype(float), rcond=None)[0][:2]
        weights = [_rounded(float(one), 1) for one in slope / (np.abs(slope).max() or 1.0)]
        some = [total(list(zip(weights, some, strict=True)))]
    if form == "circle":
        points = [values[inside & ~np.isnan(values)] for values in map(batch.values, some)]
        is_elsewhere = inside.any() and rng.random() < 0.4 and all(map(len, points))
        centre = [_rounded(float(each.mean()), 1) if is_elsewhere else 0.0 for each in points]
        some = [node(rules.DISTANCE, *centre, *some)]
    checks = [check for term in some if (check := _check(batch, term, inside, among, rng))]
    return min(checks, key=lambda one: (batch.holds(one) != inside)[among].sum(), default=None)


_ARRANGEMENTS, _QUANTITIES = (
    [words for words in rules.PHRASES[kind] if rules.SLOT.findall(words) == ["L"]] for kind in "CV"
)


def _property(batch: Batch, inside: Mask, among: Mask, rng: Generator) -> Part | None:
    """Draw a property of sequences from the table: an arrangement, or a bound on a quantity or its remainder."""
    whole, rows = batch.whole, [batch.whole.of(row) for row in batch.rows]
    if rng.random() < 0.25 or not all(rows):
        return node(_pick(_ARRANGEMENTS, rng), whole)
    one, cells = _pick(sorted({one for row in rows for one in row}), rng), batch.numeric
    two = [cells[at] for at in sorted(rng.permutation(len(cells))[:2])]
    part = rules.items(batch.columns, two) if two else rules.items(batch.columns, (), "first", 2)
    counted = [node("{D}s", one), node("even numbers"), node("numbers that are {K}", node("greater than {V}", one))]
    sums = [node("the sum of {L}", some) for some in (whole, part, part)]
    counts = [node(COUNT, _pick(counted, rng), whole) for _ in range(2)]
    ends = [node(f"the {end} number among {{L}}", whole) for end in ("largest", "smallest")]
    others = [node(_pick(_QUANTITIES, rng), whole) for _ in range(2)]
    quantity = _pick([*sums, *counts, *ends, *others, *two], rng)
    if rng.random() < 0.5:
        return _bound(batch, quantity, inside, among, rng)
    return node(IS, quantity, _pick([node("even"), node("odd")] * 2 + [node("divisible by {D}", 3)], rng))


# --- rules of a form -----------------------------------------------------------------------------------------

_FORMS = {
    "columns": {
        "column": (5, 0, "threshold|cut-off"), "constant": (0.2, 0, "(?!)"), "line": (1.5, 2, "line|straight"),
        "circle": (1, 2, "circ|radius|ring|distance"),
    },
    "sequences": {"sequence": (45, 0, "(?!)"), "constant": (0.2, 0, "(?!)")},
    "numbers": {
        "constant": (0.5, 0, "(?!)"), "line": (3, 1, "line|straight"), "plane": (4, 2, "line|straight"),
        "parabola": (2, 1, "parabola|quadratic|polynomial"), "cubic": (0.7, 1, "cubic|polynomial"),
        "wave": (0.8, 1, "sine|sinus|wave|periodic|oscillat"),
    },
}  # fmt: skip
"""How often a form of rules is drawn, its fewest columns of numbers, and words of a belief that the rule has it."""
_HINTED = 12.0
"""Weight factor of a form that the prior text hints at."""
_JOINED = 1 / 3
"""Probability that a property of sequences is joined with another."""


def forms(batch: Batch, prior: str = "") -> dict[str, float]:
    """Return weights of the forms of rules that suit the rows, and the text before the rule."""
    some = _FORMS["numbers" if not batch.labels else "sequences" if batch.is_sequential else "columns"]
    return {
        form: weight * (_HINTED if re.search(hints, prior.lower()) else 1)
        for form, (weight, columns, hints) in some.items()
        if columns <= len(batch.numeric)
    }


def fit(form: str, batch: Batch, rng: Generator) -> Rule | None:
    """Draw a rule of a form, fitted to the rows."""
    if form == "constant":
        return batch.constant
    return _cases(form, batch, rng) if batch.labels else _formula(_terms(form, batch, rng), batch, rng)


def _cases(form: str, batch: Batch, rng: Generator) -> Rule | None:
    """Part one label after another from the rest, each by one condition."""
    left, cases = batch.every, list[Case]()
    for _ in range(max(1, len(batch.labels) - 1 + (rng.integers(2) if form == "column" else 0))):
        labels = [label for label in batch.labels if (left & (batch.targets == label)).any()]
        if len(labels) < 2:
            break
        inside = batch.targets == _pick(labels, rng)
        condition = _condition(form, batch, inside, left, rng)
        if condition and form == "sequence" and rng.random() < _JOINED:
            other = _condition(form, batch, inside, left, rng)
            condition = rules.joined(_draw({AND: 0.6, OR: 0.4}, rng), [condition, other]) if other else condition
        if condition is None:
            break
        cases.append(Case(condition, batch.usual(batch.holds(condition) & left)))
        left = left & ~batch.holds(condition)
        form = "sequence" if batch.is_sequential else "column"
    rest = batch.usual(left)
    while cases and cases[-1].outcome == rest:
        cases.pop()
    return Rule(batch.columns, (*cases, Case(None, rest))) if cases else None


def _terms(form: str, batch: Batch, rng: Generator) -> list[list[Part]]:
    """Return lists of terms whose weighted sum may be the target; of a wave, for 0.3 to 2 periods over the range."""
    weights = {}
    for cell in batch.numeric:
        known = ~np.isnan(batch.values(cell))
        x, y = batch.values(cell)[known], np.array(batch.targets[known], dtype=float)
        scale = x.std() * y.std()
        weights[cell] = 0.1 + (((x - x.mean()) * (y - y.mean())).mean() / scale) ** 2 if scale else 0.1
    cell = _draw(weights, rng)
    if form == "plane":
        count = int(rng.integers(2, 1 + min(4, len(batch.numeric))))
        return [list(dict.fromkeys([cell, *(_draw(weights, rng) for _ in range(2 * count))]))[:count]]
    if form != "wave":
        degree = {"line": 1, "parabola": 2, "cubic": 3}[form]
        return [[*(node(rules.POWER, cell, power) for power in range(degree, 1, -1)), cell]]
    span = float(np.nanmax(batch.values(cell)) - np.nanmin(batch.values(cell)))
    turns = [_rounded(turn * math.pi / span, 2) for turn in np.linspace(0.6, 4, 24)] if span else []
    angles = [node("{V} * {V}", turn, cell) for turn in turns]
    return [[node("sin({V})", angle), node("cos({V})", angle)] for angle in angles]


def _formula(terms: Sequence[Sequence[Part]], batch: Batch, rng: Generator) -> Rule | None:
    """Fit weighted sums of terms by least squares, and return the best; where a column is missing, the mean."""
    y, digits, fits = np.array(batch.targets, dtype=float), _pick([2, 3, 3], rng), list[Rule]()
    for some in terms:
        design = np.stack([*map(batch.values, some), np.ones(len(y))], axis=1)
        known = ~np.isnan(design).any(axis=1)
        weights, _, rank, _ = np.linalg.lstsq(design[known], y[known], rcond=None)
        if rank > len(some):
            formula = total([(_rounded(float(w), digits), one) for w, one in zip(weights, [*some, None], strict=True)])
            absent = [node(ABSENT, cell) for cell in batch.numeric if {*cell.needs} & {*formula.needs}]
            rest = batch.usual(batch.every)
            fits.append(Rule(batch.columns, (*(Case(one, rest) for one in absent), Case(None, formula))))
    return min(fits, key=lambda rule: np.mean(_misses(batch, rule) ** 2), default=None)


def _misses(batch: Batch, formula: Rule) -> Floats:
    """Errors of a formula; a value that it does not give counts as the largest target."""
    targets = np.array(batch.targets, dtype=float)
    misses = np.nan_to_num(batch.values(formula) - targets, nan=float(np.abs(targets).max()))
    return np.array(misses.clip(-1e150, 1e150))


def revisions(rule: Rule, batch: Batch, rng: Generator) -> Iterator[tuple[str, Rule]]:
    """Yield rules of labels like the current one, after the name of the change."""
    wrong, left, form = batch.wrong(rule), batch.every, "sequence" if batch.is_sequential else "column"
    n = sum(case.condition is not None for case in rule.cases) if batch.labels else 0
    for at, (condition, outcome) in enumerate(rule.cases[:n]):
        assert condition
        inside, goal = left & batch.holds(condition), batch.targets == outcome.value
        word, parts = (condition.phrase, condition.parts) if condition.phrase in (AND, OR) else (AND, (condition,))
        changes: list[tuple[str, Sequence[Part | None]]] = []
        changes.append(("another condition", [_condition(form, batch, goal, left, rng)]))
        if (wrong & inside).any() and (further := _condition(form, batch, ~wrong, inside, rng)):
            changes.append(("a further condition", [rules.joined(AND, [condition, further])]))
        for i, part in enumerate(parts):
            rest = (*parts[:i], *parts[i + 1 :])
            moved = _bound(batch, part.parts[0], goal, left, rng) if part.phrase == IS else None
            changes += [("a part left out", rest), ("a bound moved", (*rest, moved))]
        for words, new in changes:
            some = [one for one in new if one]
            if len(some) == len(new) and (some or n > 1):
                case = [Case(rules.joined(word, some), outcome)] if some else []
                yield words, rule._replace(cases=(*rule.cases[:at], *case, *rule.cases[at + 1 :]))
        left = left & ~inside
    missed = sorted(set(batch.targets[wrong & left])) if n else []
    label = _pick(missed, rng) if missed else None
    if label and (wider := _condition(form, batch, batch.targets == label, left, rng)):
        yield "a further case", rule._replace(cases=(*rule.cases[:n], Case(wider, rules.label(label)), *rule.cases[n:]))


# --- proposals -----------------------------------------------------------------------------------------------

_FEWEST_ROWS = 3
_BOLDNESS = 0.3
"""Scale of the random part of a rule's score at temperature 1. Scores are in errors, or in log-likelihood."""
_PER_CONDITION, _PER_TERM = 0.4, 1.0
"""Penalty of a condition, and of a term of a formula."""
_STAYING, _STAYING_FORMULA, _NEAR = 1.6, 0.5, 0.3
"""Bonus of the current rule (of one for labels only if it tells some apart, or has no error), and of its revisions."""
_HASTE = 0.4
"""Probability of a revision of a rule for labels whose fit is not looked at, at temperature 1."""
_REACH = 2.0
"""Largest error of a formula on any row, in ranges of the targets."""
_PROBES = 200


def propose(question: OptimizerQuestion | PriorQuestion, *, temperature: float, seed: int) -> str:
    """Answer with a rule; without rows, with a guess."""
    key = repr((question, float(temperature), int(seed))).encode(errors="replace")
    rng = np.random.default_rng(int.from_bytes(hashlib.sha256(key).digest()[:16]))
    if isinstance(question, PriorQuestion):
        reasoning, text = "I have seen no row, so this is a guess.", _guess(question, rng).say()
    else:
        reasoning, text = _improve(question, temperature, rng)
    return f"Reasoning: {reasoning}\n\nNew rule:\n{text}"


def _improve(question: OptimizerQuestion, temperature: float, rng: Generator) -> tuple[str, str]:
    """Return the reasoning and the next rule's text: the current one word for word if it stays."""
    targets: Sequence[Any] = question.targets if question.labels else list(map(rules.read_number, question.targets))
    every = zip(map(rules.read_row, question.inputs), targets, strict=True)
    pairs = [(row, target) for row, target in every if row and target is not None]
    if not pairs:
        rest = rules.label(question.labels[0]) if question.labels else number(0)
        return "I can read no rows here.", Rule((), (Case(None, rest),)).say()
    batch = Batch(*zip(*pairs, strict=True))
    reading = read_rule(question.rule, batch.columns, question.labels)
    current, seen = reading.rule, _glimpse(batch, reading.rule is None, temperature, rng)
    near = {rule: f"The rule with {change}" for change, rule in revisions(current, seen, rng)} if current else {}
    if near and rng.random() < temperature * _HASTE:
        scores = dict.fromkeys(near, 0.0)
    else:
        weights = forms(seen, question.rule[: reading.start])
        some = [fit(_draw(weights, rng), seen, rng) for _ in range(1 + int(rng.poisson(temperature)))]
        if not batch.labels:
            reach = _REACH * float(np.ptp(batch.targets)) + 1e-9
            some = [rule for rule in some if rule and np.abs(_misses(batch, rule)).max() <= reach]
        scores = {rule: _judge(seen, rule)[0] + _NEAR * (rule in near) for rule in (*some, *near) if rule}
        if current:
            # Ten rows may have one label by chance: a rule that tells labels apart is not given up for it.
            is_useful = not batch.wrong(current).any() or len(set(map(current.answer, batch.rows))) > 1
            scores[current] = _judge(seen, current)[0] + (_STAYING * is_useful if batch.labels else _STAYING_FORMULA)
    luck = temperature * _BOLDNESS * rng.gumbel(size=len(scores))
    order = np.argsort(-(np.array(list(scores.values())) + luck))
    differs = teller(batch, current, rng) if current else lambda _: True
    by_luck = (list(scores)[at] for at in order)
    rule = next((rule for rule in by_luck if rule == current or differs(rule)), current or batch.constant)
    if rule == current:
        return f"I keep the rule: it {_judge(seen, rule)[1]}", question.rule[reading.start :].strip()
    return f"{near.get(rule, 'A rule of another form')} {_judge(seen, rule)[1]}", rule.say()


def _glimpse(batch: Batch, is_first: bool, temperature: float, rng: Generator) -> Batch:
    """Return some of the rows, so that a first rule may be too simple, or use a column that means nothing.

    A few sequences fit too many properties: the rule guessed from them would hardly ever be the right one.
    """
    if batch.labels and (batch.is_sequential or not is_first):
        return batch
    share = 1 - temperature * rng.uniform(*((0.3, 1.1) if batch.labels else (0.5, 1.4)))
    count = max(_FEWEST_ROWS, round(len(batch.rows) * float(np.clip(share, 0, 1))))
    chosen = sorted(rng.permutation(len(batch.rows))[:count])
    return Batch([batch.rows[at] for at in chosen], batch.targets[chosen].tolist(), batch.columns)


def _judge(seen: Batch, rule: Rule) -> tuple[float, str]:
    """Return minus the errors, or the log-likelihood of a formula, less penalties for length; and the fit in words."""
    size = len(seen.rows)
    if seen.labels:
        errors, length = int(seen.wrong(rule).sum()), sum(len(rules.leaves(one)) for one, _ in rule.cases if one)
        return -errors - _PER_CONDITION * length, f"gets {size - errors} of the {size} rows I looked at right."
    square, length = float(np.mean(_misses(seen, rule) ** 2)), len(re.findall(" [-+] |output", rule.say()))
    score = -0.5 * size * math.log(square + 1e-3 * np.var(seen.targets) + 1e-12) - _PER_TERM * length
    return score, f"misses by {square**0.5:.3g} (root mean square) on the {size} rows I looked at."


def teller(batch: Batch, old: Rule, rng: Generator) -> Callable[[Rule], bool]:
    """Return a function that tells whether a rule answers some row, or some mixture of the rows, differently."""
    some, names = rng.integers(len(batch.rows), size=(_PROBES, len(batch.columns))), list(batch.rows[0])
    mixtures = [{name: batch.rows[at].get(name) for name, at in zip(names, each, strict=True)} for each in some]
    probes = [*batch.rows, *mixtures]
    answers = list(map(old.answer, probes))
    return lambda rule: list(map(rule.answer, probes)) != answers


# --- rules without rows, those for labels fitted to made-up ones -----------------------------------------------

_ROWS, _TRIES = 10, 8
"""Tries: most draws until a rule has a condition."""
_SCALES = (0.5, 0.7, 1.0, 1.5, 2.0, 3.0, 5.0, 10.0)
_LETTERS = "aeionrst"


def _guess(question: PriorQuestion, rng: Generator) -> Rule:
    texts = [name for name, kind in question.columns if kind != "number"]
    labels = [question.labels[int(at)] for at in rng.permutation(len(question.labels))]
    if labels and rng.random() < len(texts) / len(question.columns):
        cell = rules.cell(Column("c0", _pick(texts, rng), "text", (), False))
        letter = node("{T} contains the text {W}", cell, rules.choice(_pick(_LETTERS, rng)))
        return Rule((cell.value,), (Case(letter, rules.label(labels[0])), Case(None, rules.label(labels[-1]))))
    # All columns hold digits, or numbers about zero.
    scale = _pick(_SCALES, rng) if rng.random() < 0.4 else None

    def draw_cell() -> float:
        return float(rng.integers(10)) if scale is None else _rounded(scale * float(rng.normal()), 2)

    rows: list[Row] = [{name: draw_cell() for name, kind in question.columns if kind == "number"} for _ in range(_ROWS)]
    batch = Batch(rows, [labels[at % len(labels)] for at in range(_ROWS)] if labels else [0.0] * _ROWS)
    weights = forms(batch, question.rule)
    if labels:
        some = (fit(_draw(weights, rng), batch, rng) for _ in range(_TRIES))
        return next((rule for rule in some if rule and rule.cases[1:]), batch.constant)
    form = _draw(weights, rng)
    terms = _pick(_terms(form, batch, rng), rng) if form != "constant" else []
    return Rule(batch.columns, (Case(None, total([(float(rng.integers(-4, 5)), one) for one in (*terms, None)])),))
