"""A file of lines that another process appends to, read from the last position on and in bounded memory."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

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
