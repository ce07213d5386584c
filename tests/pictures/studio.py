"""Taking pictures: a page brought to rest, as high as its content, looked over, and photographed."""

import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, Error, FloatRect, Page, TimeoutError

from tests.pictures.flaws import flaws, rest, watched
from tests.pictures.prints import Print

HEIGHT, HIGHEST = 1000, 9000
"""CSS pixels of a window, and of the highest page."""
MARGIN, AIR = 24, 12
"""CSS pixels of the main column's padding left out, and added above a part."""
COLOURS = 256
MAIN = '[data-testid="stMain"]'
OPENED = ".vpp h1, .vpp .state"
TALL = "(main) => Math.max(...[...document.querySelectorAll(main)].map((box) => box.scrollHeight))"


@dataclass
class Studio:
    """A browser before a running app, and what was wrong with the pictures so far."""

    browser: Browser
    url: str
    folder: Path
    runs: Mapping[str, str] = field(default_factory=dict)
    """Ids by the names that addresses use."""
    faults: list[str] = field(default_factory=list)
    """A line each, as in `phone 390 dark: a skeleton`."""

    def take(self, wanted: Print) -> None:
        """Take one picture; store it only if nothing is wrong with it."""
        context = self.browser.new_context(
            viewport={"width": wanted.width, "height": HEIGHT}, color_scheme=wanted.mode, reduced_motion="reduce"
        )
        context.set_default_timeout(30_000)
        page = context.new_page()
        complaints = watched(page)
        try:
            self._pose(page, wanted)
            found = flaws(page, is_live=wanted.stage == "live", is_alert=wanted.is_alert)
            if not found + complaints:
                _save(page.screenshot(clip=_clip(page, wanted)), self.folder / f"{wanted.name}.png")
        except (Error, AssertionError) as error:
            found = [f"not there: {_first_line(str(error))}"]
        context.close()
        for fault in found + complaints:
            self.faults.append(f"{wanted.name} {wanted.width} {wanted.mode}: {fault}")
            print(self.faults[-1], file=sys.stderr)

    def _pose(self, page: Page, wanted: Print) -> None:
        """Load the page, act on it, and wait until it rests."""
        page.goto(f"{self.url}/{wanted.address.format(**self.runs)}")
        page.locator(OPENED).first.wait_for()
        wanted.act(page)
        page.evaluate("document.activeElement?.blur()")
        page.mouse.move(0, 0)
        for selector in wanted.needs:
            page.locator(selector).first.wait_for()
        for _ in range(2):  # charts follow the window, which is made as high as the page
            if wanted.stage != "live":  # a live page never rests
                with suppress(TimeoutError):  # its flaws say why it does not
                    rest(page)
            fit(page, wanted.width)


def _first_line(message: str) -> str:
    """Return the first line of an error, and the selector that a time-out waited for."""
    awaited = [line.strip(" -") for line in message.splitlines() if "waiting for" in line]
    return " ".join([message.splitlines()[0], *(f"({line})" for line in awaited[:1])])


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
