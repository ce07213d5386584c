"""events.jsonl: one record a line, appended only.

A torn last line is ignored by readers and cut by a resuming worker.
"""

import json
import os
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from io import FileIO
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, TypeAdapter, ValidationError
from pydantic_core import to_json

from vpp.errors import JournalDamaged
from vpp.events import SCHEMA_VERSION, Event, StepFinished
from vpp.usage import Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """A line of the journal: an event and the moment it was written."""

    v: int = SCHEMA_VERSION
    """Schema version."""
    at: float
    """Unix time in seconds."""
    usage: Usage
    """What the run had asked of its models by then."""
    answers: int
    """Lines of answers.jsonl by then."""
    event: Annotated[Event, Field(discriminator="type")]
    """What happened: one of the events below, told apart by `type`."""


_RECORD: TypeAdapter[Record] = TypeAdapter(Record)


def encode(record: Record) -> bytes:
    """The record as one line, newline included; infinity, which JSON lacks, is written as a string."""
    return to_json(record, inf_nan_mode="strings") + b"\n"


def decode(line: bytes) -> Record:
    """The record of one line. Raises ValueError where it is none."""
    return _RECORD.validate_json(line)


class Journal:
    """The one writer of a run's events.jsonl."""

    def __init__(self, path: Path, *, now: Callable[[], float] = time.time) -> None:
        self._file = path.open("ab", buffering=0)
        self._now = now

    def append(self, event: Event, *, usage: Usage, answers: int) -> Record:
        """Writes a whole line and hands it to the operating system; a finished step reaches the disk."""
        record = Record(at=self._now(), usage=usage, answers=answers, event=event)
        append_whole(self._file, encode(record))
        if isinstance(event, StepFinished):
            self.sync()
        return record

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

    def __init__(self, path: Path) -> None:
        self._path = path
        self._offset = 0
        self._line = 0

    def new_records(self) -> Iterator[Record]:
        """Whole lines since the last call. Raises JournalDamaged at one that cannot be read, after those before it."""
        if not self._path.exists():
            return
        with self._path.open("rb") as file:
            file.seek(self._offset)
            *lines, _torn = file.read().split(b"\n")
        for line in lines:
            record = self._decode(line)
            self._offset += len(line) + 1
            self._line += 1
            yield record

    def _decode(self, line: bytes) -> Record:
        try:
            return decode(line)
        except ValidationError as error:
            first = error.errors()[0]
            raise JournalDamaged(
                f"{self._path}: line {self._line + 1} cannot be read ({first['msg']}): restore the file from a copy"
            ) from None


def cut_torn_tail(path: Path) -> None:
    """Removes a last line that has no end. Only the run's lock holder may call this."""
    if not path.exists():
        return
    content = path.read_bytes()
    whole = content.rfind(b"\n") + 1
    if whole < len(content):
        os.truncate(path, whole)


def read_json(path: Path) -> Any:
    """A small JSON file's content."""
    return json.loads(path.read_text(encoding="utf-8"))


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
        with part.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
