"""The app as a real server, and a real browser before it."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, ViewportSize, expect, sync_playwright

from tests.processes import answers_at, free_port, wait_until
from vpp.runs.directory import RunReader

ROOT = Path(__file__).parents[2]
BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
CHROMIUM = next(filter(None, map(shutil.which, BROWSERS)), None)
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"]
FLAGS += ["--disable-background-networking", "--disable-component-update"]
OWN = ("http://127.0.0.1:", "ws://127.0.0.1:", "data:", "blob:")
START_S = 120.0
WITHIN_MS = 60_000
"""Longest wait for a page to show something, on a busy machine too."""
expect.set_options(timeout=WITHIN_MS)
WINDOW: ViewportSize = {"width": 1440, "height": 1000}
STILL = """
const still = new CSSStyleSheet()
still.replaceSync('[data-testid="stStatusWidget"] *, [data-testid="stSpinner"] * { animation: none !important }')
document.adoptedStyleSheets = [still]
"""
"""Stops what Streamlit moves while a script runs: each frame is painted by a processor, as long as a test waits."""


@dataclass(frozen=True)
class App:
    url: str
    runs: Path
    environment: dict[str, str]
    pid: int


@pytest.fixture(scope="session")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    """The app that most tests share, with a runs folder of its own."""
    with serving(tmp_path_factory.mktemp("runs")) as app:
        yield app


@contextmanager
def serving(runs: Path, script: Path = ROOT / "app.py") -> Iterator[App]:
    """`streamlit run` on a free port, from the script's folder."""
    environment = {**os.environ, "VPP_RUNS_DIR": str(runs), "VPP_MAX_RUNNING": "20"}
    port = free_port()
    command = [sys.executable, "-m", "streamlit", "run", script.name, "--server.port", str(port)]
    log = (runs / "app.log").open("wb")
    process = subprocess.Popen(command, cwd=script.parent, env=environment, stdout=log, stderr=log)
    try:
        wait_until_up(f"http://127.0.0.1:{port}", process)
        yield App(f"http://127.0.0.1:{port}", runs, environment, process.pid)
    finally:
        end(process)
        log.close()


def end(process: subprocess.Popen[bytes]) -> None:
    """Ask the server to end, then kill it: it would wait until every browser has closed its connections."""
    process.terminate()
    try:
        process.wait(10)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def wait_until_up(url: str, process: subprocess.Popen[bytes]) -> None:
    health = f"{url}/_stcore/health"
    wait_until(lambda: process.poll() is not None or answers_at(health), "the app is up", within_s=START_S)
    assert process.poll() is None, "the app ended as it started"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Debian's Chromium; without one, browser tests are skipped unless VPP_BROWSER=required.

    Not for the session: while Playwright is open, its event loop runs in this thread and no other can.
    """
    if CHROMIUM is None:
        if os.environ.get("VPP_BROWSER") == "required":
            pytest.fail("VPP_BROWSER=required, and there is no Chromium: apt-get install chromium")
        pytest.skip("no Chromium: apt-get install chromium")
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield launched
        launched.close()


@contextmanager
def opening(browser: Browser, **options: Any) -> Iterator[BrowserContext]:
    """A browser context without motion; its pages share a cache."""
    context = browser.new_context(**{"viewport": WINDOW, "reduced_motion": "reduce", **options})
    context.set_default_timeout(WITHIN_MS)
    context.add_init_script(STILL)
    yield context
    context.close()


@pytest.fixture(scope="module")
def context(browser: Browser) -> Iterator[BrowserContext]:
    with opening(browser) as context:
        yield context


@pytest.fixture
def page(context: BrowserContext) -> Iterator[Page]:
    """The module's one page, blank; fail if the app asked for another host, or the console tells of an error.

    A page that goes elsewhere keeps its compiled scripts, which a new page does not.
    """
    page = context.pages[0] if context.pages else context.new_page()
    faults: list[str] = []

    def go(request: Any) -> None:
        faults.extend([] if request.url.startswith(OWN) else [request.url])

    def read(message: Any) -> None:
        faults.extend([message.text] if message.type == "error" else [])

    listeners = {"console": read, "request": go, "websocket": go}
    for event, listener in listeners.items():
        page.on(event, listener)  # type: ignore[call-overload]
    page.set_viewport_size(WINDOW)
    page.emulate_media(color_scheme="light")
    yield page
    page.goto("about:blank")
    for event, listener in listeners.items():
        page.remove_listener(event, listener)
    assert not faults


def move_run(app: App, reader: RunReader, run_id: str) -> Path:
    """Move a run that was written elsewhere into the app's runs folder, under this id."""
    return reader.directory.path.rename(app.runs / run_id)
