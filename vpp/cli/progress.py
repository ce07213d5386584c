"""A run's progress on standard error: a bar on a terminal, plain lines elsewhere."""

import shutil
import time
from contextlib import suppress
from typing import TextIO

from vpp.events import RunPaused, RunResumed, StepFinished
from vpp.runs.estimate import seconds_left
from vpp.runs.journal import Record
from vpp.runs.spec import RunSpec
from vpp.runs.view import RunView
from vpp.usage import Usage
from vpp.wording.faults import faults_named, files_words, held_words
from vpp.wording.model_file import loading_words
from vpp.wording.retries import retry_words
from vpp.wording.steps import steps_done, steps_text
from vpp.wording.words import seconds

WIDTH = 28
LOADING_SAID_S = 10.0


class Progress:
    """Told of every event."""

    def __init__(self, stream: TextIO | None, spec: RunSpec) -> None:
        """stream: None where standard error is closed."""
        self._stream = stream
        self._spec = spec
        self._is_terminal = stream is not None and stream.isatty()
        self._said_paused = self._said_files = self._said_faults = False
        self._told_at = time.monotonic()
        self._loading_said_s: float | None = None

    def __call__(self, view: RunView, record: Record) -> None:
        """Shows where the run is."""
        event = record.event
        self._told_at = time.monotonic()
        if not self._said_files and (few := files_words(record.usage)):
            self._say(few)
            self._said_files = True
        if self._is_terminal:
            self._draw(view, view.usage)
        elif isinstance(event, StepFinished) and event.step >= 0:
            self._print(self._line(view, view.usage))
        if isinstance(event, RunPaused):
            self._say("paused" if event.reason == "user" else f"paused: {event.detail}{_retry(view)}")
        elif isinstance(event, RunResumed) and self._said_paused:
            self._say("going on")
        self._said_paused = isinstance(event, RunPaused)

    def beat(self, view: RunView, usage: Usage) -> None:
        """Shows what was asked since the last event; elsewhere once that the first hypotheses are held back."""
        if view.phase != "running":
            return
        if self._is_terminal:
            self._draw(view, usage)
        elif _is_held_back(view, usage) and not self._said_faults:
            self._said_faults = True
            self._print(self._line(view, usage))

    def queued(self, going: int) -> None:
        """Says that the run waits for its turn. going: runs that have theirs."""
        runs = "1 run is" if going == 1 else f"{going} runs are"
        self._say(f"queued: {runs} going, as many as may at a time (VPP_MAX_RUNNING)")

    def loading(self, seconds_so_far: float) -> None:
        """Says that the model is loading; where lines stay, every 10 s."""
        if self._is_terminal:
            self._print(f"\r\x1b[K{loading_words(seconds_so_far)}", end="")
        elif self._loading_said_s is None or seconds_so_far - self._loading_said_s >= LOADING_SAID_S:
            self._loading_said_s = seconds_so_far
            self._print(loading_words(seconds_so_far))

    def close(self) -> None:
        """Leaves the bar behind."""
        if self._is_terminal:
            self._print("\r\x1b[K", end="")

    def _print(self, text: str, *, end: str = "\n") -> None:
        """A terminal that is gone does not end the run."""
        with suppress(OSError, ValueError):
            if self._stream is not None:
                print(text, end=end, file=self._stream, flush=True)

    def _draw(self, view: RunView, usage: Usage) -> None:
        filled = round(WIDTH * steps_done(view) / max(1, view.total_steps))
        bar = "" if _is_held_back(view, usage) else "█" * filled + "░" * (WIDTH - filled) + " "
        line = f"{bar}{self._line(view, usage)}"[: shutil.get_terminal_size().columns - 1]
        self._print(f"\r\x1b[K{line}", end="")

    def _line(self, view: RunView, usage: Usage) -> str:
        left = seconds_left(self._spec, view, usage)
        wall_s = view.wall_s + time.monotonic() - self._told_at
        parts = [self._where(view), f"{usage.calls:,} calls", seconds(wall_s)]
        if view.ess_by_step:
            parts.insert(1, f"ESS {view.ess_by_step[-1]:.1f} of {view.size}")
        if left is not None:
            parts.append(f"about {seconds(left)} left")
        if held := held_words(usage, now=time.time()):
            parts.append(held)
        if _is_held_back(view, usage):
            parts.append(f"failed or odd: {faults_named(usage)}")
        return ", ".join(parts)

    def _where(self, view: RunView) -> str:
        if view.last_step is None:
            return f"first hypotheses, {len(view.drawn)} so far"
        if view.last_step == view.total_steps - 1:
            return "final weights and test rows" if "train" not in view.evaluated else "done"
        return steps_text(view)

    def _say(self, text: str) -> None:
        self.close()
        self._print(text)


def _is_held_back(view: RunView, usage: Usage) -> bool:
    """Whether faults are all there is to tell of the first hypotheses."""
    return view.last_step is None and bool(usage.faults)


def _retry(view: RunView) -> str:
    words = retry_words(view, now=time.time())
    return f". {words}" if words else ""
