"""Comparison of runs: scores on the test rows, paired differences on equal rows, and spread over seeds.

Losses are 0 or 1 for labels, squared errors in squared units of the target for numbers.
"""

import math
from collections.abc import Hashable, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import PurePath
from statistics import fmean

from vpp.data.dataset import Dataset, Row
from vpp.events import Evaluated, Votes
from vpp.inspection.baselines import SimpleModel
from vpp.inspection.scores import Score, rows_of, score
from vpp.inspection.slots import grouped, same_answer
from vpp.posterior.metric import PairedDifference, deviation, mean_estimate, paired_difference
from vpp.problem import losses_of
from vpp.runs.reader import Snapshot
from vpp.runs.view import RunView
from vpp.settings import Config


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A run to compare, at one moment."""

    id: str
    label: str
    """Name, method and time, as a reader picks it."""
    snapshot: Snapshot
    dataset: Dataset

    @property
    def view(self) -> RunView:
        return self.snapshot.view

    @property
    def config(self) -> Config:
        return self.snapshot.spec.config

    @property
    def test(self) -> Evaluated | None:
        return self.view.evaluated.get("test")


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """Answers to the test rows with their losses and score."""

    rows: tuple[Row, ...]
    answers: Votes
    """(N,) averaged predictions of a run, or answers of a simple model."""
    losses: tuple[float, ...]
    """(N,) an abstention is wrong, or an error of the range of the training targets."""
    score: Score

    @property
    def standard_error(self) -> float | None:
        """Standard error of the mean loss (ddof = 1); None for one row."""
        return mean_estimate(self.losses).standard_error

    @property
    def value(self) -> float:
        return 1 - self.score.error if self.score.n_correct is not None else self.score.error


def standing(run: Candidate) -> Standing | None:
    if run.test is None:
        return None
    return _standing(rows_of(run.test, run.dataset), run.test.averaged, run.dataset)


def standing_of(model: SimpleModel, dataset: Dataset) -> Standing:
    return _standing(dataset.test, model.answers, dataset)


def _standing(rows: tuple[Row, ...], answers: Votes, dataset: Dataset) -> Standing:
    losses = losses_of(dataset, answers, [row.target for row in rows])
    return Standing(rows=rows, answers=answers, losses=tuple(losses.tolist()), score=score(answers, rows, dataset))


def same_rows(rows: Sequence[Row], others: Sequence[Row]) -> bool:
    """True for the same rows in any order: equal ids, targets and cells of the common columns."""
    by_id = {row.id: row for row in others}
    return len(rows) == len(others) and all(row.id in by_id and same_row(row, by_id[row.id]) for row in rows)


def same_row(row: Row, other: Row) -> bool:
    """True if the targets and all cells of at least one common column agree."""
    cells, others = dict(row.inputs), dict(other.inputs)
    shared = cells.keys() & others.keys()
    return bool(shared) and row.target == other.target and all(cells[name] == others[name] for name in shared)


def against(one: Standing, other: Standing) -> PairedDifference | None:
    """Paired difference of losses, `one` minus `other`; None if the rows differ."""
    if not same_rows(one.rows, other.rows):
        return None
    losses = {row.id: loss for row, loss in zip(other.rows, other.losses, strict=True)}
    return paired_difference(one.losses, [losses[row.id] for row in one.rows])


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """Runs with their standings, relative to a reference run."""

    runs: tuple[Candidate, ...]
    reference: int
    """Place of the reference among `runs`."""
    standings: tuple[Standing | None, ...]
    """One a run; None before its test rows are evaluated."""

    @property
    def base(self) -> Candidate:
        return self.runs[self.reference]

    @cached_property
    def comparable(self) -> tuple[int, ...]:
        return tuple(place for place in range(len(self.runs)) if self._shares_rows(place))

    @property
    def elsewhere(self) -> tuple[int, ...]:
        return tuple(i for i, own in enumerate(self.standings) if own is not None and i not in self.comparable)

    @property
    def unanswered(self) -> tuple[int, ...]:
        return tuple(place for place, own in enumerate(self.standings) if own is None)

    def _shares_rows(self, place: int) -> bool:
        own, base = self.standings[place], self.standings[self.reference]
        if own is None or base is None:
            return False
        return self.runs[place].dataset.target == self.base.dataset.target and same_rows(own.rows, base.rows)

    def difference(self, place: int) -> PairedDifference | None:
        own, base = self.standings[place], self.standings[self.reference]
        if own is None or base is None or place == self.reference or place not in self.comparable:
            return None
        return against(own, base)


def compare(runs: Sequence[Candidate], *, reference: int = 0) -> Comparison:
    return Comparison(runs=tuple(runs), reference=reference, standings=tuple(map(standing, runs)))


@dataclass(frozen=True, slots=True, kw_only=True)
class DifferingPoint:
    """A test row on which averaged predictions differ."""

    row: Row
    answers: Votes
    """One a run."""
    losses: tuple[float, ...]
    """One a run."""


def differing_points(standings: Sequence[Standing]) -> tuple[DifferingPoint, ...]:
    """Rows on which runs with the same test rows differ: labels by row, numbers by spread, abstentions first."""
    answers = [dict(zip((row.id for row in own.rows), own.answers, strict=True)) for own in standings]
    losses = [dict(zip((row.id for row in own.rows), own.losses, strict=True)) for own in standings]
    differing = [
        DifferingPoint(
            row=row, answers=tuple(each[row.id] for each in answers), losses=tuple(each[row.id] for each in losses)
        )
        for row in standings[0].rows
        if len({same_answer(each[row.id]) for each in answers}) > 1
    ]
    return tuple(sorted(differing, key=lambda point: (-_width(point.answers), point.row.id)))


def _width(answers: Votes) -> float:
    """Range of the numbers; infinite with an abstention, 0 for labels."""
    if any(isinstance(answer, str) for answer in answers):
        return 0.0
    numbers = [float(answer) for answer in answers if answer is not None]
    return max(numbers) - min(numbers) if len(numbers) == len(answers) else math.inf


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """Runs that differ only in their seed, and so in their split."""

    places: tuple[int, ...]
    """Places among the runs compared."""
    by_seed: tuple[tuple[int, float], ...]
    """(seed, metric) by seed; the mean of repeated runs of a seed."""
    n_files: int
    """Number of different tables: a generated task has one a seed."""

    @property
    def mean(self) -> float:
        return fmean(value for _, value in self.by_seed)

    @property
    def deviation(self) -> float | None:
        values = [value for _, value in self.by_seed]
        return deviation(values) if len(values) > 1 else None


def spreads(comparison: Comparison) -> tuple[Spread, ...]:
    """Group the runs with answers to their test rows by all settings except the seed."""
    answered = [place for place, own in enumerate(comparison.standings) if own is not None]
    groups = grouped((_setting(comparison.runs[place]), place) for place in answered)
    return tuple(_spread(places, comparison) for places in groups.values())


def _spread(places: Sequence[int], comparison: Comparison) -> Spread:
    runs = [comparison.runs[place] for place in places]
    standings = [comparison.standings[place] for place in places]
    values = grouped((run.config.seed, own.value) for run, own in zip(runs, standings, strict=True) if own is not None)
    return Spread(
        places=tuple(places),
        by_seed=tuple((seed, fmean(values[seed])) for seed in sorted(values)),
        n_files=len({run.dataset.provenance.sha256 for run in runs}),
    )


def _setting(run: Candidate) -> Hashable:
    """Key of all that decides a result except the seed: options, table, split, models, prompts, first texts."""
    spec, data = run.snapshot.spec, run.dataset
    options = tuple((name, value) for name, value in asdict(run.config).items() if name != "seed")
    table = (PurePath(data.provenance.file).name, data.target, data.task, data.inputs, len(data.train), len(data.test))
    started = run.view.started
    own = (spec.learner_template, spec.optimizer_template, spec.prior_template)
    prompts = (*own, *(sorted(started.templates.items()) if started else ()))
    endpoint = spec.endpoint
    return options, table, prompts, spec.start, endpoint.model, endpoint.optimizer_model or endpoint.model
