"""A file of lines that another process appends to, read from where one last stopped and in bounded memory."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

LONGEST_LINE = 64 * 2**20
"""Bytes; a whole evaluation of many rows is one line."""
TAIL_BYTES = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A line that has its end."""

    number: int
    """From 1."""
    start: int
    """Byte at which it begins."""
    content: bytes | None
    """Without its end; None where it is longer than can be read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lost:
    """A line that cannot be read, or cannot stand where it does."""

    line: int
    """From 1."""
    start: int
    """Byte at which it begins."""
    reason: str
    """Why, in a few words."""
    is_newer: bool = False
    """Whether a newer program wrote it: nothing is damaged."""


class Lines:
    """What has come to a file since one last looked."""

    def __init__(self, path: Path, *, longest: int = LONGEST_LINE) -> None:
        """longest: bytes of a line that is still read."""
        self._path = path
        self._longest = longest
        self._offset = 0
        self._number = 0
        self._start = 0
        self._is_too_long = False
        self._tail = b""
        self._inode = 0
        self._changed_ns = 0

    def new(self) -> Iterator[Line]:
        """Whole lines since the last call; a last one without its end waits. Nothing where there is no file."""
        try:
            file = self._path.open("rb")
        except FileNotFoundError:
            return
        with file:
            file.seek(self._offset)
            while piece := file.readline(self._longest + 1):
                if not piece.endswith(b"\n") and len(piece) <= self._longest:
                    break
                line = self._take(piece)
                if line is not None:
                    yield line
            now = os.fstat(file.fileno())
            self._inode, self._changed_ns = now.st_ino, now.st_mtime_ns

    def _take(self, piece: bytes) -> Line | None:
        """A whole line; None of a part of one that is too long."""
        self._offset += len(piece)
        self._tail = piece[-TAIL_BYTES:] if len(piece) >= TAIL_BYTES else (self._tail + piece)[-TAIL_BYTES:]
        if not piece.endswith(b"\n"):
            self._is_too_long = True
            return None
        content = None if self._is_too_long else piece[:-1]
        start, self._start, self._is_too_long = self._start, self._offset, False
        self._number += 1
        return Line(number=self._number, start=start, content=content)

    def has_changed(self) -> bool:
        """Whether the file was written to, replaced or removed since it was last read."""
        now = self._now()
        return self._inode != 0 and (now is None or (now.st_ino, now.st_mtime_ns) != (self._inode, self._changed_ns))

    def is_another(self) -> bool:
        """Whether what was read is no longer how the file begins: it was replaced, shortened or written over."""
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
