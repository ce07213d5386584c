"""Progress on standard error: one line redrawn on a terminal, plain lines in a file or pipe; a bar of answers."""

import shutil
import time
from contextlib import suppress
from typing import TextIO, TypeVar

from vpp.cli.system import environment, keys
from vpp.findings.progress import activity_words
from vpp.findings.status import faults_named, loading_words, retry_words, steps_done, steps_text, wait_words
from vpp.runs.asking import Background, Questions
from vpp.runs.budget import seconds_left
from vpp.runs.directory import Heartbeat
from vpp.runs.spec import RunSpec
from vpp.runs.view import RunView
from vpp.show.words import seconds

T = TypeVar("T")
POLL_S = 0.1
STOPPING_S = 5.0
"""Longest wait for the calls in flight to end after an interrupt."""


class StatusLine:
    """A line that is redrawn in place on a terminal. Errors of the stream are ignored: the work goes on without it."""

    def __init__(self, stream: TextIO | None) -> None:
        """stream: None if standard error is closed."""
        self._stream = stream
        self.is_terminal = stream is not None and stream.isatty()

    def draw(self, text: str) -> None:
        """Replace the drawn line; text that is wider than the terminal is cut."""
        self.print(text[: shutil.get_terminal_size().columns - 1], end="")

    def print(self, text: str, *, end: str = "\n") -> None:
        with suppress(OSError, ValueError):
            if self._stream is not None:
                print("\r\x1b[K" * self.is_terminal + text, end=end, file=self._stream, flush=True)

    def clear(self) -> None:
        if self.is_terminal:
            self.print("", end="")


class Progress:
    """Progress of a run, called with each heartbeat: on a terminal a line that changes, else a line for each news."""

    def __init__(self, stream: TextIO | None, spec: RunSpec, *, max_running: int) -> None:
        self._line, self._spec, self._max_running = StatusLine(stream), spec, max_running
        self._news: object = None
        """What the last line was printed for."""

    def __call__(self, view: RunView, beat: Heartbeat) -> None:
        news, words = self._say(view, beat)
        if self._line.is_terminal and view.phase != "paused":
            self._line.draw(words)
        elif news is not None and news != self._news:
            self._line.print(words)
        self._news = self._news if news is None else news

    def close(self) -> None:
        self._line.clear()

    def _say(self, view: RunView, beat: Heartbeat) -> tuple[object, str]:
        """Return what is new, None if nothing worth a line of its own, and the line."""
        if beat.waits:
            return "queued", f"queued: {self._max_running} running, the most allowed (VPP_MAX_RUNNING)"
        if beat.loading_s is not None:
            return "loading", loading_words(beat.loading_s if self._line.is_terminal else 0)
        if view.phase == "paused":
            why = "" if view.paused_for == "user" else f": {view.detail}. {retry_words(view, now=time.time())}"
            return (view.detail, view.retry_at), f"paused{why.strip()}"
        if beat.queued:
            return None, ""
        has_only_faults = view.last_step is None and bool(beat.usage.faults)
        news = view.last_step if steps_done(view) else "faults" if has_only_faults else None
        return news, self._text(view, beat, faults_named(beat.usage) if has_only_faults else "")

    def _text(self, view: RunView, beat: Heartbeat, faults: str) -> str:
        left = seconds_left(self._spec, view, beat.usage)
        steps = "" if view.last_step is None else steps_text(view)
        parts = (
            steps,
            activity_words(view, self._spec.config) if self._line.is_terminal or not steps else "",
            f"{beat.usage.calls:,} calls",
            seconds(view.wall_s + max(0.0, beat.at - (view.last_at or beat.at))),
            "" if left is None else f"about {seconds(left)} left",
            wait_words(beat.usage, now=time.time()),
            f"failed or odd: {faults}" if faults else "",
        )
        return ", ".join(filter(None, parts))


def ask(asking: Questions[T], *, has_bar: bool | None = None) -> T:
    """Ask models to the end. has_bar: of answers; None for a bar on a terminal. An interrupt keeps the answers."""
    from tqdm import tqdm  # a run does not need it

    job = Background(asking, keys=keys(), cache_dir=environment().cache_dir)
    disable = None if has_bar is None else not has_bar
    with tqdm(desc="answers", unit="answer", total=asking.total, disable=disable, leave=False) as bar:
        try:
            while not job.wait(POLL_S):
                bar.update(asking.done - bar.n)
        except KeyboardInterrupt:
            job.stop(wait_s=STOPPING_S)
            raise
    result: T = job.result()
    return result
