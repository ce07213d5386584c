"""A run's directory: where each file is, who holds it, and what state it is in."""

import fcntl
import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, Literal

from pydantic import TypeAdapter, ValidationError

from vpp.errors import InputError, RunError, RunLocked
from vpp.runs.journal import read_json, write_atomically
from vpp.runs.spec import RunSpec
from vpp.runs.view import RunView

State = Literal["queued", "running", "paused", "stalled", "interrupted", "finished", "stopped", "failed"]
Command = Literal["pause", "go on", "stop"]
STALLED_AFTER_S = 30.0
STARTING_S = 10.0
AMENDED_WITHIN_S = 5.0
_SPEC: TypeAdapter[RunSpec] = TypeAdapter(RunSpec)


class RunDirectory:
    """One run on disk."""

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)

    @property
    def id(self) -> str:
        """The directory's name."""
        return self.path.absolute().name

    @property
    def journal(self) -> Path:
        """events.jsonl, append-only."""
        return self.path / "events.jsonl"

    @property
    def answers(self) -> Path:
        """answers.jsonl: what the learner said."""
        return self.path / "answers.jsonl"

    @property
    def data(self) -> Path:
        """data.csv: the rows as used, with the split."""
        return self.path / "data.csv"

    @property
    def log(self) -> Path:
        """worker.log: what the worker printed."""
        return self.path / "worker.log"

    def create(self, spec: RunSpec, data: bytes) -> None:
        """Makes the directory with its spec and rows. Raises RunError where it exists already or cannot be made."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            self.path.mkdir(mode=0o700)
        except FileExistsError:
            raise RunError(f"{self.path} exists already: name another directory, or `resume` that run") from None
        except OSError as error:
            raise RunError(f"{self.path} cannot be made ({error.strerror}): choose another runs folder") from None
        write_atomically(self.data, data)
        self._write_spec(spec, status="queued")

    def amend(self, *, status: State | None = None, **fields: Any) -> None:
        """Changes fields of the spec, or the status, in run.json; what others write meanwhile stays.

        Raises RunError where there is no run, or another program keeps run.json to itself.
        """
        self.spec()
        with _locked(self.path / ".run.json.lock", wait_s=AMENDED_WITHIN_S) as held:
            if not held:
                raise RunError(f"{self.path / 'run.json'} is being written by another program: try again")
            self._write_spec(replace(self.spec(), **fields), status=status or self.status())

    def _write_spec(self, spec: RunSpec, *, status: State) -> None:
        """run.json: the spec, and the status as of now."""
        content = {"id": self.id, "status": status, **asdict(spec)}
        write_atomically(self.path / "run.json", json.dumps(content, indent=2, ensure_ascii=False).encode())

    def spec(self) -> RunSpec:
        """Raises RunError where there is no run, or run.json cannot be read."""
        try:
            content = read_json(self.path / "run.json")
            return _SPEC.validate_python(content)
        except FileNotFoundError:
            raise RunError(f"{self.path} holds no run: give a directory that `vpp list` names") from None
        except (OSError, ValueError, ValidationError, InputError) as error:
            reason = str(error).splitlines()[0]
            raise RunError(f"{self.path / 'run.json'} cannot be read ({reason}): restore it from a copy") from None

    def status(self) -> State:
        """The status as last written to run.json; `state` tells how things are now."""
        status: State = read_json(self.path / "run.json")["status"]
        return status

    def say(self, command: Command) -> None:
        """Leaves a word for the worker."""
        content = json.dumps({"command": command, "at": time.time()})
        write_atomically(self.path / "control", content.encode())

    def said(self) -> tuple[Command, float] | None:
        """The last word left for the worker and when (Unix time); None where there is none."""
        match _json_or_none(self.path / "control"):
            case {"command": "pause" | "go on" | "stop" as command, "at": int() | float() as at}:
                return command, float(at)
        return None

    def beat(self, usage_json: dict[str, Any], *, queued: bool) -> None:
        """The worker's sign of life: what it has asked so far, and whether it waits for its turn."""
        content = json.dumps({"pid": os.getpid(), "at": time.time(), "queued": queued, "usage": usage_json})
        (self.path / ".heartbeat.part").write_text(content)
        (self.path / ".heartbeat.part").replace(self.path / "heartbeat")

    def last_beat(self) -> dict[str, Any] | None:
        """pid, at (Unix time), queued and usage of the last sign of life."""
        beat: dict[str, Any] | None = _json_or_none(self.path / "heartbeat")
        return beat

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Holds the run for one worker. Raises RunLocked where another living one holds it."""
        with _locked(self.path / "lock", wait_s=1.0) as held:
            if not held:
                raise RunLocked(f"{self.path} is held by another worker: watch it, or stop it first")
            yield

    def is_held(self) -> bool:
        """Whether a living worker holds the run."""
        return is_locked(self.path / "lock")

    def state(self, view: RunView, *, now: float | None = None) -> State:
        """What a person is told of the run."""
        if view.phase == "finished":
            return view.phase
        now = time.time() if now is None else now
        if self.is_held():
            return self._held_state(view, now)
        if self._is_asked_for(view, now):
            return "queued"
        if view.has_ended or view.is_at_cap:
            return view.phase
        starting = view.phase == "queued" and now - self._changed_at() < STARTING_S
        return "queued" if starting else "interrupted"

    def mark_asked(self, at: float) -> None:
        """Notes that a worker was asked for, which takes a moment to hold the run. at: Unix time."""
        write_atomically(self.path / "asked", json.dumps({"at": at}).encode())

    def _is_asked_for(self, view: RunView, now: float) -> bool:
        """Whether a worker was asked for after all that the journal tells, and may still be starting."""
        asked = _json_or_none(self.path / "asked")
        return asked is not None and asked["at"] > (view.last_at or 0.0) and now - asked["at"] < STARTING_S

    def _held_state(self, view: RunView, now: float) -> State:
        """A worker that waits for its turn may hold a run that ended before."""
        beat = self.last_beat()
        if beat is None:
            return "queued"
        if now - beat["at"] > STALLED_AFTER_S:
            return "stalled"
        return "queued" if beat["queued"] else view.phase

    def _changed_at(self) -> float:
        try:
            return self.path.stat().st_mtime
        except FileNotFoundError:
            return 0.0


def _json_or_none(path: Path) -> Any:
    try:
        return read_json(path)
    except (OSError, ValueError):
        return None


def is_locked(path: Path) -> bool:
    """Whether some process holds the lock file."""
    if not path.exists():
        return False
    with path.open("rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


@contextmanager
def _locked(path: Path, *, wait_s: float) -> Iterator[bool]:
    """Tries for `wait_s` (a reader that looks holds the file for a moment); yields whether the lock is held."""
    deadline = time.monotonic() + wait_s
    with path.open("ab") as file:
        held = _try(file.fileno())
        while not held and time.monotonic() < deadline:
            time.sleep(0.02)
            held = _try(file.fileno())
        yield held


def _try(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


@contextmanager
def slot_lock(path: Path) -> Iterator[bool]:
    """Tries once for a slot file; yields whether it is held."""
    with _locked(path, wait_s=0) as held:
        yield held
