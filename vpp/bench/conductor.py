"""The conductor: works a sweep's cells, some at a time, each in a worker process of its own."""

import shutil
import signal
import subprocess
import threading
import time
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from types import FrameType
from typing import Literal, Protocol

from vpp.bench.cells import Cell, create
from vpp.bench.launch import started
from vpp.bench.outcome import results_csv
from vpp.bench.sweep import CellView, SweepDirectory, SweepReader, SweepSpec, SweepView
from vpp.bench.tables import tables_markdown
from vpp.errors import EndpointError, RunError
from vpp.runs.journal import write_atomically
from vpp.runs.session import Keys
from vpp.runs.spec import EndpointSpec

POLL_S = 0.2
ENDPOINT_FAILED = 3
"""A worker's exit code where its endpoint failed for good."""


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
    slots: int,
    keys: Keys,
    watcher: Watcher,
    since: float,
) -> Conducted:
    """Works every cell asked for that is not finished, and keeps results.csv and tables.md as they come.

    jobs: workers at a time. slots: runs of the runs folder that may ask models at a time, theirs included.
    since: Unix time; a word to stop left before it is for an earlier sweep. Raises InputError, RunError, RunLocked
    where another sweep holds the folder, and EndpointError where the model's server failed for good.
    """
    cells = asked.cells
    with directory.lock():
        whole = directory.take_on(asked)
        conductor = _Conductor(directory, whole, cells, jobs=jobs, slots=slots, keys=keys, watcher=watcher, since=since)
        with conductor.obeying_signals():
            return conductor.run()


class _Conductor:
    def __init__(
        self,
        directory: SweepDirectory,
        spec: SweepSpec,
        cells: Sequence[Cell],
        *,
        jobs: int,
        slots: int,
        keys: Keys,
        watcher: Watcher,
        since: float,
    ) -> None:
        self._directory, self._spec, self._cells = directory, spec, cells
        self._jobs, self._slots, self._keys, self._watcher, self._since = jobs, slots, keys, watcher, since
        self._reader = SweepReader(directory)
        self._waiting = deque(cell for cell in cells if self._reader.look(cell).outcome is None)
        self._workers: dict[Cell, subprocess.Popen[bytes]] = {}
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

    def _worker(self, cell: Cell) -> subprocess.Popen[bytes]:
        run = self._directory.run_of(cell)
        if not (run.path / "run.json").is_file():
            shutil.rmtree(run.path, ignore_errors=True)  # a sweep was killed before the run was whole
            create(cell, self._spec.sizes, self._share(self._spec.endpoint), run_dir=run.path)
        else:
            with suppress(RunError):  # a record that cannot be read fails its worker, not the sweep
                run.amend(endpoint=self._share(run.spec().endpoint))
        words = ("resume", str(run.path), "--json", "--quiet")
        return started(words, log=run.log, keys=self._keys, VPP_MAX_RUNNING=str(self._slots))

    def _share(self, endpoint: EndpointSpec) -> EndpointSpec:
        """Cells side by side keep to the limit of calls in flight together."""
        return replace(endpoint, concurrency=max(1, self._spec.endpoint.concurrency // self._jobs))

    def _collect(self) -> None:
        """Takes in the workers that have ended."""
        for cell, worker in list(self._workers.items()):
            if worker.poll() is not None:
                del self._workers[cell]
                self._take_in(cell, worker.returncode)

    def _take_in(self, cell: Cell, code: int) -> None:
        view = self._reader.look(cell)
        if view.outcome:
            self._write_tables()
            self._watcher.say(f"{cell.name}: {view.outcome.metric} {view.outcome.test:.4g}")
        elif code == ENDPOINT_FAILED:
            self._endpoint_failure = self._endpoint_failure or f"{cell.name}: {view.detail}"
            self._words_to_stop = max(1, self._words_to_stop)
        elif self._directory.run_of(cell).is_held():
            self._elsewhere.append(cell)
        elif not self._words_to_stop:
            log = self._directory.run_of(cell).log
            self._watcher.say(f"{cell.name} {view.state}, kept for another try: {view.detail or f'see {log}'}")

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
                worker.send_signal(signal.SIGTERM)

    def _show(self) -> None:
        view = self._reader.refresh()
        wanted = set(self._cells)
        self._watcher.look(view, [each for each in view.cells if each.cell in wanted], jobs=self._jobs)

    def _write_tables(self) -> None:
        view = self._reader.refresh()
        write_atomically(self._directory.results, results_csv(view.outcomes))
        write_atomically(self._directory.tables, tables_markdown(view.spec, view.outcomes).encode())
