"""Scheduler of a sweep: runs its cells, a limited number at a time, each in a worker of an engine."""

import signal
import time
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from types import FrameType
from typing import Literal, Protocol

from vpp.bench.cells import Cell
from vpp.bench.engine import LOST, Engine, Job, Worker
from vpp.bench.outcome import results_csv
from vpp.bench.sweep import CellView, SweepDirectory, SweepReader, SweepSpec, SweepView
from vpp.bench.tables import tables_markdown
from vpp.errors import EndpointError
from vpp.runs.journal import write_atomically
from vpp.runs.spec import EndpointSpec

POLL_S = 0.2
ENDPOINT_FAILED = 3
"""Exit code of a worker whose endpoint failed for good."""
MAX_RESTARTS = 3
"""Restarts of a cell whose machine is lost; then the cell waits for another sweep."""


class Watcher(Protocol):
    """Listener to a sweep's progress."""

    def look(self, view: SweepView, asked: Sequence[CellView], *, jobs: int) -> None:
        """Receive the present state; called often. asked: the cells of this sweep command."""
        ...

    def say(self, text: str) -> None:
        """Receive a line of text, once per event."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepResult:
    """End of a sweep command."""

    ending: Literal["done", "failed", "stopped"]
    """`failed`: some cells failed and can be run again; the others are finished."""
    view: SweepView


@dataclass(frozen=True, slots=True, kw_only=True)
class _Command:
    """One sweep command: the cells it asks for, and how they are run."""

    cells: Sequence[Cell]
    jobs: int
    """Workers at a time."""
    engine: Engine
    watcher: Watcher
    since: float
    """Unix time of the command."""


def run_sweep(
    directory: SweepDirectory, asked: SweepSpec, *, jobs: int, engine: Engine, watcher: Watcher, since: float
) -> SweepResult:
    """Run every requested cell that is not finished; rewrite results.csv and tables.md after each.

    jobs: workers at a time. since: Unix time; an earlier stop command is ignored. Raises InputError, RunError,
    RunLocked if another sweep holds the folder, EndpointError if the model's server failed for good.
    """
    cells = asked.cells
    with directory.lock():
        spec = directory.begin(asked)
        command = _Command(cells=cells, jobs=jobs, engine=engine, watcher=watcher, since=since)
        scheduler = _Scheduler(directory, spec, command)
        with scheduler.stopping_on_signals():
            return scheduler.run()


def shared(endpoint: EndpointSpec, jobs: int) -> EndpointSpec:
    """Divide the limit of calls in flight, 1,024 by default, among the cells that run at a time.

    A cell that runs alone keeps the endpoint unchanged: without a limit it follows its round.
    """
    if jobs == 1:
        return endpoint
    return replace(endpoint, concurrency=max(1, endpoint.in_flight // jobs))


class _Scheduler:
    def __init__(self, directory: SweepDirectory, spec: SweepSpec, command: _Command) -> None:
        self._directory, self._spec, self._command = directory, spec, command
        self._reader = SweepReader(directory)
        self._waiting = deque(cell for cell in command.cells if self._reader.look(cell).outcome is None)
        self._workers: dict[Cell, Worker] = {}
        self._lost: Counter[Cell] = Counter()
        self._stops = 0
        self._stops_forwarded = 0
        self._endpoint_failure = ""

    def run(self) -> SweepResult:
        """Run until no cell is waiting or running."""
        self._write_tables()
        while self._waiting or self._workers:
            self._start_workers()
            self._show()
            time.sleep(POLL_S)
            self._collect()
            self._stop_if_asked()
        if self._endpoint_failure:
            raise EndpointError(self._endpoint_failure)
        return SweepResult(ending=self._ending(), view=self._reader.refresh())

    def _ending(self) -> Literal["done", "failed", "stopped"]:
        if all(self._reader.look(cell).outcome for cell in self._command.cells):
            return "done"
        return "stopped" if self._stops else "failed"

    @contextmanager
    def stopping_on_signals(self) -> Iterator[None]:
        """Turn SIGINT and SIGTERM into stop commands for the workers; a second signal too."""
        before = {name: signal.signal(name, self._on_signal) for name in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for name, handler in before.items():
                signal.signal(name, handler)

    def _on_signal(self, _number: int, _frame: FrameType | None) -> None:
        self._stops += 1

    def _start_workers(self) -> None:
        while self._waiting and len(self._workers) < self._command.jobs and not self._stops:
            cell = self._waiting.popleft()
            job = Job(cell=cell, sizes=self._spec.sizes, endpoint=shared(self._spec.endpoint, self._command.jobs))
            self._workers[cell] = self._command.engine.start(job, self._directory.run_of(cell))

    def _collect(self) -> None:
        """Handle the workers that have ended."""
        for cell, worker in list(self._workers.items()):
            code = worker.poll()
            if code is not None:
                del self._workers[cell]
                self._finish(cell, code, reason=worker.reason)

    def _finish(self, cell: Cell, code: int, *, reason: str) -> None:
        view = self._reader.look(cell)
        if view.outcome:
            self._write_tables()
            self._command.watcher.say(f"{cell.name}: {view.outcome.metric} {view.outcome.test:.4g}")
        elif code == ENDPOINT_FAILED:
            self._endpoint_failure = self._endpoint_failure or f"{cell.name}: {reason or view.detail}"
            self._stops = max(1, self._stops)
        elif not self._stops:
            self._restart_or_report(cell, code, view, reason=reason)

    def _restart_or_report(self, cell: Cell, code: int, view: CellView, *, reason: str) -> None:
        """Restart a cell whose machine was lost; report any other failure and leave the cell unfinished."""
        if code == LOST:
            self._lost[cell] += 1
            if self._lost[cell] <= MAX_RESTARTS:
                self._command.watcher.say(f"{cell.name}: its machine was lost; restarting it")
                self._waiting.append(cell)
                return
            reason = reason or f"its machine was lost {self._lost[cell]} times"
        state = "failed" if reason else view.state
        reason = reason or view.detail or f"see {self._directory.run_of(cell).log}"
        self._command.watcher.say(f"{cell.name} {state}, can be run again: {reason}")

    def _stop_if_asked(self) -> None:
        """Start no more cells after a stop command, and forward each command to the workers."""
        if not self._stops and self._directory.is_asked_to_stop(since=self._command.since):
            self._stops = 1
        if self._stops:
            self._waiting.clear()
        if self._stops_forwarded < self._stops:
            self._stops_forwarded = self._stops
            for worker in self._workers.values():
                worker.stop()

    def _show(self) -> None:
        view = self._reader.refresh()
        view = replace(view, cells=tuple(map(self._with_progress, view.cells)))
        wanted = set(self._command.cells)
        self._command.watcher.look(view, [each for each in view.cells if each.cell in wanted], jobs=self._command.jobs)

    def _with_progress(self, view: CellView) -> CellView:
        """Add the progress that a worker on another machine reports."""
        worker = self._workers.get(view.cell)
        progress = worker.progress() if worker else None
        if progress is None:
            return view
        return replace(view, state="running", detail="", step=progress.step, steps=progress.steps)

    def _write_tables(self) -> None:
        view = self._reader.refresh()
        write_atomically(self._directory.results, results_csv(view.outcomes))
        if not view.spec.suite:
            write_atomically(self._directory.tables, tables_markdown(view.spec, view.outcomes).encode())
