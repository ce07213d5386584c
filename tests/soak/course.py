"""The hour: live runs one after the other, watchers and readers that come and go, and what the server holds."""

import asyncio
import random
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from scipy.stats import linregress

from tests.app.conftest import App, end, serving
from tests.markdown import table
from tests.watchers.campaign import start_run
from tests.watchers.line import Line
from tests.watchers.server import taken
from vpp.runs.directory import RunDirectory

PAGES = ("watch", "posterior", "disagreement", "compare", "report")
WATCHERS, READERS = 4, 1
"""At a time: on the run that goes on, and on pages of any run."""
WATCHED_S, READ_S = (20, 60), (4, 12)
"""How long one stays, at least and at most."""
LEAVE_S = 30.0
"""In which a visitor is to be gone after that: else it is a fault."""
EPOCHS = 2
JUDGED_S = 1200.0
"""A course that is shorter is not judged by its trend: caches fill for some minutes."""
ALLOWED = {"memory, MB": 24.0, "handles": 12.0, "threads": 6.0}
"""A rise an hour that is let pass; a slope counts from two of its standard errors below."""


SLOPE = "slope of the second half, an hour (± 2 errors)"
BLOCKS = 15
"""Neighbouring samples are alike, so the noise is estimated from the means of this many spans of equal length."""


@dataclass(frozen=True)
class Trend:
    """A straight line through measurements."""

    slope: float
    """An hour."""
    error: float
    """Standard error of the slope."""

    @property
    def least(self) -> float:
        """Lower end of the slope: two standard errors below the line."""
        return self.slope - 2 * self.error


def trend(seconds: Sequence[float], values: Sequence[float]) -> Trend:
    """Fit by least squares over the means of blocks; three measurements at least."""
    x, y = ([block.mean() for block in np.array_split(each, min(BLOCKS, len(values)))] for each in (seconds, values))
    line = linregress(np.array(x) / 3600, y)
    return Trend(float(line.slope), float(line.stderr))


@dataclass(frozen=True)
class Sample:
    """The server at one moment."""

    at: float
    """Seconds since the course began."""
    values: tuple[float, float, float]
    """In the order of ALLOWED."""
    cpu_s: float


@dataclass
class Course:
    """What came of it."""

    seconds: float
    samples: list[Sample] = field(default_factory=list)
    visits: int = 0
    refreshes: int = 0
    runs: list[RunDirectory] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)

    @property
    def trends(self) -> dict[str, Trend]:
        """Over the second half."""
        late = [sample for sample in self.samples if sample.at >= self.seconds / 2]
        times = [sample.at for sample in late]
        return {name: trend(times, [sample.values[i] for sample in late]) for i, name in enumerate(ALLOWED)}

    @property
    def wrong(self) -> list[str]:
        """What does not hold; empty is well."""
        if self.seconds < JUDGED_S:
            return self.faults
        rises = [
            f"{name}: rises by {found.slope:.1f} ± {2 * found.error:.1f} an hour, {ALLOWED[name]:g} are allowed"
            for name, found in self.trends.items()
            if found.least > ALLOWED[name]
        ]
        return [*self.faults, *rises]


def course(seconds: float, folder: Path, *, tell: Callable[[str], None] = print) -> Course:
    """Serves the app, uses it for so long, and tells of each minute."""
    found = Course(seconds)
    with serving(folder) as app, running(found, app):
        visitors = threading.Thread(target=lambda: asyncio.run(come_and_go(found, app, time.time() + seconds)))
        visitors.start()
        observe(found, app, tell)
        visitors.join()
    found.faults += [line for line in (folder / "app.log").read_text().splitlines() if "Error" in line]
    return found


@contextmanager
def running(found: Course, app: App) -> Iterator[None]:
    """Runs of the demo model, one after the other, in a thread; the first has begun."""
    over, worker = threading.Event(), list[subprocess.Popen[bytes]]()

    def work() -> None:
        while not over.is_set():
            number = len(found.runs)
            run = RunDirectory(app.runs / f"20260101-{number // 60:02}{number % 60:02}-penguins-smc-{number:04}")
            worker[:] = [start_run(app, run, seed=number, epochs=EPOCHS)]
            found.runs.append(run)
            if worker[0].wait() and not over.is_set():
                found.faults.append(f"the worker of {run.id} ended with {worker[0].returncode}")
                return

    thread = threading.Thread(target=work)
    thread.start()
    until = time.monotonic() + 60
    while not (found.runs and found.runs[0].journal.exists()) and time.monotonic() < until:
        time.sleep(0.2)
    try:
        yield
    finally:
        over.set()
        end(worker[0])
        thread.join()


async def come_and_go(found: Course, app: App, until: float) -> None:
    """So many watchers and readers at a time: who leaves is followed by another."""
    numbers = random.Random(0)

    async def follow(stays: tuple[float, float], *, reads: bool) -> None:
        while (left := until - time.time()) > 0:
            started = [run for run in found.runs if run.journal.exists()]
            run, page = (numbers.choice(started), numbers.choice(PAGES)) if reads else (started[-1], "watch")
            line = Line(run=run.id, address=app.url, page=page)
            try:
                stay = min(left, numbers.uniform(*stays))
                async with asyncio.timeout(stay + LEAVE_S):
                    await line.watch(time.time() + stay)
            except Exception as error:
                line.faults.append(repr(error))
            found.visits, found.refreshes = found.visits + 1, found.refreshes + line.refreshes
            found.faults += [f"{page}: {fault}" for fault in line.faults]

    await asyncio.gather(
        *(follow(WATCHED_S, reads=False) for _ in range(WATCHERS)),
        *(follow(READ_S, reads=True) for _ in range(READERS)),
    )


def observe(found: Course, app: App, tell: Callable[[str], None]) -> None:
    """A sample each ten seconds, a line each minute."""
    began, told = time.time(), 0
    every = min(10.0, found.seconds / 12)
    while (at := time.time() - began) < found.seconds:
        found.samples.append(sample(app.pid, at))
        if at // 60 >= told:
            tell(line(found))
            told = int(at // 60) + 1
        time.sleep(max(0.0, min(every, found.seconds - at)))


def sample(pid: int, at: float) -> Sample:
    """Memory, open handles and threads of a process, out of /proc."""
    now = taken(pid)
    return Sample(at, (now.rss_mb, float(now.handles), float(now.threads)), now.cpu_s)


def line(found: Course) -> str:
    """The course so far."""
    last = found.samples[-1]
    values = ", ".join(
        f"{name.partition(',')[0]} {value:.0f}" for name, value in zip(ALLOWED, last.values, strict=True)
    )
    faults = f", {len(found.faults)} faults, the last: {found.faults[-1]}" if found.faults else ""
    return f"{last.at / 60:5.1f} min: {values}; {found.visits} visits, {len(found.runs)} runs{faults}"


def summary(found: Course) -> list[str]:
    """Markdown."""
    first, last = found.samples[0], found.samples[-1]
    share = (last.cpu_s - first.cpu_s) / (last.at - first.at)
    about = (
        f"{found.seconds / 60:.0f} minutes: {len(found.runs)} runs one after the other, {WATCHERS} watchers and "
        f"{READERS} reader at a time, {found.visits} visits, {found.refreshes} refreshes; the server took "
        f"{share:.0%} of a core."
    )
    head = ("of the server", "at half time", "at the end", "most", SLOPE, "allowed", "holds")
    half = next(sample for sample in found.samples if sample.at >= found.seconds / 2)
    rows = []
    for i, (name, slope) in enumerate(found.trends.items()):
        values = (half.values[i], last.values[i], max(sample.values[i] for sample in found.samples))
        holds = "too short to tell" if found.seconds < JUDGED_S else "yes" if slope.least <= ALLOWED[name] else "NO"
        line = f"{slope.slope:+.1f} ± {2 * slope.error:.1f}"
        rows.append([name, *(f"{value:.0f}" for value in values), line, f"{ALLOWED[name]:g}", holds])
    return [about, "", *table(head, rows)]
