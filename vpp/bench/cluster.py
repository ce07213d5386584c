"""Cells as tasks of a Ray cluster. Only this module imports Ray, and only for `--engine ray`.

A cell's run directory travels to its machine and back as bytes. API keys do not travel, since the cluster stores the
arguments of a task: each machine has the keys in its own environment.
"""

import importlib
import os
import secrets
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from vpp import __version__
from vpp.bench.archive import Archive, pack, replace_folder, unpack
from vpp.bench.engine import LOST, Job, Progress, Worker, start_worker
from vpp.errors import InputError
from vpp.runs.directory import RunDirectory
from vpp.runs.keys import Keys
from vpp.runs.process import child_environment, is_secret
from vpp.runs.reader import RunReader

PACKAGE = "ray"
LOCAL = "local"
"""Address that starts a Ray on this machine for the length of the sweep."""
ENDPOINT_FAILED, FAULT = 3, 1
BEAT_S = 0.5
"""Interval at which a task reads its run and reports progress."""
LOOK_S = 1.0
"""Interval at which the sweep reads the progress of all tasks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskInput:
    """Arguments of a task. They hold no secret, since the cluster stores them."""

    job: Job
    archive: Archive
    """The run so far."""
    version: str
    key_variables: tuple[str, ...]
    """Names of the environment variables with the sweep's API keys."""
    slots: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskResult:
    """Exit code and run directory of a task."""

    code: int
    archive: Archive
    reason: str = ""
    """Why the run did not start."""


Report = Callable[[Progress], int]
"""Reports a task's progress; returns the number of stop commands so far."""


class ProgressBoard:
    """Actor of the cluster that holds the progress of tasks and their stop commands."""

    def __init__(self) -> None:
        self._progress: dict[str, Progress] = {}
        self._stops: Counter[str] = Counter()

    def report(self, task: str, progress: Progress) -> int:
        """Store a task's progress; return the number of its stop commands."""
        self._progress[task] = progress
        return self._stops[task]

    def stop(self, task: str) -> None:
        """Add a stop command."""
        self._stops[task] += 1

    def progress(self) -> dict[str, Progress]:
        """Return the progress by task."""
        return self._progress


def run_task(task: TaskInput, report: Report, environment: Mapping[str, str]) -> TaskResult:
    """Run the cell on the machine that Ray chose, and return its run directory."""
    if problem := _problem(task, environment):
        return TaskResult(code=ENDPOINT_FAILED, archive={}, reason=problem)
    with tempfile.TemporaryDirectory(prefix="vpp-bench-") as folder:
        run = RunDirectory(Path(folder) / "runs" / task.job.cell.name)
        if task.archive:
            unpack(task.archive, run.path)
        task.job.prepare(run)
        variables = {**environment, **Keys.read(environment).variables()}
        limits = {"VPP_MAX_RUNNING": str(task.slots), "VPP_RUNS_DIR": str(run.path.parent)}
        return TaskResult(code=_run_worker(run, report, {**variables, **limits}), archive=pack(run.path))


def _problem(task: TaskInput, environment: Mapping[str, str]) -> str:
    """Reason why this machine cannot run the task; empty if it can."""
    node = os.uname().nodename
    if task.version != __version__:
        return f"{node} has version {__version__} of this program, not {task.version}: install the same one there"
    missing = [name for name in task.key_variables if not environment.get(name)]
    if missing:
        return f"{node} has no {missing[0]} in its environment: start Ray there with it set"
    return ""


def _run_worker(run: RunDirectory, report: Report, environment: dict[str, str]) -> int:
    """Work on the run to its end in a process that dies with this one; return its exit code."""
    reader, n_forwarded = RunReader(run), 0
    with start_worker(run, environment) as process:
        while process.poll() is None:
            for _ in range(report(_progress(reader)) - n_forwarded):
                n_forwarded += 1
                process.terminate()
            time.sleep(BEAT_S)
        return process.returncode


def _progress(reader: RunReader) -> Progress:
    view = reader.refresh().view
    return Progress(step=0 if view.last_step is None else view.last_step + 1, steps=view.total_steps)


def _ray_task(task: TaskInput, name: str, board: Any) -> TaskResult:
    """Function that Ray calls for a task."""
    ray = importlib.import_module(PACKAGE)

    def report(progress: Progress) -> int:
        try:
            return int(ray.get(board.report.remote(name, progress)))
        except ray.exceptions.RayError:  # the board is lost: the task's result still arrives
            return 0

    return run_task(task, report, os.environ)


@contextmanager
def cluster(address: str, *, jobs: int, slots: int, keys: Keys) -> Iterator["Cluster"]:
    """Connect to the cluster at an address, or start a Ray for `local`; disconnect at the end.

    Raises InputError if Ray is not installed or no cluster answers.
    """
    ray = _ray()
    secret_variables = {name: value for name, value in keys.variables().items() if value and is_secret(name)}
    is_local = address == LOCAL
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    if is_local:  # processes that Ray starts here inherit them
        os.environ.update({**child_environment(os.environ), **secret_variables})
    # A local Ray listens on this machine only: anyone who can connect to a Ray can run code in it.
    local_options: dict[str, Any] = (
        {"num_cpus": jobs, "include_dashboard": False, "_node_ip_address": "127.0.0.1"} if is_local else {}
    )
    try:
        ray.init(address=address, log_to_driver=False, logging_level="error", **local_options)
    except (ConnectionError, OSError, RuntimeError, ValueError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise InputError(
            f"no Ray answers at {address!r} ({reason}): start it with `ray start`, or leave --ray-address out"
        ) from None
    try:
        yield Cluster(ray, slots=slots, key_variables=tuple(sorted(secret_variables)))
    finally:
        ray.shutdown()


def _ray() -> Any:
    try:
        return importlib.import_module(PACKAGE)
    except ImportError:
        raise InputError(
            "--engine ray needs the package ray: pip install -r requirements-ray.txt, on every machine"
        ) from None


class Cluster:
    """Engine of a Ray cluster: one task per cell."""

    def __init__(self, ray: Any, *, slots: int, key_variables: tuple[str, ...]) -> None:
        self.ray, self._slots, self._key_variables = ray, slots, key_variables
        self._task = ray.remote(_ray_task)
        self.board = ray.remote(ProgressBoard).options(num_cpus=0).remote()
        self._progress: dict[str, Progress] = {}
        self._looked_at = 0.0

    def start(self, job: Job, run: RunDirectory) -> Worker:
        """Start a task; its run directory replaces `run` at the end."""
        task = TaskInput(
            job=job,
            archive=pack(run.path) if (run.path / "run.json").is_file() else {},
            version=__version__,
            key_variables=self._key_variables,
            slots=self._slots,
        )
        name = f"{job.cell.name}.{secrets.token_hex(4)}"
        remote = self._task.options(name=job.cell.name, num_cpus=1, max_retries=0)
        return _ClusterWorker(self, name, remote.remote(task, name, self.board), run)

    def progress(self, name: str) -> Progress:
        """Return the progress as last reported; asks the cluster at most once a second for all tasks."""
        if time.monotonic() - self._looked_at > LOOK_S:
            try:
                self._progress = self.ray.get(self.board.progress.remote(), timeout=LOOK_S)
            except self.ray.exceptions.RayError:
                self._progress = {}
            self._looked_at = time.monotonic()
        return self._progress.get(name, Progress(step=0, steps=0))


@dataclass(slots=True)
class _ClusterWorker:
    engine: Cluster
    name: str
    reference: Any
    run: RunDirectory
    reason: str = ""
    _code: int | None = field(default=None, init=False)
    _is_stopped: bool = field(default=False, init=False)

    def poll(self) -> int | None:
        """Return the exit code once the task has ended and its run directory is in place."""
        if self._code is None and self.engine.ray.wait([self.reference], timeout=0)[0]:
            self._code = self._collect()
        return self._code

    def _collect(self) -> int:
        errors = self.engine.ray.exceptions
        try:
            result: TaskResult = self.engine.ray.get(self.reference)
            if result.archive:
                replace_folder(result.archive, self.run.path)
        except errors.RayTaskError as error:
            self.reason = str(error.cause or error).strip().splitlines()[-1][:300]
            return FAULT
        except errors.RayError:
            return LOST
        except OSError as error:
            self.reason = str(error)
            return FAULT
        self.reason = result.reason
        return result.code

    def stop(self) -> None:
        """Send a stop command; the second one also cancels a task that has not started."""
        self.engine.board.stop.remote(self.name)
        if self._is_stopped:
            self.engine.ray.cancel(self.reference)
        self._is_stopped = True

    def progress(self) -> Progress | None:
        return self.engine.progress(self.name)
