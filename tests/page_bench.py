"""How fast pages open on a large run, and what the server holds: a part of `make bench`.

Each page is opened by a server that has not read the run and a browser that holds the app's scripts: both have shown
the first page, for ten seconds, in which the server imports what later pages need, and Watch of a small run. A cold
server and a cold browser take longer. A page counts as open when its script has ended and its charts are drawn.
"""

import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from playwright.sync_api import Browser, Page, sync_playwright

from tests import inspected
from tests.app.conftest import CHROMIUM, FLAGS, App, serving
from tests.large import large_run

PAGES = ("watch", "posterior", "disagreement", "compare", "report")
SERVERS = 3
"""Fresh servers a page."""
LARGE = "20260104-0000-large-smc-0000"
LIMIT_S, LIMIT_MB = 3.0, 500
READ_S = 10
"""How long the first page is read."""
ENDED = '[data-testid="stApp"][data-test-script-state="notRunning"]'

DRAWN = """() => document.querySelectorAll('[data-testid="stPlotlyChart"]').length
    === document.querySelectorAll('[data-testid="stPlotlyChart"] .js-plotly-plot').length"""


@dataclass(frozen=True)
class Opened:
    """One page, opened once, or the middle of several times."""

    page: str
    first_s: float
    """By a server that had not read the run."""
    again_s: float
    """By the same server, the page loaded anew."""
    peak_mb: int
    """Most memory the server has held."""
    errors: int
    """Failures that the page shows."""
    slowest_s: float
    """The longest that a first opening took."""


def measure() -> list[Opened]:
    """Every page."""
    with tempfile.TemporaryDirectory() as folder:
        run = large_run(Path(folder) / "made").directory
        with chromium() as browser:
            return [middle(name, run.path, Path(folder), browser) for name in PAGES]


def middle(name: str, run: Path, folder: Path, browser: Browser) -> Opened:
    """The median of each figure over fresh servers; the most memory, and every failure."""
    found = [opened(name, run, folder / f"runs-{name}-{again}", browser) for again in range(SERVERS)]
    return Opened(
        name,
        first_s=median(each.first_s for each in found),
        again_s=median(each.again_s for each in found),
        peak_mb=max(each.peak_mb for each in found),
        errors=sum(each.errors for each in found),
        slowest_s=max(each.first_s for each in found),
    )


@contextmanager
def chromium() -> Iterator[Browser]:
    """Debian's."""
    with sync_playwright() as playwright:
        yield playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)


def opened(name: str, run: Path, runs: Path, browser: Browser) -> Opened:
    """A fresh server with a copy of the run, and a fresh browser context."""
    runs.mkdir()
    shutil.copytree(run, runs / LARGE)
    small = inspected.labels(runs).directory.id
    with serving(runs) as app:
        page = browser.new_page(viewport={"width": 1440, "height": 1000})
        page.set_default_timeout(60_000)
        page.goto(app.url)
        page.wait_for_selector(ENDED)
        page.wait_for_timeout(READ_S * 1000)
        seconds_until_open(page, f"{app.url}/watch?run={small}")
        times = [seconds_until_open(page, f"{app.url}/{name}?run={LARGE}") for _ in range(2)]
        errors = page.locator('[data-testid="stException"], .vpp .state.err').count()
        page.close()
        return Opened(name, *times, peak_mb=peak_mb(app), errors=errors, slowest_s=times[0])


def seconds_until_open(page: Page, url: str) -> float:
    """From the address to the end of the page's script."""
    began = time.monotonic()
    page.goto(url)
    page.wait_for_selector('[data-testid="stMain"] .vpp .title')
    page.wait_for_selector(ENDED)
    page.wait_for_function(DRAWN)
    return time.monotonic() - began


def peak_mb(app: App) -> int:
    """VmHWM of the server, in MB."""
    status = Path(f"/proc/{app.pid}/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) // 1024


def told(found: list[Opened]) -> list[str]:
    """Markdown, each figure beside its limit."""
    lines = [
        "K = 50, 200 steps, 500 test rows:",
        "",
        f"| page | first opened, median s (limit {LIMIT_S:g}) | slowest of {SERVERS} | again, median s "
        f"| server's peak, MB (limit {LIMIT_MB}) | holds |",
        "|---|---|---|---|---|---|",
    ]
    for o in found:
        holds = max(o.first_s, o.again_s) < LIMIT_S and o.peak_mb < LIMIT_MB and not o.errors
        verdict = "yes" if holds else f"NO, {o.errors} failures shown" if o.errors else "NO"
        lines.append(f"| {o.page} | {o.first_s:.2f} | {o.slowest_s:.2f} | {o.again_s:.2f} | {o.peak_mb} | {verdict} |")
    return lines


if __name__ == "__main__":
    print("\n".join(told(measure())))
