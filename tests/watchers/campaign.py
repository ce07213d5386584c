"""Watchers at live runs of the demo model, for a while, and what came of it."""

import asyncio
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from playwright.sync_api import sync_playwright

from tests.app.conftest import CHROMIUM, FLAGS, ROOT, App, end, serving
from tests.markdown import table
from tests.watchers.line import Line
from tests.watchers.seen import Seen, written_at
from tests.watchers.server import Taken, taken
from tests.watchers.window import Window
from vpp.runs.directory import RunDirectory

PENGUINS = ROOT / "assets" / "examples" / "penguins.csv"
LATENCY_MS = 1000
"""Milliseconds of an answer, as of a large model: three workers and their models leave the watched server a core."""
APART_S = 1.0
"""Seconds between the arrivals of watchers."""
LIMIT_S = 3.0
"""Seconds within which each watcher sees the newest step."""
ALLOWED_MB = 20
"""MB by which the server may grow besides TIMES the growth of the runs' files: Python's allocator keeps what it had."""
TIMES = 6
"""Bytes in memory for a byte of a journal: a record is objects, its copies are shared."""


@dataclass(frozen=True)
class Plan:
    """What is watched, by how many, how long."""

    runs: int = 3
    lines: int = 18
    """Watchers that speak the protocol."""
    windows: int = 2
    """Watchers that are browsers."""
    seconds: float = 180
    warm_up_s: float = 30


@dataclass(frozen=True)
class Came:
    """Results of one kind of watcher."""

    kind: str
    watchers: int
    refreshes: int
    lags: tuple[float, ...]
    faults: tuple[str, ...]
    mb: float
    """Received by all of them."""

    @property
    def worst_s(self) -> float:
        return max(self.lags, default=0.0)

    @property
    def median_s(self) -> float:
        return median(self.lags) if self.lags else 0.0


@dataclass(frozen=True)
class Campaign:
    """Results of a campaign."""

    plan: Plan
    came: tuple[Came, ...]
    warm: Taken
    ended: Taken
    between_s: float
    grown_mb: float
    """Of the runs' journals and answers, between the two."""
    steps: int
    """Written while watched."""
    server_faults: tuple[str, ...]

    @property
    def allowed_mb(self) -> float:
        return ALLOWED_MB + TIMES * self.grown_mb

    @property
    def growth_mb(self) -> float:
        return self.ended.rss_mb - self.warm.rss_mb

    @property
    def cpu_share(self) -> float:
        return (self.ended.cpu_s - self.warm.cpu_s) / self.between_s

    @property
    def wrong(self) -> list[str]:
        """Faults, late steps and forbidden growth; empty if all holds."""
        faults = [fault for came in self.came for fault in came.faults] + list(self.server_faults)
        late = [f"{came.kind}: {came.worst_s:.1f} s late" for came in self.came if came.worst_s > LIMIT_S]
        blind = [f"{came.kind}: nothing was seen" for came in self.came if not came.lags]
        more = f"the server grew by {self.growth_mb:.0f} MB, {self.allowed_mb:.0f} are allowed"
        return [*faults, *late, *blind, *([more] if self.growth_mb > self.allowed_mb else [])]


def campaign(plan: Plan, folder: Path) -> Campaign:
    """Start the runs, watch them, and end them."""
    os.environ["VPP_MAX_RUNNING"] = str(plan.runs)
    with serving(folder) as app, living(plan, app) as runs:
        return watched(plan, app, runs)


@contextmanager
def living(plan: Plan, app: App) -> Iterator[list[RunDirectory]]:
    """Runs that outlast the watching, each with its first step written."""
    with ExitStack() as stack:
        runs = [RunDirectory(app.runs / f"2026010{n}-0000-penguins-smc-000{n}") for n in range(1, 1 + plan.runs)]
        for seed, run in enumerate(runs):
            stack.callback(end, start_run(app, run, seed=seed, epochs=20 + int(plan.seconds / 5)))
        for run in runs:
            until = time.monotonic() + 120
            while not (run.journal.exists() and written_at(run.journal)):
                assert time.monotonic() < until, "no run began"
                time.sleep(0.2)
        yield runs


def start_run(app: App, run: RunDirectory, *, seed: int, epochs: int) -> "subprocess.Popen[bytes]":
    """Start a run of the demo model on the penguins, at the pace of a large model."""
    words = ["run", str(PENGUINS), "--target", "species", "--seed", str(seed), "--epochs", str(epochs), "--demo"]
    words += ["--demo-latency-ms", str(LATENCY_MS), "--no-cache", "--quiet", "--run-dir", str(run.path)]
    return subprocess.Popen([sys.executable, "-m", "vpp", *words], cwd=ROOT, env=app.environment)


def watched(plan: Plan, app: App, runs: Sequence[RunDirectory]) -> Campaign:
    """Browsers in this thread, and once they are there sockets in one of their own."""
    lines = [Line(run=runs[n % len(runs)].id, address=app.url) for n in range(plan.lines)]
    windows = [Window(run=runs[n % len(runs)].id) for n in range(plan.windows)]
    marks: list[tuple[float, Taken, int]] = []
    with ExitStack() as stack:
        wait: Callable[[float], object] = time.sleep
        if windows:
            playwright = stack.enter_context(sync_playwright())
            browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
            stack.callback(browser.close)
            for window in windows:
                window.open(browser, app.url)
            wait = windows[0].wait
        began = time.time()
        until = began + plan.seconds
        thread = threading.Thread(target=lambda: asyncio.run(watch_all(lines, until)))
        thread.start()
        for moment in (began + plan.warm_up_s, until - 1):
            wait(max(0.0, moment - time.time()))
            marks.append((time.time(), taken(app.pid), _size(runs)))
        for window in windows:
            window.close()
    thread.join()
    written = {
        run.id: {step: at for step, at in written_at(run.journal).items() if at < until - LIMIT_S} for run in runs
    }
    (at, warm, size), (end_at, ended, end_size) = marks
    return Campaign(
        plan=plan,
        came=tuple(
            _came(kind, seen, written, until) for kind, seen in (("socket", lines), ("browser", windows)) if seen
        ),
        warm=warm,
        ended=ended,
        between_s=end_at - at,
        grown_mb=(end_size - size) / 2**20,
        steps=sum(began < at for steps in written.values() for at in steps.values()),
        server_faults=tuple(line for line in (app.runs / "app.log").read_text().splitlines() if "Error" in line),
    )


async def watch_all(lines: Sequence[Line], until: float, *, enough: int = 0) -> None:
    """They come one after the other, as people do, and stay until a Unix time, or so many refreshes."""

    async def one(place: int, line: Line) -> None:
        await asyncio.sleep(APART_S * place)
        try:
            await line.watch(until, enough=enough)
        except Exception as error:
            line.faults.append(repr(error))

    await asyncio.gather(*(one(place, line) for place, line in enumerate(lines)))


def _size(runs: Sequence[RunDirectory]) -> int:
    return sum(file.stat().st_size for run in runs for file in (run.journal, run.answers) if file.exists())


def _came(kind: str, seen: Sequence[Seen], written: dict[str, dict[int, float]], until: float) -> Came:
    return Came(
        kind=kind,
        watchers=len(seen),
        refreshes=sum(one.refreshes for one in seen),
        lags=tuple(lag for one in seen for lag in one.lags(written[one.run], until=until)),
        faults=tuple(fault for one in seen for fault in one.faults),
        mb=sum(one.received_bytes for one in seen) / 2**20,
    )


def summary(campaign: Campaign) -> list[str]:
    """Markdown."""
    plan = campaign.plan
    head = (
        "watchers",
        "kind",
        "refreshes",
        "MB received",
        "step seen after, median s",
        "at most, s (limit 3)",
        "errors",
    )
    rows = [
        (c.watchers, c.kind, c.refreshes or "–", f"{c.mb:.1f}", f"{c.median_s:.2f}", f"{c.worst_s:.2f}", len(c.faults))
        for c in campaign.came
    ]
    warm, ended, allowed = campaign.warm.rss_mb, campaign.ended.rss_mb, campaign.allowed_mb
    server = {
        f"server’s memory after {plan.warm_up_s:.0f} s, MB": f"{warm:.0f}",
        "at the end, MB": f"{ended:.0f}",
        "allowed growth, MB": f"{allowed:.0f}",
        "the runs’ files grew by, MB": f"{campaign.grown_mb:.1f}",
        "share of one core": f"{campaign.cpu_share:.0%}",
        "errors in its log": len(campaign.server_faults),
    }
    return [
        f"{plan.lines + plan.windows} watchers on {plan.runs} live runs for {plan.seconds:.0f} s; "
        f"{campaign.steps} steps were written meanwhile.",
        "",
        *table(head, rows),
        "",
        *table(list(server), [list(server.values())]),
        "",
        f"Allowed are {ALLOWED_MB} MB, and {TIMES} bytes for a byte that the runs’ files grew: what a run holds is "
        "kept in memory once, however many watch.",
    ]
