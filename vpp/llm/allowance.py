"""What one user may still send today, over all of that user's runs and questions: a count in a locked file.

A day is one of UTC. What is taken and neither sent nor given back, as where a process is killed, counts as sent.
"""

import fcntl
import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import FileIO
from pathlib import Path

from vpp.files import plain_file

BLOCK = 16
"""Calls taken from the count at once, so that the file is not locked for each."""
WIDTH = 64
"""Bytes of the file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Allowance:
    """Calls a day. Raises OSError where the file cannot be written: then nothing may be sent."""

    file: Path
    per_day: int

    @property
    def sent(self) -> int:
        """Taken today."""
        with self._opened() as file:
            return self._sent(file)

    @property
    def is_spent(self) -> bool:
        """Whether nothing is left today."""
        return self.sent >= self.per_day

    @property
    def words(self) -> str:
        """That nothing is left, and the mend."""
        return f"today's {self.per_day:,} calls of one user are sent: go on tomorrow (a day begins at 0:00 UTC)"

    def take(self, wanted: int = BLOCK) -> int:
        """How many of the wanted calls may be sent."""
        with self._opened() as file:
            sent = self._sent(file)
            taken = max(0, min(wanted, self.per_day - sent))
            if taken:
                _write(file, sent + taken)
            return taken

    def give_back(self, unsent: int) -> None:
        """Of those taken."""
        with self._opened() as file:
            _write(file, max(0, self._sent(file) - unsent))

    def _sent(self, file: FileIO) -> int:
        """Taken today: all of it where the file cannot be read."""
        sent = _count(file)
        if sent is None:
            sent = self.per_day
            _write(file, sent)
        return sent

    @contextmanager
    def _opened(self) -> Iterator[FileIO]:
        with FileIO(plain_file(self.file, os.O_RDWR | os.O_CREAT), "r+") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield file


def _today() -> str:
    return time.strftime("%Y-%m-%d", time.gmtime())


def _count(file: FileIO) -> int | None:
    """Of today; nothing in a new file, and None where what it holds cannot be read."""
    file.seek(0)
    text = file.read(WIDTH)
    try:
        match json.loads(text or b'{"day": "", "sent": 0}'):
            case {"day": str(day), "sent": int(sent)} if sent >= 0:
                return sent if day == _today() else 0
    except ValueError:
        pass
    return None


def _write(file: FileIO, sent: int) -> None:
    """Over what is there, never longer: neither a full disk nor a kill leaves the file empty."""
    file.seek(0)
    file.write(json.dumps({"day": _today(), "sent": sent}).encode().ljust(WIDTH))
