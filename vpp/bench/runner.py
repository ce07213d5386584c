"""Runs the cells of a sweep by joblib: a worker process a cell, on this machine or on those of a Ray cluster.

A cell's run directory holds all its state, and a stop command is a file in the sweep's folder. So the machines of a
cluster share the runs folder and exchange nothing else; keys stay in each machine's environment.
"""

import importlib
import os
import shutil
import signal
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from types import FrameType
from typing import Any, Literal, NamedTuple, Protocol

from joblib import Parallel, delayed, parallel_config

from vpp.bench.sweep import (
    Cell,
    CellView,
    Sizes,
    SweepDirectory,
    SweepReader,
    SweepSpec,
    SweepView,
    prepare,
    results_csv,
)
from vpp.bench.tables import tables_markdown
from vpp.errors import EndpointError, InputError, RunError, VppError
from vpp.runs.directory import RunDirectory
from vpp.runs.journal import write_atomically
from vpp.runs.process import child_environment, start
from vpp.runs.spec import EndpointSpec
from vpp.show.words import counted

Backend = Literal["threading", "ray"]
"""A backend of joblib: a thread waits for each worker here, or a task of Ray on its machine."""
LOCAL = "local"
"""Address that starts a Ray on this machine for the length of the sweep."""
POLL_S = 0.2
FAULT, ENDPOINT_FAILED, STOPPED = 1, 3, 130
"""Exit codes of a worker."""


class Watcher(Protocol):
    """Listener to a sweep's progress."""

    def look(self, view: SweepView, wanted: Sequence[CellView], *, jobs: int) -> None:
        """Receive the present state; called often. wanted: the cells of this sweep command."""

    def say(self, text: str) -> None:
        """Receive a line of text, once per event."""


Ending = Literal["done", "failed", "stopped"]
"""End of a sweep command; `failed`: some cells failed and can be run again; the others are finished."""


class Ended(NamedTuple):
    cell: Cell
    code: int
    reason: str = ""
    """Why no worker was started."""


def run_sweep(
    directory: SweepDirectory, spec: SweepSpec, *, jobs: int, slots: int, backend: Backend, watcher: Watcher
) -> tuple[Ending, SweepView]:
    """Run every cell of `spec` that is not finished; rewrite results.csv and tables.md after each.

    jobs: workers at a time. slots: runs that may ask models at a time. Raises InputError, RunError, RunLocked if
    another sweep holds the folder, EndpointError if the model's server failed for good.
    """
    cells = spec.cells
    prepare(cells[0], spec.sizes, spec.endpoint)  # all have these sizes and this endpoint
    with directory.lock():
        directory.begin(spec)
        return _Sweep(directory, cells, jobs, watcher).run(spec, slots, backend)


def work(folder: Path, cell: Cell, sizes: Sizes, endpoint: EndpointSpec, slots: int) -> Ended:
    """Work on a cell to its end in a process of its own. joblib calls it, on any machine that has the folder."""
    directory = SweepDirectory(folder)
    run = directory.run_of(cell)
    if directory.is_stopped():
        return Ended(cell, STOPPED)
    try:
        _create(run, cell, sizes, endpoint)
        while run.is_held():  # by a worker of a sweep that was killed
            time.sleep(POLL_S)
        if directory.is_stopped():
            return Ended(cell, STOPPED)
        past = run.request_worker().past_command
        words = ("vpp", "resume", str(run.path), f"--past-command={past}", "--json", "--quiet")
        code = start(words, run.log, {**os.environ, "VPP_MAX_RUNNING": str(slots)}).wait()
    except (VppError, OSError) as error:
        return Ended(cell, FAULT, str(error))
    if code == ENDPOINT_FAILED:
        directory.stop()
    return Ended(cell, code)


def _create(run: RunDirectory, cell: Cell, sizes: Sizes, endpoint: EndpointSpec) -> None:
    if (run.path / "run.json").is_file():
        with suppress(RunError):  # an unreadable run.json fails its worker
            run.amend(endpoint=replace(run.spec().endpoint, concurrency=endpoint.concurrency))
        return
    shutil.rmtree(run.path, ignore_errors=True)  # left by a sweep that was killed while it created the run
    prepare(cell, sizes, endpoint).create(run.path.parent, run_dir=run.path)


def share(endpoint: EndpointSpec, jobs: int) -> EndpointSpec:
    """Divide the limit of calls in flight, 1,024 by default, among the cells that run at a time.

    A cell that runs alone keeps the endpoint unchanged: without a limit it follows its round.
    """
    return endpoint if jobs == 1 else replace(endpoint, concurrency=max(1, endpoint.in_flight // jobs))


class _Sweep:
    """A sweep command at work: it watches the run directories, and passes stop commands to the workers."""

    def __init__(self, directory: SweepDirectory, cells: Sequence[Cell], jobs: int, watcher: Watcher) -> None:
        self._directory, self._cells, self._jobs, self._watcher = directory, cells, jobs, watcher
        self._reader = SweepReader(directory)
        self._open = [cell for cell in cells if self._reader.look(cell).outcome is None]
        self._stops = 0
        self._sent = Counter[Cell]()

    def run(self, spec: SweepSpec, slots: int, backend: Backend) -> tuple[Ending, SweepView]:
        endpoint = share(spec.endpoint, self._jobs)
        folder = self._directory.path.resolve()
        tasks = [delayed(work)(folder, cell, spec.sizes, endpoint, slots) for cell in self._open]
        with self._stops_on_signals(), ThreadPoolExecutor(1) as pool:
            parallel = pool.submit(_parallel, tasks, backend, self._jobs)
            try:
                self._write_tables()
                while not parallel.done():
                    self._look()
                    wait([parallel], POLL_S)
                self._look()
            finally:
                if not parallel.done():
                    self._directory.stop()
                    self._pass_on_stops()
        return self._result(parallel.result())

    def _look(self) -> None:
        view = self._reader.refresh()
        by_cell = {each.cell: each for each in view.cells}
        self._watcher.look(view, [by_cell[cell] for cell in self._cells], jobs=self._jobs)
        done = [(cell, outcome) for cell in self._open if (outcome := by_cell[cell].outcome)]
        if done:
            self._write_tables()
        for cell, outcome in done:
            self._open.remove(cell)
            self._watcher.say(f"{cell.name}: {outcome.metric} {outcome.test:.4g}")
        self._pass_on_stops()

    def _pass_on_stops(self) -> None:
        """Send the stop command to each worker, and again at a second signal, which skips the evaluation."""
        if self._directory.is_stopped():
            self._stops = max(1, self._stops)
        for cell in self._open if self._stops else ():
            run = self._directory.run_of(cell)
            if self._sent[cell] < self._stops and run.path.is_dir() and run.is_going_on():
                run.send_command("stop")
                self._sent[cell] += 1

    @contextmanager
    def _stops_on_signals(self) -> Iterator[None]:
        """Turn signals into stop commands; a closed terminal's too, unless the sweep was started to ignore it."""
        ignored = signal.getsignal(signal.SIGHUP) == signal.SIG_IGN
        names = (signal.SIGINT, signal.SIGTERM, *(() if ignored else (signal.SIGHUP,)))
        before = {name: signal.signal(name, self._on_signal) for name in names}
        try:
            yield
        finally:
            for name, handler in before.items():
                signal.signal(name, handler)

    def _on_signal(self, _number: int, _frame: FrameType | None) -> None:
        self._stops += 1
        self._directory.stop()

    def _result(self, ends: Sequence[Ended]) -> tuple[Ending, SweepView]:
        """Report the cells that failed. Raises EndpointError."""
        view = self._reader.refresh()
        details = {each.cell: each.detail for each in view.cells}
        left = [each for each in ends if each.cell in self._open]
        refused = next((each.cell for each in left if each.code == ENDPOINT_FAILED), None)
        if refused:
            raise EndpointError(f"{refused.name}: {details[refused]}")
        for cell, code, reason in left:
            if code != STOPPED:
                why = reason or details[cell] or f"see {self._directory.run_of(cell).log}"
                self._watcher.say(f"{cell.name} failed, can be run again: {why}")
        if not left:
            return "done", view
        return "stopped" if self._stops else "failed", view

    def _write_tables(self) -> None:
        view = self._reader.refresh()
        write_atomically(self._directory.results, results_csv(view.outcomes))
        write_atomically(self._directory.tables, tables_markdown(view.spec, view.outcomes).encode())


def _parallel(tasks: Sequence[Any], backend: Backend, jobs: int) -> list[Ended]:
    with parallel_config(backend=backend, n_jobs=jobs):
        return list(Parallel(batch_size=1)(tasks))


@contextmanager
def ray_cluster(address: str, *, jobs: int) -> Iterator[None]:
    """Connect to the cluster at an address, or start a Ray for `local`; register it as the backend `ray` of joblib.

    Raises InputError if Ray is not installed or no cluster answers.
    """
    try:
        ray, ray_joblib = importlib.import_module("ray"), importlib.import_module("ray.util.joblib")
    except ImportError:
        raise InputError(
            "--engine ray needs the package ray: pip install -r requirements-ray.txt, on every machine"
        ) from None
    os.environ.update(child_environment(os.environ), RAY_USAGE_STATS_ENABLED="0")  # a local Ray inherits them
    # A local Ray listens on this machine only: anyone who can connect to a Ray can run code in it.
    local: dict[str, Any] = {"num_cpus": jobs, "include_dashboard": False, "_node_ip_address": "127.0.0.1"}
    try:
        ray.init(address=address, log_to_driver=False, logging_level="error", **(local if address == LOCAL else {}))
    except (ConnectionError, OSError, RuntimeError, ValueError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise InputError(
            f"no Ray answers at {address!r} ({reason}): start it with `ray start`, or leave --ray-address out"
        ) from None
    try:
        if jobs > (cores := int(ray.cluster_resources().get("CPU", 0))):
            raise InputError(f"--jobs is {jobs}, and the cluster has {counted(cores, 'core')}: give at most {cores}")
        ray_joblib.register_ray()
        yield
    except ray.exceptions.RayError as error:
        reason = str(error).strip().splitlines()[0]
        raise RunError(f"Ray lost a task ({reason}): start the sweep again, it continues") from None
    finally:
        ray.shutdown()
