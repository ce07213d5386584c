"""A browser before the app: what it waits for, and what it spends."""

from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Browser, CDPSession, sync_playwright

from tests.app.conftest import CHROMIUM, FLAGS

ENDED = '[data-testid="stApp"][data-test-script-state="notRunning"]'
TITLE = '[data-testid="stMain"] .vpp .title'


@contextmanager
def chromium() -> Iterator[Browser]:
    """Debian's."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


def busy_s(session: CDPSession) -> float:
    """Seconds that a page's main thread has worked so far; `Performance.enable` comes first."""
    metrics = {each["name"]: each["value"] for each in session.send("Performance.getMetrics")["metrics"]}
    return float(metrics["TaskDuration"])
