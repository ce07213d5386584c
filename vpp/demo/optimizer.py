"""The optimizer: keeps its rule, revises it, writes another fitted to the batch, or draws one without any row."""

import hashlib
import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from operator import mul
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.random import Generator

from vpp.demo import fitting, rules
from vpp.demo.fitting import Batch, Floats, LabelFamily, Mask, NumberFamily, Split, flipped, pick, round_between
from vpp.demo.prompt import OptimizerQuestion, PriorQuestion
from vpp.demo.reading import Reading, read_rule
from vpp.demo.rules import Case, Cell, Compare, Condition, Formula, Is, Joint, Not, Number, Row, Rule, Term
from vpp.demo.writing import Unsayable, say_rule

F = TypeVar("F")


@dataclass(frozen=True, slots=True)
class Request:
    question: OptimizerQuestion
    batch: Batch
    reading: Reading
    temperature: float
    rng: Generator

    def some_of(self, families: dict[F, float], hints: dict[str, tuple[F, ...]]) -> list[F]:
        weights = _weights(families, hints, self.question.rule[: self.reading.start])
        return [fitting.draw(weights, self.rng) for _ in range(1 + int(self.rng.poisson(self.temperature)))]

    def glance(self, low: float, high: float) -> Mask:
        """(size,) True for the rows looked at; at temperature 1, a share from low to high is overlooked."""
        size = len(self.batch.rows)
        share = float(np.clip(1 - self.temperature * self.rng.uniform(low, high), 0, 1))
        chosen = self.rng.permutation(size)[: max(_FEWEST_ROWS, round(size * share))]
        return np.isin(np.arange(size), chosen)


class Idea(NamedTuple):
    """A candidate for the next rule."""

    rule: Rule
    score: float
    """Errors and length lower it."""
    why: str


_FEWEST_ROWS = 3
_HINTED = 12.0
"""Weight factor of a family that the prior text hints at."""
_BOLDNESS = 0.3
"""Scale of the random part of a candidate's score at temperature 1."""


def propose(question: OptimizerQuestion | PriorQuestion, *, temperature: float, seed: int) -> str:
    """Answer with a rule; without rows, with one that is fitted to made-up rows."""
    key = repr((question, float(temperature), int(seed))).encode(errors="replace")
    rng = np.random.default_rng(int.from_bytes(hashlib.sha256(key).digest()[:16]))
    if isinstance(question, OptimizerQuestion):
        reasoning, text = _revision(question, temperature, rng)
    else:
        guess = (_label_rule if question.labels else _number_rule)(question, 1 / max(temperature, _COLDEST), rng)
        reasoning, text = "I have seen no row, so this is a guess.", _text(guess, question.labels)
    return f"Reasoning: {reasoning}\n\n{question.heading}:\n{text}"


def _revision(question: OptimizerQuestion, temperature: float, rng: Generator) -> tuple[str, str]:
    """Return the reasoning and the next rule's text: the current one word for word if it stays."""
    batch = _read_batch(question)
    reading = read_rule(question.rule, batch.names, question.labels)
    best = _best(Request(question, batch, reading, temperature, rng)) if batch.rows else None
    reasoning, rule = (best.why, best.rule) if best else ("I can read no rows here.", reading.rule)
    is_kept = rule is not None and rule == reading.rule
    return reasoning, question.rule[reading.start :].strip() if is_kept else _text(rule, question.labels)


def _text(rule: Rule | None, labels: tuple[str, ...]) -> str:
    constant = Rule((), labels[0] if labels else Number(0.0))
    try:
        return say_rule(rule or constant)
    except Unsayable:
        return say_rule(constant)


def _weights(
    families: dict[F, float], hints: dict[str, tuple[F, ...]], text: str, power: float = 1.0
) -> dict[F, float]:
    """Multiply the weights of families that a word of the text hints at, then raise all to a power."""
    meant = {family for word, some in hints.items() if word in text.lower() for family in some}
    return {family: (weight * (_HINTED if family in meant else 1.0)) ** power for family, weight in families.items()}


def _read_batch(question: OptimizerQuestion) -> Batch:
    """Parse the rows and targets; drop rows whose target should be a number and is not."""
    rows = tuple(rules.read_row(text) for text in question.inputs)
    if question.labels:
        return Batch(rows, question.targets)
    numbers = [rules.read_number(text) for text in question.targets]
    pairs = [(row, number) for row, number in zip(rows, numbers, strict=True) if number is not None]
    return Batch(tuple(row for row, _ in pairs), tuple(number for _, number in pairs))


def _best(request: Request) -> Idea:
    """Return the best idea that keeps the current rule or means something else."""
    ideas = _label_ideas(request) if request.question.labels else _number_ideas(request)
    luck = request.temperature * _BOLDNESS * request.rng.gumbel(size=len(ideas))
    ranked: list[Idea] = [ideas[at] for at in np.argsort(-([idea.score for idea in ideas] + luck))]
    current = request.reading.rule
    if current is None:
        return ranked[0]
    differs = teller(request.batch, current, request.rng)
    return next((idea for idea in ranked if idea.rule == current or differs(idea.rule)), ideas[0])


_PROBES = 200
_NOISE = 0.1
"""Noise of a probe's number, in ranges of its column."""


def teller(batch: Batch, old: Rule, rng: Generator) -> Callable[[Rule], bool]:
    """Return a function that tells whether a rule answers some row or probe differently."""
    rows = [*batch.rows, *_probes(batch, rng)]
    answers = [old.answer(row) for row in rows]
    return lambda new: any(not rules.same(old, new.answer(row)) for old, row in zip(answers, rows, strict=True))


def _probes(batch: Batch, rng: Generator) -> Iterator[Row]:
    """Yield rows whose cells come from different rows; numbers with noise, whole numbers whole."""
    origins = rng.integers(len(batch.rows), size=(_PROBES, len(batch.names)))
    noise = rng.uniform(-_NOISE, _NOISE, size=origins.shape)
    values = {name: batch.values(Cell(name)) for name in batch.numeric}
    spans = [
        float(np.nanmax(values[name]) - np.nanmin(values[name])) if name in values else 0.0 for name in batch.names
    ]
    for places, moves in zip(origins, noise * spans, strict=True):
        origin = zip(batch.names, places, moves, strict=True)
        yield Row({name: _moved(batch.rows[at].cells.get(name), move, rng) for name, at, move in origin})


def _moved(cell: rules.Value, move: float, rng: Generator) -> rules.Value:
    if isinstance(cell, tuple):
        return tuple(rng.permutation(cell).tolist())
    if not isinstance(cell, float):
        return cell
    return float(round(cell + move)) if cell == round(cell) else float(cell + move)


_PER_CONDITION = 0.4
"""Penalty of a condition, in errors."""
_STAYING = 1.6
"""Bonus of the current rule, in errors, unless it answers every row alike."""
_HASTE = 0.4
"""Probability of a variation tried on no row, at temperature 1."""
_NEAR_LABELS = 0.3
"""Bonus of a revision of the current rule, in errors."""
_LABEL_HINTS: dict[str, tuple[LabelFamily, ...]] = {
    "circ": (fitting.circle,), "radius": (fitting.circle,), "ring": (fitting.circle,),
    "distance": (fitting.circle,), "line": (fitting.border,), "straight": (fitting.border,),
    "threshold": (fitting.cuts,), "cut-off": (fitting.cuts,), "even": (fitting.pattern,),
    "odd": (fitting.pattern,), "parity": (fitting.pattern,), "contain": (fitting.pattern,),
}  # fmt: skip


def _label_ideas(request: Request) -> list[Idea]:
    question, batch, current = request.question, request.batch, request.reading.rule
    if current is None:
        # Some of the rows, so that a first rule may be too simple, or use a column that means nothing. But a few
        # sequences fit too many properties: the rule guessed from them would hardly ever be the right one.
        return _new_label_rules(request, batch if batch.sequential else fitting.part(batch, request.glance(0.3, 1.1)))
    size = len(batch.rows)
    errors = sum(answer != true for answer, true in zip(question.predictions, question.targets, strict=True))
    why = f"{errors} of {size} answers are wrong, but I see no better rule that is as simple, so I keep it."
    if not errors:
        why = f"All {size} answers are right, so I keep the rule."
    is_informative = len({current.answer(row) for row in batch.rows}) > 1
    unchanged = Idea(current, _label_score(current, errors) + _STAYING * is_informative, why)
    if request.rng.random() < request.temperature * _HASTE and (hasty := _variations(request, current)):
        return [unchanged._replace(score=-math.inf), *hasty]
    return [unchanged, *_revisions(request, current), *_new_label_rules(request, batch)]


def _variations(request: Request, rule: Rule) -> list[Idea]:
    """Return variations of the rule, equally good: whether they fit is not looked at."""
    batch, rng = request.batch, request.rng
    variations = (
        ("I try another bound.", with_bound_moved(rule, batch, rng, tolerated=len(batch.rows))),
        ("I try another column.", with_another_column(rule, batch, rng)),
        ("I try a shorter rule.", simpler(rule)),
    )
    return [Idea(one, 0.0, why) for why, some in variations for one in some]


def _new_label_rules(request: Request, seen: Batch) -> list[Idea]:
    some = [family(seen, request.rng) for family in request.some_of(fitting.label_families(seen), _LABEL_HINTS)]
    ideas = [_label_idea(seen, rule, "A rule of another form") for rule in some if rule is not None]
    return ideas or [_label_idea(seen, Rule((), seen.labels[0]), "The most frequent label")]


def _revisions(request: Request, rule: Rule) -> list[Idea]:
    batch, rng = request.batch, request.rng
    revisions = (
        ("The rule with a bound moved", with_bound_moved(rule, batch, rng)),
        ("The rule with another column", with_another_column(rule, batch, rng)),
        ("The rule without one of its parts", simpler(rule)),
        ("The rule with a further condition", refined(rule, batch, rng)),
    )
    return [_label_idea(batch, one, words, _NEAR_LABELS) for words, some in revisions for one in some]


def _label_score(rule: Rule, errors: int) -> float:
    return -errors - _PER_CONDITION * sum(len(list(_leaves(case.condition))) for case in rule.cases)


def _label_idea(seen: Batch, rule: Rule, words: str, bonus: float = 0.0) -> Idea:
    size, errors = len(seen.rows), seen.errors(rule)
    why = f"{words} gets {size - errors} of the {size} rows I looked at right."
    return Idea(rule, _label_score(rule, errors) + bonus, why)


_MOST_BOUNDS = 6


def _leaves(condition: Condition) -> Iterator[Condition]:
    match condition:
        case Joint():
            for part in condition.parts:
                yield from _leaves(part)
        case Not():
            yield from _leaves(condition.part)
        case _:
            yield condition


def _bounds(condition: Condition) -> Iterator[tuple[Is, str]]:
    """Yield the comparisons of order with a number, and their signs."""
    for leaf in _leaves(condition):
        match leaf:
            case Is(check=Compare(sign="<" | "<=" | ">" | ">=" as sign, other=Number())):
                yield leaf, sign


def _swapped(condition: Condition, old: Is, new: Is) -> Condition:
    match condition:
        case Joint():
            return condition._replace(parts=tuple(_swapped(part, old, new) for part in condition.parts))
        case Not():
            return Not(_swapped(condition.part, old, new))
    return new if condition == old else condition


def with_bound_moved(rule: Rule, batch: Batch, rng: Generator, *, tolerated: int = 0) -> Iterator[Rule]:
    """Yield, for each bound, the rule with it moved to the fewest errors on the batch, or to `tolerated` more."""
    places = [(at, *bound) for at, case in enumerate(rule.cases) for bound in _bounds(case.condition)]
    for at, bound, sign in places[:_MOST_BOUNDS]:
        values = batch.values(bound.term)
        gaps = pairwise(np.unique(values[~np.isnan(values)]))
        moves = [Is(bound.term, Compare(sign, Number(round_between(float(low), float(high))))) for low, high in gaps]
        moved = [_with_condition(rule, at, _swapped(rule.cases[at].condition, bound, new)) for new in moves]
        if moved:
            errors = np.array([batch.errors(other) for other in moved])
            yield moved[int(rng.choice(np.flatnonzero(errors <= errors.min() + tolerated)))]


def _with_condition(rule: Rule, at: int, condition: Condition) -> Rule:
    return rule._replace(cases=(*rule.cases[:at], rule.cases[at]._replace(condition=condition), *rule.cases[at + 1 :]))


def with_another_column(rule: Rule, batch: Batch, rng: Generator) -> Iterator[Rule]:
    if not rule.cases or batch.sequential:
        return
    at = int(rng.integers(len(rule.cases)))
    earlier = rule._replace(cases=rule.cases[:at])
    one = fitting.best_column(batch, np.array([earlier.deciding(row) is None for row in batch.rows]), rng)
    if one is not None:
        yield from (_with_condition(rule, at, side.condition) for side in (one, flipped(one)))


def simpler(rule: Rule) -> Iterator[Rule]:
    for at, case in enumerate(rule.cases):
        if isinstance(case.condition, Joint):
            for part in case.condition.parts:
                left = tuple(one for one in case.condition.parts if one != part)
                if left:
                    yield _with_condition(rule, at, left[0] if len(left) == 1 else case.condition._replace(parts=left))
        if len(rule.cases) > 1:
            yield rule._replace(cases=rule.cases[:at] + rule.cases[at + 1 :])


_MOST_COMMON = 2
"""Most conditions that describe the missed rows of a label."""


def refined(rule: Rule, batch: Batch, rng: Generator) -> Iterator[Rule]:
    deciding = [rule.deciding(row) for row in batch.rows]
    wrong = np.array([rule.answer(row) != target for row, target in zip(batch.rows, batch.targets, strict=True)])
    decided = [np.array([one is case for one in deciding]) for case in rule.cases]
    if decided:
        worst = max(range(len(decided)), key=lambda at: int((decided[at] & wrong).sum()))
        yield from _narrowed(rule, worst, batch, decided[worst] & ~wrong, decided[worst] & wrong, rng)
    yield from _widened(rule, batch, np.array([one is None for one in deciding]), wrong, rng)


def _narrowed(rule: Rule, at: int, batch: Batch, right: Mask, wrong: Mask, rng: Generator) -> Iterator[Rule]:
    if not (right.any() and wrong.any()):
        return
    sides = list(_sides(batch, right, wrong, rng))
    one = max(sides, key=lambda side: int((side.mask & right).sum() - (side.mask & wrong).sum()), default=None)
    if one is not None and (one.mask & right).any() and not (one.mask & wrong).all():
        condition = rule.cases[at].condition
        parts = condition.parts if isinstance(condition, Joint) and condition.word == "and" else (condition,)
        yield _with_condition(rule, at, Joint("and", (*parts, one.condition)))


def _sides(batch: Batch, right: Mask, wrong: Mask, rng: Generator) -> Iterator[Split]:
    if batch.sequential:
        one = fitting.a_property(batch, rng)
        yield from () if one is None else (one, flipped(one))
        return
    for name in _few(batch, rng, least=1):
        if name in batch.categories:
            cells = np.array(batch.cells(name), dtype=object)
            kinds = batch.kinds(name, right)
            mostly_right = [kind for kind in kinds if (cells[right] == kind).sum() > (cells[wrong] == kind).sum()]
            if mostly_right:
                yield fitting.membership(batch, name, mostly_right)
        elif (bound := fitting.cut(batch, Cell(name), right | wrong, rng)) is not None:
            yield from (bound, flipped(bound))


def _widened(rule: Rule, batch: Batch, rest: Mask, wrong: Mask, rng: Generator) -> Iterator[Rule]:
    """Yield the rule with a new case for a label: a condition that its missed rows share and other rows lack."""
    missed = [label for at, label in enumerate(batch.labels) if (rest & wrong & (batch.codes == at)).any()]
    if missed:
        label = pick(missed, rng)
        inside = rest & (batch.codes == batch.labels.index(label))
        condition = _common(batch, inside, rest & ~inside, rng)
        if condition is not None:
            yield rule._replace(cases=(*rule.cases, Case(condition, label)))


def _common(batch: Batch, inside: Mask, outside: Mask, rng: Generator) -> Condition | None:
    """Return one or two conditions that hold on all rows inside and exclude some outside; None if none does."""
    if batch.sequential:
        one = fitting.a_property(batch, rng)
        return None if one is None or not one.mask[inside].all() else one.condition
    splits = (_holding(batch, name, inside, outside) for name in _few(batch, rng, least=_MOST_COMMON))
    some = [one.condition for one in splits if one is not None][: int(rng.integers(1, 1 + _MOST_COMMON))]
    return None if not some else some[0] if len(some) == 1 else Joint("and", tuple(some))


def _few(batch: Batch, rng: Generator, *, least: int) -> list[str]:
    """Return some columns in random order, at least `least` if the batch has them."""
    count = int(rng.integers(least, 1 + max(least, len(batch.columns))))
    return [batch.columns[at] for at in rng.permutation(len(batch.columns))[:count]]


def _holding(batch: Batch, name: str, inside: Mask, outside: Mask) -> Split | None:
    """Return the condition on a column that holds on all rows inside and the fewest outside; None if on all outside."""
    kinds, values = batch.kinds(name, inside), batch.values(Cell(name))
    ways = [fitting.membership(batch, name, kinds)] if kinds else [*_around(name, values, inside, outside)]
    useful = [one for one in ways if one.mask[inside].all() and not one.mask[outside].all()]
    return min(useful, key=lambda one: int(one.mask[outside].sum()), default=None)


def _around(name: str, values: Floats, inside: Mask, outside: Mask) -> Iterator[Split]:
    """Yield a lower and an upper bound around all values inside, halfway to the next value outside."""
    low, high = float(values[inside].min()), float(values[inside].max())
    below, above = values[outside & (values < low)], values[outside & (values > high)]
    if below.size:
        at = round_between(float(below.max()), low)
        yield Split(Is(Cell(name), Compare(">", Number(at))), values > at)
    if above.size:
        at = round_between(high, float(above.min()))
        yield Split(Is(Cell(name), Compare("<=", Number(at))), values <= at)


_PER_TERM = 1.0
"""Penalty of a term, in units of log-likelihood."""
_NEAR_NUMBERS = 0.5
"""Bonus of the current formula and its revisions, in units of log-likelihood."""
_REACH = 2.0
"""Largest error of a formula on any row, in ranges of the targets."""
_NUMBER_HINTS: dict[str, tuple[NumberFamily, ...]] = {
    "line": (fitting.line, fitting.plane), "straight": (fitting.line, fitting.plane),
    "parabola": (fitting.quadratic,), "quadratic": (fitting.quadratic,), "cubic": (fitting.cubic,),
    "polynomial": (fitting.quadratic, fitting.cubic), "sine": (fitting.sine,), "sinus": (fitting.sine,),
    "wave": (fitting.sine,), "periodic": (fitting.sine,), "oscillat": (fitting.sine,),
}  # fmt: skip


def _number_ideas(request: Request) -> list[Idea]:
    batch, rng, current = request.batch, request.rng, request.reading.rule
    selected = request.glance(0.5, 1.4).astype(float)
    families = request.some_of(fitting.number_families(batch), _NUMBER_HINTS)
    fresh = _sane((family(batch, selected, rng) for family in families), batch)
    ideas = [_number_idea(batch, rule, selected, "A formula of another form") for rule in fresh]
    if current is not None:
        near = [("I keep the rule: it", current)]
        again = _sane([refitted(current, batch, selected, rng)], batch)
        near += [("The same formula with other coefficients", rule) for rule in again]
        ideas = [*(_number_idea(batch, rule, selected, words, _NEAR_NUMBERS) for words, rule in near), *ideas]
    mean = Rule((), fitting.mean(batch, batch.everything))
    return ideas or [Idea(mean, 0.0, "I see no form here, so I take the mean.")]


def _sane(some: Iterable[Rule | None], batch: Batch) -> list[Rule]:
    """Return the rules that miss no row by more than `_REACH` ranges of the targets."""
    reach = _REACH * float(np.ptp(batch.y)) + 1e-9
    return [rule for rule in some if rule and (np.abs(batch.predictions(rule) - batch.y) <= reach).all()]


def _number_idea(batch: Batch, rule: Rule, selected: Floats, words: str, bonus: float = 0.0) -> Idea:
    residuals = np.nan_to_num(batch.predictions(rule) - batch.y, nan=float(np.abs(batch.y).max()))[selected > 0]
    with np.errstate(over="ignore"):
        mean_square = float((residuals**2).mean())
    floor = 1e-3 * float(batch.y.var()) + 1e-12
    outcomes = [*(case.outcome for case in rule.cases), rule.otherwise]
    n_terms = len(rule.cases) + sum(len(_parts(one)) for one in outcomes if isinstance(one, Term))
    score = -0.5 * len(residuals) * float(np.log(mean_square + floor)) - _PER_TERM * n_terms + bonus
    why = f"{words} misses by {np.sqrt(mean_square):.3g} (root mean square) on the {len(residuals)} rows I looked at."
    return Idea(rule, score, why)


def _parts(term: Term) -> list[tuple[float, Term | None]]:
    """Split the term into a sum of coefficient times part; None stands for 1."""
    match term:
        case Number():
            return [(term.value, None)]
        case Formula("+", (left, right)):
            return _parts(left) + _parts(right)
        case Formula("-", (left, right)):
            return _parts(left) + [(-weight, part) for weight, part in _parts(right)]
        case Formula("*", (Number(weight), factor) | (factor, Number(weight))):
            return [(weight * own, part) for own, part in _parts(factor)]
    return [(1.0, term)]


def refitted(rule: Rule, batch: Batch, selected: Floats, rng: Generator) -> Rule | None:
    if not isinstance(rule.otherwise, Term):
        return None
    basis = dict.fromkeys(part for _, part in _parts(rule.otherwise) if part is not None)
    term = fitting.least_squares(batch, list(basis), selected, fitting.some_digits(rng))
    return None if term is None else rule._replace(otherwise=term)


# --- rules without rows, fitted to made-up ones --------------------------------------------------------------

_ROWS = 10
_SEQUENCE_LENGTH = 4
_TRIES = 8
"""Most draws until a rule has a condition."""
_COLDEST = 0.2
"""Lowest effective temperature of the choice of a form."""
_SCALES = (0.5, 0.7, 1.0, 1.5, 2.0, 3.0, 5.0, 10.0)
_LETTERS = "aeionrst"


def _label_rule(question: PriorQuestion, power: float, rng: Generator) -> Rule | None:
    labels = [question.labels[int(at)] for at in rng.permutation(len(question.labels))]
    worded = [name for name, kind in question.columns if kind not in ("number", "sequence")]
    if worded and rng.random() < len(worded) / len(question.columns):
        letter = rules.Holds(pick(_LETTERS, rng))
        return Rule((Case(Is(Cell(pick(worded, rng)), letter), labels[0]),), labels[-1])
    batch = Batch(_imaginary_rows(question, rng), tuple(labels[at % len(labels)] for at in range(_ROWS)))
    weights = _weights(fitting.label_families(batch), _LABEL_HINTS, question.rule, power)
    tries = (fitting.draw(weights, rng)(batch, rng) for _ in range(_TRIES))
    return next((rule for rule in tries if rule is not None and rule.cases), None)


def _number_rule(question: PriorQuestion, power: float, rng: Generator) -> Rule | None:
    rows = _imaginary_rows(question, rng)
    slopes = rng.integers(-4, 5, size=len(question.columns))
    targets = (float(rng.integers(-5, 6)) + sum(map(mul, slopes, row.numbers)) + rng.normal() for row in rows)
    batch = Batch(rows, tuple(float(one) for one in targets))
    weights = _weights(fitting.number_families(batch), _NUMBER_HINTS, question.rule, power)
    return fitting.draw(weights, rng)(batch, np.ones(_ROWS), rng)


def _imaginary_rows(question: PriorQuestion, rng: Generator) -> tuple[Row, ...]:
    """Make rows up: all digits, or numbers about zero; a sequence holds digits, and other columns are left out."""
    scale = float(rng.choice(_SCALES)) if rng.random() < 0.4 else None
    return tuple(
        Row({name: _cell(kind, scale, rng) for name, kind in question.columns if kind in ("number", "sequence")})
        for _ in range(_ROWS)
    )


def _cell(kind: str, scale: float | None, rng: Generator) -> rules.Value:
    if kind == "sequence":
        return tuple(float(digit) for digit in rng.integers(10, size=_SEQUENCE_LENGTH))
    return float(rng.integers(10)) if scale is None else fitting.round_to(scale * float(rng.normal()), 2)
