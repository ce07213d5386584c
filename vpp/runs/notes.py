"""Small files that processes leave each other in a run's directory: commands, heartbeats, requests for a worker."""

import json
import os
import secrets
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Literal, TypeVar

from pydantic import TypeAdapter

from vpp import files
from vpp.runs.run_files import RunFiles, write_or_refuse
from vpp.usage import Usage

Command = Literal["pause", "go on", "stop"]
NOTE_BYTES = 64 * 1024
"""Larger notes are ignored."""
BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """Unix time and the machine's uptime, so that ages stay true when the clock is set."""

    at: float
    """Unix time in seconds."""
    up: float = 0.0
    """Uptime of the machine in seconds."""
    boot: str = ""
    """Id of the boot that `up` counts from; empty if unknown."""

    @classmethod
    def now(cls) -> "Moment":
        """Return the present moment."""
        return cls(at=time.time(), up=time.monotonic(), boot=_boot())

    def after(self, earlier: "Moment") -> float:
        """Seconds since `earlier`: by uptime within one boot, else by the clock."""
        return self.up - earlier.up if self.boot and self.boot == earlier.boot else self.at - earlier.at


@cache
def _boot() -> str:
    try:
        return BOOT_ID.read_text(encoding="ascii").strip()
    except OSError:
        return ""


def steady_clock() -> Callable[[], float]:
    """Return a clock of Unix time that starts right and then advances evenly, even if the system's clock is set."""
    began, up = time.time(), _uptime()
    return lambda: began + _uptime() - up


def _uptime() -> float:
    """Seconds, including those asleep if the system counts them."""
    boot_time = getattr(time, "CLOCK_BOOTTIME", None)
    return time.monotonic() if boot_time is None else time.clock_gettime(boot_time)


@dataclass(frozen=True, slots=True, kw_only=True)
class SentCommand:
    """A command sent to a run's worker."""

    command: Command
    at: float
    """Unix time by the sender's clock."""
    token: str = ""
    """Distinguishes it from every other command, whatever the clock says."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Heartbeat(Moment):
    """A worker's latest report about itself."""

    pid: int
    queued: bool
    """True while it waits for a slot."""
    usage: Usage = field(default_factory=Usage)
    """Calls so far."""
    done: str = ""
    """Token of the last command that it has carried out."""
    loading_s: float | None = None
    """Seconds for which it has been loading a model file; None if it is not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerRequest(Moment):
    """A note that a worker is being started."""

    journal: int = -1
    """Size of the journal then, in bytes."""
    past_command: str = ""
    """Token of the last command then, which was for an earlier worker."""


_COMMAND: TypeAdapter[SentCommand] = TypeAdapter(SentCommand)
_HEARTBEAT: TypeAdapter[Heartbeat] = TypeAdapter(Heartbeat)
_REQUEST: TypeAdapter[WorkerRequest] = TypeAdapter(WorkerRequest)


class RunNotes(RunFiles):
    """A run's files, with the notes between its worker and others."""

    def send_command(self, command: Command) -> None:
        """Send the worker a command. Raises DiskRefused."""
        sent = SentCommand(command=command, at=time.time(), token=secrets.token_hex(8))
        write_or_refuse(self.path / "control", json.dumps(asdict(sent)).encode())

    def last_command(self) -> SentCommand | None:
        """Return the last command sent to a worker, if any."""
        return _note(self.path / "control", _COMMAND)

    def command_token(self) -> str:
        """Return the token of the last command; empty if there is none."""
        sent = self.last_command()
        return sent.token if sent else ""

    def pending_command(self) -> SentCommand | None:
        """Return the last command if it awaits a worker: not carried out, and not sent to an earlier worker."""
        sent, beat, request = self.last_command(), self.last_beat(), self.worker_request()
        past = (beat.done if beat else "", request.past_command if request else "")
        return sent if sent and sent.token not in past else None

    def beat(self, usage_json: dict[str, Any], *, queued: bool, done: str = "", loading_s: float | None = None) -> None:
        """Write the worker's heartbeat; the fields are those of `Heartbeat`."""
        now = asdict(Moment.now())
        beat = {"pid": os.getpid(), **now, "queued": queued, "done": done, "usage": usage_json, "loading_s": loading_s}
        with files.written(self.path / ".heartbeat.part") as file:
            file.write(json.dumps(beat).encode())
        (self.path / ".heartbeat.part").replace(self.path / "heartbeat")

    def last_beat(self) -> Heartbeat | None:
        """Return the last heartbeat, if any."""
        return _note(self.path / "heartbeat", _HEARTBEAT)

    def request_worker(self) -> WorkerRequest:
        """Record that a worker is being started, which takes a moment to hold the run. Raises DiskRefused."""
        request = WorkerRequest(**asdict(Moment.now()), journal=self.journal_bytes(), past_command=self.command_token())
        write_or_refuse(self.path / "asked", json.dumps(asdict(request)).encode())
        return request

    def worker_request(self) -> WorkerRequest | None:
        """Return the last note that a worker is being started, if any."""
        return _note(self.path / "asked", _REQUEST)

    def journal_bytes(self) -> int:
        """Return the journal's size; 0 without a journal."""
        try:
            return self.journal.stat().st_size
        except OSError:
            return 0


def _note(path: Path, kind: TypeAdapter[T]) -> T | None:
    """Read a note of another process; None if there is none that can be read."""
    with suppress(OSError, ValueError):
        return kind.validate_python(files.read_json(path, largest=NOTE_BYTES))
    return None
