"""Engines that run a sweep's cells, and the engine of worker processes on this machine."""

import os
import shutil
import subprocess
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Protocol

from vpp.bench.cells import Cell, Sizes, create
from vpp.errors import RunError
from vpp.runs.directory import RunDirectory
from vpp.runs.keys import Keys
from vpp.runs.process import start
from vpp.runs.spec import EndpointSpec

LOST = 1000
"""Code of a worker whose machine was lost; no process ends with it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A cell to run."""

    cell: Cell
    sizes: Sizes
    endpoint: EndpointSpec
    """Its concurrency is the cell's share of the calls in flight."""

    def prepare(self, run: RunDirectory) -> None:
        """Create the run directory, or update an existing one. Raises InputError or RunError."""
        if not (run.path / "run.json").is_file():
            shutil.rmtree(run.path, ignore_errors=True)  # left by a sweep that was killed while it created the run
            create(self.cell, self.sizes, self.endpoint, run_dir=run.path)
            return
        with suppress(RunError):  # an unreadable run.json fails its worker, not the sweep
            run.amend(endpoint=replace(run.spec().endpoint, concurrency=self.endpoint.concurrency))


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """Progress of a cell whose run directory is on another machine."""

    step: int
    """Completed steps."""
    steps: int
    """T; 0 before the run has started."""


class Worker(Protocol):
    """Runs one cell."""

    reason: str
    """Reason of a failure that the run directory does not record; else empty."""

    def poll(self) -> int | None:
        """Return the exit code of `python -m vpp resume`, or LOST; None while it runs."""
        ...

    def stop(self) -> None:
        """Forward a stop command; the second one skips the evaluation."""
        ...

    def progress(self) -> Progress | None:
        """Return the progress; None if the run directory is on this machine."""
        ...


class Engine(Protocol):
    """Starts workers."""

    def start(self, job: Job, run: RunDirectory) -> Worker:
        """Run the cell; its result is in `run` once the worker has ended. Raises InputError or RunError."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Processes:
    """Engine of one machine: one worker process per cell."""

    keys: Keys
    slots: int
    """Runs in the runs folder that may call models at a time."""

    def start(self, job: Job, run: RunDirectory) -> Worker:
        """Start a worker process on the run directory itself."""
        job.prepare(run)
        variables = {**os.environ, **self.keys.variables(), "VPP_MAX_RUNNING": str(self.slots)}
        return _Process(start_worker(run, variables))


def start_worker(run: RunDirectory, environment: Mapping[str, str]) -> "subprocess.Popen[bytes]":
    """Start a worker that dies with this process, however it ends: another sweep may run the cell next."""
    words = ("vpp.bench.dies_with_parent", "resume", str(run.path), "--json", "--quiet")
    return start(words, run.log, environment, stdin=subprocess.PIPE)


@dataclass(slots=True)
class _Process:
    process: subprocess.Popen[bytes]
    reason: str = ""

    def poll(self) -> int | None:
        code = self.process.poll()
        if code is not None:
            self.process.communicate()  # closes its input
        return code

    def stop(self) -> None:
        self.process.terminate()

    def progress(self) -> Progress | None:
        return None
