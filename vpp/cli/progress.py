"""Progress on standard error: one line redrawn on a terminal, plain lines in a file or pipe; a bar of answers."""

import shutil
import time
from contextlib import suppress
from typing import TextIO, TypeVar

from vpp.cli.system import environment, keys
from vpp.findings.progress import flight_words, pace, phase
from vpp.findings.status import faults_named, retry_words, steps_done, steps_text
from vpp.runs.asking import Background, Questions
from vpp.runs.directory import Heartbeat, Snapshot
from vpp.runs.spec import RunSpec
from vpp.runs.view import RunView

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

    def __init__(self, stream: TextIO | None, spec: RunSpec) -> None:
        self._line, self._spec = StatusLine(stream), spec
        self._news: object = None
        """What the last line was printed for."""

    def __call__(self, view: RunView, beat: Heartbeat) -> None:
        if view.phase == "paused":
            news: object = (view.detail, view.retry_at)
        elif beat.queued:
            news = "waits" if beat.waits else None if beat.loading_s is None else "loads"
        elif view.last_step is None:
            news = "faults" if beat.usage.faults else None
        else:
            news = view.last_step if steps_done(view) else None
        if self._line.is_terminal and view.phase != "paused":
            self._line.draw(self._words(view, beat))
        elif news is not None and news != self._news:
            self._line.print(self._words(view, beat))
        self._news = self._news if news is None else news

    def close(self) -> None:
        self._line.clear()

    def _words(self, view: RunView, beat: Heartbeat) -> str:
        state = "queued" if beat.queued else view.phase
        at, now = Snapshot(spec=self._spec, state=state, view=view, usage=beat.usage, beat=beat), time.time()
        if beat.queued:
            return phase(at)
        faults = faults_named(beat.usage) if view.last_step is None else ""
        parts = (
            phase(at),
            "" if view.last_step is None else steps_text(view),
            f"{beat.usage.calls:,} calls",
            pace(at, now=now),
            f"{view.detail}. {retry_words(view, now=now)}".strip() if view.phase == "paused" else "",
            flight_words(at, now=now),
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
