"""The load test: ten watchers on three live runs of the demo model, for a minute."""

import asyncio
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from tests.app.conftest import ROOT, App, end, serving
from tests.demo.asking import serving as demo_model
from tests.performance.ratios import Ratio
from tests.performance.server import cpu_s, memory_mb
from tests.performance.watcher import Watcher, written_at
from vpp.runs.directory import RunDirectory

RUNS, WATCHERS = 3, 10
SECONDS, SHORT_SECONDS, WARM_S = 60.0, 15.0, 10.0
LIMIT_S = 3.0
"""Seconds within which each watcher sees the newest step."""
BYTES = 6
"""Bytes in memory for a byte of a journal: a record is objects, its copies are shared."""


def ratios(folder: Path, short: bool) -> list[Ratio]:
    """Raises AssertionError if a watcher saw an error."""
    os.environ["VPP_MAX_RUNNING"] = str(RUNS)
    with serving(folder) as app, live(app) as runs:
        return watched(app, runs, seconds=SHORT_SECONDS if short else SECONDS)


def watched(app: App, runs: Sequence[RunDirectory], *, seconds: float) -> list[Ratio]:
    """Watch, and compare what the server takes after a while with what it takes at the end."""
    watchers = [Watcher(run=runs[n % RUNS].id, address=app.url) for n in range(WATCHERS)]
    until = time.time() + seconds
    (warm_mb, warm_size), (end_mb, end_size), cores = asyncio.run(_watched(app, runs, watchers, until))
    faults = [fault for watcher in watchers for fault in watcher.faults]
    faults += [line for line in (app.runs / "app.log").read_text().splitlines() if "Error" in line]
    assert not faults, faults[0]
    lags = [
        lag
        for watcher in watchers
        for lag in watcher.lags(_before(until - LIMIT_S, app.runs / watcher.run), until=until)
    ]
    allowed_mb = 20 + BYTES * (end_size - warm_size) / 2**20
    seen = f"{len(lags)} steps seen; the server took {cores:.0%} of a core"
    grown = f"{end_mb - warm_mb:.1f} / {allowed_mb:.1f} MB; {end_mb:.0f} MB at the end"
    return [
        Ratio(name=f"latest step seen by {WATCHERS} watchers, s", value=max(lags), most=LIMIT_S, parts=seen),
        Ratio(name="memory the watched server grew by / allowed", value=(end_mb - warm_mb) / allowed_mb, most=1.0,
              parts=grown),
    ]  # fmt: skip


async def _watched(
    app: App, runs: Sequence[RunDirectory], watchers: Sequence[Watcher], until: float
) -> tuple[tuple[float, int], tuple[float, int], float]:
    """Return (megabytes, journal bytes) after a while and at the end, and the share of a core between."""
    watching = asyncio.gather(*(watcher.watch(until) for watcher in watchers))
    await asyncio.sleep(WARM_S)
    warm, spent, began = (memory_mb(app.pid), _size(runs)), cpu_s(app.pid), time.monotonic()
    await watching
    cores = (cpu_s(app.pid) - spent) / (time.monotonic() - began)
    return warm, (memory_mb(app.pid), _size(runs)), cores


def _size(runs: Sequence[RunDirectory]) -> int:
    return sum(run.journal_bytes() for run in runs)


def _before(moment: float, run: Path) -> dict[int, float]:
    return {step: at for step, at in written_at(RunDirectory(run).journal).items() if at < moment}


@contextmanager
def live(app: App) -> Iterator[list[RunDirectory]]:
    """Runs that outlast the watching, each with its first step written."""
    with ExitStack() as stack:
        model = stack.enter_context(demo_model("--latency-ms", "1000"))
        runs = [RunDirectory(app.runs / f"2026010{n}-0000-penguins-smc-000{n}") for n in range(1, 1 + RUNS)]
        for seed, run in enumerate(runs):
            words = ["run", str(ROOT / "assets/examples/penguins.csv"), "--target", "species", "--seed", str(seed)]
            words += ["--epochs", "60", "--base-url", model.address, "--model", "demo", "--no-cache", "--quiet"]
            command = [sys.executable, "-m", "vpp", *words, "--run-dir", str(run.path)]
            stack.callback(end, subprocess.Popen(command, cwd=ROOT, env=app.environment))
        deadline = time.monotonic() + 120
        while not all(run.journal.exists() and written_at(run.journal) for run in runs):
            assert time.monotonic() < deadline, "no run began"
            time.sleep(0.2)
        yield runs
