"""`python -m tests.pictures [NAME ...]`: starts the app and a run in it, and photographs pages for docs/pictures.

A page is brought to rest, as high as its content, and photographed.
"""

import json
import subprocess
import sys
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory

from PIL import Image
from playwright.sync_api import Browser, Error, FloatRect, Page, sync_playwright

from tests.app.conftest import CHROMIUM, FLAGS, ROOT, App, serving
from tests.example import DEMO
from tests.pictures.prints import PRINTS, Print, rest
from vpp.runs.store import EXAMPLE

DOCS = ROOT / "docs" / "pictures"
HEIGHT, HIGHEST = 1000, 9000
"""CSS pixels of a window, and of the highest page."""
MARGIN, AIR = 24, 12
"""CSS pixels of the main column's padding left out, and added above a part."""
MAIN = '[data-testid="stMain"]'
EXCEPTION = '[data-testid="stException"]'
OPENED = ".vpp h1, .vpp .state"
TALL = "(main) => Math.max(...[...document.querySelectorAll(main)].map((box) => box.scrollHeight))"


def main(names: list[str]) -> None:
    with TemporaryDirectory() as folder, serving(Path(folder)) as app, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        wanted = [each for each in PRINTS if each.name in (names or [each.name])]
        run = ""
        for each in sorted(wanted, key=lambda each: each.stage):  # "empty" comes before "finished"
            if each.stage == "finished" and not run:
                run = make_run(app)
            take(browser, f"{app.url}/{each.address.format(run=run)}", each)
            print(each.name, flush=True)
        browser.close()
    for old in set(DOCS.glob("*.png")) - {DOCS / f"{each.name}.png" for each in PRINTS}:
        old.unlink()


def make_run(app: App) -> str:
    """Make the example; return its id."""
    call = [sys.executable, "-m", "vpp", *DEMO[EXAMPLE], "--quiet", "--json"]
    done = subprocess.run(call, cwd=ROOT, env=app.environment, stdout=subprocess.PIPE, text=True, check=True)
    return str(json.loads(done.stdout)["run"])


def take(browser: Browser, address: str, wanted: Print) -> None:
    """Take one picture. Raises playwright's Error if something on it does not come, or is an exception."""
    window = {"width": wanted.width, "height": HEIGHT}
    context = browser.new_context(viewport=window, color_scheme=wanted.mode, reduced_motion="reduce")  # type: ignore[arg-type]
    context.set_default_timeout(30_000)
    page = context.new_page()
    page.goto(address)
    page.locator(OPENED).first.wait_for()
    wanted.act(page)
    page.evaluate("document.activeElement?.blur()")
    page.mouse.move(0, 0)
    for selector in wanted.needs:
        page.locator(selector).first.wait_for()
    for _ in range(2):  # the window is made as high as the page
        rest(page)
        fit(page, wanted.width)
    if page.locator(EXCEPTION).count():
        raise Error(f"{wanted.name} shows an exception")
    image = Image.open(BytesIO(page.screenshot(clip=clip(page, wanted)))).convert("RGB")
    few = image.quantize(256, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)  # a PNG of few colours is small
    few.save(DOCS / f"{wanted.name}.png", optimize=True)
    context.close()


def fit(page: Page, width: int) -> None:
    """Make the window as high as the page."""
    page.wait_for_timeout(500)
    tall = min(max(int(page.evaluate(TALL, MAIN)), HEIGHT), HIGHEST)
    page.set_viewport_size({"width": width, "height": tall})
    page.wait_for_timeout(500)


def clip(page: Page, wanted: Print) -> FloatRect:
    """Return the part of the main column between two selectors; without a first one, of the window."""
    window = page.viewport_size or {"width": 0, "height": 0}
    x, top, width = 0.0, 0.0, float(window["width"])
    if wanted.first:
        column = box(page, f"{MAIN} [data-testid='stMainBlockContainer']")
        x, top, width = column["x"] + MARGIN, box(page, wanted.first)["y"] - AIR, column["width"] - 2 * MARGIN
    end = box(page, wanted.until)["y"] - AIR if wanted.until else float(window["height"])
    return {"x": x, "y": max(0.0, top), "width": width, "height": min(end - max(0.0, top), wanted.at_most)}


def box(page: Page, selector: str) -> FloatRect:
    """Return the box of the first match. Raises Error if there is none."""
    found = page.locator(selector).first.bounding_box()
    if found is None:
        raise Error(f"no box: waiting for {selector}")
    return found


if __name__ == "__main__":
    main(sys.argv[1:])
