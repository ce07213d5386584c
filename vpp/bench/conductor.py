"""The conductor: works a sweep's cells, some at a time, each by a worker that an engine starts."""

import signal
import threading
import time
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from types import FrameType
from typing import Literal, Protocol

from vpp.bench.cells import Cell
from vpp.bench.engine import LOST, Engine, Order, Worker
from vpp.bench.outcome import results_csv
from vpp.bench.parcel import put_back
from vpp.bench.sweep import CellView, SweepDirectory, SweepReader, SweepSpec, SweepView
from vpp.bench.tables import tables_markdown
from vpp.errors import EndpointError
from vpp.runs.journal import write_atomically
from vpp.runs.spec import EndpointSpec

POLL_S = 0.2
ENDPOINT_FAILED = 3
"""A worker's exit code where its endpoint failed for good."""
LOST_AT_MOST = 3
"""Times that a cell's machine may go before the cell is left for another sweep."""


class Watcher(Protocol):
    """Told how a sweep goes."""

    def look(self, view: SweepView, asked: Sequence[CellView], *, jobs: int) -> None:
        """Called often: how things are. `asked`: the cells of this go."""
        ...

    def say(self, text: str) -> None:
        """Called once for each thing worth a line."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Conducted:
    """How a go at a sweep ended."""

    ending: Literal["done", "failed", "stopped"]
    """`failed`: some cells did, and wait for another try; the others are finished."""
    view: SweepView


def conduct(
    directory: SweepDirectory,
    asked: SweepSpec,
    *,
    jobs: int,
    engine: Engine,
    watcher: Watcher,
    since: float,
) -> Conducted:
    """Works every cell asked for that is not finished, and keeps results.csv and tables.md as they come.

    jobs: workers at a time. since: Unix time; a word to stop left before it is for an earlier sweep. Raises InputError,
    RunError, RunLocked where another sweep holds the folder, EndpointError where the model's server failed for good.
    """
    cells = asked.cells
    with directory.lock():
        whole = directory.take_on(asked)
        for cell in cells:
            put_back(directory.run_of(cell).path)
        conductor = _Conductor(directory, whole, cells, jobs=jobs, engine=engine, watcher=watcher, since=since)
        with conductor.obeying_signals():
            return conductor.run()


def shared(endpoint: EndpointSpec, jobs: int) -> EndpointSpec:
    """What each of so many cells gets: side by side they share the limit of calls in flight, 1,024 if none was given.

    One at a time has it as it is, which may be what its round needs.
    """
    if jobs == 1:
        return endpoint
    return replace(endpoint, concurrency=max(1, endpoint.in_flight // jobs))


class _Conductor:
    def __init__(
        self,
        directory: SweepDirectory,
        spec: SweepSpec,
        cells: Sequence[Cell],
        *,
        jobs: int,
        engine: Engine,
        watcher: Watcher,
        since: float,
    ) -> None:
        self._directory, self._spec, self._cells = directory, spec, cells
        self._jobs, self._engine, self._watcher, self._since = jobs, engine, watcher, since
        self._reader = SweepReader(directory)
        self._waiting = deque(cell for cell in cells if self._reader.look(cell).outcome is None)
        self._workers: dict[Cell, Worker] = {}
        self._lost: Counter[Cell] = Counter()
        self._elsewhere: list[Cell] = []
        """Cells that the worker of an earlier, killed sweep still holds."""
        self._words_to_stop = 0
        self._passed_on = 0
        self._endpoint_failure = ""

    def run(self) -> Conducted:
        """Until nothing is left that can be done."""
        self._write_tables()
        while self._waiting or self._workers or self._elsewhere:
            self._start_workers()
            self._show()
            time.sleep(POLL_S)
            self._collect()
            self._look_elsewhere()
            self._stop_if_asked()
        if self._endpoint_failure:
            raise EndpointError(self._endpoint_failure)
        return Conducted(ending=self._ending(), view=self._reader.refresh())

    def _ending(self) -> Literal["done", "failed", "stopped"]:
        if all(self._reader.look(cell).outcome for cell in self._cells):
            return "done"
        return "stopped" if self._words_to_stop else "failed"

    @contextmanager
    def obeying_signals(self) -> Iterator[None]:
        """An interrupt, or a polite kill, is passed on to the workers; a second one too."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {name: signal.signal(name, self._hear) for name in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for name, handler in before.items():
                signal.signal(name, handler)

    def _hear(self, _number: int, _frame: FrameType | None) -> None:
        self._words_to_stop += 1

    def _start_workers(self) -> None:
        while self._waiting and len(self._workers) + len(self._elsewhere) < self._jobs and not self._words_to_stop:
            cell = self._waiting.popleft()
            if self._directory.run_of(cell).is_held():
                self._elsewhere.append(cell)
            else:
                self._workers[cell] = self._worker(cell)

    def _worker(self, cell: Cell) -> Worker:
        order = Order(cell=cell, sizes=self._spec.sizes, endpoint=shared(self._spec.endpoint, self._jobs))
        return self._engine.start(order, self._directory.run_of(cell))

    def _collect(self) -> None:
        """Takes in the workers that have ended."""
        for cell, worker in list(self._workers.items()):
            code = worker.poll()
            if code is not None:
                del self._workers[cell]
                self._take_in(cell, code, said=worker.said)

    def _take_in(self, cell: Cell, code: int, *, said: str = "") -> None:
        view = self._reader.look(cell)
        if view.outcome:
            self._write_tables()
            self._watcher.say(f"{cell.name}: {view.outcome.metric} {view.outcome.test:.4g}")
        elif code == ENDPOINT_FAILED:
            self._endpoint_failure = self._endpoint_failure or f"{cell.name}: {said or view.detail}"
            self._words_to_stop = max(1, self._words_to_stop)
        elif self._directory.run_of(cell).is_held():
            self._elsewhere.append(cell)
        elif not self._words_to_stop:
            self._leave(cell, code, view, said=said)

    def _leave(self, cell: Cell, code: int, view: CellView, *, said: str) -> None:
        """Of a cell that came to nothing: begins it again where its machine went, and keeps it for another try else."""
        self._lost[cell] += code == LOST
        if code == LOST and self._lost[cell] <= LOST_AT_MOST:
            self._watcher.say(f"{cell.name}: its machine went; it is begun again")
            self._waiting.append(cell)
            return
        why = (
            said
            or view.detail
            or (
                f"its machine went {self._lost[cell]} times"
                if code == LOST
                else f"see {self._directory.run_of(cell).log}"
            )
        )
        state = "failed" if said or code == LOST else view.state
        self._watcher.say(f"{cell.name} {state}, kept for another try: {why}")

    def _look_elsewhere(self) -> None:
        for cell in [each for each in self._elsewhere if not self._directory.run_of(each).is_held()]:
            self._elsewhere.remove(cell)
            if self._reader.look(cell).outcome:
                self._take_in(cell, 0)
            else:
                self._waiting.appendleft(cell)

    def _stop_if_asked(self) -> None:
        """Starts no more, and passes every new word to stop on to the workers."""
        if not self._words_to_stop and self._directory.is_asked_to_stop(since=self._since):
            self._words_to_stop = 1
        if self._words_to_stop:
            self._waiting.clear()
            self._elsewhere.clear()
        if self._passed_on < self._words_to_stop:
            self._passed_on = self._words_to_stop
            for worker in self._workers.values():
                worker.stop()

    def _show(self) -> None:
        view = self._reader.refresh()
        view = replace(view, cells=tuple(map(self._as_told, view.cells)))
        wanted = set(self._cells)
        self._watcher.look(view, [each for each in view.cells if each.cell in wanted], jobs=self._jobs)

    def _as_told(self, view: CellView) -> CellView:
        """How far a cell is that is worked elsewhere, as its worker tells."""
        worker = self._workers.get(view.cell)
        far = worker.far() if worker else None
        return view if far is None else replace(view, state="running", detail="", step=far.step, steps=far.steps)

    def _write_tables(self) -> None:
        view = self._reader.refresh()
        write_atomically(self._directory.results, results_csv(view.outcomes))
        write_atomically(self._directory.tables, tables_markdown(view.spec, view.outcomes).encode())
