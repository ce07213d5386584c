"""Ideas for the next rule where the target is a number."""

import numpy as np

from vpp.demo import regress, revise
from vpp.demo.batch import Floats
from vpp.demo.regress import Family
from vpp.demo.rule import Rule, Term
from vpp.demo.sitting import Current, Idea, Sitting

_PER_TERM = 1.0
"""What a term counts against a formula, in units of log-likelihood."""
_NEAR = 0.5
"""What counts for the formula that is there and for those near it."""
_FEWEST_ROWS = 3
_REACH = 2.0
"""A formula is dropped if it misses some row by more than so many times the targets' range."""
_HINTS: dict[str, tuple[Family, ...]] = {
    "line": (regress.line, regress.plane),
    "straight": (regress.line, regress.plane),
    "parabola": (regress.quadratic,),
    "quadratic": (regress.quadratic,),
    "cubic": (regress.cubic,),
    "polynomial": (regress.quadratic, regress.cubic),
    "sine": (regress.sine,),
    "sinus": (regress.sine,),
    "wave": (regress.sine,),
    "periodic": (regress.sine,),
    "oscillat": (regress.sine,),
}


def number_ideas(sitting: Sitting) -> list[Idea]:
    """The current formula, the same with other coefficients, and a few fresh forms, judged on the rows looked at."""
    look = _looked_at(sitting)
    current = sitting.current
    near = [] if current is None else _near(sitting, current, look)
    families = sitting.some_of(regress.families(sitting.batch), _HINTS)
    rules = [family(sitting.batch, look, sitting.rng) for family in families]
    fresh = [_measured(sitting, rule, look, "A formula of another form") for rule in rules if _is_sane(sitting, rule)]
    mean = Rule((), regress.mean(sitting.batch))
    return near + [one for one in fresh if one is not None] or [
        Idea(mean, 0.0, "I see no form here, so I take the mean.")
    ]


def _near(sitting: Sitting, current: Current, look: Floats) -> list[Idea]:
    refitted = revise.refitted(current.rule, sitting.batch, look, sitting.rng)
    between = None if refitted is None else revise.halfway(current.rule, refitted)
    ideas = [_measured(sitting, current.rule, look, "I keep the rule: it", _NEAR)]
    if _is_sane(sitting, refitted):
        ideas.append(_measured(sitting, refitted, look, "The same formula with other coefficients", _NEAR))
        ideas.append(_measured(sitting, between, look, "The formula moved half way", _NEAR))
    return [one for one in ideas if one is not None]


def _looked_at(sitting: Sitting) -> Floats:
    """(size,) 1 for the rows that are looked at closely: the hotter, the fewer."""
    size = sitting.batch.size
    share = float(np.clip(1 - sitting.temperature * sitting.rng.uniform(0.5, 1.4), 0, 1))
    chosen = sitting.rng.permutation(size)[: max(_FEWEST_ROWS, round(size * share))]
    return np.isin(np.arange(size), chosen).astype(float)


def _is_sane(sitting: Sitting, rule: Rule | None) -> bool:
    """Whether the rule gives every row a number not far outside the targets' range."""
    if rule is None:
        return False
    reach = _REACH * float(np.ptp(sitting.batch.y)) + 1e-9
    return bool((np.abs(sitting.batch.predictions(rule) - sitting.batch.y) <= reach).all())


def _measured(sitting: Sitting, rule: Rule | None, look: Floats, what: str, bonus: float = 0.0) -> Idea | None:
    if rule is None:
        return None
    y = sitting.batch.y
    residuals = np.nan_to_num(sitting.batch.predictions(rule) - y, nan=float(np.abs(y).max()))[look > 0]
    with np.errstate(over="ignore"):
        mean_square = float((residuals**2).mean())
    floor = 1e-3 * float(y.var()) + 1e-12
    score = -0.5 * len(residuals) * float(np.log(mean_square + floor)) - _PER_TERM * _terms(rule) + bonus
    missed = f"{what} misses by {np.sqrt(mean_square):.3g} (root mean square) on the {len(residuals)} rows I looked at."
    return Idea(rule, score, missed)


def _terms(rule: Rule) -> int:
    outcomes = [case.outcome for case in rule.cases] + [rule.otherwise]
    return len(rule.cases) + sum(len(revise.parts_of(one)) for one in outcomes if isinstance(one, Term))
