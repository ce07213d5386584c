"""Comparison of runs: scores on the test rows, paired differences, spread over seeds, conditions, and shared ideas.

Losses are 0 or 1 for labels, squared errors in squared units of the target for numbers.
"""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from functools import cached_property
from math import ceil
from pathlib import PurePath
from statistics import fmean
from typing import Any

from pydantic_core import to_json

from vpp.data.dataset import Dataset, Row, Task
from vpp.events import Evaluated, Votes
from vpp.inspection.baselines import SimpleModel
from vpp.inspection.scores import Score, rows_by_id, rows_of, score
from vpp.inspection.slots import behaviour, grouped, recorded_answers, totals
from vpp.llm.budget import NO_CAP
from vpp.posterior.metric import PairedDifference, deviation, mean_estimate, paired_difference
from vpp.problem import losses_of
from vpp.runs.reader import Snapshot
from vpp.runs.spec import NO_PRICES, EndpointSpec
from vpp.runs.view import RunView
from vpp.settings import Config

Condition = tuple[str, str]
"""(kind, name); kind is `options`, `data`, `endpoint`, `prompts` or `versions`."""
HASHED = 12
"""Digits of a SHA-256 that are shown."""
_OF_CALLS = {"base_url", "optimizer_base_url", "concurrency", "timeout_s", "max_wait_s", "cache", "demo_latency_ms"}
"""Facts of an endpoint that change no answer."""


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
class Spread:
    """Runs that differ only in their seed, and so in their split."""

    places: tuple[int, ...]
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
    found = []
    for places in grouped((_setting(comparison.runs[place]), place) for place in answered).values():
        of = [(comparison.runs[place], comparison.standings[place]) for place in places]
        values = grouped((run.config.seed, own.value) for run, own in of if own is not None)
        by_seed = tuple((seed, fmean(values[seed])) for seed in sorted(values))
        n_files = len({run.dataset.provenance.sha256 for run, _ in of})
        found.append(Spread(places=tuple(places), by_seed=by_seed, n_files=n_files))
    return tuple(found)


def _setting(run: Candidate) -> Hashable:
    """Key of the whole spec and the default prompts, but for the seed and what it draws, names, and cost."""
    facts = asdict(replace(run.snapshot.spec, name="", command=(), prices=NO_PRICES, cap=NO_CAP))
    table = facts["dataset"]
    file = {name: value for name, value in table["provenance"].items() if name not in ("sha256", "notes")}
    facts["config"]["seed"] = None
    facts["endpoint"] = {name: value for name, value in facts["endpoint"].items() if name not in _OF_CALLS}
    facts["dataset"] = {
        **{name: value for name, value in table.items() if name not in ("name", "fingerprint")},
        "columns": [(column["name"], column["kind"]) for column in table["columns"]],
        "provenance": {**file, "file": PurePath(file["file"]).name},
    }
    started = run.view.started
    return to_json([facts, started.templates if started else {}])


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Holding:
    """One run's share of an idea."""

    weight: float
    text: str
    """Heaviest wording in the run."""
    n_texts: int
    n_particles: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedIdea:
    """Particles of several runs with the same answers to the rows compared."""

    by_run: Mapping[int, Holding]
    """Share by place of the run; only runs that have the idea."""
    score: Score
    """On the test rows."""

    @property
    def held_by(self) -> tuple[int, ...]:
        return tuple(sorted(self.by_run))

    @property
    def weight(self) -> float:
        return sum(holding.weight for holding in self.by_run.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedIdeas:
    """Ideas of all runs: those of the most runs first, then the heaviest."""

    all: tuple[SharedIdea, ...]
    places: tuple[int, ...]
    """Places of the runs, as in `by_run`."""
    n_rows: int
    """Rows compared: those that every run evaluated."""

    def held_by(self, *places: int) -> tuple[SharedIdea, ...]:
        return tuple(idea for idea in self.all if idea.held_by == tuple(sorted(places)))

    @property
    def partly(self) -> tuple[SharedIdea, ...]:
        return tuple(idea for idea in self.all if 1 < len(idea.by_run) < len(self.places))

    def weight_of(self, place: int, ideas: Sequence[SharedIdea]) -> float:
        return sum(idea.by_run[place].weight for idea in ideas if place in idea.by_run)


def shared_ideas(runs: Mapping[int, Candidate]) -> SharedIdeas:
    """Group the particles of at least one run by their answers to the rows that every run evaluated.

    runs: by place, all with the same evaluated test rows; particles and weights are those of that evaluation.
    """
    tests = {place: run.test for place, run in runs.items() if run.test}
    evaluations = {
        place: [each for each in runs[place].view.evaluated.values() if set(test.hypotheses) <= set(each.hypotheses)]
        for place, test in tests.items()
    }
    known = {place: recorded_answers(each) for place, each in evaluations.items()}
    first = next(iter(runs.values())).dataset
    covered = set.intersection(*({row for each in of for row in each.rows} for of in evaluations.values()))
    table, *others = (rows_by_id(runs[place].dataset) for place in evaluations)
    rows = [row for row in sorted(covered) if all(same_row(table[row], other[row]) for other in others)]
    groups = grouped(
        (behaviour(known[place][hypothesis][row] for row in rows), (place, hypothesis, weight))
        for place, test in tests.items()
        for hypothesis, weight in zip(test.hypotheses, test.weights, strict=True)
    )
    test_rows = [row for row in first.test if row.id in set(rows)]
    ideas = []
    for particles in groups.values():
        by_run = grouped((place, (hypothesis, weight)) for place, hypothesis, weight in particles)
        place, hypothesis, _ = particles[0]
        answers = [known[place][hypothesis][row.id] for row in test_rows]
        ideas.append(
            SharedIdea(
                by_run={place: _holding(own, runs[place].view) for place, own in sorted(by_run.items())},
                score=score(answers, test_rows, first),
            )
        )
    ideas.sort(key=lambda idea: (-len(idea.by_run), -idea.weight, idea.held_by))
    return SharedIdeas(all=tuple(ideas), places=tuple(runs), n_rows=len(rows))


def _holding(particles: Sequence[tuple[str, float]], view: RunView) -> Holding:
    """Return one run's share. particles: (hypothesis, weight) of each."""
    weights = totals(particles)
    return Holding(
        weight=sum(weights.values()),
        text=view.texts[max(weights, key=lambda hypothesis: weights[hypothesis])],
        n_texts=len(weights),
        n_particles=len(particles),
    )
