"""What the pages cost: how soon those of a large run open, and what a refresh of Watch takes of server and browser.

Each page is opened by a server that has not read the run and a browser that holds the app's scripts: both have shown
the first page, for some seconds, in which the server imports what later pages need, and Watch of a small run. A cold
server and a cold browser take longer. A page counts as open when its script has ended and its charts are drawn.
"""

import asyncio
import shutil
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, CDPSession, Page
from playwright.sync_api import Error as BrowserError

from tests import inspected
from tests.app.conftest import App, serving
from tests.large import CONFIG, large_run
from tests.performance.browsing import ENDED, TITLE, busy_s, chromium
from tests.performance.figures import Figure, unmeasured
from tests.performance.live import living
from tests.watchers.line import Line
from tests.watchers.server import taken

PAGES = ("watch", "posterior", "disagreement", "compare", "report")
LARGE = "20260104-0000-large-smc-0000"
LIMIT_S, LIMIT_MB = 3.0, 500
READ_S, LONG_READ_S = 5.0, 30.0
"""The first page is read for so long, in which its server begins to import the rest, and until that is done."""
RESTING = 0.1
"""Of a core, that a server takes less of once it has."""
WARMED = "server and browser have already shown the first page and a small run"
WARM_S = 60.0
"""Within which a watcher has the whole page, and its server has imported what other pages need."""
SETTLED = 12
"""Refreshes after which it has."""
GONE_S = 3.0
"""After which a server has noticed that a watcher left."""
STEP_S = 4.0
"""Of a step at the pace of a large model: three of four refreshes bring none. At one a second each brings one, which
is the costliest kind: shown apart, without a target."""
DRAWN = """() => document.querySelectorAll('[data-testid="stPlotlyChart"]').length
    === document.querySelectorAll('[data-testid="stPlotlyChart"] .js-plotly-plot').length"""


def figures(folder: Path, short: bool) -> list[Figure]:
    """What Watch of a live run costs while it is watched, then how soon pages of a finished one open."""
    times, seconds, names = (1, 6, ("watch",)) if short else (3, 8, PAGES)
    large = large_run(folder / "large").directory.path
    usual = large_run(folder / "usual", replace(CONFIG, particles=10)).directory.path
    watched = [
        *watching(large, folder / "live-50", particles=50, every_s=STEP_S, times=times, seconds=seconds),
        *watching(large, folder / "dense-50", particles=50, every_s=1.0, times=times, seconds=seconds),
        *watching(usual, folder / "live-10", particles=10, every_s=STEP_S, times=times, seconds=seconds),
    ]
    with chromium() as browser:
        return watched + [figure for name in names for figure in opening(name, large, folder, browser, times=times)]


def opening(name: str, run: Path, folder: Path, browser: Browser, *, times: int) -> list[Figure]:
    title = f"{name}: first load"
    try:
        with ExitStack() as stack:
            folders = [folder / f"runs-{name}-{again}" for again in range(times)]
            shown = [stack.enter_context(_shown(run, runs, browser)) for runs in folders]
            time.sleep(READ_S)
            for app, _, _ in shown:
                rest(app)
            loads = [opened(name, *each) for each in shown]
    except (BrowserError, AssertionError) as failure:
        return [unmeasured(title, str(failure), target=LIMIT_S, sense="under")]
    first, again, peaks = zip(*loads, strict=True)
    return [
        Figure(name=title, values=first, target=LIMIT_S, ideal=0.0, sense="under", unit="s", note=WARMED),
        Figure(name=f"{name}: reload", values=again, unit="s"),
        Figure(name=f"{name}: server memory, peak", values=peaks, target=LIMIT_MB, sense="under", unit="MB"),
    ]


@contextmanager
def _shown(run: Path, runs: Path, browser: Browser) -> Iterator[tuple[App, Page, str]]:
    """A fresh server with a copy of the run, a fresh browser's page that shows the first page, and a small run's id."""
    runs.mkdir()
    shutil.copytree(run, runs / LARGE)
    small = inspected.labels(runs).directory.id
    with serving(runs) as app:
        page = browser.new_page(viewport={"width": 1440, "height": 1000})
        page.set_default_timeout(60_000)
        page.goto(app.url)
        page.wait_for_selector(ENDED)
        yield app, page, small


def rest(app: App) -> None:
    """Until the server has imported what later pages need. Raises AssertionError where it goes on for long."""
    deadline = time.monotonic() + LONG_READ_S
    while unwatched(app, seconds=1.0, gone_s=0.0) > 1000 * RESTING:
        assert time.monotonic() < deadline, f"the server does not rest within {LONG_READ_S:g} s"


def opened(name: str, app: App, page: Page, small: str) -> tuple[float, float, float]:
    """Seconds of a page's first load and of its reload, after the small run's Watch, and the server's peak in MB.

    Raises AssertionError if the page shows a failure.
    """
    seconds_until_open(page, f"{app.url}/watch?run={small}")
    first_s, again_s = (seconds_until_open(page, f"{app.url}/{name}?run={LARGE}") for _ in range(2))
    errors = page.locator('[data-testid="stException"], .vpp .state.err').count()
    page.close()
    assert not errors, "the page shows a failure"
    return first_s, again_s, taken(app.pid).peak_mb


def seconds_until_open(page: Page, url: str) -> float:
    """From the address to the end of the page's script."""
    began = time.monotonic()
    page.goto(url)
    page.wait_for_selector(TITLE)
    page.wait_for_selector(ENDED)
    page.wait_for_function(DRAWN)
    return time.monotonic() - began


def watching(made: Path, folder: Path, *, particles: int, every_s: float, times: int, seconds: float) -> list[Figure]:
    """Measure the server by a watcher that speaks the protocol, the browser by one in a browser.

    Each comes once, and is measured for `seconds`, one time after another: `times` times where there is a target, else
    once.
    """
    what = f"K = {particles}, a step every {every_s:g} s"
    server = f"Watch: server CPU a second, {what}"
    browsed = f"Watch: browser CPU a second, {what}"
    limit, browser_limit = (None, None) if every_s < STEP_S else (25.0, 200.0) if particles == 50 else (80.0, None)
    try:
        with _watchable(made, folder, every_s=every_s) as (app, run):
            busy = watched(app, run, times=times if limit else 1, seconds=seconds)
            idle = unwatched(app, seconds=seconds)
            spent = browsed_ms(app, run, times=times if browser_limit else 1, seconds=seconds)
    except (BrowserError, AssertionError) as failure:
        return [unmeasured(server, str(failure), target=limit, sense="under")]
    under: dict[str, Any] = {"unit": "ms", "sense": "under", "ideal": 0.0}
    note = "one refresh a second; the CPU of an idle server is subtracted"
    return [
        Figure(name=server, values=tuple(each - idle for each in busy), target=limit, note=note, **under),
        Figure(name=browsed, values=spent, target=browser_limit, **under),
    ]


@contextmanager
def _watchable(made: Path, folder: Path, *, every_s: float) -> Iterator[tuple[App, str]]:
    """An app with a run that has half of its 200 steps and goes on."""
    folder.mkdir()
    with living(made, folder / LARGE, shown=100, every_s=every_s) as run, serving(folder) as app:
        yield app, run.id


def watched(app: App, run: str, *, times: int, seconds: float) -> tuple[float, ...]:
    """The server's CPU milliseconds a second while one watcher asks as a browser does, so many times."""
    return asyncio.run(_watched(app, Line(run=run, address=app.url), times, seconds))


async def _watched(app: App, line: Line, times: int, seconds: float) -> tuple[float, ...]:
    """From the refresh on by which the server has settled: the first is the whole page."""
    watching = asyncio.create_task(line.watch(time.time() + WARM_S + times * seconds + 60))
    deadline = time.monotonic() + WARM_S
    while line.refreshes < SETTLED and not watching.done() and time.monotonic() < deadline:
        await asyncio.sleep(0.05)
    spent = tuple([await _refreshed(app, line, seconds) for _ in range(times)])
    watching.cancel()
    return spent


async def _refreshed(app: App, line: Line, seconds: float) -> float:
    """The server's CPU milliseconds a second, from now on. Raises AssertionError where refreshes fail or lack."""
    before, refreshes, began = taken(app.pid).cpu_s, line.refreshes, time.monotonic()
    await asyncio.sleep(seconds)
    spent, drawn, passed = taken(app.pid).cpu_s - before, line.refreshes - refreshes, time.monotonic() - began
    assert not line.faults, line.faults[0]
    assert drawn >= 0.5 * seconds, f"{drawn} refreshes in {seconds:.0f} s"
    return 1000 * spent / passed


def unwatched(app: App, *, seconds: float, gone_s: float = GONE_S) -> float:
    """The server's CPU milliseconds a second once its watchers have gone."""
    time.sleep(gone_s)
    before, began = taken(app.pid).cpu_s, time.monotonic()
    time.sleep(seconds)
    return 1000 * (taken(app.pid).cpu_s - before) / (time.monotonic() - began)


def browsed_ms(app: App, run: str, *, times: int, seconds: float, warm_s: float = SETTLED) -> tuple[float, ...]:
    """Milliseconds a second that the page's main thread works, so many times."""
    with chromium() as browser:
        page = browser.new_page(viewport={"width": 1440, "height": 1000})
        page.set_default_timeout(60_000)
        page.goto(f"{app.url}/watch?run={run}")
        page.wait_for_selector(TITLE)
        page.wait_for_timeout(1000 * warm_s)
        session = page.context.new_cdp_session(page)
        session.send("Performance.enable")
        worked = tuple(_worked_ms(page, session, seconds) for _ in range(times))
        page.close()
        return worked


def _worked_ms(page: Page, session: CDPSession, seconds: float) -> float:
    """Milliseconds a second, from now on."""
    before, began = busy_s(session), time.monotonic()
    page.wait_for_timeout(1000 * seconds)
    spent, passed = busy_s(session) - before, time.monotonic() - began
    return 1000 * spent / passed
