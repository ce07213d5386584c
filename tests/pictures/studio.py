"""Taking pictures: a page brought to rest, as high as its content, looked over, and photographed."""

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, Error, FloatRect, Page, TimeoutError, sync_playwright

from tests.app.conftest import CHROMIUM, FLAGS
from tests.pictures.flaws import Witness, flaws, rest
from tests.pictures.prints import Print
from tests.pictures.scenes import MAIN, OPENED, Scene
from vpp.wording.theme import Mode

HEIGHT, HIGHEST = 1000, 9000
"""CSS pixels: of a window, and of the tallest picture."""
MARGIN, AIR = 24, 12
"""CSS pixels: of the main column's padding left out, and kept above a part."""
COLOURS = 256
"""Of a picture that goes into docs/: an interface has few."""
TALL = """(main) => Math.max(...[...document.querySelectorAll(main)].map((box) => box.scrollHeight))"""


@dataclass
class Studio:
    """A browser before a running app, and what was wrong with the pictures so far."""

    browser: Browser
    url: str
    runs: Mapping[str, str] = field(default_factory=dict)
    """Ids by the names that addresses use."""
    wait_ms: float = 30_000
    """How long a page may take to open."""
    rest_ms: float = 30_000
    """How long an open one may take to show what the scene needs, and to come to rest."""
    faults: list[str] = field(default_factory=list)
    """`watch 390 dark: a skeleton`, a line each."""

    def take(self, scene: Scene, mode: Mode, width: int, keep: Callable[[Page], None]) -> None:
        """One picture, kept only where nothing is wrong with it."""
        witness = Witness()
        with self._window(mode, width, witness) as page:
            try:
                self._pose(page, scene, width)
                found = flaws(page, is_live=scene.is_live, is_alert=scene.is_alert)
                if not found + witness.complaints:
                    keep(page)
            except (Error, AssertionError) as error:
                found = [f"not there: {_first_line(str(error))}"]
        for fault in found + witness.complaints:
            self.faults.append(f"{scene.name} {width} {mode}: {fault}")
            print(self.faults[-1], file=sys.stderr)

    @contextmanager
    def _window(self, mode: Mode, width: int, witness: Witness) -> Iterator[Page]:
        context = self.browser.new_context(
            viewport={"width": width, "height": HEIGHT}, color_scheme=mode, reduced_motion="reduce"
        )
        context.set_default_timeout(self.wait_ms)
        page = context.new_page()
        witness.watch(page)
        yield page
        context.close()

    def _pose(self, page: Page, scene: Scene, width: int) -> None:
        """Loads it, does there what the scene asks for, and waits until it rests."""
        page.goto(f"{self.url}/{scene.address.format(**self.runs)}")
        page.locator(OPENED).first.wait_for()
        scene.act(page)
        page.evaluate("document.activeElement?.blur()")
        page.mouse.move(0, 0)
        for selector in scene.needs:
            page.locator(selector).first.wait_for(timeout=self.rest_ms)
        self._rest(page, scene)
        fit(page, width)
        self._rest(page, scene)

    def _rest(self, page: Page, scene: Scene) -> None:
        """Waits until it rests, as a live page never does; why it does not is told by its flaws."""
        if not scene.is_live:
            with suppress(TimeoutError):
                rest(page, within_ms=self.rest_ms)


def _first_line(message: str) -> str:
    """And, of a time-out, which selector it waited for."""
    awaited = [line.strip(" -") for line in message.splitlines() if "waiting for" in line]
    return " ".join([message.splitlines()[0], *(f"({line})" for line in awaited[:1])])


def fit(page: Page, width: int) -> None:
    """Makes the window as high as the page, so that one picture holds it; twice, since charts follow the window."""
    for _ in range(2):
        page.wait_for_timeout(500)
        tall = min(max(int(page.evaluate(TALL, MAIN)), HEIGHT), HIGHEST)
        page.set_viewport_size({"width": width, "height": tall})
    page.wait_for_timeout(500)


def whole(path: Path) -> Callable[[Page], None]:
    """Keeps the page from top to bottom."""
    return lambda page: _save(page.screenshot(), path, colours=0)


def part(wanted: Print, folder: Path) -> Callable[[Page], None]:
    """Keeps what a page of docs/ shows."""

    def keep(page: Page) -> None:
        _save(page.screenshot(clip=_clip(page, wanted)), folder / f"{wanted.name}.png", colours=COLOURS)

    return keep


def _clip(page: Page, wanted: Print) -> FloatRect:
    """From one selector's top to another's, in the main column; where no first one is named, of the window."""
    window = page.viewport_size or {"width": 0, "height": 0}
    x, top, width = 0.0, 0.0, float(window["width"])
    if wanted.first:
        column = _box(page, f"{MAIN} [data-testid='stMainBlockContainer']")
        x, top, width = column["x"] + MARGIN, _box(page, wanted.first)["y"] - AIR, column["width"] - 2 * MARGIN
    end = _box(page, wanted.until)["y"] - AIR if wanted.until else float(window["height"])
    return {"x": x, "y": max(0.0, top), "width": width, "height": min(end - max(0.0, top), wanted.at_most)}


def _box(page: Page, selector: str) -> FloatRect:
    """Of the first match. Raises Error where it is not on the page."""
    found = page.locator(selector).first.bounding_box()
    if found is None:
        raise Error(f"no box: waiting for {selector}")
    return found


def _save(png: bytes, path: Path, *, colours: int) -> None:
    """As PNG; of few colours where it shall be small."""
    path.parent.mkdir(parents=True, exist_ok=True)
    image = Image.open(BytesIO(png)).convert("RGB")
    if colours:
        image = image.quantize(colours, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
    image.save(path, optimize=True)


@contextmanager
def chromium() -> Iterator[Browser]:
    """The browser. Raises FileNotFoundError where there is none."""
    if CHROMIUM is None:
        raise FileNotFoundError("there is no Chromium: apt-get install chromium")
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield launched
        launched.close()
