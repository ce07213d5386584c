"""Refreshes of long runs and long lists over short ones, and the load test: ten watchers on three live runs."""

import asyncio
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from pages.parts.opening import SHIPPED
from tests.app.conftest import ROOT, App, end, serving
from tests.inference.scripted import SEED_TEXT, digest
from tests.live import living
from tests.performance.ratios import Ratio, ratio
from tests.performance.watcher import Watcher
from tests.processes import demo_server, wait_until
from tests.sampled import sampled
from vpp.findings.step import shown_step
from vpp.runs.directory import JournalReader, RunDirectory
from vpp.settings import Config

EPOCHS = (12, 2)
"""Ten steps an epoch."""
STEP_S = 4.0
"""Seconds a step takes at the pace of a large model: three of four refreshes see nothing new."""
COUNTED_S = 12.0
"""Seconds of refreshes that are counted."""
SETTLED, VISITS = 8, 8
"""Refreshes by which a server has drawn the whole page, and visits that are counted."""
MANY, FEW = 500, 20
RUNS, WATCHERS = 3, 10
SECONDS, WARM_S = 60.0, 10.0
LIMIT_S = 3.0
"""Seconds within which each watcher sees the newest step."""
BYTES = 6
"""Bytes in memory for a byte of a journal: a record is objects, its copies are shared."""


def memory_mb(pid: int) -> float:
    """Megabytes that a process holds now."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(re.findall(r"^VmRSS:\s+(\d+)", status, re.MULTILINE)[0]) / 1024


def cpu_s(pid: int) -> float:
    """User and system seconds of a process since it began."""
    numbers = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(numbers[11]) + int(numbers[12])) / os.sysconf("SC_CLK_TCK")


def rest(pid: int, *, begins_s: float = 12.0, within_s: float = 90.0) -> None:
    """Wait until a server that was visited has imported what later pages need, which it begins after some seconds."""
    time.sleep(begins_s)
    deadline, before = time.monotonic() + within_s, float("-inf")
    while (now := cpu_s(pid)) - before > 0.1:
        assert time.monotonic() < deadline, f"the server does not rest within {within_s:g} s"
        before = now
        time.sleep(1.0)


def pages(folder: Path) -> list[Ratio]:
    long, short = (refresh_ms(folder / f"epochs-{n}", epochs=n) for n in EPOCHS)
    many, few = (list_ms(folder / f"runs-{n}", n=n) for n in (MANY, FEW))
    return [
        ratio("Watch of a live run, 110 steps / 10 steps", long, short, unit="ms a refresh", most=2.0),
        ratio(f"a refresh with {MANY} runs in the list / {FEW}", many, few, unit="ms", most=3.0),
    ]


def rewrite(hypothesis: str, rows: object, predictions: object, temperature: float, seed: int) -> tuple[str, str]:
    """Return a new sentence for each parent and seed, and the answer that holds it."""
    number = digest(hypothesis, seed)
    text = f"{SEED_TEXT} Output yes if x is above {number % 270 / 10}, unless x is {number % 10**6}; else no."
    return text, f"New rule: {text}"


def refresh_ms(folder: Path, *, epochs: int) -> float:
    """The server's time for a refresh of Watch while one watcher follows a live run of K = 50."""
    config = Config(particles=50, batch_size=2, epochs=epochs, mutate="filtered", reading="rows")
    made = sampled(folder / "made", config, write=rewrite).directory.path
    runs = folder / "runs"
    runs.mkdir()
    first, copy = 10 * epochs - 9, runs / "20260104-0000-large-smc-0000"  # the first hypotheses count as a step
    with living(made, copy, n_first=first, every_s=STEP_S) as run, serving(runs) as app:
        watcher = Watcher(run=run.id, address=app.url)
        asyncio.run(watcher.watch(time.time() + 120, enough=1))
        rest(app.pid)
        return asyncio.run(_refreshing(app, watcher))


async def _refreshing(app: App, watcher: Watcher) -> float:
    watching = asyncio.create_task(watcher.watch(time.time() + 600))
    settled = watcher.refreshes + SETTLED
    while watcher.refreshes < settled and not watching.done():
        await asyncio.sleep(0.05)
    before, seen = cpu_s(app.pid), watcher.refreshes
    await asyncio.sleep(COUNTED_S)
    spent, seen = cpu_s(app.pid) - before, watcher.refreshes - seen
    watching.cancel()
    assert not watcher.faults, watcher.faults[0]
    assert seen >= 0.5 * COUNTED_S, f"{seen} refreshes in {COUNTED_S:g} s"
    return 1000 * spent / seen


def list_ms(folder: Path, *, n: int) -> float:
    """The server's time for a page of a finished run beside n runs, once it knows them."""
    folder.mkdir()
    for number in range(n):
        shutil.copytree(SHIPPED, folder / f"20260104-{number:04}-penguins-smc-0000")
    with serving(folder) as app:
        watcher = Watcher(run="20260104-0000-penguins-smc-0000", address=app.url, page="report")

        def visit(times: int) -> None:
            for _ in range(times):
                asyncio.run(watcher.watch(time.time() + 120, enough=watcher.refreshes + 1))

        visit(2)
        rest(app.pid)
        before = cpu_s(app.pid)
        visit(VISITS)
        assert not watcher.faults, watcher.faults[0]
        return 1000 * (cpu_s(app.pid) - before) / VISITS


def load(folder: Path) -> list[Ratio]:
    os.environ["VPP_MAX_RUNNING"] = str(RUNS)
    with serving(folder) as app, live(app) as runs:
        return watch(app, runs)


@contextmanager
def live(app: App) -> Iterator[list[RunDirectory]]:
    """Runs that outlast the watching, each with its first step written."""
    with ExitStack() as stack:
        url, _ = stack.enter_context(demo_server(latency_ms=1000))
        runs = [RunDirectory(app.runs / f"2026010{n}-0000-penguins-smc-000{n}") for n in range(1, 1 + RUNS)]
        for seed, run in enumerate(runs):
            words = ["run", str(ROOT / "assets/examples/penguins.csv"), "--target", "species", "--seed", str(seed)]
            words += ["--epochs", "60", "--base-url", url, "--model", "demo", "--no-cache", "--quiet"]
            command = [sys.executable, "-m", "vpp", *words, "--run-dir", str(run.path)]
            stack.callback(end, subprocess.Popen(command, cwd=ROOT, env=app.environment))
        wait_until(lambda: all(run.journal.exists() and written_at(run) for run in runs), "each run has begun")
        yield runs


def watch(app: App, runs: Sequence[RunDirectory]) -> list[Ratio]:
    """Watch, and compare what the server takes after a while with what it takes at the end."""
    watchers = [Watcher(run=runs[n % RUNS].id, address=app.url) for n in range(WATCHERS)]
    until = time.time() + SECONDS

    def taken() -> tuple[float, int]:
        return memory_mb(app.pid), sum(run.journal.stat().st_size for run in runs)

    async def go() -> Any:
        watching = asyncio.gather(*(watcher.watch(until) for watcher in watchers))
        await asyncio.sleep(WARM_S)
        warm, spent, began = taken(), cpu_s(app.pid), time.monotonic()
        await watching
        return warm, taken(), (cpu_s(app.pid) - spent) / (time.monotonic() - began)

    (warm_mb, warm_size), (end_mb, end_size), cores = asyncio.run(go())
    faults = [fault for watcher in watchers for fault in watcher.faults]
    faults += [line for line in (app.runs / "app.log").read_text().splitlines() if "Error" in line]
    assert not faults, faults[0]
    lags = [lag for n, watcher in enumerate(watchers) for lag in lags_of(watcher, runs[n % RUNS], until=until)]
    allowed_mb = 20 + BYTES * (end_size - warm_size) / 2**20
    seen = f"{len(lags)} steps seen; the server took {cores:.0%} of a core"
    grown = f"{end_mb - warm_mb:.1f} / {allowed_mb:.1f} MB; {end_mb:.0f} MB at the end"
    return [
        Ratio(name=f"latest step seen by {WATCHERS} watchers, s", value=max(lags), most=LIMIT_S, parts=seen),
        Ratio(name="memory the watched server grew by / allowed", value=(end_mb - warm_mb) / allowed_mb, most=1.0,
              parts=grown),
    ]  # fmt: skip


def written_at(run: RunDirectory) -> dict[int, float]:
    """Unix time by step of the record that gives Watch the step to show."""
    reader, times = JournalReader(run.journal), dict[int, float]()
    for record in reader.new_records():
        step = shown_step(reader.view)
        if step is not None:
            times.setdefault(step, record.at)
    return times


def lags_of(watcher: Watcher, run: RunDirectory, *, until: float) -> list[float]:
    """Seconds from the journal's record of a step to its being seen, of each step written while it was watched.

    A step that was passed over counts from when a later one was seen, one never seen up to `until`.
    """
    began = min(watcher.first_at.values(), default=until)

    def seen(step: int) -> float:
        return min((at for later, at in watcher.first_at.items() if later >= step), default=until)

    return [seen(step) - at for step, at in written_at(run).items() if began < at < until - LIMIT_S]
