"""Cells on the machines of a Ray cluster, one task a cell. Ray is imported here alone, and only where it is asked for.

A cell's run directory goes to its machine and comes back as bytes. No key does: each machine's own environment has
them, for what Ray is told of a task is kept by the cluster.
"""

import importlib
import os
import secrets
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from vpp import __version__, files
from vpp.bench.engine import LOST, Far, Order, Worker
from vpp.bench.parcel import Parcel, fill, packed, place
from vpp.errors import InputError, RunError
from vpp.runs.directory import RunDirectory
from vpp.runs.reader import RunReader
from vpp.runs.session import Keys, child_environment, is_secret

PACKAGE = "ray"
HERE = "local"
"""Instead of a cluster's address: a Ray of its own, for as long as the sweep takes."""
ENDPOINT_FAILED, FAULT, STOPPED = 3, 1, 130
BEAT_S = 0.5
"""Between two looks at a run on its own machine, and two words of how far it is."""
LOOK_S = 1.0
"""Between two questions of the sweep how far all are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Returned:
    """What a task brings back."""

    code: int
    parcel: Parcel
    said: str = ""
    """Why nothing was begun."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Errand:
    """What a task is sent with: nothing secret, as everything here is kept by the cluster."""

    order: Order
    parcel: Parcel
    """The run so far."""
    version: str
    wants: tuple[str, ...]
    """Names of the variables that the sweep was given keys by."""
    slots: int


Tell = Callable[[Far], int]
"""Says how far a cell is, and is told how many words to stop there are."""


class Board:
    """Where tasks say how far they are, and hear words to stop: an actor of the cluster."""

    def __init__(self) -> None:
        self._far: dict[str, tuple[int, int]] = {}
        self._words: dict[str, int] = {}

    def tell(self, task: str, step: int, steps: int) -> int:
        """Words to stop for the task."""
        self._far[task] = (step, steps)
        return self._words.get(task, 0)

    def stop(self, task: str) -> None:
        """Leaves one more."""
        self._words[task] = self._words.get(task, 0) + 1

    def look(self) -> dict[str, tuple[int, int]]:
        """Whole steps and T by task."""
        return dict(self._far)


def carried_out(errand: Errand, tell: Tell, environment: Mapping[str, str]) -> Returned:
    """On the machine that was given the task: works the cell, and packs what came of it."""
    if trouble := _trouble(errand, environment):
        return Returned(code=ENDPOINT_FAILED, parcel={}, said=trouble)
    with tempfile.TemporaryDirectory(prefix="vpp-bench-") as folder:
        run = RunDirectory(Path(folder) / "runs" / errand.order.cell.name)
        if errand.parcel:
            fill(errand.parcel, run.path)
        errand.order.prepare(run)
        code = _worked(run, tell, _variables(errand, environment, runs=run.path.parent))
        return Returned(code=code, parcel=packed(run.path))


def _trouble(errand: Errand, environment: Mapping[str, str]) -> str:
    """Why this machine cannot do it; empty where it can."""
    node = os.uname().nodename
    if errand.version != __version__:
        return f"{node} has version {__version__} of this program, not {errand.version}: install the same one there"
    missing = [name for name in errand.wants if not environment.get(name)]
    if missing:
        return f"{node} has no {missing[0]} in its environment: start Ray there with it set"
    return ""


def _variables(errand: Errand, environment: Mapping[str, str], *, runs: Path) -> dict[str, str]:
    """Of the worker process: this machine's, with the keys that it has, and a runs folder of its own."""
    told = {**environment, **Keys.read(environment).variables(), "VPP_MAX_RUNNING": str(errand.slots)}
    return child_environment({**told, "VPP_RUNS_DIR": str(runs)})


def _worked(run: RunDirectory, tell: Tell, environment: dict[str, str]) -> int:
    """Works the run to its end in a process that ends with this one; its exit code."""
    words = ("resume", str(run.path), "--json", "--quiet")
    reader, passed_on = RunReader(run), 0
    with files.appended(run.log) as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "vpp.bench.leash", *words],
            stdin=subprocess.PIPE,
            stdout=output,
            stderr=output,
            env=environment,
            start_new_session=True,
        )
    try:
        while process.poll() is None:
            for _ in range(tell(_far(reader)) - passed_on):
                passed_on += 1
                process.terminate()
            time.sleep(BEAT_S)
        return process.returncode
    finally:
        if process.stdin:
            process.stdin.close()
        process.wait()


def _far(reader: RunReader) -> Far:
    view = reader.refresh().view
    return Far(step=0 if view.last_step is None else view.last_step + 1, steps=view.total_steps)


def _task(errand: Errand, task: str, board: Any) -> Returned:
    """What Ray runs."""
    ray = importlib.import_module(PACKAGE)

    def tell(far: Far) -> int:
        try:
            return int(ray.get(board.tell.remote(task, far.step, far.steps)))
        except ray.exceptions.RayError:  # nobody listens any more: the task's end tells
            return 0

    return carried_out(errand, tell, os.environ)


@contextmanager
def machines(address: str, *, jobs: int, slots: int, keys: Keys) -> Iterator["Machines"]:
    """The cluster at an address, or a Ray started here for `local`; let go of at the end.

    Raises InputError where Ray is not installed or no cluster answers.
    """
    ray = _ray()
    given = {name: value for name, value in keys.variables().items() if value and is_secret(name)}
    here = address == HERE
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    if here:  # what Ray starts here inherits them
        os.environ.update({**child_environment(os.environ), **given})
    # A Ray of our own listens to this machine alone: whoever reaches one may run what they like in it.
    own: dict[str, Any] = (
        {"num_cpus": jobs, "include_dashboard": False, "_node_ip_address": "127.0.0.1"} if here else {}
    )
    try:
        ray.init(address=address, log_to_driver=False, logging_level="error", **own)
    except (ConnectionError, OSError, RuntimeError, ValueError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise InputError(
            f"no Ray answers at {address!r} ({reason}): start it with `ray start`, or leave it out"
        ) from None
    try:
        yield Machines(ray, slots=slots, wants=tuple(sorted(given)))
    finally:
        ray.shutdown()


def _ray() -> Any:
    try:
        return importlib.import_module(PACKAGE)
    except ImportError:
        raise InputError(
            "--engine ray needs the package ray: pip install -r requirements-ray.txt, on every machine"
        ) from None


class Machines:
    """The engine of a cluster: a task a cell."""

    def __init__(self, ray: Any, *, slots: int, wants: tuple[str, ...]) -> None:
        self._ray, self._slots, self._wants = ray, slots, wants
        self._task = ray.remote(_task)
        self._board = ray.remote(Board).options(num_cpus=0).remote()
        self._seen: dict[str, tuple[int, int]] = {}
        self._looked_at = 0.0

    def start(self, order: Order, run: RunDirectory) -> Worker:
        """A task somewhere; the run directory is put in place as it ends."""
        errand = Errand(
            order=order,
            parcel=packed(run.path) if (run.path / "run.json").is_file() else {},
            version=__version__,
            wants=self._wants,
            slots=self._slots,
        )
        name = f"{order.cell.name}.{secrets.token_hex(4)}"
        asked = self._task.options(name=order.cell.name, num_cpus=1, max_retries=0)
        return _Task(self, name, asked.remote(errand, name, self._board), run)

    def result(self, reference: Any) -> Returned | int | None:
        """Of a task that has ended; LOST where its machine went, None while it is at work. Raises RunError."""
        if not self._ray.wait([reference], timeout=0)[0]:
            return None
        lost = self._ray.exceptions
        try:
            found = self._ray.get(reference)
        except lost.RayTaskError as error:
            raise RunError(str(error.cause or error).strip().splitlines()[-1][:300]) from None
        except lost.RayError:
            return LOST
        if not isinstance(found, Returned):
            raise RunError("what came back is no run: look at the machines of the cluster")
        return found

    def stop(self, name: str, reference: Any, *, word: int) -> None:
        """Leaves a word to stop; the second one also takes back a task that no machine has begun."""
        self._board.stop.remote(name)
        if word > 1:
            self._ray.cancel(reference)

    def seen(self, name: str) -> tuple[int, int]:
        """Whole steps and T, as last told; the cluster is asked at most once a second for all."""
        if time.monotonic() - self._looked_at > LOOK_S:
            try:
                self._seen = self._ray.get(self._board.look.remote(), timeout=LOOK_S)
            except self._ray.exceptions.RayError:
                self._seen = {}
            self._looked_at = time.monotonic()
        return self._seen.get(name, (0, 0))


@dataclass(slots=True)
class _Task:
    engine: Machines
    name: str
    reference: Any
    run: RunDirectory
    said: str = ""
    _code: int | None = field(default=None, init=False)
    _words: int = field(default=0, init=False)

    def poll(self) -> int | None:
        """Puts the run directory in place as soon as it is back."""
        if self._code is None:
            self._code = self._ended()
        return self._code

    def _ended(self) -> int | None:
        try:
            found = self.engine.result(self.reference)
            if not isinstance(found, Returned):
                return found
            if found.parcel:
                place(found.parcel, self.run.path)
        except (RunError, OSError) as error:
            self.said = str(error)
            return FAULT
        self.said = found.said
        return found.code

    def stop(self) -> None:
        self._words += 1
        self.engine.stop(self.name, self.reference, word=self._words)

    def far(self) -> Far | None:
        step, steps = self.engine.seen(self.name)
        return Far(step=step, steps=steps)
