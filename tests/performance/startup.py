"""How long things take to begin: a command's help, a worker's first call, the app's first page."""

import compileall
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from tests.performance.browsing import ENDED, TITLE, chromium
from tests.performance.figures import Figure, unmeasured
from tests.performance.stub import served
from tests.performance.workers import ROOT, WorkerFailed, bench

FIRST_CALL_WITHIN_S = 30.0
CONTENTFUL = "performance.getEntriesByName('first-contentful-paint').map(each => each.startTime / 1000)[0] ?? -1"


def help_s() -> float:
    """Seconds of `python -m vpp --help`."""
    began = time.monotonic()
    subprocess.run([sys.executable, "-m", "vpp", "--help"], cwd=ROOT, capture_output=True, check=True, timeout=60)
    return time.monotonic() - began


def first_call_s(folder: Path, again: int) -> float:
    """Seconds from a worker's start to its first request, by the stub's clock. Raises WorkerFailed."""
    with bench(folder) as desk, served() as stub:
        words = desk.words("smc", steps=15, base_url=stub.base_url)
        stub.reset()
        began = time.monotonic()
        worker = desk.start(f"first-{again}", words)
        while not (counts := stub.counts())["rounds"]:
            if time.monotonic() - began > FIRST_CALL_WITHIN_S:
                raise WorkerFailed(f"no call within {FIRST_CALL_WITHIN_S:.0f} s")
            time.sleep(0.05)
        worker.kill()
        return float(counts["began"] + counts["rounds"][0]["first_s"] - began)


def first_page_s(folder: Path) -> tuple[float, float, float]:
    """Seconds from the server's start to its health, and from asking it to the first paint and to the first title."""
    from tests.app.conftest import serving

    folder.mkdir(parents=True)
    with chromium() as browser:
        began = time.monotonic()
        with serving(folder) as app:
            up_s = time.monotonic() - began
            page = browser.new_page(viewport={"width": 1440, "height": 1000})
            page.set_default_timeout(60_000)
            began = time.monotonic()
            page.goto(app.url, wait_until="commit")
            page.wait_for_selector(TITLE)
            title_s = time.monotonic() - began
            page.wait_for_selector(ENDED)
            return up_s, float(page.evaluate(CONTENTFUL)), title_s


def measured(name: str, once: Callable[[int], float], *, times: int, target: float) -> Figure:
    """Seconds, so many times."""
    try:
        return Figure(name=name, values=tuple(map(once, range(times))), unit="s", target=target, sense="under")
    except (WorkerFailed, subprocess.SubprocessError) as failure:
        return unmeasured(name, str(failure), target=target, sense="under")


def figures(folder: Path, *, times: int) -> list[Figure]:
    """All of them, of sources that Python has compiled, as after any earlier start."""
    for room in ("vpp", "pages"):
        compileall.compile_dir(ROOT / room, quiet=1)
    found = [first_page_s(folder / f"page-{again}") for again in range(times)]
    up, paint, title = (tuple(column) for column in zip(*found, strict=True))
    asked, up_and_asked = "request to a running server", tuple(map(sum, zip(up, title, strict=True)))
    return [
        measured("`python -m vpp --help`", lambda _: help_s(), times=times + 2, target=0.3),
        measured(
            "worker: start to first call, table of 150 rows",
            lambda again: first_call_s(folder / f"worker-{again}", again),
            times=times,
            target=1.5,
        ),
        Figure(
            name=f"app: {asked} to first title",
            values=title,
            unit="s",
            target=2.0,
            sense="under",
        ),
        Figure(name=f"app: {asked} to first contentful paint", values=paint, unit="s"),
        Figure(name="app: `streamlit run` to a server that answers", values=up, unit="s"),
        Figure(name="app: `streamlit run` to first title", values=up_and_asked, unit="s"),
    ]
