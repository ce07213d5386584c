"""A run's directory: its files, the notes of worker and pages, who holds it, and the state it is in."""

import errno
import json
import os
import secrets
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from pydantic import TypeAdapter, ValidationError

from vpp import files
from vpp.data.dataset import Dataset, dataset_from_csv
from vpp.errors import DataError, DiskRefused, InputError, JournalDamaged, RunError, RunLocked
from vpp.events import Usage
from vpp.runs.disk import is_locked, locked, obstacle, refusal, sync_folder
from vpp.runs.journal import write_atomically
from vpp.runs.spec import RunSpec, first_fault
from vpp.runs.view import RunView

if TYPE_CHECKING:
    from vpp.runs.reader import Summary


State = Literal["queued", "running", "paused", "stalled", "interrupted", "finished", "stopped", "failed"]
AMENDED_WITHIN_S = 5.0
NAME_LENGTH = 120
_SPEC: TypeAdapter[RunSpec] = TypeAdapter(RunSpec)


class RunFiles:
    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)
        self.journal = self.path / "events.jsonl"
        self.answers = self.path / "answers.jsonl"
        self.data = self.path / "data.csv"
        self.summary = self.path / "summary.json"
        self.log = self.path / "worker.log"

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
            write_or_refuse(self.data, data)
            self._write_spec(spec, status="queued")
        except RunError:
            shutil.rmtree(self.path, ignore_errors=True)
            raise
        sync_folder(self.path)
        sync_folder(self.path.parent)

    def amend(self, *, status: State | None = None, **fields: Any) -> None:
        """Change fields of the spec, or the status, in run.json; changes that others make meanwhile stay.

        Raises RunError if there is no run, another program holds run.json, or the disk refuses.
        """
        self.spec()
        with locked(self.path / ".run.json.lock", wait_s=AMENDED_WITHIN_S) as is_ours:
            if not is_ours:
                raise RunError(f"{self.path / 'run.json'} is being written by another program: try again")
            self._write_spec(replace(self.spec(), **fields), status=status or self.status())

    def _write_spec(self, spec: RunSpec, *, status: State) -> None:
        """Write run.json. Raises RunError if it could not be read again."""
        content = _json({"id": self.id, "status": status, **asdict(spec)})
        if len(content) > files.LARGEST_JSON:
            raise RunError(
                f"run.json would be larger than {files.LARGEST_JSON >> 20} MiB: shorten templates or column names"
            )
        write_or_refuse(self.path / "run.json", content)

    def spec(self) -> RunSpec:
        """Read the spec. Raises RunError if there is no run, or run.json cannot be read."""
        try:
            spec = _SPEC.validate_python(files.read_json(self.path / "run.json"))
            return replace(spec, name=spec.name[:NAME_LENGTH])
        except FileNotFoundError:
            raise RunError(f"{self.path} holds no run: give a directory that `vpp list` names") from None
        except (OSError, ValueError, InputError) as error:
            reason = first_fault(error) if isinstance(error, ValidationError) else str(error).splitlines()[0]
            raise RunError(f"{self.path / 'run.json'} cannot be read ({reason}): restore it from a copy") from None

    def status(self) -> State:
        """Read the status last written to run.json; `RunDirectory.state` is the present one. Raises RunError."""
        try:
            status: State = files.read_json(self.path / "run.json")["status"]
        except (OSError, ValueError, LookupError, TypeError):
            raise RunError(f"{self.path / 'run.json'} has no status: restore it from a copy") from None
        return status


def load_dataset(run: RunFiles, spec: RunSpec) -> Dataset:
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


def known_rows(run: RunFiles) -> Dataset | None:
    """Read the rows; None if they cannot be read. Raises RunError if run.json cannot be read."""
    spec = run.spec()
    with suppress(RunError, DataError):
        return load_dataset(run, spec)
    return None


def write_or_refuse(path: Path, content: bytes) -> None:
    try:
        write_atomically(path, content)
    except OSError as error:
        raise DiskRefused(refusal(error, path)) from None


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
    for name, value in fields.items():
        if isinstance(value, dict):
            yield from _fields_of(value)
        else:
            yield name, value


Command = Literal["pause", "go on", "stop"]
NOTE_BYTES = 64 * 1024
T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class SentCommand:
    command: Command
    at: float
    token: str = ""
    """Distinguishes it from every other command, whatever the clock says."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Heartbeat:
    at: float
    """Unix time in seconds."""
    pid: int
    queued: bool
    """True while it waits for a slot."""
    usage: Usage = field(default_factory=Usage)
    done: str = ""
    """Token of the last command that it has carried out."""
    loading_s: float | None = None
    """Seconds for which it has been loading a model file; None if it is not."""
    waits: bool = False
    """True while other runs hold all slots."""
    in_flight: int = 0
    """Calls that are sent and not answered."""
    oldest_at: float = 0.0
    """Unix time at which the oldest of them was sent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerRequest:
    at: float
    journal: int = -1
    """Size of the journal then, in bytes."""
    past_command: str = ""
    """Token of the last command then, which was for an earlier worker."""


_COMMAND: TypeAdapter[SentCommand] = TypeAdapter(SentCommand)
_HEARTBEAT: TypeAdapter[Heartbeat] = TypeAdapter(Heartbeat)
_REQUEST: TypeAdapter[WorkerRequest] = TypeAdapter(WorkerRequest)


class RunNotes(RunFiles):
    def send_command(self, command: Command) -> None:
        sent = SentCommand(command=command, at=time.time(), token=secrets.token_hex(8))
        write_or_refuse(self.path / "control", json.dumps(asdict(sent)).encode())

    def last_command(self) -> SentCommand | None:
        return _note(self.path / "control", _COMMAND)

    def command_token(self) -> str:
        sent = self.last_command()
        return sent.token if sent else ""

    def pending_command(self) -> SentCommand | None:
        """Return the last command if it awaits a worker: not carried out, and not sent to an earlier worker."""
        sent, beat, request = self.last_command(), self.last_beat(), self.worker_request()
        past = (beat.done if beat else "", request.past_command if request else "")
        return sent if sent and sent.token not in past else None

    def beat(self, usage_json: dict[str, Any], *, queued: bool, done: str = "", **now: float | None) -> None:
        """Write a heartbeat. now: other fields of it."""
        beat = {"pid": os.getpid(), "at": time.time(), "queued": queued, "done": done, "usage": usage_json}
        with files.written(self.path / ".heartbeat.part") as file:
            file.write(json.dumps({**beat, **now}).encode())
        (self.path / ".heartbeat.part").replace(self.path / "heartbeat")

    def last_beat(self) -> Heartbeat | None:
        return _note(self.path / "heartbeat", _HEARTBEAT)

    def request_worker(self) -> WorkerRequest:
        """Record that a worker is being started, which takes a moment to hold the run. Raises DiskRefused."""
        request = WorkerRequest(at=time.time(), journal=self.journal_bytes(), past_command=self.command_token())
        write_or_refuse(self.path / "asked", json.dumps(asdict(request)).encode())
        return request

    def worker_request(self) -> WorkerRequest | None:
        return _note(self.path / "asked", _REQUEST)

    def journal_bytes(self) -> int:
        try:
            return self.journal.stat().st_size
        except OSError:
            return 0


def _note(path: Path, kind: TypeAdapter[T]) -> T | None:
    """Read a note of another process; None if there is none that can be read."""
    with suppress(OSError, ValueError):
        return kind.validate_python(files.read_json(path, largest=NOTE_BYTES))
    return None


# The worker that holds a run, and its state

STALLED_AFTER_S = 30.0
STARTING_S = 10.0
LEFT_AFTER_S = 60.0
"""Age of an unfinished file that nobody can still be writing."""


class RunDirectory(RunNotes):
    def obstacle(self, state: State) -> str:
        """Return why a worker could not resume the run, in one line with the fix.

        Empty if nothing is in the way, or the run is neither interrupted nor failed.
        """
        if state not in ("interrupted", "failed"):
            return ""
        if in_the_way := obstacle(self.path):
            return in_the_way
        read_only = [path for path in (self.journal, self.answers) if path.exists() and not os.access(path, os.W_OK)]
        return refusal(PermissionError(errno.EACCES, ""), read_only[0]) if read_only else ""

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Hold the run for one worker. Raises RunLocked if another worker holds it, RunError if it cannot be held."""
        with locked(self.path / "lock", wait_s=1.0) as is_ours:
            if not is_ours:
                raise RunLocked(f"{self.path} is held by another worker: watch it, or stop it first")
            for part in self.path.glob(".*.part"):  # left unfinished by a killed program
                with suppress(OSError):
                    if time.time() - part.lstat().st_mtime > LEFT_AFTER_S:
                        part.unlink()
            yield

    def is_held(self) -> bool:
        return is_locked(self.path / "lock")

    def is_going_on(self) -> bool:
        """True if a living worker holds the run, or one may still be starting."""
        return self.is_held() or self._is_starting(time.time())

    def check_journal(self) -> None:
        """Raise JournalDamaged if the journal of a run that has begun is missing, RunError if there is no run."""
        if not self.journal.exists() and self.status() != "queued":
            raise JournalDamaged(f"{self.journal} is missing: restore the file from a copy")

    def state(self, view: "RunView | Summary", *, now: float | None = None) -> State:
        if view.phase == "finished":
            return view.phase
        now = now or time.time()
        if self.is_held():  # perhaps by a worker that waits for a slot to resume a run that had ended
            beat = self.last_beat()
            if beat and now - beat.at > STALLED_AFTER_S:
                return "stalled"
            return "queued" if beat is None or beat.queued else view.phase
        if self._is_starting(now):
            return "queued"
        if view.has_ended or view.is_at_cap:
            return view.phase
        is_new = view.phase == "queued" and abs(now - self._changed_at()) < STARTING_S
        return "queued" if is_new else "interrupted"

    def _is_starting(self, now: float) -> bool:
        """True if a worker was requested recently and has written nothing yet."""
        request = self.worker_request()
        if request is None or request.journal != self.journal_bytes():
            return False
        return abs(now - request.at) < STARTING_S

    def _changed_at(self) -> float:
        try:
            return self.path.stat().st_mtime
        except FileNotFoundError:
            return 0.0
