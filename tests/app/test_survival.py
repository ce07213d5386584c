"""A reader's selection, fold, zoom and half-typed text survive two steps of a live run."""

import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

from tests.app.conftest import ROOT, App, end, serving
from tests.processes import wait_until
from vpp.runs.directory import RunDirectory
from vpp.runs.reader import RunReader

pytestmark = pytest.mark.browser
PENGUINS = ROOT / "assets" / "examples" / "penguins.csv"
READ_STEPS, WITHIN_S = 2, 180
TYPED = "half a w"
CHART = ".st-key-watch-ess .js-plotly-plot"
FIELD = '[data-testid="stForm"] input[type="text"]'

OPEN = """() => {
    const fold = document.querySelector('article.card details > summary')
    if (!fold) return null
    fold.click()
    return [fold.closest('article').dataset.key, fold.parentElement.dataset.fold]
}"""
SELECT = """() => {
    const words = [...document.querySelectorAll('article.card > div > .hyp')].at(-1)
    const range = document.createRange()
    range.selectNodeContents(words)
    document.getSelection().removeAllRanges()
    document.getSelection().addRange(range)
}"""
PLOT = f"""() => {{
    const plot = document.querySelector('{CHART} .nsewdrag')
    plot?.scrollIntoView({{ block: 'center' }})
    return plot && plot.getBoundingClientRect().toJSON()
}}"""
ZOOMED = f"[...document.querySelectorAll('{CHART}')].every((plot) => plot._fullLayout?.xaxis.range[0] > 0)"
HELD = """([key, name, plots]) => {
    const chart = [...document.querySelectorAll(plots)].find((plot) => plot.offsetHeight && plot._fullLayout)
    return chart && {
        open: document.querySelector(`article.card[data-key="${key}"] details[data-fold="${name}"]`)?.open,
        selected: document.getSelection().toString(),
        scrolled: document.querySelector('[data-testid="stMain"]').scrollTop,
        place: Math.round(document.querySelector('.vpp .deck').getBoundingClientRect().top),
        zoom: chart._fullLayout.xaxis.range,
        told: document.querySelector('.happened').textContent,
    }
}"""
ASKED = """(field) => ({
    typed: document.querySelector(field).value,
    has_focus: document.activeElement === document.querySelector(field),
    told: document.querySelector('.vpp .deck').textContent,
})"""


@dataclass(frozen=True)
class Read:
    """Two pages of one live run, as a reader left them and as they were two steps later."""

    watch: dict[str, Any]
    watch_later: dict[str, Any]
    posterior: dict[str, Any]
    posterior_later: dict[str, Any]
    steps: tuple[int, int]
    """The last whole step then and later."""
    state: str
    """Of the run, later."""


@pytest.fixture(scope="module")
def read(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Read]:
    """Both pages are read at the same time."""
    with serving(tmp_path_factory.mktemp("runs")) as app:
        worker, directory = begin(app)
        context = browser.new_context(viewport={"width": 1440, "height": 1000})
        context.set_default_timeout(40_000)
        try:
            watch = context.new_page()
            fold = hold_watch(watch, app, directory)
            posterior = context.new_page()  # not before: a page behind another is slow to answer the pointer
            half_type(posterior, app, directory)
            reader = RunReader(directory)
            held, asked, step = seen(watch, fold), posterior.evaluate(ASKED, FIELD), last_step(reader)
            for _ in range(WITHIN_S):
                watch.wait_for_timeout(1000)
                later, asked_later = seen(watch, fold), posterior.evaluate(ASKED, FIELD)
                both_follow = later["told"] != held["told"] and asked_later["told"] != asked["told"]
                if both_follow and last_step(reader) >= step + READ_STEPS:
                    break
            steps = (step, last_step(reader))
            yield Read(held, later, asked, asked_later, steps, reader.refresh().state)
        finally:
            context.close()
            end(worker)


def begin(app: App) -> tuple[subprocess.Popen[bytes], RunDirectory]:
    """A run of the demo model that is slow enough to outlast the reading."""
    path = app.runs / "20260101-0000-penguins-smc-0000"
    command = [sys.executable, "-m", "vpp", "run", str(PENGUINS), "--target", "species", "--epochs", "8"]
    command += ["--demo", "--demo-latency-ms", "450", "--no-cache", "--run-dir", str(path), "--quiet"]
    return subprocess.Popen(command, cwd=ROOT, env=app.environment), RunDirectory(path)


def hold_watch(page: Page, app: App, directory: RunDirectory) -> list[str]:
    """Zooms a chart, opens a fold of a card, selects a sentence and scrolls; the card's key and the fold's name."""
    wait_until(directory.journal.exists, "the run begins")
    page.goto(f"{app.url}/watch?run={directory.id}")
    page.locator("article.card details").first.wait_for()
    zoom(page)
    fold: list[str] = page.wait_for_function(OPEN).json_value()
    page.evaluate(SELECT)
    page.evaluate("document.querySelector('[data-testid=\"stMain\"]').scrollTop = 700")
    page.wait_for_timeout(200)
    return fold


def seen(page: Page, fold: list[str]) -> Any:
    """What a reader holds, between two drawings of the chart."""
    return page.wait_for_function(HELD, arg=[*fold, CHART]).json_value()


def zoom(page: Page) -> None:
    """Drags across the first chart until it is zoomed: a chart drawn anew in the middle of a drag has lost it."""
    for _ in range(10):
        drag(page)
        page.wait_for_timeout(500)
        if page.evaluate(ZOOMED):
            return
    raise AssertionError("ten drags did not zoom the chart")


def drag(page: Page) -> None:
    box = page.wait_for_function(PLOT).json_value()
    middle = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + 0.1 * box["width"], middle)
    page.mouse.down()
    page.mouse.move(box["x"] + 0.4 * box["width"], middle, steps=2)
    page.mouse.up()
    page.mouse.move(2, 2)


def half_type(page: Page, app: App, directory: RunDirectory) -> None:
    """Types into a field of the form that asks the posterior, and neither presses Enter nor leaves it.

    A form is put up anew, empty, in the first moments of a page: typed until the words stay.
    """
    page.goto(f"{app.url}/posterior?run={directory.id}")
    page.wait_for_selector(".vpp .deck article")
    for _ in range(10):
        page.locator(FIELD).first.click()
        page.keyboard.press("ControlOrMeta+a")
        page.keyboard.type(TYPED)
        page.wait_for_timeout(1000)
        if page.evaluate(ASKED, FIELD)["typed"] == TYPED:
            return


def last_step(reader: RunReader) -> int:
    step = reader.refresh().view.last_step
    return -2 if step is None else step


def test_the_run_went_on_and_both_pages_with_it(read: Read) -> None:
    assert read.state == "running"
    assert read.steps[1] >= read.steps[0] + READ_STEPS
    assert read.watch["told"] != read.watch_later["told"]
    assert read.posterior["told"] != read.posterior_later["told"]


def test_an_open_card_stays_open(read: Read) -> None:
    assert read.watch["open"] is True
    assert read.watch_later["open"] is True


def test_a_selected_sentence_stays_selected(read: Read) -> None:
    assert len(read.watch["selected"]) > 10
    assert read.watch_later["selected"] == read.watch["selected"]


def test_the_page_stays_where_it_was_scrolled_to(read: Read) -> None:
    """By where the deck is seen: where something above it grows, the browser scrolls so that it stays there."""
    assert read.watch["scrolled"] >= 700
    assert read.watch_later["scrolled"] >= 700
    assert read.watch_later["place"] == read.watch["place"]


def test_a_chart_stays_zoomed(read: Read) -> None:
    assert read.watch["zoom"][0] > 0
    assert read.watch_later["zoom"] == pytest.approx(read.watch["zoom"])


def test_a_half_typed_field_keeps_its_words_and_its_focus(read: Read) -> None:
    assert (read.posterior["typed"], read.posterior["has_focus"]) == (TYPED, True)
    assert (read.posterior_later["typed"], read.posterior_later["has_focus"]) == (TYPED, True)
