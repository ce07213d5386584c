"""Runs of one setting with different seeds as one object: their group, and the run that pools what they found.

The pooled posterior is a run that weighs: its sentences are the distinct ones with which the runs ended, its answers
those that the runs recorded. So no model is asked, and every page and command reads it as any other run.
"""

import asyncio
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext, suppress
from dataclasses import asdict, dataclass, replace
from hashlib import sha256
from itertools import repeat
from pathlib import Path

from pydantic_core import to_json

from vpp.data.dataset import Dataset, Row
from vpp.errors import InputError, RunError, RunLocked
from vpp.events import Event, RunFinished, Usage, hypothesis_id
from vpp.inference import sample
from vpp.inference.sampling import SPLITS, conclude
from vpp.llm.limits import NO_CAP
from vpp.problem import Prediction, Translation
from vpp.runs.directory import (
    Answer,
    Command,
    Entry,
    JournalAnswers,
    Record,
    RunDirectory,
    RunReader,
    encode,
    read_summary,
    try_lock,
    write_atomically,
)
from vpp.runs.preparation import Preparation, problem_of, start_of, with_start
from vpp.runs.process import launch
from vpp.runs.spec import NO_PRICES, Keys, RunSpec
from vpp.runs.store import RunStore
from vpp.runs.view import RunView, candidates, fold, population_of

POOLING_S = 60.0
POLL_S = 0.1
SEED = ", seed "  # stands between the name that a group's runs share and the seed of each


def group_of(spec: RunSpec) -> str:
    """Return the name of a run's group: equal for equal rows and settings, whatever the seed, the name and the cap."""
    config = replace(spec.config, seed=0)
    same = replace(spec, config=config, name="", command=(), group="", prices=NO_PRICES, cap=NO_CAP)
    return sha256(to_json(same)).hexdigest()[:8]


def base_name(spec: RunSpec) -> str:
    return spec.name.rpartition(SEED)[0] or spec.name


def begin(prepared: Preparation, n: int, folder: Path) -> list[RunDirectory]:
    """Return n runs of the prepared rows and setting, by seed; create those that are missing. Raises InputError."""
    spec = prepared.spec
    if n < 1:
        raise InputError(f"seeds is {n}: give at least 1")
    if spec.config.is_weighing:
        raise InputError("weighing gives the same result for every seed: leave seeds out")
    group, first = group_of(spec), spec.config.seed
    runs = {run.spec().config.seed: run for run in Group(folder, group).runs}
    for seed in range(first, first + n):
        if seed not in runs:
            config, name = replace(spec.config, seed=seed), f"{base_name(spec)}{SEED}{seed}"
            own = replace(spec, config=config, name=name, group=group)
            runs[seed] = replace(prepared, spec=own).create(folder)
        elif runs[seed].spec().cap != spec.cap:
            runs[seed].amend(cap=spec.cap)
    return [runs[seed] for seed in range(first, first + n)]


@dataclass(frozen=True, slots=True)
class Group:
    """The runs of a folder that share a group."""

    folder: Path
    name: str

    @property
    def runs(self) -> list[RunDirectory]:
        """Return the runs, by seed."""
        seeds = {run: spec.config.seed for run, spec in self._members() if not spec.pooled}
        return sorted(seeds, key=seeds.__getitem__)

    @property
    def pooled(self) -> RunDirectory | None:
        """Return the run that pools the others, up to date or not."""
        return next((run for run, spec in self._members() if spec.pooled), None)

    def _members(self) -> Iterator[tuple[RunDirectory, RunSpec]]:
        for run in RunStore(self.folder).runs() if self.name else ():
            with suppress(RunError):
                if (spec := run.spec()).group == self.name:
                    yield run, spec

    def send(self, command: Command) -> None:
        for run in filter(RunDirectory.is_held, self.runs):
            run.send_command(command)

    def pool(self) -> RunDirectory | None:
        """Return the run that pools the others, anew if one has changed; None while one goes on, or without results."""
        runs = self.runs
        if not runs or any(map(RunDirectory.is_held, runs)):
            return None
        # The workers that end last both come here.
        with try_lock(self.folder / ".pooling", wait_s=POOLING_S) or nullcontext():
            if (written := self.pooled) and set(written.spec().pooled) <= {run.id for run in runs}:
                times = [run.journal.stat().st_mtime_ns for run in (*runs, written) if run.journal_bytes()]
                if written.journal_bytes() and times[-1] == max(times):
                    return written
            readers = list(filter(is_evaluated, map(RunReader, runs)))
            return _write(readers, written, self.folder) if readers else None


def start_open(runs: Sequence[RunDirectory], *, keys: Keys, environment: Mapping[str, str] | None = None) -> None:
    """Start a worker for each run that is not finished and has none; they queue for the folder's slots."""
    for run in runs:
        if read_summary(run).phase != "finished":
            with suppress(RunLocked):
                launch(run, keys=keys, environment=environment)


def wait_for(runs: Sequence[RunDirectory], look: Callable[[list[RunDirectory]], None]) -> None:
    """Wait until no worker holds a run. look: called with those that go on, several times a second, and at the end."""
    while going := list(filter(RunDirectory.is_held, runs)):
        look(going)
        time.sleep(POLL_S)
    look([])


# The pooled run


def is_evaluated(reader: RunReader) -> bool:
    """Return whether the run has ended with every split evaluated."""
    view, dataset = reader.refresh().view, reader.dataset()
    return view.has_ended and all(split in view.evaluations for split in SPLITS if dataset.part(split))


def _write(readers: Sequence[RunReader], written: RunDirectory | None, folder: Path) -> RunDirectory:
    views, dataset, first = [reader.refresh().view for reader in readers], readers[0].dataset(), readers[0].directory
    spec = pooling_spec([reader.directory.id for reader in readers], views, first.spec(), dataset)
    started = start_of(spec, dataset, versions=views[0].start.versions if views[0].start else {})
    with ThreadPoolExecutor(1) as thread:  # the caller's may have an event loop already
        events = thread.submit(asyncio.run, weigh(spec, dataset, views)).result()
    counts = (name for name, count in asdict(Usage()).items() if isinstance(count, int | float))
    usage = Usage(**{name: sum(getattr(view.usage, name) for view in views) for name in counts})
    at = max(view.last_at or 0.0 for view in views)
    lines = [Record(at=at, usage=usage, event=event) for event in (started, *events, RunFinished(outcome="finished"))]
    directory = written or RunDirectory(folder / f"{first.id.partition('-seed-')[0]}-pooled-{spec.group}")
    if not directory.exists:
        directory.create(spec, first.data.read_bytes())
    entries = _entries([reader.read_answers() for reader in readers], {hypothesis_id(text) for text in spec.start})
    # The first line is that of the start; answers stand before the first event that uses them.
    write_atomically(directory.journal, b"".join(map(encode, (lines[0], *entries, *lines[1:]))))
    directory.amend(**{name: getattr(spec, name) for name in ("config", "start", "pooled", "n_written")})
    return directory


def pooling_spec(ids: Sequence[str], views: Sequence[RunView], spec: RunSpec, dataset: Dataset) -> RunSpec:
    """Return the settings of the run that weighs the last sentences of others. spec: of one of them."""
    texts = dict.fromkeys(view.texts[state.hypothesis] for view in views for state in view.population)
    pooled = replace(
        spec,
        name=f"{base_name(spec)}, seeds pooled",
        config=replace(spec.config, method="weigh", certify=0),
        start=tuple(texts),
        pooled=tuple(ids),
        n_written=len(set().union(*map(candidates, views))),
        started_from="",
        cap=NO_CAP,
    )
    return with_start(pooled, dataset)[0]


@dataclass(frozen=True, slots=True)
class ReplayLearner:
    """A learner that repeats what runs recorded; what was never answered is an abstention."""

    answers: Mapping[tuple[str, int], Prediction]
    """By hypothesis id and row id."""

    async def predict(self, hypothesis: str, rows: Sequence[Row]) -> tuple[Prediction, ...]:
        identity = hypothesis_id(hypothesis)
        return tuple(self.answers.get((identity, row.id), Prediction(row=row.id, value=None)) for row in rows)


async def weigh(spec: RunSpec, dataset: Dataset, views: Sequence[RunView]) -> list[Event]:
    """Return the events of a run that weighs the views' last sentences; the first view's answers to each count."""
    answers: dict[tuple[str, int], Prediction] = {}
    for each in (each for view in views for each in view.evaluations.values()):
        for k, hypothesis in enumerate(each.hypotheses):
            shares = each.shares[k] if each.shares else repeat(None)
            branches = (each.branches[k] if each.branches else ()) or repeat(None)  # none of a text read row by row
            for row, value, share, branch in zip(each.rows, each.predictions[k], shares, branches, strict=False):
                prediction = Prediction(row=row, value=value, shares=share, branch=branch)
                answers.setdefault((hypothesis, row), prediction)
    problem = replace(problem_of(spec, dataset), learner=ReplayLearner(answers))
    events = [event async for event in sample(problem, spec.config)]
    population = population_of(fold(events))
    assert population is not None
    return events + [event async for event in conclude(problem, spec.config, population)]


def _entries(answers: Sequence[JournalAnswers], hypotheses: set[str]) -> list[Entry]:
    """Return the programs of these hypotheses, answers to rows without a program, and all about texts."""
    merged = JournalAnswers()
    for each in reversed(answers):  # the first of equals counts
        merged.translations.update(each.translations)
        merged.texts.update(each.texts)
        merged.by_pair.update(each.by_pair)
    readings = (Answer(hypothesis=key[0], prediction=each, attempts=1) for key, each in merged.by_pair.items())
    own: list[Translation | Answer] = [*merged.translations.values(), *readings]
    return [*(each for each in own if each.hypothesis in hypotheses), *merged.texts.values()]
