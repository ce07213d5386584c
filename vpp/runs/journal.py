"""events.jsonl: one record a line, appended only.

A torn last line is ignored by readers and cut by a resuming worker. A line in the middle that cannot be read is told in
its place, and reading goes on behind it.
"""

import os
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from io import FileIO
from itertools import count
from pathlib import Path
from typing import Annotated, BinaryIO

from pydantic import Field, TypeAdapter, ValidationError
from pydantic_core import to_json

from vpp import files
from vpp.data.dataset import Dataset
from vpp.events import SCHEMA_VERSION, Event, StepFinished
from vpp.runs.disk import sync_folder
from vpp.runs.lines import LONGEST_LINE, Line, Lines, Lost
from vpp.runs.migration import NewerVersion, record_of_today
from vpp.runs.soundness import Soundness
from vpp.usage import Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """A line of the journal: an event and the moment it was written."""

    v: int = SCHEMA_VERSION
    """Schema version."""
    at: float
    """Unix time in seconds."""
    usage: Usage
    """Counts of calls by then."""
    answers: int
    """Lines of answers.jsonl by then."""
    event: Annotated[Event, Field(discriminator="type")]
    """One of the events below, by `type`."""


YEAR_10000 = 253_402_300_800
"""Unix time; no calendar goes further."""
REASON_LENGTH = 120
FILLING = b"\0 \t\r"
"""What may stand around a record and says nothing."""
BLOCK_BYTES = 64 * 1024


def encode(record: Record) -> bytes:
    """The record as one line, newline included; infinity, which JSON lacks, is written as a string."""
    return to_json(record, inf_nan_mode="strings") + b"\n"


def decode(line: bytes) -> Record:
    """The record of one line, whichever version wrote it. Raises ValueError where it is none, or a newer one."""
    record = _adapter().validate_json(record_of_today(line))
    files.check_integers(record, written_as=line)
    if not 0 <= record.at < YEAR_10000:
        raise ValueError(f"{record.at} is no moment in time")
    return record


@cache
def _adapter() -> TypeAdapter[Record]:
    """Made with the first record that is read: a new run has none, and its first call does not wait for this."""
    return TypeAdapter(Record)


class Journal:
    """The one writer of a run's events.jsonl."""

    def __init__(self, path: Path, *, now: Callable[[], float] = time.time) -> None:
        self._file = files.appended(path)
        self._now = now
        self._waiting: list[Record] = []

    def append(self, event: Event, *, usage: Usage, answers: int) -> Record:
        """Writes what waits and this event, and hands it to the operating system; a finished step reaches the disk."""
        record = self.add(event, usage=usage, answers=answers)
        self.flush()
        return record

    def add(self, event: Event, *, usage: Usage, answers: int) -> Record:
        """Keeps an event of this moment for the next flush."""
        record = Record(at=self._now(), usage=usage, answers=answers, event=event)
        self._waiting.append(record)
        return record

    @property
    def is_waiting(self) -> bool:
        """Whether a flush has anything to write."""
        return bool(self._waiting)

    @property
    def ends_a_step(self) -> bool:
        """Whether the end of a step is among what waits."""
        return any(isinstance(record.event, StepFinished) for record in self._waiting)

    def flush(self) -> None:
        """Hands what waits to the operating system in one write, all of it or nothing; where a step ends with it,

        it reaches the disk.
        """
        if not self._waiting:
            return
        append_whole(self._file, b"".join(map(encode, self._waiting)))
        ends_a_step = self.ends_a_step
        self._waiting.clear()
        if ends_a_step:
            self.sync()

    def forget(self) -> None:
        """Drops what waits."""
        self._waiting.clear()

    def sync(self) -> None:
        """Makes sure that what was appended survives a loss of power."""
        os.fsync(self._file.fileno())

    def close(self) -> None:
        """Syncs and closes."""
        try:
            self.sync()
        finally:
            self._file.close()


class JournalReader:
    """Reads a journal from where it last stopped: a refresh costs what is new."""

    def __init__(self, path: Path, *, dataset: Callable[[], Dataset | None] | None = None) -> None:
        """dataset: the run's rows, where they can be read: a record that tells of others is not read."""
        self._lines = Lines(path)
        self._soundness = Soundness(dataset)
        self._seen: set[int] = set()
        self._has_lost = False
        self.start = 0
        """Byte at which the line read last begins."""

    def new_records(self) -> Iterator[Record | Lost]:
        """Whole lines since the last call, in order; what stands twice, byte for byte, counts once."""
        for line in self._lines.new():
            self.start = line.start
            for found in self._read(line):
                if isinstance(found, Lost):
                    self._has_lost = True
                    self._soundness.lose()
                yield found

    def is_another(self) -> bool:
        """Whether what was read is no longer what the file holds: read it with a new reader.

        A damaged file that has changed may have been mended anywhere.
        """
        return self._lines.is_another() or (self._has_lost and self._lines.has_changed())

    def _read(self, line: Line) -> Iterator[Record | Lost]:
        """What the line holds, where it can stand and has not stood before."""
        mark = hash((line.content or b"").strip(FILLING))
        for found in decoded(line):
            if isinstance(found, Lost):
                yield found
            elif mark not in self._seen:
                self._seen.add(mark)
                why = self._soundness.fault(found.event, found.usage, found.answers)
                yield _lost(line, why) if why else found


def decoded(line: Line) -> Iterator[Record | Lost]:
    """What a line holds, judged by itself: its record, zeros that stand around it, or why it is none."""
    if line.content is None:
        yield _lost(line, f"it is longer than {LONGEST_LINE >> 20} MiB")
        return
    if b"\0" in (line.content[:1], line.content[-1:]):
        yield _lost(line, "zeros stand there, as a loss of power leaves them")
    content = line.content.strip(FILLING)
    if content:
        try:
            yield decode(content)
        except ValueError as error:
            yield _lost(line, error)


def _lost(line: Line, why: str | ValueError) -> Lost:
    said = why.errors()[0]["msg"] if isinstance(why, ValidationError) else str(why)
    said = said.replace(" at line 1 column ", " at column ")  # of the one line that was given to be decoded
    reason = "".join(sign if sign.isprintable() else " " for sign in said)[:REASON_LENGTH]
    return Lost(line=line.number, start=line.start, reason=reason, is_newer=isinstance(why, NewerVersion))


def cut_torn_tail(path: Path) -> None:
    """Removes a last line that has no end. Only the run's lock holder may call this."""
    if not path.exists():
        return
    with path.open("r+b") as file:
        size = file.seek(0, os.SEEK_END)
        whole = _end_of_lines(file, size)
        if whole < size:
            file.truncate(whole)


def _end_of_lines(file: BinaryIO, size: int) -> int:
    """The byte after the last line's end."""
    at = size
    while at > 0:
        start = max(0, at - BLOCK_BYTES)
        file.seek(start)
        found = file.read(at - start).rfind(b"\n")
        if found >= 0:
            return start + found + 1
        at = start
    return 0


def set_aside(path: Path, start: int) -> Path:
    """Moves what stands from byte `start` on into a new file beside the journal, and returns its path.

    Only the run's lock holder may call this. The copy and its name are on the disk before the journal is cut.
    """
    names = (path.with_name(f"{path.name}.damaged{f'.{i}' if i else ''}") for i in count())
    aside = next(name for name in names if not name.exists())
    with path.open("r+b") as journal, files.written(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL) as copy:
        journal.seek(start)
        shutil.copyfileobj(journal, copy)
        copy.flush()
        os.fsync(copy.fileno())
        sync_folder(path.parent)
        journal.truncate(start)
        os.fsync(journal.fileno())
    return aside


def append_whole(file: FileIO, content: bytes) -> None:
    """Appends all of it, or nothing where the disk refuses: half a line would spoil the next one."""
    size = file.seek(0, os.SEEK_END)
    left = memoryview(content)
    try:
        while left:
            left = left[file.write(left) :]
    except OSError:
        file.truncate(size)
        raise


def write_atomically(path: Path, content: bytes) -> None:
    """Replaces the file in one move, so that a reader sees the old content or the new. Several may write at a time."""
    part = path.with_name(f".{path.name}.{os.getpid()}.{threading.get_ident()}.part")
    try:
        with files.written(part) as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
        sync_folder(path.parent)
    finally:
        part.unlink(missing_ok=True)
