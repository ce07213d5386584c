"""A run's directory: where each file is, who holds it, and what state it is in."""

import errno
import fcntl
import json
import os
import secrets
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, BinaryIO, Literal, TypeVar

from pydantic import TypeAdapter, ValidationError

from vpp import files
from vpp.errors import DiskRefused, InputError, RunError, RunLocked
from vpp.events import SCHEMA_VERSION
from vpp.runs.disk import obstacle, refusal, sync_folder
from vpp.runs.journal import write_atomically
from vpp.runs.migration import NewerVersion, spec_of_today
from vpp.runs.moment import Moment
from vpp.runs.spec import RunSpec
from vpp.runs.view import RunView
from vpp.usage import Usage

State = Literal["queued", "running", "paused", "stalled", "interrupted", "finished", "stopped", "failed"]
Command = Literal["pause", "go on", "stop"]
STALLED_AFTER_S = 30.0
STARTING_S = 10.0
AMENDED_WITHIN_S = 5.0
NAME_LENGTH = 120
"""Characters of a run's name at most; of a longer one, its beginning."""
LEFT_AFTER_S = 60.0
"""A file is written in far less."""
NOTE_BYTES = 64 * 1024
"""Of a word, a mark or a heartbeat at most; what is larger is none."""
T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Word:
    """A word left for a run's worker."""

    command: Command
    at: float
    """Unix time by the sayer's clock."""
    token: str = ""
    """Tells it from every other word, whatever the clock says."""

    @property
    def mark(self) -> str:
        """Its token; of one that an older program left, when it was left."""
        return self.token or repr(self.at)


@dataclass(frozen=True, slots=True, kw_only=True)
class Beat(Moment):
    """A worker's sign of life."""

    pid: int
    queued: bool
    """Whether it waits for its turn."""
    usage: Usage = field(default_factory=Usage)
    """What it has asked so far."""
    done: str = ""
    """The mark of the last word that it has done with."""
    loading_s: float | None = None
    """Seconds for which it has been loading a model file; None if it is not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked(Moment):
    """That a worker was asked for."""

    journal: int = -1
    """Bytes of the journal by then."""
    heard: str = ""
    """The mark of the word that stood then: it was for an earlier worker."""


_SPEC: TypeAdapter[RunSpec] = TypeAdapter(RunSpec)
_WORD: TypeAdapter[Word] = TypeAdapter(Word)
_BEAT: TypeAdapter[Beat] = TypeAdapter(Beat)
_ASKED: TypeAdapter[Asked] = TypeAdapter(Asked)


class RunDirectory:
    """One run on disk."""

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)

    @property
    def id(self) -> str:
        """The directory's name."""
        return self.path.absolute().name

    @property
    def exists(self) -> bool:
        """Whether there is a run."""
        return (self.path / "run.json").is_file()

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
        """Makes the directory with its spec and rows, or nothing.

        Raises RunError where it exists already or cannot be made.
        """
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            self.path.mkdir(mode=0o700)
        except FileExistsError:
            raise RunError(f"{self.path} exists already: name another directory, or `resume` that run") from None
        except OSError as error:
            raise RunError(f"{self.path} cannot be made ({error.strerror}): choose another runs folder") from None
        try:
            self._write(self.data, data)
            self._write_spec(spec, status="queued")
        except RunError:
            shutil.rmtree(self.path, ignore_errors=True)
            raise
        sync_folder(self.path)
        sync_folder(self.path.parent)

    def _write(self, path: Path, content: bytes) -> None:
        """Raises DiskRefused."""
        try:
            write_atomically(path, content)
        except OSError as error:
            raise DiskRefused(refusal(error, path)) from None

    def amend(self, *, status: State | None = None, **fields: Any) -> None:
        """Changes fields of the spec, or the status, in run.json; what others write meanwhile stays.

        Raises RunError where there is no run, another program keeps run.json to itself, or the disk refuses.
        """
        self.spec()
        with _locked(self.path / ".run.json.lock", wait_s=AMENDED_WITHIN_S) as held:
            if not held:
                raise RunError(f"{self.path / 'run.json'} is being written by another program: try again")
            self._write_spec(replace(self.spec(), **fields), status=status or self.status())

    def _write_spec(self, spec: RunSpec, *, status: State) -> None:
        """run.json: the spec, and the status as of now. Raises RunError where it could not be read again."""
        told = {"id": self.id, "schema": SCHEMA_VERSION, "status": status, **asdict(spec)}
        content = _json(told)
        if len(content) > files.LARGEST_JSON:
            raise RunError(
                f"run.json would be larger than {files.LARGEST_JSON >> 20} MiB: shorten templates or column names"
            )
        self._write(self.path / "run.json", content)

    def spec(self) -> RunSpec:
        """Raises RunError where there is no run, or run.json cannot be read."""
        try:
            spec = _SPEC.validate_python(spec_of_today(files.read_json(self.path / "run.json")))
            return replace(spec, name=spec.name[:NAME_LENGTH])
        except FileNotFoundError:
            raise RunError(f"{self.path} holds no run: give a directory that `vpp list` names") from None
        except NewerVersion as error:
            raise RunError(f"{self.path / 'run.json'} was {error}: update vpp") from None
        except (OSError, ValueError, ValidationError, InputError) as error:
            reason = str(error).splitlines()[0]
            raise RunError(f"{self.path / 'run.json'} cannot be read ({reason}): restore it from a copy") from None

    def status(self) -> State:
        """The status as last written to run.json; `state` tells how things are now. Raises RunError without one."""
        try:
            status: State = files.read_json(self.path / "run.json")["status"]
        except (OSError, ValueError, LookupError, TypeError):
            raise RunError(f"{self.path / 'run.json'} tells no status: restore it from a copy") from None
        return status

    def say(self, command: Command) -> None:
        """Leaves a word for the worker. Raises DiskRefused."""
        word = Word(command=command, at=time.time(), token=secrets.token_hex(8))
        self._write(self.path / "control", json.dumps(asdict(word)).encode())

    def said(self) -> Word | None:
        """The last word left for a worker; None where there is none."""
        return _note(self.path / "control", _WORD)

    def said_mark(self) -> str:
        """The mark of the last word left; empty where there is none."""
        word = self.said()
        return word.mark if word else ""

    def waiting_word(self) -> Word | None:
        """The last word, where no worker has done with it, and it was not left for an earlier one."""
        word, beat, asked = self.said(), self.last_beat(), _note(self.path / "asked", _ASKED)
        past = (beat.done if beat else "", asked.heard if asked else "")
        return word if word and word.mark not in past else None

    def beat(self, usage_json: dict[str, Any], *, queued: bool, done: str = "", loading_s: float | None = None) -> None:
        """The worker's sign of life: what it has asked so far, whether it waits for its turn, which word is done."""
        signs = {"pid": os.getpid(), **asdict(Moment.now()), "queued": queued, "done": done, "usage": usage_json}
        signs["loading_s"] = loading_s
        with files.written(self.path / ".heartbeat.part") as file:
            file.write(json.dumps(signs).encode())
        (self.path / ".heartbeat.part").replace(self.path / "heartbeat")

    def last_beat(self) -> Beat | None:
        """The last sign of life."""
        return _note(self.path / "heartbeat", _BEAT)

    def obstacle(self, state: State) -> str:
        """What keeps a worker from going on with a run that broke off, in one line with the mend; empty where nothing

        is seen to, or the run did not break off.
        """
        if state not in ("interrupted", "failed"):
            return ""
        found = obstacle(self.path)
        fixed = (path for path in (self.journal, self.answers) if path.exists() and not os.access(path, os.W_OK))
        return found or next((refusal(PermissionError(errno.EACCES, ""), path) for path in fixed), "")

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Holds the run for one worker. Raises RunLocked where another living one holds it, RunError where none can."""
        with _locked(self.path / "lock", wait_s=1.0) as held:
            if not held:
                raise RunLocked(f"{self.path} is held by another worker: watch it, or stop it first")
            self._sweep()
            yield

    def _sweep(self) -> None:
        """Removes what a killed program had begun to write; who writes now is left alone."""
        for part in self.path.glob(".*.part"):
            with suppress(OSError):
                if not _is_alive(part.name) or time.time() - part.lstat().st_mtime > LEFT_AFTER_S:
                    part.unlink()

    def is_held(self) -> bool:
        """Whether a living worker holds the run."""
        return is_locked(self.path / "lock")

    def is_going_on(self) -> bool:
        """Whether a living worker holds the run, or one was asked for that may still be starting."""
        return self.is_held() or self._is_asked_for(Moment.now())

    def state(self, view: RunView, *, now: Moment | None = None) -> State:
        """What a person is told of the run."""
        if view.phase == "finished":
            return view.phase
        now = now or Moment.now()
        if self.is_held():
            return self._held_state(view, now)
        if self._is_asked_for(now):
            return "queued"
        if view.has_ended or view.is_at_cap:
            return view.phase
        starting = view.phase == "queued" and abs(now.at - self._changed_at()) < STARTING_S
        return "queued" if starting else "interrupted"

    def mark_asked(self) -> Asked:
        """Notes that a worker was asked for, which takes a moment to hold the run. Raises DiskRefused."""
        asked = Asked(**asdict(Moment.now()), journal=self._journal_bytes(), heard=self.said_mark())
        self._write(self.path / "asked", json.dumps(asdict(asked)).encode())
        return asked

    def _is_asked_for(self, now: Moment) -> bool:
        """Whether a worker was asked for that has written nothing yet, and may still be starting."""
        asked = _note(self.path / "asked", _ASKED)
        return asked is not None and asked.journal == self._journal_bytes() and abs(now.after(asked)) < STARTING_S

    def _journal_bytes(self) -> int:
        try:
            return self.journal.stat().st_size
        except OSError:
            return 0

    def _held_state(self, view: RunView, now: Moment) -> State:
        """A worker that waits for its turn may hold a run that ended before."""
        beat = self.last_beat()
        if beat is None:
            return "queued"
        if now.after(beat) > STALLED_AFTER_S:
            return "stalled"
        return "queued" if beat.queued else view.phase

    def _changed_at(self) -> float:
        try:
            return self.path.stat().st_mtime
        except FileNotFoundError:
            return 0.0


def _json(fields: dict[str, Any]) -> bytes:
    """Return the content of run.json. Raises RunError for a field that `files.read_json` would refuse."""
    huge = next((name for name, value in _fields_of(fields) if files.holds_huge_integer(value)), "")
    if huge:
        raise RunError(f"{huge} is beyond 64 bits: give a smaller number")
    try:
        return json.dumps(fields, indent=2, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        raise RunError(f"run.json cannot hold the lone surrogate {error.object[error.start]!r}: remove it") from None


def _fields_of(fields: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield the name and value of each field, those of nested objects too."""
    for name, value in fields.items():
        if isinstance(value, dict):
            yield from _fields_of(value)
        else:
            yield name, value


def _note(path: Path, kind: TypeAdapter[T]) -> T | None:
    """What another process left; None where there is nothing, or nothing that can be read."""
    with suppress(OSError, ValueError):
        return kind.validate_python(files.read_json(path, largest=NOTE_BYTES))
    return None


def _is_alive(part: str) -> bool:
    """Whether the program that a part file's name tells of may still be writing; one without is an earlier worker's."""
    *_, process, _, _ = ("", "", *part.split("."))
    try:
        os.kill(int(process), 0)
    except (ValueError, OverflowError, ProcessLookupError):
        return False
    except PermissionError:
        return True
    return True


def is_locked(path: Path) -> bool:
    """Whether some process holds the lock file. Where files cannot be locked, none does."""
    try:
        with files.read(path) as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False


@contextmanager
def _locked(path: Path, *, wait_s: float) -> Iterator[bool]:
    """Tries for `wait_s` (a reader that looks holds the file for a moment); yields whether the lock is held.

    Raises DiskRefused where the file cannot be opened or locked.
    """
    deadline = time.monotonic() + wait_s
    with _lock_file(path) as file:
        held = _try(path, file)
        while not held and time.monotonic() < deadline:
            time.sleep(0.02)
            held = _try(path, file)
        yield held


def _lock_file(path: Path) -> BinaryIO:
    try:
        return files.written(path, os.O_RDWR | os.O_CREAT)
    except OSError as error:
        raise DiskRefused(refusal(error, path)) from None


def _try(path: Path, file: BinaryIO) -> bool:
    try:
        fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:
        raise DiskRefused(refusal(error, path)) from None
    return True


@contextmanager
def slot_lock(path: Path) -> Iterator[bool]:
    """Tries once for a slot file; yields whether it is held."""
    with _locked(path, wait_s=0) as held:
        yield held
