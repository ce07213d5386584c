"""The optimizer: keeps a rule that fits its batch, and otherwise writes another, fitted to the batch alone."""

import hashlib
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.random import Generator

from vpp.demo import classify, regress, revise
from vpp.demo.batch import Batch, Floats
from vpp.demo.prompt import OptimizerQuestion
from vpp.demo.read_rule import Reading, read_rule
from vpp.demo.rule import Rule
from vpp.demo.values import read_number, read_row
from vpp.demo.wording import Style, Unsayable, say_rule

F = TypeVar("F")

_HINTS: tuple[tuple[str, tuple[object, ...]], ...] = (
    ("circle|circular|radius|ring|distance", (classify.circle,)),
    ("line|linear|straight", (classify.line, regress.line, regress.plane)),
    ("parabola|quadratic|squared", (regress.quadratic,)),
    ("cubic|polynomial", (regress.cubic, regress.quadratic)),
    ("sine|wave|periodic|sinusoid|oscillat|season", (regress.sine,)),
    ("threshold|cut-off|cutoff", (classify.cuts, classify.levels)),
)
_HINTED = 12.0


@dataclass(frozen=True, slots=True)
class Idea:
    """A rule that might be written next, and how well it is liked."""

    rule: Rule
    score: float
    why: str


@dataclass(frozen=True, slots=True)
class Current:
    """The rule that the batch was answered with."""

    rule: Rule
    text: str
    """Its own sentences, without the seed sentence and the prior before them."""


def propose(question: OptimizerQuestion, *, temperature: float, seed: int) -> str:
    """Reasoning and the next rule, in the asked form."""
    rng = generator(question, temperature, seed)
    batch = read_batch(question)
    reading = read_rule(question.rule, batch.names if batch.rows else (), question.labels)
    reasoning, text = _next(question, batch, reading, temperature, rng)
    return f"Reasoning: {reasoning}\n\n{question.heading}:\n{text}"


def generator(question: OptimizerQuestion, temperature: float, seed: int) -> Generator:
    """Random numbers that depend on the request alone."""
    text = repr((question, float(temperature), int(seed)))
    return np.random.default_rng(int.from_bytes(hashlib.sha256(text.encode(errors="replace")).digest()[:16]))


def read_batch(question: OptimizerQuestion) -> Batch:
    """The rows and targets; where a target that should be a number is none, its row is left out."""
    rows = [read_row(text) for text in question.inputs]
    if question.labels:
        return Batch(tuple(rows), question.targets)
    numbers = [read_number(text) for text in question.targets]
    kept = [(row, number) for row, number in zip(rows, numbers, strict=True) if number is not None]
    return Batch(tuple(row for row, _ in kept), tuple(number for _, number in kept))


def _next(
    question: OptimizerQuestion, batch: Batch, reading: Reading, temperature: float, rng: Generator
) -> tuple[str, str]:
    """Why, and the next rule's words."""
    current = None if reading.rule is None else Current(reading.rule, question.rule[reading.start :].strip())
    if not batch.rows:
        return "I can read no rows here, so I keep the rule.", current.text if current else "Always output 0."
    if question.labels:
        ideas = _ideas_for_labels(question, batch, reading, current, temperature, rng)
    else:
        ideas = _ideas_for_numbers(question, batch, reading, current, temperature, rng)
    idea = max(ideas, key=lambda one: one.score + temperature * _BOLDNESS * rng.gumbel())
    if current is not None and idea.rule == current.rule:
        return _kept(idea, batch, current, reading, temperature, rng)
    try:
        return idea.why, say_rule(idea.rule, _style(batch, reading, rng))
    except Unsayable:
        return "I keep the rule: I have no words for the change.", current.text if current else "Always output 0."


_BOLDNESS = 0.5


def _kept(
    idea: Idea, batch: Batch, current: Current, reading: Reading, temperature: float, rng: Generator
) -> tuple[str, str]:
    """The same text, or the same rule in other words."""
    if rng.random() > 0.3 * temperature:
        return idea.why, current.text
    try:
        text = say_rule(current.rule, _style(batch, reading, rng))
    except Unsayable:
        return idea.why, current.text
    labels = tuple(dict.fromkeys(str(target) for target in batch.targets))
    again = read_rule(text, batch.names, reading_labels(current.rule) or labels).rule
    return (idea.why + " I only reword it.", text) if again == current.rule else (idea.why, current.text)


def reading_labels(rule: Rule) -> tuple[str, ...]:
    """The labels a rule can give."""
    outcomes = [case.outcome for case in rule.cases] + [rule.otherwise]
    return tuple(dict.fromkeys(one for one in outcomes if isinstance(one, str)))


def _style(batch: Batch, reading: Reading, rng: Generator) -> Style:
    """How this answer puts things."""
    nouns = ("integer", "number", "digit") if batch.sequential and batch.whole_numbers else ("number", "value")
    return Style(
        frame=int(rng.integers(12)),
        signs=bool(rng.random() < 0.25),
        noun=nouns[int(rng.integers(len(nouns)))],
        synonym=int(rng.integers(12)),
        target=reading.target,
        names=batch.names,
    )


def _drawn(weights: dict[F, float], hints: str, count: int, rng: Generator) -> list[F]:
    """So many families at random, by weight; those that the words before the rule hint at are likelier."""
    text = hints.lower()
    hinted = {family for words, group in _HINTS if any(word in text for word in words.split("|")) for family in group}
    families = list(weights)
    p = np.array([weights[one] * (_HINTED if one in hinted else 1.0) for one in families])
    return [families[int(at)] for at in rng.choice(len(families), size=count, p=p / p.sum())]


def _tries(temperature: float, rng: Generator) -> int:
    return 1 + int(rng.poisson(temperature))


# --- labels -------------------------------------------------------------------------------------------------

_PER_CONDITION = 0.4
_STAYING = 1.0


def _ideas_for_labels(
    question: OptimizerQuestion,
    batch: Batch,
    reading: Reading,
    current: Current | None,
    temperature: float,
    rng: Generator,
) -> list[Idea]:
    ideas = []
    if current is not None:
        given = zip(question.predictions, question.targets, strict=True)
        errors = sum(answer != target for answer, target in given)
        if errors == 0:
            return [Idea(current.rule, 0.0, f"All {batch.size} answers are right, so I keep the rule.")]
        why = f"{errors} of {batch.size} answers are wrong, but I see no better rule that is as simple, so I keep it."
        ideas.append(Idea(current.rule, _liking(current.rule, errors) + _STAYING, why))
        ideas += _revised_for_labels(batch, current.rule, rng)
    for family in _drawn(classify.families(batch), reading.hints, _tries(temperature, rng), rng):
        rule = family(batch, rng)
        if rule is not None:
            ideas.append(_judged(batch, rule, "A rule of another form"))
    return ideas or [_judged(batch, Rule((), batch.labels[0]), "The most frequent label")]


def _liking(rule: Rule, errors: int) -> float:
    return -errors - _PER_CONDITION * revise.size(rule)


def _judged(batch: Batch, rule: Rule, what: str, bonus: float = 0.0) -> Idea:
    errors = batch.errors(rule)
    return Idea(rule, _liking(rule, errors) + bonus, f"{what} gets {batch.size - errors} of these {batch.size} right.")


def _revised_for_labels(batch: Batch, rule: Rule, rng: Generator) -> list[Idea]:
    moved = [
        _judged(batch, one, "The rule with a bound moved", 0.3) for one in revise.with_bound_moved(rule, batch, rng)
    ]
    simpler = [_judged(batch, one, "The rule without one of its parts", 0.3) for one in revise.simpler(rule)]
    addition = classify.addition(batch, rng)
    longer = None if addition is None else revise.extended(rule, addition, rng)
    return moved + simpler + ([] if longer is None else [_judged(batch, longer, "The rule with a further condition")])


# --- numbers ------------------------------------------------------------------------------------------------

_PER_TERM = 1.0
_FEWEST_ROWS = 3


def _ideas_for_numbers(
    question: OptimizerQuestion,
    batch: Batch,
    reading: Reading,
    current: Current | None,
    temperature: float,
    rng: Generator,
) -> list[Idea]:
    ideas = []
    look = _looked_at(batch, temperature, rng)
    if current is not None:
        ideas.append(_measured(batch, current.rule, look, "I keep the rule: it", 0.5))
        refitted = revise.refitted(current.rule, batch, look, rng)
        if refitted is not None and _sane(batch, refitted):
            ideas.append(_measured(batch, refitted, look, "The same formula with other coefficients", 0.5))
            between = revise.halfway(current.rule, refitted)
            ideas += [] if between is None else [_measured(batch, between, look, "The formula moved half way", 0.5)]
    for family in _drawn(regress.families(batch), reading.hints, _tries(temperature, rng), rng):
        rule = family(batch, look, rng)
        if rule is not None and _sane(batch, rule):
            ideas.append(_measured(batch, rule, look, "A formula of another form"))
    return ideas or [_measured(batch, Rule((), regress.mean(batch)), look, "The mean")]


def _looked_at(batch: Batch, temperature: float, rng: Generator) -> Floats:
    """(size,) 1 for the rows that are looked at closely: the hotter, the fewer."""
    share = float(np.clip(1 - temperature * rng.uniform(0.4, 1.1), 0, 1))
    count = max(_FEWEST_ROWS, round(batch.size * share))
    return np.isin(np.arange(batch.size), rng.permutation(batch.size)[:count]).astype(float)


def _sane(batch: Batch, rule: Rule) -> bool:
    """Whether the rule gives every row of the batch a number not far outside the targets' range."""
    reach = 1.7 * float(np.ptp(batch.y)) + 1e-9
    return bool((np.abs(batch.predictions(rule) - batch.y) <= reach).all())


def _measured(batch: Batch, rule: Rule, look: Floats, what: str, bonus: float = 0.0) -> Idea:
    residuals = np.nan_to_num(batch.predictions(rule) - batch.y, nan=float(np.abs(batch.y).max()))[look > 0]
    mean_square = float((residuals**2).mean())
    floor = 1e-3 * float(batch.y.var()) + 1e-12
    score = -0.5 * len(residuals) * float(np.log(mean_square + floor)) - _PER_TERM * _terms(rule) + bonus
    missed = f"{what} misses by {np.sqrt(mean_square):.3g} (root mean square) on the {len(residuals)} rows I looked at."
    return Idea(rule, score, missed)


def _terms(rule: Rule) -> int:
    terms = [case.outcome for case in rule.cases] + [rule.otherwise]
    return len(rule.cases) + sum(
        len(revise.parts_of(term)) for term in terms if term is not None and not isinstance(term, str)
    )
