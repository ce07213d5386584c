"""Progress on standard error: one line redrawn on a terminal, plain lines in a file or pipe."""

import shutil
import time
from contextlib import suppress
from typing import TextIO

from vpp.events import RunPaused, RunResumed, StepFinished, Usage
from vpp.findings.progress import activity_words
from vpp.findings.status import (
    faults_named,
    files_words,
    loading_words,
    retry_words,
    steps_done,
    steps_text,
    wait_words,
)
from vpp.runs.budget import seconds_left
from vpp.runs.journal import Record
from vpp.runs.spec import RunSpec
from vpp.runs.view import RunView
from vpp.show.words import integer, seconds

WIDTH = 12
REDRAW_S = 0.1
LOADING_SAID_S = 10.0


class StatusLine:
    """A line that is redrawn in place on a terminal. Errors of the stream are ignored: the work goes on without it."""

    def __init__(self, stream: TextIO | None) -> None:
        """stream: None if standard error is closed."""
        self._stream = stream
        self.is_terminal = stream is not None and stream.isatty()

    def draw(self, text: str) -> None:
        """Replace the drawn line; text that is wider than the terminal is cut."""
        self._write(f"\r\x1b[K{text[: shutil.get_terminal_size().columns - 1]}", end="")

    def clear(self) -> None:
        if self.is_terminal:
            self._write("\r\x1b[K", end="")

    def print(self, text: str) -> None:
        self.clear()
        self._write(text)

    def _write(self, text: str, *, end: str = "\n") -> None:
        with suppress(OSError, ValueError):
            if self._stream is not None:
                print(text, end=end, file=self._stream, flush=True)


def bar(done: float) -> str:
    filled = round(WIDTH * done)
    return "█" * filled + "░" * (WIDTH - filled)


class Progress:
    """Progress of a run; called with each event."""

    def __init__(self, stream: TextIO | None, spec: RunSpec) -> None:
        self._line, self._spec = StatusLine(stream), spec
        self._said_paused = self._said_files = self._said_faults = False
        self._event_at = time.monotonic()
        self._loading_said_s: float | None = None

    def __call__(self, view: RunView, record: Record) -> None:
        event = record.event
        self._event_at = time.monotonic()
        if not self._said_files and (few := files_words(record.usage)):
            self._line.print(few)
            self._said_files = True
        if self._line.is_terminal:
            self._draw(view, view.usage)
        elif isinstance(event, StepFinished) and event.step >= 0:
            self._line.print(self._text(view, view.usage))
        if isinstance(event, RunPaused):
            retry = retry_words(view, now=time.time())
            said = f": {event.detail}{f'. {retry}' if retry else ''}"
            self._line.print("paused" if event.reason == "user" else f"paused{said}")
        elif isinstance(event, RunResumed) and self._said_paused:
            self._line.print("going on")
        self._said_paused = isinstance(event, RunPaused)

    def beat(self, view: RunView, usage: Usage) -> None:
        """Show the calls since the last event; in a file or pipe, print once that faults delay the first hypotheses."""
        if view.phase != "running":
            return
        if self._line.is_terminal:
            self._draw(view, usage)
        elif _only_faults(view, usage) and not self._said_faults:
            self._said_faults = True
            self._line.print(self._text(view, usage))

    def queued(self, going: int) -> None:
        self._line.print(f"queued: {going} running, the most allowed (VPP_MAX_RUNNING)")

    def loading(self, seconds_so_far: float) -> None:
        """Show that the model is loading; in a file or pipe, one line every 10 s."""
        if self._line.is_terminal:
            self._line.draw(loading_words(seconds_so_far))
        elif self._loading_said_s is None or seconds_so_far - self._loading_said_s >= LOADING_SAID_S:
            self._loading_said_s = seconds_so_far
            self._line.print(loading_words(seconds_so_far))

    def close(self) -> None:
        self._line.clear()

    def _draw(self, view: RunView, usage: Usage) -> None:
        done = "" if _only_faults(view, usage) else f"{bar(steps_done(view) / max(1, view.total_steps))} "
        self._line.draw(f"{done}{self._text(view, usage)}")

    def _text(self, view: RunView, usage: Usage) -> str:
        left = seconds_left(self._spec, view, usage)
        wall_s = view.wall_s + time.monotonic() - self._event_at
        faults = f"failed or odd: {faults_named(usage)}" if _only_faults(view, usage) else ""
        remaining = "" if left is None else f"about {seconds(left)} left"
        words = wait_words(usage, now=time.time())
        steps = "" if view.last_step is None else steps_text(view)
        activity = activity_words(view, self._spec.config) if self._line.is_terminal or not steps else ""
        parts = (steps, activity, f"{usage.calls:,} calls", seconds(wall_s))
        return ", ".join(filter(None, (*parts, remaining, words, faults)))


def _only_faults(view: RunView, usage: Usage) -> bool:
    return view.last_step is None and bool(usage.faults)


class Tally:
    """Answers so far of a known total: a bar on a terminal, a line at each tenth elsewhere."""

    def __init__(self, stream: TextIO | None) -> None:
        self._line, self._began_at = StatusLine(stream), time.monotonic()
        self._drawn_at, self._tenths = 0.0, 0

    def __call__(self, done: int, total: int) -> None:
        """Show progress; redraws at most each 0.1 s."""
        now = time.monotonic()
        if self._line.is_terminal:
            if now - self._drawn_at >= REDRAW_S or done >= total:
                self._drawn_at = now
                self._line.draw(f"{bar(done / total)} {self._text(done, total)}")
        elif 10 * done // total > self._tenths:
            self._tenths = 10 * done // total
            self._line.print(self._text(done, total))

    def close(self) -> None:
        self._line.clear()

    def _text(self, done: int, total: int) -> str:
        left = (time.monotonic() - self._began_at) / done * (total - done)
        remaining = f", about {seconds(left)} left" if done < total else ""
        return f"{integer(done)} of {integer(total)} answers{remaining}"
