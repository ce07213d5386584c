"""Pictures of the app for docs/pictures: `python -m tests.pictures [NAME ...]`, which starts the app and a run in it.

A print names its address, what is done there, and the part of the page that is shown. The page is brought to rest, made
as high as its content, and photographed.
"""

import json
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory

from PIL import Image
from playwright.sync_api import Browser, Error, FloatRect, Page, ViewportSize, expect, sync_playwright

from pages.parts.asking import ASKING
from tests.app.conftest import CHROMIUM, FLAGS, ROOT, serving
from tests.app.survey import SETTLED
from tests.example import DEMO
from tests.processes import PENGUINS
from vpp.runs.store import EXAMPLE

DOCS = ROOT / "docs" / "pictures"
WIDTH, HEIGHT, HIGHEST = 1440, 1000, 9000
"""CSS pixels of a window, and of the highest page."""
MARGIN, AIR = 24, 12
"""CSS pixels of the main column's padding left out, and added above a part."""
MAIN = '[data-testid="stMain"]'
EXCEPTION = '[data-testid="stException"]'
OPENED = ".vpp h1, .vpp .state"
TALL = "(main) => Math.max(...[...document.querySelectorAll(main)].map((box) => box.scrollHeight))"

START = "Start the run"
CARD = "article.card"
CURVE = ".stage .curve svg"
MATRIX = "table.mx"
RUN = "{run}"
"""Stands for the run's id."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Print:
    """A part of a page, from one selector's top to another's; without a first one, of the window with its sidebar."""

    name: str
    address: str
    """Runs' ids stand in braces."""
    needs: tuple[str, ...]
    """Selectors: without one of them there is no picture."""
    act: Callable[[Page], None] = lambda page: None
    """Done on the page before the picture."""
    first: str = ""
    until: str = ""
    at_most: int = 1400
    """CSS pixels of height."""


def rest(page: Page) -> None:
    """Wait until nothing is being drawn; a moment first, since work begins a little after what asks for it."""
    page.wait_for_timeout(500)
    page.wait_for_function(SETTLED, timeout=30_000)


def section(title: str) -> str:
    return f'.sec:has(h2:has-text("{title}"))'


def upload(page: Page) -> None:
    page.locator('input[type="file"]').set_input_files(str(PENGUINS))
    page.get_by_role("button", name=START).wait_for()
    rest(page)


def name_server(page: Page) -> None:
    upload(page)
    page.get_by_role("radio", name="My endpoint").or_(page.get_by_role("button", name="My endpoint")).first.click()
    for label, words in (("Address", "http://localhost:8000/v1"), ("Model", "meta-llama/Llama-3.3-70B-Instruct")):
        page.get_by_label(label, exact=True).fill(words)
        page.keyboard.press("Tab")
        rest(page)


def show_step(page: Page, step: int) -> None:
    page.get_by_role("slider", name="Step shown").fill(str(step))
    page.get_by_text(f"Step {step} of").first.wait_for()


def ask_row(page: Page) -> None:
    """Ask every particle about a row of the data."""
    page.get_by_text(ASKING).click()
    choose(page, "Begin with a row of the data", "row 75 (test)")
    expect(page.get_by_label("year", exact=True)).not_to_have_value("")
    page.get_by_role("button", name="Ask about this row").click()
    page.get_by_label("what the hypotheses say").wait_for()


def put_on_trial(page: Page) -> None:
    page.get_by_role("button", name="Test the hypotheses").click()
    page.get_by_label("the trial").wait_for()


def ask_inputs(page: Page) -> None:
    """Ask the posterior about unlabelled inputs, and wait for the list."""
    page.get_by_role("button", name=re.compile("Ask about .* rows")).click()
    page.get_by_text("the most informative first").wait_for()


def choose(page: Page, label: str, option: str) -> None:
    box = page.get_by_role("combobox", name=label)
    box.click()
    box.fill(option)
    page.get_by_role("option", name=option, exact=True).click()


TOP = ".vpp .title"
ASK, TRIAL, OUT = map(section, ("Ask about new rows", "Does the model obey the rule?", "Ruled out"))
LABELS = section("Most informative labels to collect")
WATCH, POSTERIOR, DISAGREEMENT = (f"{page}?run={RUN}" for page in ("watch", "posterior", "disagreement"))
PRINTS = (
    Print(name="front", address="", needs=("h1",), at_most=1000),
    Print(name="new-run", address="", needs=(".cost",), act=upload, first=section("Table"),
          until=section("Model")),
    Print(name="endpoint", address="", needs=(".cost",), act=name_server, first=section("Model")),
    Print(name="watch", address=WATCH, needs=(CARD, CURVE), act=lambda page: show_step(page, 4),
          until="article.card >> nth=3", at_most=1800),
    Print(name="posterior", address=POSTERIOR, needs=(".deck",), first=TOP, until=ASK, at_most=2200),
    Print(name="program", address=POSTERIOR, needs=(".deck",), first=CARD,
          act=lambda page: page.locator('details[data-fold="program"] > summary').first.click(),
          until="article.card >> nth=1 >> .slot"),
    Print(name="asked", address=POSTERIOR, needs=(".deck",), act=ask_row, first=ASK, until=TRIAL),
    Print(name="trial", address=POSTERIOR, needs=(".deck",), act=put_on_trial, first=TRIAL, until=OUT),
    Print(name="disagreement", address=DISAGREEMENT, needs=(MATRIX,), first=TOP, until=LABELS),
    Print(name="labelling", address=DISAGREEMENT, needs=(MATRIX,), act=ask_inputs,
          first=LABELS, at_most=900),
    Print(name="report", address=f"report?run={RUN}", needs=(".report",), first=TOP, at_most=1100),
)  # fmt: skip


def main(names: list[str]) -> None:
    with TemporaryDirectory() as folder, serving(Path(folder)) as app, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        wanted = [each for each in PRINTS if each.name in (names or [each.name])]
        run = ""
        for each in wanted:  # those without a run come first
            if RUN in each.address and not run:
                call = [sys.executable, "-m", "vpp", *DEMO[EXAMPLE], "--quiet", "--json"]
                done = subprocess.run(
                    call, cwd=ROOT, env=app.environment, stdout=subprocess.PIPE, text=True, check=True
                )
                run = json.loads(done.stdout)["run"]
            take(browser, f"{app.url}/{each.address.format(run=run)}", each)
            print(each.name, flush=True)
        browser.close()
    for old in set(DOCS.glob("*.png")) - {DOCS / f"{each.name}.png" for each in PRINTS}:
        old.unlink()


def take(browser: Browser, address: str, wanted: Print) -> None:
    """Take one picture. Raises playwright's Error if something on it does not come, or is an exception."""
    window: ViewportSize = {"width": WIDTH, "height": HEIGHT}
    context = browser.new_context(viewport=window, color_scheme="light", reduced_motion="reduce")
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
        tall = min(max(int(page.evaluate(TALL, MAIN)), HEIGHT), HIGHEST)
        page.set_viewport_size({"width": WIDTH, "height": tall})
    rest(page)
    if page.locator(EXCEPTION).count():
        raise Error(f"{wanted.name} shows an exception")
    image = Image.open(BytesIO(page.screenshot(clip=clip(page, wanted)))).convert("RGB")
    few = image.quantize(256, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)  # a PNG of few colours is small
    few.save(DOCS / f"{wanted.name}.png", optimize=True)
    context.close()


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
    """Return the box of the first match, which must be there."""
    found = page.locator(selector).first.bounding_box()
    assert found, f"no box: waiting for {selector}"
    return found


if __name__ == "__main__":
    main(sys.argv[1:])
