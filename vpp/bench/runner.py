"""Runs the cells of a sweep by joblib: a worker process a cell, on this machine or on those of a Ray cluster.

A cell's run directory holds all its state, and a stop command is a file in the sweep's folder. So the machines of a
cluster share the runs folder and exchange nothing else; keys stay in each machine's environment.
"""

import importlib
import os
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, NamedTuple

from joblib import Parallel, delayed, parallel_config

from vpp.bench.sweep import Cell, Outcome, Setting, SweepDirectory, SweepSpec, outcome_of, prepare, results_csv
from vpp.bench.tables import tables_markdown
from vpp.errors import EndpointError, InputError, RunError, VppError
from vpp.runs.directory import RunDirectory, RunReader, write_atomically
from vpp.runs.process import child_environment, on_signals, start_worker
from vpp.runs.spec import EndpointSpec
from vpp.show.words import counted, seconds

Backend = Literal["threading", "ray"]
"""A backend of joblib: a thread waits for each worker here, or a task of Ray on its machine."""
LOCAL = "local"  # address that starts a Ray on this machine for the length of the sweep
POLL_S = 0.2
FAULT, ENDPOINT_FAILED, STOPPED = 1, 3, 130
"""Exit codes of a worker."""


Ending = Literal["done", "failed", "stopped"]
"""End of a sweep command; `failed`: some cells failed and can be run again; the others are finished."""


class CellEnd(NamedTuple):
    """A cell whose worker has ended."""

    cell: Cell
    code: int
    reason: str = ""
    """Why no worker was started."""


def run_sweep(
    directory: SweepDirectory, spec: SweepSpec, *, jobs: int, slots: int, backend: Backend, say: Callable[[str], None]
) -> "tuple[Ending, Progress]":
    """Run every cell of `spec` that is not finished; rewrite results.csv and tables.md after each.

    jobs: workers at a time. slots: runs that may ask models at a time. say: called with a line for each event.
    Raises InputError, RunError, RunLocked if another sweep holds the folder, EndpointError if the model's server
    failed for good.
    """
    prepare(spec.cells[0], spec.setting, spec.endpoint)  # all have this setting and endpoint
    with directory.lock():
        directory.begin(spec)
        progress = Progress(directory, spec, say)
        endpoint, folder = share(spec.endpoint, jobs), directory.path.resolve()
        tasks = [delayed(work)(folder, cell, spec.setting, endpoint, slots) for cell in progress.open]
        with on_signals(directory.stop), parallel_config(backend=backend, n_jobs=jobs):
            try:
                for end in Parallel(batch_size=1, return_as="generator_unordered")(tasks):
                    progress.add(end)
            except BaseException:
                directory.stop()
                raise
        return progress.end(), progress


def work(folder: Path, cell: Cell, setting: Setting, endpoint: EndpointSpec, slots: int) -> CellEnd:
    """Work on a cell to its end in a process of its own. joblib calls it, on any machine that has the folder."""
    directory = SweepDirectory(folder)
    run = directory.run_of(cell)
    try:
        if not (directory.is_stopped() or run.exists):
            shutil.rmtree(run.path, ignore_errors=True)  # left by a sweep that was killed while it created the run
            prepare(cell, setting, endpoint).create(run.path.parent, run_dir=run.path)
        _wait(directory, run, lambda: not run.is_held())  # a worker of a sweep that was killed
        if directory.is_stopped():
            return CellEnd(cell, STOPPED)
        worker = start_worker(run, {**os.environ, "VPP_MAX_RUNNING": str(slots)}, "--json", "--quiet")
        _wait(directory, run, lambda: worker.poll() is not None)
    except (VppError, OSError) as error:
        return CellEnd(cell, FAULT, str(error))
    if worker.returncode == ENDPOINT_FAILED and not directory.is_stopped():
        directory.stop()
    return CellEnd(cell, worker.returncode)


def _wait(directory: SweepDirectory, run: RunDirectory, has_ended: Callable[[], bool]) -> None:
    """Wait for the run's worker; pass on a stop of the sweep to it."""
    is_sent = False
    while not has_ended():
        if directory.is_stopped() and not is_sent:
            run.send_command("stop")
            is_sent = True
        time.sleep(POLL_S)


def share(endpoint: EndpointSpec, jobs: int) -> EndpointSpec:
    """Divide the limit of calls in flight, 1,024 by default, among the cells that run at a time.

    A cell that runs alone keeps the endpoint unchanged: without a limit it follows its round.
    """
    return endpoint if jobs == 1 else replace(endpoint, concurrency=max(1, endpoint.in_flight // jobs))


class Progress:
    """Outcomes of the finished cells, read from their run directories, and why the others are not finished."""

    def __init__(self, directory: SweepDirectory, request: SweepSpec, say: Callable[[str], None]) -> None:
        self.spec, self._cells, self._directory, self._say = directory.spec(), request.cells, directory, say
        self._outcomes: dict[Cell, Outcome] = {}
        self.failures: dict[Cell, str] = {}
        self._refusals: list[str] = []
        for cell in self.spec.cells:
            self._read(cell)
        self._began_at, self._n_at_first = time.monotonic(), len(self.open)
        self._write_tables()

    @property
    def outcomes(self) -> list[Outcome]:
        return [self._outcomes[cell] for cell in self.spec.cells if cell in self._outcomes]

    @property
    def open(self) -> list[Cell]:
        """Cells of this request that are not finished."""
        return [cell for cell in self._cells if cell not in self._outcomes]

    def add(self, end: CellEnd) -> None:
        """Read how a cell ended, say it, and rewrite the tables if it is finished."""
        cell, code, reason = end
        self._read(cell)
        if outcome := self._outcomes.get(cell):
            self._say(f"{cell.name}: {outcome['metric']} {outcome['test']:.4g} ({self._words()})")
            self._write_tables()
        elif code != STOPPED:
            why = reason or self.failures.get(cell) or f"see {self._directory.run_of(cell).log}"
            if code == ENDPOINT_FAILED:
                self._refusals.append(f"{cell.name}: {why}")
            else:
                self._say(f"{cell.name} failed, can be run again: {why}")

    def end(self) -> Ending:
        """Raises EndpointError."""
        if self._refusals:
            raise EndpointError(self._refusals[0])
        return "done" if not self.open else "stopped" if self._directory.is_stopped() else "failed"

    def _read(self, cell: Cell) -> None:
        run = self._directory.run_of(cell)
        self.failures.pop(cell, None)
        try:
            snapshot = RunReader(run).refresh() if run.exists else None
            if snapshot and snapshot.state == "finished":
                self._outcomes[cell] = outcome_of(cell, run, snapshot.view)
            elif snapshot and snapshot.state == "failed":
                self.failures[cell] = snapshot.view.detail
        except RunError as error:
            self.failures[cell] = str(error)

    def _words(self) -> str:
        """Return `12 of 105 cells, about 7 min left`."""
        n_open = len(self.open)
        words = f"{len(self._cells) - n_open} of {counted(len(self._cells), 'cell')}"
        left_s = (time.monotonic() - self._began_at) / (self._n_at_first - n_open) * n_open
        return f"{words}, about {seconds(left_s)} left" if n_open else words

    def _write_tables(self) -> None:
        write_atomically(self._directory.results, results_csv(self.outcomes))
        write_atomically(self._directory.tables, tables_markdown(self.spec, self.outcomes).encode())


@contextmanager
def ray_cluster(address: str, *, jobs: int) -> Iterator[None]:
    """Connect to the cluster at an address, or start a Ray for `local`; register it as the backend `ray` of joblib.

    Raises InputError if Ray is not installed or no cluster answers.
    """
    try:
        ray, ray_joblib = importlib.import_module("ray"), importlib.import_module("ray.util.joblib")
    except ImportError:
        raise InputError("--ray needs Ray: pip install -r requirements-ray.txt, on every machine") from None
    os.environ.update(child_environment(os.environ), RAY_USAGE_STATS_ENABLED="0")  # a local Ray inherits them
    # A local Ray listens on this machine only: anyone who can connect to a Ray can run code in it.
    local: dict[str, Any] = {"num_cpus": jobs, "include_dashboard": False, "_node_ip_address": "127.0.0.1"}
    try:
        ray.init(address=address, log_to_driver=False, logging_level="error", **(local if address == LOCAL else {}))
    except (ConnectionError, OSError, RuntimeError, ValueError) as error:
        raise InputError(f"no Ray answers at {address!r} ({_first_line(error)}): start it with `ray start`") from None
    try:
        ray_joblib.register_ray()
        yield
    except ray.exceptions.RayError as error:
        raise RunError(f"Ray lost a task ({_first_line(error)}): start the sweep again, it continues") from None
    finally:
        ray.shutdown()


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0] or type(error).__name__
