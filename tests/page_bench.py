"""How fast pages open on a large run, and what the server holds: a part of `make bench`.

Each page is opened on a fresh server that has shown its first page only, in a browser that holds the app's scripts.
A page counts as open when its script has ended and its last part stands.
"""

import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

from tests.app.conftest import CHROMIUM, FLAGS, App, serving
from tests.large import large_run

PAGES = ("watch", "posterior", "disagreement", "compare", "report")
LIMIT_S, LIMIT_MB = 3.0, 500
ENDED = '[data-testid="stApp"][data-test-script-state="notRunning"]'


@dataclass(frozen=True)
class Opened:
    """One page, opened once."""

    page: str
    first_s: float
    """By a server that had not read the run."""
    again_s: float
    """By the same server, the page loaded anew."""
    peak_mb: int
    """Most memory the server has held."""
    errors: int
    """Failures that the page shows."""


def measure() -> list[Opened]:
    """Every page."""
    with tempfile.TemporaryDirectory() as folder:
        run = large_run(Path(folder) / "made").directory
        with chromium() as browser:
            return [opened(name, run.path, Path(folder) / f"runs-{name}", browser) for name in PAGES]


@contextmanager
def chromium() -> Iterator[Browser]:
    """Debian's."""
    with sync_playwright() as playwright:
        yield playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)


def opened(name: str, run: Path, runs: Path, browser: Browser) -> Opened:
    """A fresh server with a copy of the run, and a fresh browser context."""
    runs.mkdir()
    shutil.copytree(run, runs / run.name)
    with serving(runs) as app:
        page = browser.new_page(viewport={"width": 1440, "height": 1000})
        page.set_default_timeout(60_000)
        page.goto(app.url)
        page.wait_for_selector(ENDED)
        page.wait_for_timeout(1000)
        times = [seconds_until_open(page, f"{app.url}/{name}?run={run.name}") for _ in range(2)]
        errors = page.locator('[data-testid="stException"], .vpp .state.err').count()
        page.close()
        return Opened(name, *times, peak_mb=peak_mb(app), errors=errors)


def seconds_until_open(page: Page, url: str) -> float:
    """From the address to the end of the page's script."""
    began = time.monotonic()
    page.goto(url)
    page.wait_for_selector('[data-testid="stMain"] .vpp .title')
    page.wait_for_selector(ENDED)
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
        f"| page | first opened, s (limit {LIMIT_S:g}) | again, s | server's peak, MB (limit {LIMIT_MB}) | holds |",
        "|---|---|---|---|---|",
    ]
    for o in found:
        holds = max(o.first_s, o.again_s) < LIMIT_S and o.peak_mb < LIMIT_MB and not o.errors
        verdict = "yes" if holds else f"NO, {o.errors} failures shown" if o.errors else "NO"
        lines.append(f"| {o.page} | {o.first_s:.2f} | {o.again_s:.2f} | {o.peak_mb} | {verdict} |")
    return lines


if __name__ == "__main__":
    print("\n".join(told(measure())))
