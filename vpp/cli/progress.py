"""Progress on standard error: one line redrawn on a terminal, plain lines in a file or pipe; a bar of answers."""

import shutil
import time
from contextlib import suppress
from typing import TextIO, TypeVar

from vpp.cli.system import environment, keys
from vpp.events import RunPaused, RunResumed, StepFinished, Usage
from vpp.findings.progress import activity_words
from vpp.findings.status import faults_named, loading_words, retry_words, steps_text, wait_words
from vpp.runs.asking import Background, Questions
from vpp.runs.budget import seconds_left
from vpp.runs.directory import Heartbeat
from vpp.runs.journal import Record
from vpp.runs.spec import RunSpec
from vpp.runs.view import RunView
from vpp.show.words import seconds

T = TypeVar("T")
POLL_S, STOPPING_S = 0.1, 5.0


class StatusLine:
    """A line that is redrawn in place on a terminal. Errors of the stream are ignored: the work goes on without it."""

    def __init__(self, stream: TextIO | None) -> None:
        """stream: None if standard error is closed."""
        self._stream = stream
        self.is_terminal = stream is not None and stream.isatty()

    def draw(self, text: str) -> None:
        """Replace the drawn line; text that is wider than the terminal is cut."""
        self._write(f"\r\x1b[K{text[: shutil.get_terminal_size().columns - 1]}", end="")

    def print(self, text: str) -> None:
        self.clear()
        self._write(text)

    def clear(self) -> None:
        if self.is_terminal:
            self._write("\r\x1b[K", end="")

    def _write(self, text: str, *, end: str = "\n") -> None:
        with suppress(OSError, ValueError):
            if self._stream is not None:
                print(text, end=end, file=self._stream, flush=True)


class Progress:
    """Progress of a run; called with each event. Without a stream nothing is shown."""

    def __init__(self, stream: TextIO | None, spec: RunSpec, *, max_running: int) -> None:
        self._line, self._spec, self._max_running = StatusLine(stream), spec, max_running
        self._is_paused = False
        self._once: set[str] = set()
        """Lines that are printed once."""
        self._event_at = time.monotonic()

    def __call__(self, view: RunView, record: Record) -> None:
        event = record.event
        self._event_at = time.monotonic()
        if self._line.is_terminal:
            self._line.draw(self._text(view, view.usage))
        elif isinstance(event, StepFinished) and event.step >= 0:
            self._line.print(self._text(view, view.usage))
        if isinstance(event, RunPaused):
            why = [] if event.reason == "user" else [event.detail, retry_words(view, now=time.time())]
            self._line.print(f"paused{': ' if why else ''}{'. '.join(filter(None, why))}")
        elif isinstance(event, RunResumed) and self._is_paused:
            self._line.print("going on")
        self._is_paused = isinstance(event, RunPaused)

    def beat(self, view: RunView, beat: Heartbeat) -> None:
        """Show the calls since the last event; in a file or pipe, print once what delays the first hypotheses."""
        if beat.waits:
            self._print_once(f"queued: {self._max_running} running, the most allowed (VPP_MAX_RUNNING)")
        elif beat.loading_s is not None and self._line.is_terminal:
            self._line.draw(loading_words(beat.loading_s))
        elif beat.loading_s is not None:
            self._print_once(loading_words(0))
        elif view.phase == "running" and not beat.queued and self._line.is_terminal:
            self._line.draw(self._text(view, beat.usage))
        elif view.phase == "running" and not beat.queued and _has_only_faults(view, beat.usage):
            self._print_once(self._text(view, beat.usage), of="faults")

    def close(self) -> None:
        self._line.clear()

    def _print_once(self, words: str, *, of: str = "") -> None:
        """Print a line once. of: what it is about, if its words change."""
        if (of or words) not in self._once:
            self._once.add(of or words)
            self._line.print(words)

    def _text(self, view: RunView, usage: Usage) -> str:
        left = seconds_left(self._spec, view, usage)
        steps = "" if view.last_step is None else steps_text(view)
        parts = (
            steps,
            activity_words(view, self._spec.config) if self._line.is_terminal or not steps else "",
            f"{usage.calls:,} calls",
            seconds(view.wall_s + time.monotonic() - self._event_at),
            "" if left is None else f"about {seconds(left)} left",
            wait_words(usage, now=time.time()),
            f"failed or odd: {faults_named(usage)}" if _has_only_faults(view, usage) else "",
        )
        return ", ".join(filter(None, parts))


def _has_only_faults(view: RunView, usage: Usage) -> bool:
    return view.last_step is None and bool(usage.faults)


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
