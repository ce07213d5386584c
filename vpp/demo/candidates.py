"""Candidates for the optimizer's next rule: the current rule, revisions of it, and rules of other forms."""

import math
from dataclasses import dataclass, replace
from typing import TypeGuard, TypeVar

import numpy as np
from numpy.random import Generator

from vpp.demo import classify, mistakes, regress, revise
from vpp.demo.batch import Batch, Floats, drawn, part
from vpp.demo.classify import Mask
from vpp.demo.prompt import OptimizerQuestion
from vpp.demo.read_rule import Reading
from vpp.demo.rule import Rule
from vpp.demo.terms import Term

F = TypeVar("F")

_FEWEST_ROWS = 3
"""Fewest rows looked at."""
_HINTED = 12.0
"""Weight factor of a family that the prior text hints at."""


@dataclass(frozen=True, slots=True)
class Idea:
    """A candidate for the next rule."""

    rule: Rule
    score: float
    """Score; errors and length lower it."""
    why: str
    """Reason for the rule, a sentence."""


@dataclass(frozen=True, slots=True)
class Request:
    """Everything that a proposal is made from."""

    question: OptimizerQuestion
    batch: Batch
    reading: Reading
    temperature: float
    rng: Generator

    @property
    def current(self) -> Rule | None:
        return self.reading.rule

    def some_of(self, weights: dict[F, float], hints: dict[str, tuple[F, ...]]) -> list[F]:
        weights = hinted(weights, hints, self.reading.hints)
        return [drawn(weights, self.rng) for _ in range(1 + int(self.rng.poisson(self.temperature)))]


def hinted(weights: dict[F, float], hints: dict[str, tuple[F, ...]], text: str) -> dict[F, float]:
    """Multiply the weights of forms that a word of the text hints at."""
    meant = {form for word, forms in hints.items() if word in text.lower() for form in forms}
    return {form: weight * (_HINTED if form in meant else 1.0) for form, weight in weights.items()}


def _glance(request: Request, low: float, high: float) -> Mask:
    """(size,) True for the rows looked at: fewer at a higher temperature.

    low, high: range of the share of rows overlooked at temperature 1.
    """
    size = len(request.batch.rows)
    share = float(np.clip(1 - request.temperature * request.rng.uniform(low, high), 0, 1))
    chosen = request.rng.permutation(size)[: max(_FEWEST_ROWS, round(size * share))]
    return np.isin(np.arange(size), chosen)


# --- labels -------------------------------------------------------------------------------------------------

_PER_CONDITION = 0.4
"""Penalty of a condition, in errors."""
_STAYING = 1.6
"""Bonus of the current rule, in errors, unless it answers every row alike."""
_HASTE = 0.4
"""Probability of a variation tried on no row, at temperature 1."""
_NEAR_LABELS = 0.3
"""Bonus of a revision of the current rule, in errors."""
_LABELS_OVERLOOKED = (0.3, 1.1)
"""Range of the share of rows overlooked at temperature 1."""
LABEL_HINTS: dict[str, tuple[classify.Family, ...]] = {
    "circ": (classify.circle,), "radius": (classify.circle,), "ring": (classify.circle,),
    "distance": (classify.circle,), "line": (classify.line,), "straight": (classify.line,),
    "threshold": (classify.cuts,), "cut-off": (classify.cuts,), "even": (classify.pattern,),
    "odd": (classify.pattern,), "parity": (classify.pattern,), "contain": (classify.pattern,),
}  # fmt: skip


def label_ideas(request: Request) -> list[Idea]:
    question, current = request.question, request.current
    if current is None:
        return _new_label_rules(request, _first_seen(request))
    errors = sum(given != true for given, true in zip(question.predictions, question.targets, strict=True))
    unchanged = _unchanged(request, current, errors)
    if request.rng.random() < request.temperature * _HASTE and (hasty := _variations(request, current)):
        return [replace(unchanged, score=-math.inf), *hasty]
    return [unchanged, *_revisions(request, current), *_new_label_rules(request, request.batch)]


def _first_seen(request: Request) -> Batch:
    """Return some of the rows, so that a first rule may be too simple, or use a column that means nothing."""
    batch = request.batch
    # A few sequences fit too many properties: the rule guessed from them would hardly ever be the right one.
    return batch if batch.sequential else part(batch, _glance(request, *_LABELS_OVERLOOKED))


def _variations(request: Request, rule: Rule) -> list[Idea]:
    """Return variations of the rule, equally good: whether they fit is not looked at."""
    batch, rng = request.batch, request.rng
    variations = (
        ("I try another bound.", revise.with_bound_moved(rule, batch, rng, tolerated=len(batch.rows))),
        ("I try another column.", revise.with_another_column(rule, batch, rng)),
        ("I try a shorter rule.", revise.simpler(rule)),
    )
    return [Idea(one, 0.0, why) for why, rules in variations for one in rules]


def _unchanged(request: Request, current: Rule, errors: int) -> Idea:
    size = len(request.batch.rows)
    why = f"{errors} of {size} answers are wrong, but I see no better rule that is as simple, so I keep it."
    if not errors:
        why = f"All {size} answers are right, so I keep the rule."
    is_informative = len({current.answer(row) for row in request.batch.rows}) > 1
    return Idea(current, _label_score(current, errors) + _STAYING * is_informative, why)


def _new_label_rules(request: Request, seen: Batch) -> list[Idea]:
    families = request.some_of(classify.families(seen), LABEL_HINTS)
    rules = [family(seen, request.rng) for family in families]
    ideas = [_label_idea(seen, rule, "A rule of another form") for rule in rules if rule is not None]
    return ideas or [_label_idea(seen, Rule((), seen.labels[0]), "The most frequent label")]


def _revisions(request: Request, rule: Rule) -> list[Idea]:
    batch, rng = request.batch, request.rng
    revisions = (
        ("The rule with a bound moved", revise.with_bound_moved(rule, batch, rng)),
        ("The rule with another column", revise.with_another_column(rule, batch, rng)),
        ("The rule without one of its parts", revise.simpler(rule)),
        ("The rule with a further condition", mistakes.refined(rule, batch, rng)),
    )
    return [_label_idea(batch, one, words, _NEAR_LABELS) for words, rules in revisions for one in rules]


def _label_score(rule: Rule, errors: int) -> float:
    return -errors - _PER_CONDITION * revise.size(rule)


def _label_idea(seen: Batch, rule: Rule, words: str, bonus: float = 0.0) -> Idea:
    size, errors = len(seen.rows), seen.errors(rule)
    why = f"{words} gets {size - errors} of the {size} rows I looked at right."
    return Idea(rule, _label_score(rule, errors) + bonus, why)


# --- numbers ------------------------------------------------------------------------------------------------

_PER_TERM = 1.0
"""Penalty of a term, in units of log-likelihood."""
_NEAR_NUMBERS = 0.5
"""Bonus of the current formula and its revisions, in units of log-likelihood."""
_NUMBERS_OVERLOOKED = (0.5, 1.4)
"""Range of the share of rows overlooked at temperature 1."""
_REACH = 2.0
"""Largest error of a formula on any row, in ranges of the targets."""
NUMBER_HINTS: dict[str, tuple[regress.Family, ...]] = {
    "line": (regress.line, regress.plane), "straight": (regress.line, regress.plane),
    "parabola": (regress.quadratic,), "quadratic": (regress.quadratic,), "cubic": (regress.cubic,),
    "polynomial": (regress.quadratic, regress.cubic), "sine": (regress.sine,), "sinus": (regress.sine,),
    "wave": (regress.sine,), "periodic": (regress.sine,), "oscillat": (regress.sine,),
}  # fmt: skip


def number_ideas(request: Request) -> list[Idea]:
    batch, rng, current = request.batch, request.rng, request.current
    selected = _glance(request, *_NUMBERS_OVERLOOKED).astype(float)
    families = request.some_of(regress.families(batch), NUMBER_HINTS)
    fresh = [family(batch, selected, rng) for family in families]
    ideas = [
        _number_idea(batch, rule, selected, "A formula of another form") for rule in fresh if _is_sane(rule, batch)
    ]
    if current is not None:
        refitted = revise.refitted(current, batch, selected, rng)
        words = "The same formula with other coefficients"
        near = [_number_idea(batch, current, selected, "I keep the rule: it", _NEAR_NUMBERS)]
        if _is_sane(refitted, batch):
            near.append(_number_idea(batch, refitted, selected, words, _NEAR_NUMBERS))
        ideas = near + ideas
    return ideas or [Idea(Rule((), regress.mean(batch)), 0.0, "I see no form here, so I take the mean.")]


def _is_sane(rule: Rule | None, batch: Batch) -> TypeGuard[Rule]:
    """Return whether the rule misses no row by more than `_REACH` ranges of the targets."""
    if rule is None:
        return False
    reach = _REACH * float(np.ptp(batch.y)) + 1e-9
    return bool((np.abs(batch.predictions(rule) - batch.y) <= reach).all())


def _number_idea(batch: Batch, rule: Rule, selected: Floats, words: str, bonus: float = 0.0) -> Idea:
    residuals = np.nan_to_num(batch.predictions(rule) - batch.y, nan=float(np.abs(batch.y).max()))[selected > 0]
    with np.errstate(over="ignore"):
        mean_square = float((residuals**2).mean())
    floor = 1e-3 * float(batch.y.var()) + 1e-12
    score = -0.5 * len(residuals) * float(np.log(mean_square + floor)) - _PER_TERM * _terms(rule) + bonus
    why = f"{words} misses by {np.sqrt(mean_square):.3g} (root mean square) on the {len(residuals)} rows I looked at."
    return Idea(rule, score, why)


def _terms(rule: Rule) -> int:
    outcomes = [case.outcome for case in rule.cases] + [rule.otherwise]
    return len(rule.cases) + sum(len(revise.parts_of(one)) for one in outcomes if isinstance(one, Term))
