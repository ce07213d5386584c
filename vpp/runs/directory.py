"""A run's directory: its files, each replaced in one move; who holds it; the state it is in; and a disk's refusals."""

import errno
import fcntl
import os
import re
import secrets
import shutil
import threading
import time
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Literal, TypeVar, cast

from pydantic_core import to_json

from vpp.data.dataset import Dataset, dataset_from_csv
from vpp.errors import DataError, DiskRefused, InputError, RunError, RunLocked, VppError
from vpp.events import Usage
from vpp.runs.spec import RunSpec, adapter, first_fault
from vpp.runs.spec import to_json as spec_json
from vpp.runs.view import RunView

if TYPE_CHECKING:
    from vpp.runs.journal import Summary

Command = Literal["pause", "go on", "stop"]
State = Literal["queued", "running", "paused", "stalled", "interrupted", "finished", "stopped", "failed"]
T = TypeVar("T")
NAME_LENGTH = 120
STALLED_AFTER_S = 30.0
STARTING_S = 20.0  # seconds that may pass until a new worker holds its run


@dataclass(frozen=True, slots=True, kw_only=True)
class Heartbeat:
    at: float = field(default_factory=time.time)
    """Unix time in seconds."""
    usage: Usage = field(default_factory=Usage)
    is_launch: bool = False
    """True if it was written for a worker that is being started."""
    queued: bool = False
    """True until it asks models, and while it waits for a slot."""
    waits: bool = False
    """True while other runs hold all slots."""
    loading_s: float | None = None
    """Seconds for which it has been loading a model file; None if it is not."""
    in_flight: int = 0
    """Calls that are sent and not answered."""
    oldest_at: float = 0.0
    """Unix time at which the oldest of them was sent."""


def run_id(name: str, method: str, *, now: datetime) -> str:
    """Return an id that sorts by time and is readable: 20260110-1432-iris-smc-7f3a."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    slug = re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:32] or "run"
    return f"{now:%Y%m%d-%H%M}-{slug}-{method}-{secrets.token_hex(2)}"


class RunDirectory:
    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)
        self.journal = self.path / "events.jsonl"
        self.data = self.path / "data.csv"
        self.log = self.path / "worker.log"
        self.control = self.path / "control"

    @property
    def id(self) -> str:
        return self.path.absolute().name

    @property
    def exists(self) -> bool:
        return (self.path / "run.json").is_file()

    def create(self, spec: RunSpec, data: bytes) -> None:
        """Make the directory with its spec and rows, or nothing.

        Raises RunError if it exists or cannot be made.
        """
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            self.path.mkdir(mode=0o700)
        except FileExistsError:
            raise RunError(f"{self.path} exists already: name another directory, or `resume` that run") from None
        except OSError as error:
            raise RunError(f"{self.path} cannot be made ({error.strerror}): choose another runs folder") from None
        try:
            write_atomically(self.data, data)
            write_atomically(self.path / "run.json", spec_json(spec))
        except VppError:
            shutil.rmtree(self.path, ignore_errors=True)
            raise

    def amend(self, **fields: Any) -> None:
        """Change fields of the spec in run.json. Raises InputError, RunError without a run, and DiskRefused."""
        write_atomically(self.path / "run.json", spec_json(replace(self.spec(), **fields)))

    def spec(self) -> RunSpec:
        """Read run.json, again once it is another file. Raises RunError if there is no run, or it cannot be read."""
        with suppress(OSError):
            now = (self.path / "run.json").stat()
            return _spec(self.path, (now.st_ino, now.st_mtime_ns))
        return _spec(self.path, (0, 0))

    def journal_bytes(self) -> int:
        try:
            return self.journal.stat().st_size
        except OSError:
            return 0

    def send_command(self, command: Command) -> None:
        """Leave a command for the worker, which deletes it once it is carried out."""
        write_json(self.control, command)

    def command(self) -> Command | None:
        """Return the command that is not carried out yet."""
        command: Command | None = read_json(self.control, cast(Any, Command))
        return command

    def beat(self, beat: Heartbeat) -> None:
        """Raises DiskRefused."""
        write_json(self.path / "heartbeat", beat, sync=False)

    def last_beat(self) -> Heartbeat | None:
        return read_json(self.path / "heartbeat", Heartbeat)

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Hold the run for one worker. Raises RunLocked if another holds it, RunError if it cannot be held."""
        with file_lock(self.path / "lock", wait_s=1.0) as file:
            if file is None:
                raise RunLocked(f"{self.path} is held by another worker: watch it, or stop it first")
            if not self.is_starting():
                self.control.unlink(missing_ok=True)  # it was for an earlier worker
            yield

    def is_held(self) -> bool:
        return is_locked(self.path / "lock")

    def is_starting(self) -> bool:
        """True if a worker was launched that does not hold the run yet."""
        beat = self.last_beat()
        return beat is not None and beat.is_launch and time.time() - beat.at < STARTING_S

    def state(self, view: "RunView | Summary") -> State:
        if view.phase == "finished":
            return view.phase
        if self.is_held():  # perhaps by a worker that waits for a slot to resume a run that had ended
            beat = self.last_beat()
            if beat and time.time() - beat.at > STALLED_AFTER_S:
                return "stalled"
            # The launch's beat: the worker holds the run and has not written one of its own.
            return "queued" if beat is None or beat.queued or beat.is_launch else view.phase
        if self.is_starting():
            return "queued"
        return view.phase if view.has_ended or view.is_at_cap else "interrupted"


@lru_cache(maxsize=2_000)
def _spec(path: Path, version: tuple[int, int]) -> RunSpec:
    spec = read_spec(path / "run.json", RunSpec, missing=f"{path} holds no run: give a directory that `vpp list` names")
    return replace(spec, name=spec.name[:NAME_LENGTH])


def write_json(path: Path, value: object, *, sync: bool = True) -> None:
    """Raises DiskRefused."""
    write_atomically(path, to_json(value, inf_nan_mode="strings"), sync=sync)


def read_json(path: Path, kind: type[T]) -> T | None:
    """Read what `write_json` wrote; None if it is missing or of another kind."""
    with suppress(OSError, ValueError):
        value: T = adapter(kind).validate_json(path.read_bytes())
        return value
    return None


def read_spec(path: Path, kind: type[T], *, missing: str) -> T:
    """Read a file of settings. missing: message if there is none. Raises RunError."""
    try:
        spec: T = adapter(kind).validate_json(path.read_bytes())
        return spec
    except FileNotFoundError:
        raise RunError(missing) from None
    except (OSError, ValueError, InputError) as error:
        raise RunError(f"{path} cannot be read ({first_fault(error)}): restore it from a copy") from None


def load_dataset(run: RunDirectory, spec: RunSpec) -> Dataset:
    """Read the rows as used, with the split.

    Raises RunError if data.csv is missing or does not match run.json, DataError if it has changed.
    """
    try:
        content = run.data.read_bytes()
    except OSError as error:
        raise RunError(f"{run.data} cannot be read ({error.strerror}): restore it from a copy") from None
    try:
        return dataset_from_csv(content, header=spec.dataset)
    except (LookupError, ValueError, TypeError):
        raise RunError(f"{run.data} is not as run.json describes it: restore both from a copy") from None


def readable_rows(run: RunDirectory) -> Dataset | None:
    """Read the rows; None if they cannot be read. Raises RunError if run.json cannot be read."""
    spec = run.spec()
    with suppress(RunError, DataError):
        return load_dataset(run, spec)
    return None


# The disk: files replaced in one move, lock files, and errors as one line with the fix

_FIXES = {
    errno.ENOSPC: ("the disk is full", "free some space"),
    errno.EDQUOT: ("the quota on this disk is used up", "free some space, or have the quota raised"),
    errno.EROFS: ("the disk is read-only", "mount it for writing"),
    errno.EACCES: ("permission denied", "give this user the right to write there"),
    errno.ENOENT: ("it is gone", "put the folder back where it was"),
}


def refusal(error: OSError, path: Path) -> str:
    """Return `PATH cannot be written (the disk is full): free some space`.

    path: named if the error names no file.
    """
    what, fix = _FIXES.get(error.errno or 0, (error.strerror or str(error), "see what the system says of this disk"))
    where = error.filename if isinstance(error.filename, str) else path
    return f"{where} cannot be written ({what}): {fix}"


def write_atomically(path: Path, content: bytes, *, sync: bool = True) -> None:
    """Replace the file in one move, so that a reader sees old or new content. Several may write at a time.

    sync: make it survive a loss of power. Raises DiskRefused.
    """
    part = path.with_name(f".{path.name}.{os.getpid()}.{threading.get_ident()}.part")
    try:
        with part.open("wb") as file:
            file.write(content)
            if sync:
                file.flush()
                os.fsync(file.fileno())
        part.replace(path)
    except OSError as error:
        raise DiskRefused(refusal(OSError(error.errno, error.strerror), path)) from None  # not by the part's name
    finally:
        with suppress(OSError):
            part.unlink(missing_ok=True)


def try_lock(path: Path) -> BinaryIO | None:
    """Lock a file until it is closed; None if another process holds it. Raises DiskRefused."""
    file = None
    try:
        file = path.open("ab")
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return file
    except OSError as error:
        if file:
            file.close()
        if isinstance(error, BlockingIOError):
            return None
        raise DiskRefused(refusal(error, path)) from None


@contextmanager
def file_lock(path: Path, *, wait_s: float = 0) -> Iterator[BinaryIO | None]:
    """Try to lock a file for `wait_s`; yield it, or None if another process holds it. Raises DiskRefused."""
    deadline = time.monotonic() + wait_s
    while (file := try_lock(path)) is None and time.monotonic() < deadline:
        time.sleep(0.02)
    with file or nullcontext():
        yield file


def is_locked(path: Path) -> bool:
    """True if some process holds the lock file; False on a file system without locks."""
    try:
        with path.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError as error:
        return isinstance(error, BlockingIOError)
    return False
