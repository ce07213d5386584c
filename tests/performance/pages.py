"""Watch of a long run over a short one, and a server with 500 runs over one with 20."""

import asyncio
import shutil
import time
from dataclasses import replace
from pathlib import Path

from pages.parts.opening import SHIPPED
from tests.app.conftest import App, serving
from tests.large import CONFIG, large_run
from tests.live import living
from tests.performance.ratios import Ratio, divided
from tests.performance.server import cpu_s, rest
from tests.performance.watcher import Watcher

EPOCHS = {"long": 12, "short": 2}
"""Ten steps an epoch."""
STEP_S = 4.0
"""Seconds a step takes at the pace of a large model: three of four refreshes see nothing new."""
SETTLED = 8
"""Refreshes by which a server has drawn the whole page."""
MANY, FEW = 500, 20


def ratios(folder: Path, short: bool) -> list[Ratio]:
    """Processor milliseconds of the server."""
    seconds = 4.0 if short else 12.0
    refreshes = {name: refresh_ms(folder / name, epochs=n, seconds=seconds) for name, n in EPOCHS.items()}
    lists = {n: list_ms(folder / f"runs-{n}", n=n, times=2 if short else 8) for n in (FEW, 60 if short else MANY)}
    few, many = lists
    return [
        divided(
            "Watch of a live run, 110 steps / 10 steps", refreshes["long"], refreshes["short"],
            unit="ms a refresh", most=None if short else 2.0,
        ),
        divided(
            f"a refresh with {many} runs in the list / {few}", lists[many], lists[few],
            unit="ms", most=None if short else 3.0,
        ),
    ]  # fmt: skip


def refresh_ms(folder: Path, *, epochs: int, seconds: float) -> float:
    """The server's time for a refresh of Watch while one watcher follows a live run of K = 50."""
    made = large_run(folder / "made", replace(CONFIG, epochs=epochs)).directory.path
    runs = folder / "runs"
    runs.mkdir()
    steps = 10 * epochs - 10
    with living(made, runs / "20260104-0000-large-smc-0000", shown=steps, every_s=STEP_S) as run, serving(runs) as app:
        watcher = Watcher(run=run.id, address=app.url)
        asyncio.run(watcher.watch(time.time() + 120, enough=1))
        rest(app.pid)
        return asyncio.run(_refreshing(app, watcher, seconds))


async def _refreshing(app: App, watcher: Watcher, seconds: float) -> float:
    watching = asyncio.create_task(watcher.watch(time.time() + 600))
    settled = watcher.refreshes + SETTLED
    while watcher.refreshes < settled and not watching.done():
        await asyncio.sleep(0.05)
    before, drawn = cpu_s(app.pid), watcher.refreshes
    await asyncio.sleep(seconds)
    spent, drawn = cpu_s(app.pid) - before, watcher.refreshes - drawn
    watching.cancel()
    assert not watcher.faults, watcher.faults[0]
    assert drawn >= 0.5 * seconds, f"{drawn} refreshes in {seconds:g} s"
    return 1000 * spent / drawn


def list_ms(folder: Path, *, n: int, times: int) -> float:
    """The server's time for a page of a finished run beside n runs, once it knows them."""
    folder.mkdir()
    for number in range(n):
        shutil.copytree(SHIPPED, folder / f"20260104-{number:04}-penguins-smc-0000")
    page = Watcher(run="20260104-0000-penguins-smc-0000", address="", page="report")
    with serving(folder) as app:
        page = Watcher(run=page.run, address=app.url, page=page.page)
        for _ in range(2):
            asyncio.run(page.watch(time.time() + 120, enough=page.refreshes + 1))
        rest(app.pid)
        before = cpu_s(app.pid)
        for _ in range(times):
            asyncio.run(page.watch(time.time() + 120, enough=page.refreshes + 1))
        assert not page.faults, page.faults[0]
        return 1000 * (cpu_s(app.pid) - before) / times
