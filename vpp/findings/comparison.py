"""Comparison of runs: scores on the test rows, paired differences, and conditions.

Losses are 0 or 1 for labels, squared errors in squared units of the target for numbers.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from math import ceil
from typing import Any

from vpp.data.dataset import Dataset, Row, Task
from vpp.events import Evaluated, Votes
from vpp.findings.baselines import SimpleModel
from vpp.findings.scores import Score, rows_of, score
from vpp.posterior.metric import PairedDifference, mean_estimate, paired_difference
from vpp.problem import losses_of
from vpp.runs.reader import Snapshot
from vpp.runs.spec import EndpointSpec
from vpp.runs.view import RunView
from vpp.settings import Config

Condition = tuple[str, str]
"""(kind, name); kind is `options`, `data`, `endpoint`, `prompts` or `versions`."""
HASHED = 12
"""Digits of a SHA-256 that are shown."""


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


def standing(run: Candidate) -> Standing | None:
    test = run.test
    return _standing(rows_of(test, run.dataset), test.averaged, run.dataset) if test else None


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
    standings: tuple[Standing | None, ...]
    """One a run; None before its test rows are evaluated."""

    @property
    def base(self) -> Candidate:
        return self.runs[self.reference]

    @cached_property
    def comparable(self) -> tuple[int, ...]:
        base, pairs = self.standings[self.reference], zip(self.runs, self.standings, strict=True)
        return tuple(
            place
            for place, (run, own) in enumerate(pairs)
            if own and base and run.dataset.target == self.base.dataset.target and same_rows(own.rows, base.rows)
        )

    @property
    def elsewhere(self) -> tuple[int, ...]:
        return tuple(i for i, own in enumerate(self.standings) if own is not None and i not in self.comparable)

    @property
    def unanswered(self) -> tuple[int, ...]:
        return tuple(place for place, own in enumerate(self.standings) if own is None)

    def difference(self, place: int) -> PairedDifference | None:
        own, base = self.standings[place], self.standings[self.reference]
        if own is None or base is None or place == self.reference or place not in self.comparable:
            return None
        return against(own, base)


def compare(runs: Sequence[Candidate], *, reference: int = 0) -> Comparison:
    return Comparison(runs=tuple(runs), reference=reference, standings=tuple(map(standing, runs)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    kind: str
    name: str
    values: tuple[str | None, ...]
    """One a run; None for an unused option, and for facts recorded only once the run starts."""

    @property
    def differs(self) -> bool:
        return len(set(self.values)) > 1

    @property
    def matters(self) -> bool:
        """True if it differs and can change a result: not for an option at its default that another method lacks."""
        if self.kind != "options":
            return self.differs and (self.kind == "prompts" or self.name in _DECISIVE)
        used = {value for value in self.values if value is not None}
        return len(used) > 1 or (None in self.values and bool(used - {_DEFAULTS.get(self.name)}))


def conditions(
    runs: Sequence[Candidate], *, used: Callable[[str, Config, Task], bool], labels: Mapping[str, str] | None = None
) -> tuple[Compared, ...]:
    """Return every condition, sorted by kind.

    used: true if an option has an effect, given the run's other options. labels: of runs, by id.
    """
    by_run = [_of(run, used, labels or {}) for run in runs]
    names = sorted(dict.fromkeys(name for each in by_run for name in each), key=_place)
    return tuple(
        Compared(kind=kind, name=name, values=tuple(each.get((kind, name)) for each in by_run)) for kind, name in names
    )


_KINDS = ("options", "data", "endpoint", "prompts", "versions")
_DECISIVE = {
    *("file", "target", "task", "inputs", "labels", "descriptions", "parted by", "training rows", "test rows"),
    *("rows and split as used, SHA-256", "goes on from"),
    *("model", "optimizer_model", "gguf", "structured", "reasoning_effort", "demo"),
}
"""Facts of data, endpoint and versions that can change a result; `demo` is the version of the demo model."""
_OPTIONS = {f.name: place for place, f in enumerate(fields(Config))}


def _place(name: Condition) -> tuple[int, int]:
    """Sort key: by kind, then options in the order of their declaration."""
    return _KINDS.index(name[0]), _OPTIONS.get(name[1], 0) if name[0] == "options" else 0


def _of(
    run: Candidate, used: Callable[[str, Config, Task], bool], labels: Mapping[str, str]
) -> dict[tuple[str, str], str]:
    started, endpoint = run.view.started, run.snapshot.spec.endpoint
    kinds: dict[str, Mapping[str, Any]] = {
        "options": {
            **{name: getattr(run.config, name) for name in _OPTIONS if used(name, run.config, run.dataset.task)},
            "particles": run.config.size,
            "steps": run.config.epochs * ceil(len(run.dataset.train) / run.config.batch_size),
        },
        "data": _data(run, labels),
        "endpoint": {f.name: getattr(endpoint, f.name) for f in fields(EndpointSpec)},
    }
    if started:
        templates = {f"{role} template, SHA-256": sha[:HASHED] for role, sha in started.templates.items()}
        kinds |= {"prompts": {**templates, "seed sentence": started.seed_text}, "versions": started.versions}
    return {(kind, name): _text(value) for kind, values in kinds.items() for name, value in values.items()}


def _data(run: Candidate, labels: Mapping[str, str]) -> dict[str, Any]:
    data, spec = run.dataset, run.snapshot.spec.dataset
    file, earlier = data.provenance, run.snapshot.spec.started_from
    return {
        "file": file.file,
        "file, SHA-256": file.sha256[:HASHED],
        "rows in the file": file.n_rows,
        "rows without a target": file.n_unlabelled,
        "labelled rows not used": file.n_left_out,
        "target": data.target,
        "task": data.task,
        "inputs": data.inputs,
        "labels": data.classes,
        **({"descriptions": tuple(map(": ".join, data.descriptions.by_key.items()))} if data.descriptions else {}),
        "parted by": file.split,
        "training rows": len(data.train),
        "test rows": len(data.test),
        "rows and split as used, SHA-256": str(spec["fingerprint"])[:HASHED],
        "goes on from": labels.get(earlier, earlier) or "no run",
    }


def _text(value: Any) -> str:
    if isinstance(value, tuple):
        return ", ".join(map(str, value))
    return {True: "on", False: "off"}[value] if isinstance(value, bool) else str(value)


_DEFAULTS = {name: _text(getattr(Config(), name)) for name in _OPTIONS}
