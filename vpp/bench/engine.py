"""What works a sweep's cells: worker processes of this machine, or whatever else starts, stops and tells of a cell."""

import shutil
import signal
import subprocess
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Protocol

from vpp.bench.cells import Cell, Sizes, create
from vpp.bench.launch import started
from vpp.errors import RunError
from vpp.runs.directory import RunDirectory
from vpp.runs.session import Keys
from vpp.runs.spec import EndpointSpec

LOST = 1000
"""A worker's code where its machine went: none that a process ends with."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """A cell to work."""

    cell: Cell
    sizes: Sizes
    endpoint: EndpointSpec
    """With the cell's share of the calls in flight."""

    def prepare(self, run: RunDirectory) -> None:
        """The cell's run, ready for a worker: made anew, or what is there of it. Raises InputError or RunError."""
        if not (run.path / "run.json").is_file():
            shutil.rmtree(run.path, ignore_errors=True)  # a sweep was killed before the run was whole
            create(self.cell, self.sizes, self.endpoint, run_dir=run.path)
            return
        with suppress(RunError):  # a record that cannot be read fails its worker, not the sweep
            run.amend(endpoint=replace(run.spec().endpoint, concurrency=self.endpoint.concurrency))


@dataclass(frozen=True, slots=True, kw_only=True)
class Far:
    """How far a cell is whose run directory is not here."""

    step: int
    """Whole steps."""
    steps: int
    """T; 0 before the run has started."""


class Worker(Protocol):
    """Works one cell."""

    said: str
    """Why it failed, where its run directory cannot tell; empty otherwise."""

    def poll(self) -> int | None:
        """The exit code of `python -m vpp resume`, LOST, or None while it works."""
        ...

    def stop(self) -> None:
        """Passes on a word to stop; a second one too."""
        ...

    def far(self) -> Far | None:
        """None where the run directory tells."""
        ...


class Engine(Protocol):
    """Starts workers."""

    def start(self, order: Order, run: RunDirectory) -> Worker:
        """Works the cell; what comes of it is in `run` once the worker has ended. Raises InputError or RunError."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Processes:
    """The engine of one machine: a worker process a cell."""

    keys: Keys
    slots: int
    """Runs of the runs folder that may ask models at a time."""

    def start(self, order: Order, run: RunDirectory) -> Worker:
        """A worker process on the run directory itself."""
        order.prepare(run)
        words = ("resume", str(run.path), "--json", "--quiet")
        return _Process(started(words, log=run.log, keys=self.keys, VPP_MAX_RUNNING=str(self.slots)))


@dataclass(slots=True)
class _Process:
    process: subprocess.Popen[bytes]
    said: str = ""

    def poll(self) -> int | None:
        return self.process.poll()

    def stop(self) -> None:
        self.process.send_signal(signal.SIGTERM)

    def far(self) -> Far | None:
        return None
