"""Reading lines that another process appends, and a journal up to its first damaged line: how a worker continues."""

import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from pydantic import ValidationError

from vpp.data.dataset import Dataset
from vpp.errors import JournalDamaged, RunError
from vpp.runs.directory import RunDirectory
from vpp.runs.journal import NewerVersion, Record, decode, set_aside
from vpp.runs.run_files import load_dataset
from vpp.runs.soundness import Domain, check, domain_of
from vpp.runs.view import RunView

LONGEST_LINE = 64 * 2**20
"""Bytes; a complete evaluation of many rows is one line."""
TAIL_BYTES = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A line that has its end."""

    number: int
    """Line number, from 1."""
    start: int
    """Byte at which it begins."""
    content: bytes | None
    """Bytes without the end; None if the line is too long: nothing after it is read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lost:
    """The first line of a journal that cannot be read, or cannot come after those before it."""

    line: int
    """Line number, from 1."""
    start: int
    """Byte at which it begins."""
    reason: str
    """Reason in a few words."""
    is_newer: bool = False
    """True if a newer program wrote it: nothing is damaged."""


class Lines:
    """Reads the lines that are new since the last call."""

    def __init__(self, path: Path, *, longest: int = LONGEST_LINE) -> None:
        """longest: bytes of the longest line that is read."""
        self._path = path
        self._longest = longest
        self._offset = 0
        self._number = 0
        self._tail = b""
        self._inode = 0
        self._changed_ns = 0

    def new(self) -> Iterator[Line]:
        """Yield lines since the last call; an unfinished last line waits. Yields nothing if there is no file."""
        try:
            file = self._path.open("rb")
        except FileNotFoundError:
            return
        with file:
            file.seek(self._offset)
            try:
                yield from self._lines(file)
            finally:
                now = os.fstat(file.fileno())
                self._inode, self._changed_ns = now.st_ino, now.st_mtime_ns

    def _lines(self, file: BinaryIO) -> Iterator[Line]:
        while (piece := file.readline(self._longest + 1)).endswith(b"\n") or len(piece) > self._longest:
            number, start = self._number + 1, self._offset
            if len(piece) > self._longest:
                yield Line(number=number, start=start, content=None)
                return
            self._number, self._offset = number, start + len(piece)
            self._tail = (self._tail + piece[-TAIL_BYTES:])[-TAIL_BYTES:]
            yield Line(number=number, start=start, content=piece[:-1])

    def has_changed(self) -> bool:
        """True if the file was written to, replaced or removed since it was last read."""
        now = self._now()
        return self._inode != 0 and (now is None or (now.st_ino, now.st_mtime_ns) != (self._inode, self._changed_ns))

    def is_another(self) -> bool:
        """True if the file no longer begins with the bytes read: it was replaced, shortened or written over."""
        if not self.has_changed():
            return False
        now = self._now()
        if now is None or now.st_ino != self._inode or now.st_size <= self._offset:
            return True
        with self._path.open("rb") as file:
            file.seek(self._offset - len(self._tail))
            return file.read(len(self._tail)) != self._tail

    def _now(self) -> os.stat_result | None:
        try:
            return self._path.stat()
        except FileNotFoundError:
            return None


REASON_LENGTH = 120


class JournalReader:
    """Reads a journal from the last position on, and stops at the first line that it cannot read."""

    def __init__(self, path: Path, *, dataset: Callable[[], Dataset] | None = None) -> None:
        """dataset: reads the run's rows; a record about other rows is not read, unless they cannot be read."""
        self._lines = Lines(path)
        self._dataset = dataset
        self._domain: Domain | None = None
        self.view = RunView()
        """The records read so far."""
        self.line = 0
        """Number of the line last read."""
        self.lost: Lost | None = None
        """The line at which reading stopped."""

    def new_records(self) -> Iterator[Record]:
        """Yield the records since the last call, in order."""
        if self.lost:
            return
        for line in self._lines.new():
            try:
                record = self._read(line)
            except ValueError as error:
                self.lost = _lost(line, error)
                return
            self.view.apply(record)
            self.line = line.number
            yield record

    def read(self) -> RunView:
        """Read the records since the last call, and return the view of all."""
        for _ in self.new_records():
            pass
        return self.view

    def is_another(self) -> bool:
        """True if the file no longer holds what was read: read it with a new reader.

        A damaged file that has changed may have been repaired anywhere.
        """
        return self._lines.is_another() or (self.lost is not None and self._lines.has_changed())

    def _read(self, line: Line) -> Record:
        """Return the line's record. Raises ValueError if it has none, or one that cannot come after those before."""
        if line.content is None:
            raise ValueError(f"it is longer than {LONGEST_LINE >> 20} MiB")
        record = decode(line.content)
        if self._domain is None:
            self._domain = domain_of(self._dataset) if self._dataset else Domain()
        check(record.event, self.view, self._domain)
        return record


def _lost(line: Line, error: ValueError) -> Lost:
    reason = error.errors()[0]["msg"] if isinstance(error, ValidationError) else str(error)
    reason = reason.replace(" at line 1 column ", " at column ")  # the decoder was given this line alone
    printable = "".join(sign if sign.isprintable() else " " for sign in reason)[:REASON_LENGTH]
    return Lost(line=line.number, start=line.start, reason=printable, is_newer=isinstance(error, NewerVersion))


def damage_of(directory: RunDirectory, lost: Lost | None) -> str:
    """Return where the journal is damaged and how to fix it, in one line; empty if it is sound.

    lost: the line at which reading stopped.
    """
    if not directory.journal.exists() and _has_begun(directory):
        return f"{directory.journal} is missing: {_fix(directory.path, 'begin again')}"
    if lost is None:
        return ""
    if lost.is_newer:
        return f"{directory.journal}: line {lost.line} is {lost.reason}: update vpp"
    shown = "only what comes before it is shown"
    return f"{directory.journal}: line {lost.line} cannot be read ({lost.reason}); {shown}: {_fix(directory.path)}"


def _fix(path: Path, otherwise: str = "continue from before the damage") -> str:
    return f"restore the file from a copy, or {otherwise} with `python -m vpp resume {path} --from-before-damage`"


def _has_begun(directory: RunDirectory) -> bool:
    """True if a worker has had the run."""
    with suppress(RunError):
        return directory.status() != "queued"
    return False


def view_to_go_on_from(directory: RunDirectory, *, from_before_damage: bool = False) -> RunView:
    """Return the view that a worker continues from. Only the run's lock holder may call this.

    from_before_damage: move a damaged journal's rest into a file beside it; never what a newer program wrote.
    Raises JournalDamaged if damage remains.
    """
    reader = JournalReader(directory.journal, dataset=lambda: load_dataset(directory, directory.spec()))
    view = reader.read()
    if from_before_damage and (reader.lost is None or not reader.lost.is_newer):
        if reader.lost:
            set_aside(directory.journal, reader.lost.start)
    elif damage := damage_of(directory, reader.lost):
        raise JournalDamaged(damage)
    return view
