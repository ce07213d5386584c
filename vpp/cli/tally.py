"""A count towards a known total on standard error: a bar on a terminal, a line each tenth elsewhere."""

import shutil
import time
from contextlib import suppress
from typing import TextIO

from vpp.cli.progress import WIDTH
from vpp.wording.words import integer, seconds

REDRAW_S = 0.1


class Tally:
    """Told how much is done, and of how much."""

    def __init__(self, stream: TextIO, *, of: str) -> None:
        """of: what is counted, in the plural."""
        self._stream = stream
        self._of = of
        self._is_terminal = stream.isatty()
        self._began_at = time.monotonic()
        self._drawn_at = 0.0
        self._tenths = 0

    def __call__(self, done: int, total: int) -> None:
        """Shows how far it is."""
        if self._is_terminal:
            self._draw(done, total)
        elif 10 * done // total > self._tenths:
            self._tenths = 10 * done // total
            self._print(self._line(done, total))

    def close(self) -> None:
        """Leaves the bar behind."""
        if self._is_terminal:
            self._print("\r\x1b[K", end="")

    def _draw(self, done: int, total: int) -> None:
        now = time.monotonic()
        if now - self._drawn_at < REDRAW_S and done < total:
            return
        self._drawn_at = now
        filled = WIDTH * done // total
        bar = "█" * filled + "░" * (WIDTH - filled)
        line = f"{bar} {self._line(done, total)}"[: shutil.get_terminal_size().columns - 1]
        self._print(f"\r\x1b[K{line}", end="")

    def _line(self, done: int, total: int) -> str:
        left = (time.monotonic() - self._began_at) / done * (total - done)
        told = f", about {seconds(left)} left" if done < total else ""
        return f"{integer(done)} of {integer(total)} {self._of}{told}"

    def _print(self, text: str, *, end: str = "\n") -> None:
        """A terminal that is gone does not end the asking."""
        with suppress(OSError, ValueError):
            print(text, end=end, file=self._stream, flush=True)
