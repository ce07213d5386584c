"""Watch of a live run: charts that follow, and what a reader holds over refreshes. A finished run is written again."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from pages.parts.opening import SHIPPED
from tests import inspected
from tests.app.conftest import App
from tests.live import Lines, by_step, write
from vpp.runs.directory import RunDirectory
from vpp.runs.store import unpack

pytestmark = pytest.mark.browser


@dataclass
class Retold:
    """A finished run whose journal is written again, a step at a time, as if a worker held it."""

    run: RunDirectory
    steps: list[Lines]

    def write_step(self) -> None:
        step = self.steps.pop(0)
        write(self.run, step)
        self.run.beat(step[-1]["usage"], queued=False)


@contextmanager
def retold(app: App, made: RunDirectory, run_id: str, *, shown: int = 1) -> Iterator[Retold]:
    """Write the first steps of a finished run, and let the test write the others. shown: number of these steps."""
    run = RunDirectory(made.path.rename(app.runs / run_id))
    steps = by_step([json.loads(line) for line in run.journal.read_bytes().splitlines()])
    run.journal.write_bytes(b"")
    with run.lock():
        live = Retold(run, steps)
        for _ in range(shown):
            live.write_step()
        yield live


def labels(app: App) -> RunDirectory:
    """Return a finished run of two steps."""
    return inspected.labels(app.runs / "made").directory


def unfold_charts(page: Page) -> None:
    """Open the fold of the charts, which are drawn once a reader asks for them."""
    page.locator(".st-key-watch_charts summary").first.click()
    page.locator(".st-key-watch_charts .js-plotly-plot").first.wait_for()


# A reader's selection, fold, zoom and half-typed text, over two steps of a live run

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
        place: Math.round(chart.getBoundingClientRect().top),
        zoom: chart._fullLayout.xaxis.range,
    }
}"""
ASKED = """(field) => ({
    typed: document.querySelector(field).value,
    has_focus: document.activeElement === document.querySelector(field),
    told: document.querySelector('.vpp .deck').textContent,
})"""


def test_what_a_reader_holds_survives_two_steps_of_a_live_run(app: App, context: BrowserContext) -> None:
    example = unpack(SHIPPED, app.runs / "made")
    with retold(app, example, "20260105-0002-held-smc-0000", shown=3) as live:
        watch = context.new_page()
        fold = hold_watch(watch, app, live.run)
        posterior = context.new_page()  # not before: a page behind another is slow to answer the pointer
        half_type(posterior, app, live.run)
        held, asked = seen(watch, fold), posterior.evaluate(ASKED, FIELD)
        for _ in range(2):
            before = watch.locator(".happened").text_content() or ""
            live.write_step()
            expect(watch.locator(".happened")).not_to_have_text(before)
        expect(posterior.locator(".vpp .deck").first).not_to_have_text(asked["told"])
        later, asked_later = seen(watch, fold), posterior.evaluate(ASKED, FIELD)
        posterior.close()
        watch.close()
    assert (held["open"], later["open"]) == (True, True), "an open fold stays open"
    assert len(held["selected"]) > 10
    assert later["selected"] == held["selected"]
    assert min(held["scrolled"], later["scrolled"]) >= 700
    assert later["place"] == pytest.approx(held["place"], abs=1), "sentences above may take more lines or fewer"
    assert held["zoom"][0] > 0
    assert later["zoom"] == pytest.approx(held["zoom"])
    for each in (asked, asked_later):
        assert (each["typed"], each["has_focus"]) == (TYPED, True)


def hold_watch(page: Page, app: App, directory: RunDirectory) -> list[str]:
    """Zoom a chart, open a fold of a card, select a sentence and scroll; return the card's key and the fold's name."""
    page.goto(f"{app.url}/watch?run={directory.id}")
    page.locator("article.card details").first.wait_for()
    unfold_charts(page)
    zoom(page)
    fold: list[str] = page.wait_for_function(OPEN).json_value()
    page.evaluate(SELECT)
    page.evaluate("document.querySelector('[data-testid=\"stMain\"]').scrollTop = 1400")
    page.wait_for_function("document.querySelector('[data-testid=\"stMain\"]').scrollTop >= 700")
    return fold


def seen(page: Page, fold: list[str]) -> Any:
    """Return what a reader holds, between two drawings of the chart."""
    return page.wait_for_function(HELD, arg=[*fold, CHART]).json_value()


def zoom(page: Page) -> None:
    """Drag across the first chart until it is zoomed: a chart drawn anew in the middle of a drag has lost it."""
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
    """Type into a field of the form that asks the posterior, and neither press Enter nor leave it.

    A form is drawn again, empty, in the first moments of a page: type until the words stay.
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
