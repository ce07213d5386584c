"""A run's directory: its files, who holds it and the state it is in; its journal, and those who read it.

events.jsonl has the run's events and its models' answers, one a line, appended only. A last line without its end is
ignored by readers and cut by the worker that goes on. Any other line that cannot be read stops its reader.
summary.json is a run's line in a list: the worker writes it at each step and change of phase. One that is missing, or
that a killed worker left behind its journal, is made again by whoever lists the run.
"""

import errno
import fcntl
import os
import re
import secrets
import shutil
import threading
import time
import unicodedata
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, BinaryIO, Literal, TypeVar, cast

from pydantic import Field
from pydantic_core import to_json

from vpp.data.dataset import Dataset, dataset_from_csv
from vpp.errors import DataError, DiskRefused, InputError, JournalDamaged, RunError, RunLocked, VppError
from vpp.events import Event, RunResumed, StepFinished, Usage
from vpp.problem import Prediction, TextAnswer, Translation
from vpp.runs.spec import RunSpec, adapter, first_fault
from vpp.runs.spec import to_json as spec_json
from vpp.runs.view import Phase, RunView, with_own_mappings

Command = Literal["pause", "go on", "stop"]
State = Literal["queued", "running", "paused", "stalled", "interrupted", "finished", "stopped", "failed"]
T = TypeVar("T")
NAME_LENGTH = 120
STALLED_AFTER_S = 30.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Heartbeat:
    at: float = field(default_factory=time.time)
    """Unix time in seconds."""
    usage: Usage = field(default_factory=Usage)
    queued: bool = False
    """True from its launch until it asks models, and while it waits for a slot."""
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
        """Make the directory with its spec and rows, or nothing. Raises RunError if it exists or cannot be made."""
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

    def dataset(self) -> Dataset:
        """Read the rows as used, with the split. Raises RunError, and DataError if data.csv has changed."""
        header = self.spec().dataset
        try:
            return dataset_from_csv(self.data.read_bytes(), header=header)
        except OSError as error:
            raise RunError(f"{self.data} cannot be read ({error.strerror}): restore it from a copy") from None
        except (LookupError, ValueError, TypeError):
            words = f"{self.data} is not as this version reads run.json: restore both from a copy, or start a new run"
            raise RunError(words) from None

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
    def lock(self) -> Iterator[BinaryIO]:
        """Hold the run for one worker, or go on holding it for its launch. Raises RunLocked, DiskRefused."""
        path = self.path / "lock"
        file = passed_lock(path)
        if file is None:
            if (file := try_lock(path, wait_s=1.0)) is None:
                raise RunLocked(f"{self.path} is held by another worker: watch it, or stop it first")
            self.control.unlink(missing_ok=True)  # it was for an earlier worker
        with file:
            yield file

    def is_held(self) -> bool:
        """True if a worker holds the run, from its launch on; False on a file system without locks."""
        return is_locked(self.path / "lock")

    def state(self, view: "RunView | Summary") -> State:
        if view.phase == "finished":
            return view.phase
        if self.is_held():  # perhaps by a worker that waits for a slot to resume a run that had ended
            beat = self.last_beat()
            if beat and time.time() - beat.at > STALLED_AFTER_S:
                return "stalled"
            return "queued" if beat is None or beat.queued else view.phase
        return view.phase if view.has_ended or view.is_at_cap else "interrupted"


@lru_cache(maxsize=2_000)
def _spec(path: Path, version: tuple[int, int]) -> RunSpec:
    spec = read_spec(path / "run.json", RunSpec, missing=f"{path} holds no run: give a directory that `vpp list` names")
    return replace(spec, name=spec.name[:NAME_LENGTH])


def readable_rows(run: RunDirectory) -> Dataset | None:
    """Read the rows; None if they cannot be read. Raises RunError if run.json cannot be read."""
    run.spec()
    with suppress(RunError, DataError):
        return run.dataset()
    return None


# The journal


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """A line of the journal: an event and the moment it was written."""

    at: float
    """Unix time in seconds."""
    usage: Usage
    """Counts of calls by then."""
    event: Annotated[Event, Field(discriminator="type")]
    """One of the events below, by `type`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The learner's answer about a row; those of a program follow from the program."""

    hypothesis: str
    """Id of the text."""
    prediction: Prediction
    attempts: int
    """Calls needed, repeats included."""


Entry = Answer | Translation | TextAnswer
"""What a model answered, on a line of its own before the first event that uses it."""
_ANSWERS = (b'{"hypothesis":', b'{"question":')  # how lines with an answer begin


def encode(line: Record | Entry) -> bytes:
    """Return one line, newline included; infinity, which JSON lacks, is written as a string."""
    if isinstance(line, Record):
        return to_json(line, inf_nan_mode="strings") + b"\n"
    return bytes(adapter(Entry).dump_json(line, exclude_defaults=True)) + b"\n"


def decode(line: bytes) -> Record | Entry:
    """Read a line. Raises ValueError."""
    value: Record | Entry = adapter(Entry if line.startswith(_ANSWERS) else Record).validate_json(line)
    return value


class Journal:
    """The one writer of a journal, whose lines wait in memory until `flush`."""

    def __init__(self, path: Path) -> None:
        """Open the journal; a last line that has no end is cut. Only the run's lock holder may do this."""
        self._path = path
        self._file = path.open("a+b", buffering=0)
        self._waiting: list[bytes] = []
        self._file.seek(0)
        complete = sum(len(line) for line in self._file if line.endswith(b"\n"))
        self._file.truncate(complete)

    def add(self, event: Event, *, usage: Usage) -> Record:
        """Add an event, stamped with the present time, for the next flush."""
        record = Record(at=time.time(), usage=usage, event=event)
        self._waiting.append(encode(record))
        return record

    def add_entry(self, entry: Entry) -> None:
        self._waiting.append(encode(entry))

    def add_answer(self, hypothesis: str, prediction: Prediction, attempts: int) -> None:
        """Add the learner's answer about a row, unless a program gave it, which takes no attempt."""
        if attempts:
            self.add_entry(Answer(hypothesis=hypothesis, prediction=prediction, attempts=attempts))

    def flush(self, *, sync: bool = False) -> None:
        """Write waiting lines, all or none: half a line would spoil the next one. sync: to the disk. Raises OSError."""
        if not self._waiting:
            return
        self._path.stat()
        left, size = b"".join(self._waiting), self._file.seek(0, os.SEEK_END)
        try:
            while left:
                left = left[self._file.write(left) :]
        except OSError:
            self._file.truncate(size)
            raise
        self._waiting.clear()
        if sync:
            os.fsync(self._file.fileno())

    @property
    def size(self) -> int:
        """Bytes of the journal, waiting lines included."""
        return os.fstat(self._file.fileno()).st_size + sum(map(len, self._waiting))

    def forget(self) -> None:
        self._waiting.clear()

    def close(self) -> None:
        try:
            self.flush(sync=True)
        finally:
            self._file.close()


@dataclass(frozen=True, slots=True)
class JournalAnswers:
    """All recorded answers of a run's models."""

    by_pair: dict[tuple[str, int], Prediction] = field(default_factory=dict)
    """The learner's answers by hypothesis id and row id; of hypotheses without a program."""
    readings: dict[tuple[str, int], Prediction] = field(default_factory=dict)
    """What the learner read itself of hypotheses with a program."""
    translations: dict[str, Translation] = field(default_factory=dict)
    """By hypothesis id."""
    texts: dict[tuple[str, str], TextAnswer] = field(default_factory=dict)
    """Answers about texts, by question and text id."""

    @property
    def programs(self) -> list[Translation | TextAnswer]:
        return [*self.translations.values(), *self.texts.values()]

    def add(self, entry: Entry) -> None:
        match entry:
            case Translation():
                self.translations[entry.hypothesis] = entry
            case TextAnswer():
                self.texts[entry.question, entry.text] = entry
            case Answer():
                translation = self.translations.get(entry.hypothesis)
                answers = self.readings if translation and translation.code else self.by_pair
                answers[entry.hypothesis, entry.prediction.row] = entry.prediction


class JournalReader:
    """Folds a journal, to which another process may append, into a view of the run and its recorded answers."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.view, self.answers = RunView(), JournalAnswers()
        self.n_lines = self._offset = self._inode = 0

    def new_lines(self) -> Iterator[Record | Entry]:
        """Fold and yield the lines since the last call; an unfinished one waits. Raises JournalDamaged and RunError."""
        try:
            file = self._path.open("rb")
        except FileNotFoundError:
            return
        except OSError as error:
            raise RunError(f"{self._path} cannot be read ({error.strerror}): look at its disk") from None
        with file:
            self._inode = os.fstat(file.fileno()).st_ino
            file.seek(self._offset)
            while (line := file.readline()).endswith(b"\n"):
                try:
                    value = decode(line[:-1])
                except ValueError as error:
                    reason = first_fault(error).replace(" at line 1 column ", " at column ")  # of this line alone
                    where = f"{self._path}: line {self.n_lines + 1} cannot be read ({reason})"
                    raise JournalDamaged(f"{where}: restore the file from a copy") from None
                self.n_lines, self._offset = self.n_lines + 1, self._offset + len(line)
                if isinstance(value, Record):
                    self.view.apply(value)
                else:
                    self.answers.add(value)
                yield value

    def new_records(self) -> Iterator[Record]:
        """Yield the records among the new lines. Raises JournalDamaged."""
        return (line for line in self.new_lines() if isinstance(line, Record))

    def read(self) -> "JournalReader":
        """Read the lines since the last call. Raises JournalDamaged."""
        deque(self.new_lines(), maxlen=0)
        return self

    def is_another(self) -> bool:
        """True if the file was replaced or shortened since it was read."""
        with suppress(FileNotFoundError):
            now = self._path.stat()
            return self._inode not in (0, now.st_ino) or now.st_size < self._offset
        return False


def read_view(path: Path) -> RunView:
    """Return the view of a journal as it is now. Raises JournalDamaged."""
    return JournalReader(path).read().view


Line = tuple[int, Record | Entry]
"""A line with its number, from 1."""


def valid_lines(reader: JournalReader) -> tuple[list[Line], list[Line]]:
    """Return the lines up to the last complete step, and those after it that no resume made void.

    Raises JournalDamaged.
    """
    lines, ends = list[Line](), dict[int | None, int]()
    for value in reader.new_lines():
        lines.append((reader.n_lines, value))
        match value:
            case Record(event=StepFinished(step=step)):
                ends[step] = len(lines)
            case Record(event=RunResumed(step=step)) if step != reader.view.total_steps:
                del lines[ends.get(step, 1) :]
    end = ends.get(reader.view.last_step, 1)  # the first line is the run's start
    return lines[:end], lines[end:]


def complete_answers(path: Path) -> list[Entry]:
    """Return the answers up to the last complete step, which a resumed run counts."""
    complete, _ = valid_lines(JournalReader(path))
    return [value for _, value in complete if not isinstance(value, Record)]


# Readers that several watchers share


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """A run at one moment; it does not change, so every watcher's thread can keep its own."""

    spec: RunSpec
    state: State
    view: RunView
    usage: Usage
    """Calls so far, those of an unfinished round included."""
    beat: Heartbeat | None = None
    """The worker's last heartbeat."""


class RunReader:
    """The folded view of one run, kept up to date on demand."""

    def __init__(self, directory: RunDirectory) -> None:
        self.directory = directory
        self._lock = threading.Lock()
        self._dataset: Dataset | None = None
        self._journal, self._view = JournalReader(directory.journal), RunView()

    def _read(self) -> None:
        if self._journal.is_another():
            self._journal, self._view = JournalReader(self.directory.journal), RunView()
        if deque(self._journal.new_records(), maxlen=1):
            self._view = self._journal.view.copy()

    def refresh(self) -> Snapshot:
        """Read what is new. Raises RunError if there is no run (any more), or it cannot be read."""
        with self._lock:
            spec = self.directory.spec()
            self._read()
            state, beat, usage = self.directory.state(self._view), self.directory.last_beat(), self._view.usage
            if beat and state == "running" and beat.usage.calls >= usage.calls:
                usage = beat.usage
            return Snapshot(spec=spec, state=state, view=self._view, usage=usage, beat=beat)

    def dataset(self) -> Dataset:
        if self._dataset is None:
            self._dataset = self.directory.dataset()
        return self._dataset

    def read_answers(self) -> JournalAnswers:
        """Return the answers so far, which do not change. Raises RunError if the journal cannot be read."""
        with self._lock:
            self._read()
            return with_own_mappings(self._journal.answers)


SUMMARY = "summary.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    journal: int = 0
    phase: Phase = "queued"
    is_at_cap: bool = False
    last_step: int | None = None
    """The last finished step; -1 for the initial population, None before it."""
    total_steps: int = 0
    metric: Literal["accuracy", "mse"] | None = None
    train: float | None = None
    test: float | None = None
    sent: int = 0
    cost: float = 0.0
    verdict: dict[str, Any] | None = None
    """Record of vpp.findings.verdict on an ended run; None until somebody has made it."""

    @property
    def has_ended(self) -> bool:
        return self.phase in ("finished", "stopped", "failed")


def read_summary(directory: RunDirectory) -> Summary:
    """Return the run's summary, made from the journal if none is written or it is behind. Raises RunError."""
    size, written = directory.journal_bytes(), read_json(directory.path / SUMMARY, Summary)
    if written and (written.journal == size or directory.is_held()):
        return written
    if not size:
        return Summary()
    return write_summary(directory, read_view(directory.journal), journal=size)


def write_summary(
    directory: RunDirectory, view: RunView, *, journal: int, verdict: dict[str, Any] | None = None
) -> Summary:
    """Write the run's summary, if the disk takes it, and return it. journal: its bytes, as far as the view goes."""
    test, train = view.evaluations.get("test"), view.evaluations.get("train")
    either = test or train
    summary = Summary(
        journal=journal,
        phase=view.phase,
        is_at_cap=view.is_at_cap,
        last_step=view.last_step,
        total_steps=view.total_steps,
        metric=either.metric if either else None,
        train=train.value if train else None,
        test=test.value if test else None,
        sent=view.usage.sent,
        cost=view.usage.cost,
        verdict=verdict,
    )
    with suppress(DiskRefused):
        write_json(directory.path / SUMMARY, summary, sync=False)
    return summary


# The disk: files replaced in one move, lock files, and errors as one line with the fix

_FIXES = {
    errno.ENOSPC: ("the disk is full", "free some space"),
    errno.EDQUOT: ("the quota on this disk is used up", "free some space, or have the quota raised"),
    errno.EROFS: ("the disk is read-only", "mount it for writing"),
    errno.EACCES: ("permission denied", "give this user the right to write there"),
    errno.ENOENT: ("it is gone", "put the folder back where it was"),
}


def refusal(error: OSError, path: Path) -> str:
    """Return `PATH cannot be written (the disk is full): free some space`. path: if the error names no file."""
    what, fix = _FIXES.get(error.errno or 0, (error.strerror or str(error), "see what the system says of this disk"))
    where = error.filename if isinstance(error.filename, str) else path
    return f"{where} cannot be written ({what}): {fix}"


def write_atomically(path: Path, content: bytes, *, sync: bool = True) -> None:
    """Replace the file in one move, also if several do. sync: make it survive a loss of power. Raises DiskRefused."""
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


def try_lock(path: Path, *, wait_s: float = 0) -> BinaryIO | None:
    """Lock a file until it is closed; None if another process holds it for `wait_s`. Raises DiskRefused."""
    deadline = time.monotonic() + wait_s
    try:
        file = path.open("ab")
        while not _flock(file, fcntl.LOCK_EX):
            if time.monotonic() >= deadline:
                file.close()
                return None
            time.sleep(0.02)
    except OSError as error:
        raise DiskRefused(refusal(error, path)) from None
    return file


def passed_lock(path: Path) -> BinaryIO | None:
    """Return the lock of a file that this process was given as its standard input, once; None if it was not."""
    with suppress(OSError):
        if os.path.samestat(os.fstat(0), path.stat()):
            file = os.fdopen(os.dup(0), "ab")
            os.dup2(os.open(os.devnull, os.O_RDONLY), 0)  # processes started from here on must not hold it
            return file
    return None


def is_locked(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return not _flock(file, fcntl.LOCK_SH)
    except OSError:
        return False


def _flock(file: BinaryIO, kind: int) -> bool:
    try:
        fcntl.flock(file, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
