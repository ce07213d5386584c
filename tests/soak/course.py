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
"""Visitors at a time: on the live run, and on pages of any run."""
WATCHED_S, READ_S = (20, 60), (4, 12)
"""Seconds a visitor stays, at least and at most."""
LEAVE_S = 30.0
"""Seconds after which a visitor who has not left is a fault."""
EPOCHS = 2
JUDGED_S = 1200.0
"""A course that is shorter is not judged by its trend: caches fill for some minutes."""
ALLOWED = {"memory, MB": 24.0, "handles": 12.0, "threads": 6.0}
"""Allowed rise an hour, from two standard errors below the slope."""


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
    """Measurements of a course, and its faults."""

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
        """Faults and forbidden rises; empty if all holds."""
        if self.seconds < JUDGED_S:
            return self.faults
        rises = [
            f"{name}: rises by {rise.slope:.1f} ± {2 * rise.error:.1f} an hour, {ALLOWED[name]:g} are allowed"
            for name, rise in self.trends.items()
            if rise.least > ALLOWED[name]
        ]
        return [*self.faults, *rises]


def soak(seconds: float, folder: Path, *, say: Callable[[str], None] = print) -> Course:
    """Serve the app and use it for so long; say a line each minute."""
    course = Course(seconds)
    with serving(folder) as app, running(course, app):
        visitors = threading.Thread(target=lambda: asyncio.run(come_and_go(course, app, time.time() + seconds)))
        visitors.start()
        observe(course, app, say)
        visitors.join()
    course.faults += [line for line in (folder / "app.log").read_text().splitlines() if "Error" in line]
    return course


@contextmanager
def running(course: Course, app: App) -> Iterator[None]:
    """Work on runs of the demo model, one after the other, in a thread; the first has begun."""
    over, worker = threading.Event(), list[subprocess.Popen[bytes]]()

    def work() -> None:
        while not over.is_set():
            number = len(course.runs)
            run = RunDirectory(app.runs / f"20260101-{number // 60:02}{number % 60:02}-penguins-smc-{number:04}")
            worker[:] = [start_run(app, run, seed=number, epochs=EPOCHS)]
            course.runs.append(run)
            if worker[0].wait() and not over.is_set():
                course.faults.append(f"the worker of {run.id} ended with {worker[0].returncode}")
                return

    thread = threading.Thread(target=work)
    thread.start()
    until = time.monotonic() + 60
    while not (course.runs and course.runs[0].journal.exists()) and time.monotonic() < until:
        time.sleep(0.2)
    try:
        yield
    finally:
        over.set()
        end(worker[0])
        thread.join()


async def come_and_go(course: Course, app: App, until: float) -> None:
    """Keep so many watchers and readers: who leaves is followed by another."""
    numbers = random.Random(0)

    async def follow(stays: tuple[float, float], *, reads: bool) -> None:
        while (left := until - time.time()) > 0:
            started = [run for run in course.runs if run.journal.exists()]
            run, page = (numbers.choice(started), numbers.choice(PAGES)) if reads else (started[-1], "watch")
            line = Line(run=run.id, address=app.url, page=page)
            try:
                stay = min(left, numbers.uniform(*stays))
                async with asyncio.timeout(stay + LEAVE_S):
                    await line.watch(time.time() + stay)
            except Exception as error:
                line.faults.append(repr(error))
            course.visits, course.refreshes = course.visits + 1, course.refreshes + line.refreshes
            course.faults += [f"{page}: {fault}" for fault in line.faults]

    await asyncio.gather(
        *(follow(WATCHED_S, reads=False) for _ in range(WATCHERS)),
        *(follow(READ_S, reads=True) for _ in range(READERS)),
    )


def observe(course: Course, app: App, say: Callable[[str], None]) -> None:
    """Take a sample each ten seconds, and say a line each minute."""
    began, minutes = time.time(), 0
    every = min(10.0, course.seconds / 12)
    while (at := time.time() - began) < course.seconds:
        course.samples.append(sample(app.pid, at))
        if at // 60 >= minutes:
            say(line(course))
            minutes = int(at // 60) + 1
        time.sleep(max(0.0, min(every, course.seconds - at)))


def sample(pid: int, at: float) -> Sample:
    """Measure memory, open handles and threads of a process."""
    now = taken(pid)
    return Sample(at, (now.rss_mb, float(now.handles), float(now.threads)), now.cpu_s)


def line(course: Course) -> str:
    """The course so far."""
    last = course.samples[-1]
    values = ", ".join(
        f"{name.partition(',')[0]} {value:.0f}" for name, value in zip(ALLOWED, last.values, strict=True)
    )
    faults = f", {len(course.faults)} faults, the last: {course.faults[-1]}" if course.faults else ""
    return f"{last.at / 60:5.1f} min: {values}; {course.visits} visits, {len(course.runs)} runs{faults}"


def summary(course: Course) -> list[str]:
    """Markdown."""
    first, last = course.samples[0], course.samples[-1]
    share = (last.cpu_s - first.cpu_s) / (last.at - first.at)
    about = (
        f"{course.seconds / 60:.0f} minutes: {len(course.runs)} runs one after the other, {WATCHERS} watchers and "
        f"{READERS} reader at a time, {course.visits} visits, {course.refreshes} refreshes; the server took "
        f"{share:.0%} of a core."
    )
    head = ("of the server", "at half time", "at the end", "most", SLOPE, "allowed", "holds")
    half = next(sample for sample in course.samples if sample.at >= course.seconds / 2)
    rows = []
    for i, (name, slope) in enumerate(course.trends.items()):
        values = (half.values[i], last.values[i], max(sample.values[i] for sample in course.samples))
        holds = "too short" if course.seconds < JUDGED_S else "yes" if slope.least <= ALLOWED[name] else "NO"
        line = f"{slope.slope:+.1f} ± {2 * slope.error:.1f}"
        rows.append([name, *(f"{value:.0f}" for value in values), line, f"{ALLOWED[name]:g}", holds])
    return [about, "", *table(head, rows)]
