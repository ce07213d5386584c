"""Processes of a run: detached workers, how many may ask models at a time, and the built-in demo model."""

import asyncio
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import IO, BinaryIO

import vpp
from vpp.errors import DiskRefused, EndpointUnreachable, RunLocked
from vpp.runs.directory import Heartbeat, RunDirectory
from vpp.runs.disk import refusal, try_lock
from vpp.runs.keys import Keys

SLOT_POLL_S = 0.2
DEMO_READY_S = 20.0


def launch(directory: RunDirectory, *, keys: Keys, environment: Mapping[str, str] | None = None) -> int:
    """Start or resume the run in a detached worker, which outlives this process; return its process id.

    Keys are passed by environment only. Raises RunLocked, DiskRefused.
    """
    variables = {**(os.environ if environment is None else environment), **keys.variables()}
    worker = start_worker(directory, variables)
    threading.Thread(target=worker.wait, daemon=True).start()  # an ended child stays a zombie until somebody waits
    return worker.pid


def start_worker(directory: RunDirectory, environment: Mapping[str, str], *options: str) -> "subprocess.Popen[bytes]":
    """Start `vpp resume` with options of its own. Raises RunLocked if it has a worker already; DiskRefused."""
    before = directory.last_beat() or Heartbeat()
    with directory.lock():
        if directory.is_starting():
            raise RunLocked(f"{directory.path} is held by another worker, which is starting: watch it")
        directory.beat(Heartbeat(usage=before.usage, is_launch=True))
    try:
        return start(("vpp", "resume", str(directory.path), *options), directory.log, environment)
    except OSError as error:
        raise DiskRefused(refusal(error, directory.path)) from None


def start(words: Sequence[str], log: Path, environment: Mapping[str, str]) -> "subprocess.Popen[bytes]":
    """Start `python -m …` in a session of its own; its output is appended to `log`. Raises OSError."""
    with log.open("ab") as output:
        return subprocess.Popen(
            [sys.executable, "-m", *words],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            env=child_environment(environment),
            start_new_session=True,
        )


def child_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of a child process that imports `vpp`, whatever folder it is started from."""
    paths = [str(Path(vpp.__file__).parents[1]), environment.get("PYTHONPATH", "")]
    return {**environment, "PYTHONPATH": os.pathsep.join(filter(None, paths))}


@contextmanager
def on_signals(stop: Callable[[], object]) -> Iterator[None]:
    """Turn signals into calls of `stop`; a closed terminal's too, unless this process was started to ignore it."""
    ignored = signal.getsignal(signal.SIGHUP) == signal.SIG_IGN
    names = (signal.SIGINT, signal.SIGTERM, *(() if ignored else (signal.SIGHUP,)))
    before = {name: signal.signal(name, lambda *_: stop()) for name in names}
    try:
        yield
    finally:
        for name, handler in before.items():
            signal.signal(name, handler)


def is_secret(name: str) -> bool:
    """True if a variable may hold a secret, which a process without requests does not need."""
    return re.search(r"KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL|HEADERS", name.upper()) is not None


class Slots:
    """Lock files in the runs folder, one for each run that may ask models; a process that ends frees its slot."""

    def __init__(self, folder: Path, *, count: int) -> None:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._files = [folder / f".slot-{i}" for i in range(count)]
        self._held: BinaryIO | None = None

    def take_now(self) -> bool:
        """Take a slot if one is free; return whether one is held now. Raises DiskRefused."""
        for file in self._files if self._held is None else ():
            self._held = try_lock(file)
            if self._held is not None:
                break
        return self._held is not None

    async def take(self) -> None:
        while not self.take_now():
            await asyncio.sleep(SLOT_POLL_S)

    def give_back(self) -> None:
        if self._held is not None:
            self._held.close()
            self._held = None


@asynccontextmanager
async def child_server(
    *words: str, variables: Mapping[str, str] | None = None, log: IO[bytes] | None = None
) -> AsyncIterator[tuple[asyncio.StreamWriter, asyncio.StreamReader]]:
    """Run `python -m …`, a model's server, until the block ends; yield its standard input and output.

    Its standard input closes however this process ends: the server must end then. log: of its standard error.
    """
    environment = child_environment(os.environ)
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", *words),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=log,
        # a model's server started here needs no secret
        env={name: value for name, value in environment.items() if not is_secret(name)} | dict(variables or {}),
        start_new_session=True,  # an interrupt at the terminal is for the worker, which then evaluates the test rows
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        yield process.stdin, process.stdout
    finally:
        process.stdin.close()
        if process.returncode is None:
            process.terminate()
        await process.wait()


@asynccontextmanager
async def demo_server(latency_ms: int) -> AsyncIterator[str]:
    """Run the built-in demo model in a process that ends with this one; yield its base URL."""
    words = ("vpp.demo", "--port", "0", "--latency-ms", str(latency_ms), "--exit-with-parent")
    async with child_server(*words) as (_, output):
        yield await _first_line(output)


async def _first_line(output: asyncio.StreamReader) -> str:
    try:
        line = await asyncio.wait_for(output.readline(), DEMO_READY_S)
    except TimeoutError:
        raise EndpointUnreachable(f"the demo model was not ready within {DEMO_READY_S:g} s: try again") from None
    if not line:
        raise EndpointUnreachable("the demo model ended as it started: its output says why")
    return line.decode().strip()
