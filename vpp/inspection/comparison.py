"""Runs side by side: how they do on the test rows, row by row where the rows are the same, and over seeds.

Losses are 0 or 1 for labels, squared errors in squared units of the target for numbers.
"""

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import PurePath
from statistics import fmean, stdev

import numpy as np

from vpp.data.dataset import Dataset, Row
from vpp.events import Evaluated, Votes
from vpp.inspection.baselines import SimpleModel
from vpp.inspection.behaviour import same_answer
from vpp.inspection.scores import Score, rows_of, score
from vpp.posterior.likelihood import correct, settled_errors
from vpp.posterior.paired import PairedDifference, paired_difference
from vpp.runs.averages import averages
from vpp.runs.reader import Snapshot
from vpp.runs.view import RunView
from vpp.settings import Config


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A run to be compared, as it was at one moment."""

    id: str
    snapshot: Snapshot
    dataset: Dataset

    @property
    def view(self) -> RunView:
        """What its events tell."""
        return self.snapshot.view

    @property
    def config(self) -> Config:
        """Its options."""
        return self.snapshot.spec.config

    @property
    def test(self) -> Evaluated | None:
        """The last evaluation of the test rows."""
        return self.view.evaluated.get("test")


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """Answers to test rows, one a row, and how far they are from the truth."""

    rows: tuple[Row, ...]
    answers: Votes
    """(N,) the averaged predictions of a run, or a simple model's."""
    losses: tuple[float, ...]
    """(N,) an abstention is wrong, or off by the range of the training targets."""
    score: Score

    @property
    def standard_error(self) -> float | None:
        """Of the mean loss: its sample standard deviation (ddof = 1) over the root of N; None for one row."""
        if len(self.losses) < 2:
            return None
        with np.errstate(invalid="ignore", over="ignore"):
            return float(np.std(self.losses, ddof=1)) / math.sqrt(len(self.losses))

    @property
    def value(self) -> float:
        """The metric: accuracy as a fraction, or the mean squared error."""
        return 1 - self.score.error if self.score.n_correct is not None else self.score.error


def standing(run: Candidate) -> Standing | None:
    """Of the run's average; None before the test rows are evaluated."""
    if run.test is None:
        return None
    return _standing(rows_of(run.test, run.dataset), averages(run.test), run.dataset)


def standing_of(model: SimpleModel, dataset: Dataset) -> Standing:
    """Of a simple model on the data's test rows."""
    return _standing(dataset.test, model.answers, dataset)


def _standing(rows: tuple[Row, ...], answers: Votes, dataset: Dataset) -> Standing:
    return Standing(
        rows=rows, answers=answers, losses=_losses(answers, rows, dataset), score=score(answers, rows, dataset)
    )


def _losses(answers: Votes, rows: Sequence[Row], dataset: Dataset) -> tuple[float, ...]:
    targets = [row.target for row in rows]
    if dataset.task == "classification":
        return tuple((~correct(answers, targets)).astype(float).tolist())
    errors = settled_errors(answers, targets, abstention_error=dataset.target_range)
    with np.errstate(over="ignore"):
        return tuple(np.square(errors).tolist())


def same_rows(rows: Sequence[Row], others: Sequence[Row]) -> bool:
    """Whether these are the same rows in any order: by id, truth, and every cell of the columns that both have."""
    by_id = {row.id: row for row in others}
    return len(rows) == len(others) and all(row.id in by_id and same_row(row, by_id[row.id]) for row in rows)


def same_row(row: Row, other: Row) -> bool:
    """Whether truth and cells agree, in at least one column that both have."""
    cells, others = dict(row.inputs), dict(other.inputs)
    shared = cells.keys() & others.keys()
    return bool(shared) and row.target == other.target and all(cells[name] == others[name] for name in shared)


def against(one: Standing, other: Standing) -> PairedDifference | None:
    """The losses of `one` minus those of `other`, row by row; None where the rows are not the same."""
    if not same_rows(one.rows, other.rows):
        return None
    losses = {row.id: loss for row, loss in zip(other.rows, other.losses, strict=True)}
    return paired_difference(one.losses, [losses[row.id] for row in one.rows])


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """Runs, each with how it does, seen from one of them."""

    runs: tuple[Candidate, ...]
    reference: int
    """The place, among `runs`, of the one the others are set against."""
    standings: tuple[Standing | None, ...]
    """One a run."""

    @property
    def base(self) -> Candidate:
        """The run the others are set against."""
        return self.runs[self.reference]

    @cached_property
    def comparable(self) -> tuple[int, ...]:
        """Places of the runs with the reference's test rows, itself included; none before it has answered them."""
        return tuple(place for place in range(len(self.runs)) if self._shares_rows(place))

    @property
    def elsewhere(self) -> tuple[int, ...]:
        """Places of the other runs that have answered test rows."""
        return tuple(i for i, own in enumerate(self.standings) if own is not None and i not in self.comparable)

    @property
    def unanswered(self) -> tuple[int, ...]:
        """Places of the runs whose test rows are not evaluated yet."""
        return tuple(place for place, own in enumerate(self.standings) if own is None)

    def _shares_rows(self, place: int) -> bool:
        own, base = self.standings[place], self.standings[self.reference]
        if own is None or base is None:
            return False
        return self.runs[place].dataset.target == self.base.dataset.target and same_rows(own.rows, base.rows)

    def difference(self, place: int) -> PairedDifference | None:
        """Against the reference; None for itself, and where the rows are not the same."""
        own, base = self.standings[place], self.standings[self.reference]
        if own is None or base is None or place == self.reference or place not in self.comparable:
            return None
        return against(own, base)


def compare(runs: Sequence[Candidate], *, reference: int = 0) -> Comparison:
    """runs: at least one; reference: a place among them."""
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
    """Of runs with the same test rows. Labels: by row. Numbers: the widest apart first, abstentions before all."""
    answers = [dict(zip((row.id for row in own.rows), own.answers, strict=True)) for own in standings]
    losses = [dict(zip((row.id for row in own.rows), own.losses, strict=True)) for own in standings]
    found = [
        DifferingPoint(
            row=row,
            answers=tuple(each[row.id] for each in answers),
            losses=tuple(each[row.id] for each in losses),
        )
        for row in standings[0].rows
        if len({same_answer(each[row.id]) for each in answers}) > 1
    ]
    return tuple(sorted(found, key=lambda point: (-_width(point.answers), point.row.id)))


def _width(answers: Votes) -> float:
    """How far numbers lie apart; 0 for labels."""
    if any(isinstance(answer, str) for answer in answers):
        return 0.0
    numbers = [float(answer) for answer in answers if answer is not None]
    return max(numbers) - min(numbers) if len(numbers) == len(answers) else math.inf


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """Runs that differ in their seed alone, and with it in their split."""

    places: tuple[int, ...]
    """Among the runs compared."""
    by_seed: tuple[tuple[int, float], ...]
    """(Seed, metric) in order; the mean where a seed was run more than once."""
    n_files: int
    """Different tables: a generated task has one a seed."""

    @property
    def mean(self) -> float:
        """Over seeds."""
        return fmean(value for _, value in self.by_seed)

    @property
    def deviation(self) -> float | None:
        """Sample standard deviation over seeds (ddof = 1); None for one seed, infinite where a value is."""
        values = [value for _, value in self.by_seed]
        if len(values) < 2:
            return None
        return stdev(values) if all(map(math.isfinite, values)) else math.inf


def spreads(comparison: Comparison) -> tuple[Spread, ...]:
    """The runs with answers to their test rows, grouped by all that was asked for but the seed."""
    groups: dict[Hashable, list[int]] = {}
    for place, run in enumerate(comparison.runs):
        if comparison.standings[place] is not None:
            groups.setdefault(_setting(run), []).append(place)
    return tuple(_spread(places, comparison) for places in groups.values())


def _spread(places: Sequence[int], comparison: Comparison) -> Spread:
    values: dict[int, list[float]] = {}
    for place in places:
        own = comparison.standings[place]
        if own is not None:
            values.setdefault(comparison.runs[place].config.seed, []).append(own.value)
    return Spread(
        places=tuple(places),
        by_seed=tuple((seed, fmean(values[seed])) for seed in sorted(values)),
        n_files=len({comparison.runs[place].dataset.provenance.sha256 for place in places}),
    )


def _setting(run: Candidate) -> Hashable:
    """What decides a result but the seed: options, table, split sizes, models, prompts, and texts begun with."""
    spec, data = run.snapshot.spec, run.dataset
    options = tuple((name, value) for name, value in asdict(run.config).items() if name != "seed")
    table = (PurePath(data.provenance.file).name, data.target, data.task, data.inputs, len(data.train), len(data.test))
    started = run.view.started
    own = (spec.learner_template, spec.optimizer_template, spec.prior_template)
    prompts = (*own, *_pairs(started.templates if started else {}))
    endpoint = spec.endpoint
    return options, table, prompts, spec.start, endpoint.model, endpoint.optimizer_model or endpoint.model


def _pairs(found: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    return tuple(sorted(found.items()))
