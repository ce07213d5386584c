"""events.jsonl: one record a line, appended only.

A torn last line is ignored by readers and cut by a resuming worker. Reading stops at any other unreadable line.
Older records and run.json files are migrated as they are read, one version at a time. Versions of records (`v`) and of
run.json (`schema`; none is 1):

1  until 0.1. Fields that came since have defaults that stand for what was done then.
2  `run_paused` tells when it tries again (`retry_at`); `run_failed` may name the disk. A run.json of version 1
   without `buffer_repeats` is of a run whose buffer held repeats, one without `mutate` of a run without a filter.
"""

import os
import shutil
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from io import FileIO
from itertools import count
from pathlib import Path
from typing import Annotated, Any, BinaryIO

from pydantic import Field, TypeAdapter
from pydantic_core import from_json, to_json

from vpp import files
from vpp.events import SCHEMA_VERSION, Event, StepFinished
from vpp.runs.disk import sync_folder
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
BLOCK_BYTES = 64 * 1024


def encode(record: Record) -> bytes:
    """Return the record as one line, newline included; infinity, which JSON lacks, is written as a string."""
    return to_json(record, inf_nan_mode="strings") + b"\n"


def decode(line: bytes) -> Record:
    """Return the record of one line of any version. Raises ValueError for another text, or a newer version."""
    record = _adapter().validate_json(record_of_today(line))
    files.check_integers(record, written_as=line)
    if not 0 <= record.at < YEAR_10000:
        raise ValueError(f"{record.at} is no moment in time")
    return record


@cache
def _adapter() -> TypeAdapter[Record]:
    """Return the reader of records; built at first use, so that a new run's first call does not wait for it."""
    return TypeAdapter(Record)


class Journal:
    """The one writer of a run's events.jsonl."""

    def __init__(self, path: Path, *, now: Callable[[], float] = time.time) -> None:
        self._file = files.appended(path)
        self._now = now
        self._waiting: list[Record] = []

    def append(self, event: Event, *, usage: Usage, answers: int) -> Record:
        """Write waiting events and this one; a finished step reaches the disk."""
        record = self.add(event, usage=usage, answers=answers)
        self.flush()
        return record

    def add(self, event: Event, *, usage: Usage, answers: int) -> Record:
        """Add an event, stamped with the present time, for the next flush."""
        record = Record(at=self._now(), usage=usage, answers=answers, event=event)
        self._waiting.append(record)
        return record

    @property
    def is_waiting(self) -> bool:
        """True if a flush has anything to write."""
        return bool(self._waiting)

    @property
    def ends_a_step(self) -> bool:
        """True if the end of a step waits."""
        return any(isinstance(record.event, StepFinished) for record in self._waiting)

    def flush(self) -> None:
        """Write waiting events, all of them or none; sync them if a step ends with them."""
        if not self._waiting:
            return
        append_whole(self._file, b"".join(map(encode, self._waiting)))
        ends_a_step = self.ends_a_step
        self._waiting.clear()
        if ends_a_step:
            self.sync()

    def forget(self) -> None:
        """Drop waiting events."""
        self._waiting.clear()

    def sync(self) -> None:
        """Make written events survive a loss of power."""
        os.fsync(self._file.fileno())

    def close(self) -> None:
        """Sync and close the file."""
        try:
            self.sync()
        finally:
            self._file.close()


def cut_torn_tail(path: Path) -> None:
    """Remove a last line that has no end. Only the run's lock holder may call this."""
    if not path.exists():
        return
    with path.open("r+b") as file:
        size = file.seek(0, os.SEEK_END)
        whole = _end_of_lines(file, size)
        if whole < size:
            file.truncate(whole)


def _end_of_lines(file: BinaryIO, size: int) -> int:
    """Return the position after the last line's end."""
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
    """Move the bytes from `start` on into a new file beside the journal; return its path.

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
    """Append all of the content, or nothing if the disk refuses: half a line would spoil the next one."""
    size = file.seek(0, os.SEEK_END)
    left = memoryview(content)
    try:
        while left:
            left = left[file.write(left) :]
    except OSError:
        file.truncate(size)
        raise


def write_atomically(path: Path, content: bytes) -> None:
    """Replace the file in one move, so that a reader sees old or new content. Several may write at a time."""
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


# Versions

Fields = dict[str, Any]
_TODAY = b'{"v":%d,' % SCHEMA_VERSION


class NewerVersion(ValueError):
    """A newer program wrote it."""


def _unchanged(fields: Fields) -> Fields:
    """Return the same fields: the next version only added some with defaults."""
    return fields


def _with_former_ways(spec: Fields) -> Fields:
    """Add options that older runs lack, with the values that describe what those runs did."""
    config = spec.get("config")
    return {**spec, "config": {**_FORMER_WAYS, **config}} if isinstance(config, dict) else spec


_FORMER_WAYS: Fields = {"buffer_repeats": True, "mutate": "every"}


RECORD_STEPS: Mapping[int, Callable[[Fields], Fields]] = {1: _unchanged}
"""Functions that migrate a record to the next version, by version."""
SPEC_STEPS: Mapping[int, Callable[[Fields], Fields]] = {1: _with_former_ways}
"""Functions that migrate run.json to the next version, by version."""


def record_of_today(line: bytes) -> bytes:
    """Return a journal's line in the current version. Raises ValueError for other text or a newer version."""
    if line.startswith(_TODAY):
        return line
    return to_json(_lifted(from_json(line), "v", RECORD_STEPS), inf_nan_mode="strings")


def spec_of_today(content: Any) -> Fields:
    """Return run.json's content in the current version. Raises ValueError for other content or a newer version."""
    return _lifted(content, "schema", SPEC_STEPS)


def _lifted(content: Any, field: str, steps: Mapping[int, Callable[[Fields], Fields]]) -> Fields:
    if not isinstance(content, dict):
        raise ValueError("it is no JSON object")
    version = content.get(field, 1)
    if type(version) is not int or version < 1:
        raise ValueError(f"it names no version that there is as {field}")
    if version > SCHEMA_VERSION:
        raise NewerVersion(f"written by a newer vpp, as version {version}")
    for step in range(version, SCHEMA_VERSION):
        content = steps[step](content)
    return {**content, field: SCHEMA_VERSION}
