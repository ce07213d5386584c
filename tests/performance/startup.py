"""How long things take to begin: a command's help, a worker's first call, the app's first page."""

import compileall
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from tests.performance.browsing import ENDED, TITLE, chromium
from tests.performance.figures import Figure, measure
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


def figures(folder: Path, short: bool) -> list[Figure]:
    """All of them, of sources that Python has compiled, as after any earlier start."""
    times = 1 if short else 3
    for room in ("vpp", "pages"):
        compileall.compile_dir(ROOT / room, quiet=1)
    pages = [first_page_s(folder / f"page-{again}") for again in range(times)]
    up, paint, title = (tuple(column) for column in zip(*pages, strict=True))
    asked, up_and_asked = "request to a running server", tuple(map(sum, zip(up, title, strict=True)))
    first_call = "worker: start to first call, table of 150 rows"
    under: dict[str, Any] = {"unit": "s", "sense": "under", "ideal": 0.0}
    return [
        measure("`python -m vpp --help`", lambda: [help_s() for _ in range(times + 2)], target=0.3, **under),
        measure(
            first_call, lambda: [first_call_s(folder / f"worker-{n}", n) for n in range(times)], target=1.5, **under
        ),
        Figure(name=f"app: {asked} to first title", values=title, target=2.0, **under),
        Figure(name=f"app: {asked} to first contentful paint", values=paint, unit="s"),
        Figure(name="app: `streamlit run` to a server that answers", values=up, unit="s"),
        Figure(name="app: `streamlit run` to first title", values=up_and_asked, unit="s"),
    ]
