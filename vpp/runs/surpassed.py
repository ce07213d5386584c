"""Hypotheses that do better than the averaged prediction on the training rows: a particle, or a text ruled out."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from vpp.data.dataset import Dataset
from vpp.events import Scored, Votes
from vpp.posterior.metric import paired_difference
from vpp.problem import losses_of
from vpp.runs.view import RunView

ENOUGH = 0.5
"""Share of the training rows that a ruled-out text must have answered: on few rows, some text is always better."""
CLEAR = 0.05
"""Largest p of the sign test at which the prediction is clearly worse."""
Losses = Mapping[int, float]
"""Loss by training row: 1 if wrong and 0 if right, or the squared error."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Surpassed:
    """A hypothesis compared with the averaged prediction, on the training rows that it answered."""

    by: Literal["particle", "ruled out"]
    hypothesis: str
    """Its id."""
    slot: int | None
    """Slot of a particle; None for a text ruled out."""
    n: int
    prediction: float
    """Mean loss of the averaged prediction: share of wrong answers, or mean squared error."""
    other: float
    """The hypothesis' own, which is smaller."""
    p: float
    """p of the sign test."""

    @property
    def is_clear(self) -> bool:
        """True if luck on these rows is an unlikely reason."""
        return self.p < CLEAR


def surpassed(view: RunView, dataset: Dataset) -> tuple[Surpassed, ...]:
    """The best particle and the best text ruled out, each only where it does better than the averaged prediction.

    Empty before the training rows are evaluated.
    """
    train = view.evaluated.get("train")
    if train is None or not train.rows:
        return ()
    own = _losses(dataset, train.rows, train.averaged)
    alive = [(slot, _losses(dataset, train.rows, votes)) for slot, votes in enumerate(train.predictions)]
    particles = [_beside(own, losses, "particle", train.hypotheses[slot], slot) for slot, losses in alive]
    gone = [_beside(own, losses, "ruled out", identity) for identity, losses in _ruled_out(view, dataset)]
    found = (min(some, key=lambda each: (each.other - each.prediction) * each.n) for some in (particles, gone) if some)
    return tuple(each for each in found if each.other < each.prediction)


def scores_of(view: RunView) -> Iterator[Scored]:
    """Every score of the run, the final weights' last."""
    for step in view.steps.values():
        yield from step.scored.values()
        yield from step.proposals_scored.values()
    yield from view.final_scored.values()


def _ruled_out(view: RunView, dataset: Dataset) -> Iterator[tuple[str, Losses]]:
    """Texts rejected or resampled away that no particle holds now and that enough training rows were asked about."""
    gone = {p.proposal for p in view.decided_by_likelihood if not p.accepted}
    for step in view.steps.values():
        gone |= {scored.hypothesis for scored in step.scored.values()} if step.resampled else set()
    gone -= {state.hypothesis for state in view.population}
    answers: dict[str, dict[int, float]] = {}
    for scored in scores_of(view):
        if scored.hypothesis in gone:
            answers.setdefault(scored.hypothesis, {}).update(_losses(dataset, scored.rows, scored.predictions))
    return ((id_, losses) for id_, losses in answers.items() if len(losses) >= ENOUGH * len(dataset.train))


def _beside(
    own: Losses, losses: Losses, by: Literal["particle", "ruled out"], hypothesis: str, slot: int | None = None
) -> Surpassed:
    rows = [row for row in losses if row in own]
    ours, theirs = [own[row] for row in rows], [losses[row] for row in rows]
    return Surpassed(
        by=by,
        hypothesis=hypothesis,
        slot=slot,
        n=len(rows),
        prediction=sum(ours) / len(rows),
        other=sum(theirs) / len(rows),
        p=paired_difference(ours, theirs).p,
    )


def _losses(dataset: Dataset, rows: tuple[int, ...], answers: Votes) -> Losses:
    by_id = {row.id: row.target for row in dataset.train}
    return dict(zip(rows, losses_of(dataset, answers, [by_id[row] for row in rows]).tolist(), strict=True))
