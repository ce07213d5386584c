"""Progress on standard error: one line redrawn on a terminal, plain lines in a file or pipe; bars of several runs and
of answers."""

import shutil
import sys
import time
from collections.abc import Callable, Sequence
from typing import TypeVar

from vpp.cli import say
from vpp.cli.system import environment, keys
from vpp.findings.progress import flight_words, pace, phase
from vpp.findings.status import faults_named, retry_words, steps_done, steps_text
from vpp.runs.asking import Background, Questions
from vpp.runs.directory import Heartbeat, RunDirectory, Snapshot, read_summary
from vpp.runs.group import SEED, start_open, wait_for
from vpp.runs.spec import RunSpec
from vpp.runs.view import RunView

T = TypeVar("T")
POLL_S = 0.1
STOPPING_S = 5.0
"""Longest wait for the calls in flight to end after an interrupt."""


def is_terminal() -> bool:
    """Return whether standard error is a terminal; it may be closed."""
    return sys.stderr is not None and sys.stderr.isatty()


class Progress:
    """Progress of a run, called with each heartbeat: a line that a terminal redraws, else a line for each news."""

    def __init__(self, spec: RunSpec) -> None:
        self._spec = spec
        self._is_terminal = is_terminal()
        self._max_running = environment().max_running
        self._news: object = None
        """What the last line was printed for."""

    def __call__(self, view: RunView, beat: Heartbeat) -> None:
        if beat.waits or beat.loading_s is not None:  # also of a run that goes on after a pause
            news: object = "waits" if beat.waits else "loads"
        elif view.phase == "paused":
            news = (view.detail, view.retry_at)
        elif beat.queued:
            news = None
        elif view.last_step is None:
            news = "faults" if beat.usage.faults else None
        else:
            news = view.last_step if steps_done(view) else None
        if self._is_terminal and view.phase != "paused":
            self.clear()
            say(self._words(view, beat)[: shutil.get_terminal_size().columns - 1], end="")
        elif news is not None and news != self._news:
            self.clear()
            say(self._words(view, beat))
        self._news = self._news if news is None else news

    def clear(self) -> None:
        if self._is_terminal:
            say("\r\x1b[K", end="")

    def _words(self, view: RunView, beat: Heartbeat) -> str:
        if beat.waits:
            return f"queued: {self._max_running} running, the most allowed (VPP_MAX_RUNNING)"
        now, is_loading = time.time(), beat.loading_s is not None
        if view.phase == "paused" and not is_loading:
            why = "" if view.paused_for == "user" else f": {view.detail}. {retry_words(view, now=now)}"
            return f"paused{why.rstrip()}"
        state = "queued" if beat.queued or is_loading else view.phase
        at = Snapshot(spec=self._spec, state=state, view=view, usage=beat.usage, beat=beat)
        if state == "queued":
            return phase(at)
        faults = faults_named(beat.usage) if view.last_step is None else ""
        parts = (
            phase(at),
            "" if view.last_step is None or view.finish_reason == "settled" else steps_text(view),
            f"{beat.usage.calls:,} calls",
            pace(at, now=now),
            flight_words(at, now=now),
            f"failed or odd: {faults}" if faults else "",
        )
        return ", ".join(filter(None, parts))


def follow(runs: Sequence[RunDirectory], *, has_bar: bool, tell: Callable[[str], None]) -> None:
    """Start the workers of runs that are not finished, and wait for their ends. An interrupt stops the runs.

    tell: called with a line for each run that ends, if there is no bar of steps.
    """
    from tqdm import tqdm

    start_open(runs, keys=keys())
    open_runs = list(runs)
    with tqdm(desc=runs[0].spec().name.partition(SEED)[0], unit="step", disable=not has_bar) as bar:

        def look(going: list[RunDirectory]) -> None:
            summaries = list(map(read_summary, runs))
            bar.total = sum(each.total_steps for each in summaries)
            bar.update(sum(map(steps_done, summaries)) - bar.n)
            for run in [run for run in open_runs if run not in going]:
                open_runs.remove(run)
                if not has_bar:
                    tell(f"{run.spec().name}: {read_summary(run).phase}")

        try:
            wait_for(runs, look)
        except KeyboardInterrupt:
            for run in runs:
                run.send_command("stop")
            raise


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
