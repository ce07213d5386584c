"""Taking pictures: a page brought to rest, as high as its content, and photographed."""

from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, Error, FloatRect, Page

from tests.pictures.prints import Print, rest

HEIGHT, HIGHEST = 1000, 9000
"""CSS pixels of a window, and of the highest page."""
MARGIN, AIR = 24, 12
"""CSS pixels of the main column's padding left out, and added above a part."""
COLOURS = 256
MAIN = '[data-testid="stMain"]'
EXCEPTION = '[data-testid="stException"]'
OPENED = ".vpp h1, .vpp .state"
TALL = "(main) => Math.max(...[...document.querySelectorAll(main)].map((box) => box.scrollHeight))"


@dataclass
class Studio:
    """A browser before a running app."""

    browser: Browser
    url: str
    folder: Path
    run: str = ""
    """Id of the run that addresses name."""

    def take(self, wanted: Print) -> None:
        """Take one picture. Raises playwright's Error if something on it does not come, or is an exception."""
        context = self.browser.new_context(
            viewport={"width": wanted.width, "height": HEIGHT}, color_scheme=wanted.mode, reduced_motion="reduce"
        )
        context.set_default_timeout(30_000)
        page = context.new_page()
        self._pose(page, wanted)
        if page.locator(EXCEPTION).count():
            raise Error(f"{wanted.name} shows an exception")
        _save(page.screenshot(clip=_clip(page, wanted)), self.folder / f"{wanted.name}.png")
        context.close()

    def _pose(self, page: Page, wanted: Print) -> None:
        """Load the page, act on it, and wait until it rests."""
        page.goto(f"{self.url}/{wanted.address.format(run=self.run)}")
        page.locator(OPENED).first.wait_for()
        wanted.act(page)
        page.evaluate("document.activeElement?.blur()")
        page.mouse.move(0, 0)
        for selector in wanted.needs:
            page.locator(selector).first.wait_for()
        for _ in range(2):  # the window is made as high as the page
            rest(page)
            fit(page, wanted.width)


def fit(page: Page, width: int) -> None:
    """Make the window as high as the page."""
    page.wait_for_timeout(500)
    tall = min(max(int(page.evaluate(TALL, MAIN)), HEIGHT), HIGHEST)
    page.set_viewport_size({"width": width, "height": tall})
    page.wait_for_timeout(500)


def _clip(page: Page, wanted: Print) -> FloatRect:
    """Return the part of the main column between two selectors; without a first one, of the window."""
    window = page.viewport_size or {"width": 0, "height": 0}
    x, top, width = 0.0, 0.0, float(window["width"])
    if wanted.first:
        column = _box(page, f"{MAIN} [data-testid='stMainBlockContainer']")
        x, top, width = column["x"] + MARGIN, _box(page, wanted.first)["y"] - AIR, column["width"] - 2 * MARGIN
    end = _box(page, wanted.until)["y"] - AIR if wanted.until else float(window["height"])
    return {"x": x, "y": max(0.0, top), "width": width, "height": min(end - max(0.0, top), wanted.at_most)}


def _box(page: Page, selector: str) -> FloatRect:
    """Return the box of the first match. Raises Error if there is none."""
    found = page.locator(selector).first.bounding_box()
    if found is None:
        raise Error(f"no box: waiting for {selector}")
    return found


def _save(png: bytes, path: Path) -> None:
    """Write a PNG of few colours, which is small."""
    image = Image.open(BytesIO(png)).convert("RGB")
    image.quantize(COLOURS, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE).save(path, optimize=True)
