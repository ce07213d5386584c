"""Curves by step: how often the hypotheses are right, their effective sample size, and their weights."""

import math
from dataclasses import dataclass
from functools import partial

from vpp.data.dataset import Dataset
from vpp.events import Scored
from vpp.findings.hypotheses import hypotheses_of
from vpp.findings.scores import rows_by_id, score
from vpp.findings.step import Names
from vpp.runs.view import RunView, StepView, ess_of_sentences
from vpp.settings import ESS_SHARE
from vpp.show.figures import HUES, Curve
from vpp.show.words import EQUAL, counted, fixed, integer, number, percent, shortest


@dataclass(frozen=True, slots=True, kw_only=True)
class Accuracy:
    """Shares of the rows scored that the hypotheses of a step have right; for numbers their error, root mean square."""

    step: int
    best: float
    mean: float
    """Over the particles."""
    rows: frozenset[int]


def accuracies(view: RunView, dataset: Dataset) -> tuple[Accuracy, ...]:
    found = (at.once("accuracy", partial(_accuracy, at, dataset)) for _, at in sorted(view.steps.items()))
    return tuple(each for each in found if each is not None)


def _accuracy(at: StepView, dataset: Dataset) -> Accuracy | None:
    if not at.scores or not (at.reweighting or at.end):
        return None
    by_id, own = rows_by_id(dataset), dict[str, float]()

    def figure(scored: Scored) -> float:
        if scored.hypothesis not in own:
            found = score(scored.predictions, [by_id[row] for row in scored.rows], dataset)
            own[scored.hypothesis] = found.value if found.n_correct is not None else math.sqrt(found.value)
        return own[scored.hypothesis]

    values = [figure(scored) for scored in at.scores.values()]
    rows = frozenset(row for scored in at.scores.values() for row in scored.rows)
    best = max(values) if dataset.task == "classification" else min(values)
    return Accuracy(step=at.step, best=best, mean=sum(values) / len(values), rows=rows)


def accuracy_curve(view: RunView, dataset: Dataset, *, at: int | None) -> Curve:
    """Draw the best and the mean hypothesis of every step, and the prediction's test rows at the end."""
    scores, is_share = accuracies(view, dataset), dataset.task == "classification"
    evaluated = view.evaluations.get("test")
    test = None if evaluated is None else evaluated.value if is_share else math.sqrt(evaluated.value)
    looked_at = next((each for each in scores if each.step == at), scores[-1] if scores else None)

    def words(value: float) -> str:
        return percent(value) if is_share else number(value, 3)

    said = []
    if looked_at:
        said = [f"At step {looked_at.step + 1} the best is {words(looked_at.best)}, the mean {words(looked_at.mean)}"]
    said += [] if test is None else [f"test rows at the end: {words(test)}"]
    values = [*(value for each in scores for value in (each.best, each.mean)), *([] if test is None else [test])]
    low, high = 0.0, max(values, default=1.0) or 1.0
    if is_share:
        low, high = min(int(10 * min(values, default=0.0) + EQUAL) / 10, 0.9), 1.0
    axis = "Share of rows right" if is_share else "Off by"
    return Curve(
        title="How often they are right" if is_share else "How far they are off",
        words=axis,
        alt=f"{axis}, by step. {'; '.join(said) or 'No step yet'}.",
        lines={name: [(each.step + 1, getattr(each, name)) for each in scores] for name in ("mean", "best")},
        dots=[] if test is None else [(view.total_steps + 1, test, "test")],
        low=(low, words(low)),
        high=(high, words(high)),
        total=view.total_steps,
        at=None if at is None else at + 1,
    )


def ess_curve(view: RunView, *, at: int | None) -> Curve:
    """Draw the effective sample size by step, with dots where the particles were copied, and at the end."""
    past = {step: each.reweighting for step, each in sorted(view.steps.items()) if each.reweighting}
    limit = ESS_SHARE * (view.size or 1)
    dots = [(step + 1, made.ess, "copied") for step, made in past.items() if view.steps[step].resampling]
    final = ess_of_sentences(view) if view.has_ended else None
    words = f"Copies below {shortest(round(limit, 1))}"
    if at in past:
        words = f"{fixed(past[at].ess, 1)} of {len(past[at].weights)} · copies below {shortest(round(limit, 1))}"
    elif at is None and final is not None:
        words = f"At the end the weight is spread over about {fixed(final, 1)} texts, counted one by one"
    return Curve(
        title="Effective sample size",
        words=words,
        alt=f"Effective sample size by step: {counted(len(dots), 'step')} with copying. {words}.",
        lines={"best": [(step + 1, made.ess) for step, made in past.items()]},
        dots=[*dots, *([] if final is None else [(view.total_steps + 1, final, "end")])],
        low=(0.0, "0"),
        high=(float(view.size or 1), integer(view.size or 1)),
        limit=limit,
        total=view.total_steps,
        at=None if at is None else at + 1,
        height=96,
    )


def weights_curve(view: RunView, dataset: Dataset) -> Curve | None:
    """Draw the weights of the hypotheses that had most at some step, numbered as on Watch; None before two steps."""
    names = Names(view)
    moments = {step + 1: names.shares(step) for step, at in sorted(view.steps.items()) if at.reweighting}
    if len(moments) < 2:
        return None
    if view.has_ended and view.weights:
        every = hypotheses_of(view, dataset)
        numbers = names.end(every)
        moments[view.total_steps + 1] = {numbers[each.id]: each.weight for each in every}
    present = {number for shares in moments.values() for number in shares}
    peaks = sorted(present, key=lambda n: (-max(shares.get(n, 0.0) for shares in moments.values()), n))[:HUES]
    _, last = max(moments.items())
    heaviest = max(last, key=lambda number: last[number])
    lines = {n: [(step, shares.get(n, 0.0)) for step, shares in moments.items()] for n in peaks}
    return Curve(
        title="Weight by step",
        words="Numbered as on Watch",
        alt=f"Hypothesis {heaviest} ends heaviest, with {percent(last[heaviest])}.",
        lines={f"line l{place}": lines[n] for place, n in reversed([*enumerate(peaks)])},
        names=[str(n) for n in reversed(peaks)],
        low=(0.0, percent(0.0)),
        high=(1.0, percent(1.0)),
        total=view.total_steps,
        at=None,
    )
