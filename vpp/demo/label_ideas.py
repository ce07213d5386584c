"""Ideas for the next rule where the target is a label."""

from vpp.demo import classify, mistakes, revise
from vpp.demo.classify import Family
from vpp.demo.rule import Rule
from vpp.demo.sitting import Current, Idea, Sitting

_PER_CONDITION = 0.4
"""What a condition counts against a rule, in errors."""
_STAYING = 2.0
"""What counts for the rule that is there, in errors, unless it says the same of every row."""
_NEAR = 0.3
"""What counts for a rule near the one that is there, in errors."""
_HINTS: dict[str, tuple[Family, ...]] = {
    "circ": (classify.circle,),
    "radius": (classify.circle,),
    "ring": (classify.circle,),
    "distance": (classify.circle,),
    "line": (classify.line,),
    "straight": (classify.line,),
    "threshold": (classify.cuts, classify.levels),
    "cut-off": (classify.cuts, classify.levels),
}


def label_ideas(sitting: Sitting) -> list[Idea]:
    """The current rule alone where it makes no error; else that rule, revisions of it, and a few fresh forms."""
    current = sitting.current
    if current is None:
        return _fresh(sitting)
    errors = sum(
        given != true for given, true in zip(sitting.question.predictions, sitting.question.targets, strict=True)
    )
    size = sitting.batch.size
    if errors == 0:
        return [Idea(current.rule, 0.0, f"All {size} answers are right, so I keep the rule.")]
    why = f"{errors} of {size} answers are wrong, but I see no better rule that is as simple, so I keep it."
    tells = len({current.rule.answer(row) for row in sitting.batch.rows}) > 1
    kept = Idea(current.rule, _liking(current.rule, errors) + _STAYING * tells, why)
    return [kept, *_revised(sitting, current), *_fresh(sitting)]


def _fresh(sitting: Sitting) -> list[Idea]:
    rules = [family(sitting.batch, sitting.rng) for family in sitting.some_of(classify.families(sitting.batch), _HINTS)]
    found = [_judged(sitting, rule, "A rule of another form") for rule in rules if rule is not None]
    return found or [_judged(sitting, Rule((), sitting.batch.labels[0]), "The most frequent label")]


def _revised(sitting: Sitting, current: Current) -> list[Idea]:
    batch, rng, rule = sitting.batch, sitting.rng, current.rule
    moved = [
        _judged(sitting, one, "The rule with a bound moved", _NEAR) for one in revise.with_bound_moved(rule, batch, rng)
    ]
    shorter = [_judged(sitting, one, "The rule without one of its parts", _NEAR) for one in revise.simpler(rule)]
    longer = [
        _judged(sitting, one, "The rule with a further condition", _NEAR) for one in mistakes.refined(rule, batch, rng)
    ]
    return moved + shorter + longer


def _liking(rule: Rule, errors: int) -> float:
    return -errors - _PER_CONDITION * revise.size(rule)


def _judged(sitting: Sitting, rule: Rule, what: str, bonus: float = 0.0) -> Idea:
    size, errors = sitting.batch.size, sitting.batch.errors(rule)
    return Idea(rule, _liking(rule, errors) + bonus, f"{what} gets {size - errors} of these {size} right.")
