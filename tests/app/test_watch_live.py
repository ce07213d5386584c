"""Watch of a live run in a browser: charts that follow, watchers that share, and what a reader holds over refreshes."""

import asyncio
import json
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Page, expect
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from tests import inspected
from tests.app.conftest import ROOT, App, Visit, end, placed, serving
from tests.beside import other
from tests.performance.live import Lines, by_step, write
from tests.processes import wait_until
from tests.watchers.campaign import Plan, living, watch_all
from tests.watchers.line import Line
from vpp.runs.directory import RunDirectory
from vpp.runs.reader import RunReader
from vpp.usage import Usage
from vpp.wording.progress import shown_step

pytestmark = pytest.mark.browser
WITHIN_S = 90

# Charts: a fragment of their own, asked for when a step is new, and only then

BURST = """async () => {
    const stop = [...document.querySelectorAll("button")].find((each) => each.textContent.includes("Stop and keep"))
    const due = (what) => document.dispatchEvent(new CustomEvent("vpp.due.watch.charts", { detail: what }))
    for (const happen of [() => due("this"), () => stop.click(), () => due("that")]) {
        happen()
        await new Promise((done) => requestIdleCallback(() => setTimeout(done)))
    }
}"""
"""A click between two requests for charts; the server is still busy with the first, so it takes the others together."""
CAPTIONS = "() => [...document.querySelectorAll('.st-key-watch_charts .cap')].map((each) => each.textContent)"


@dataclass
class Counted(Line):
    """A watcher that counts how often each fragment was run alone."""

    runs: dict[str, int] = field(default_factory=dict)
    timed: set[str] = field(default_factory=set)
    """The fragments that have a timer."""

    def _take(self, message: ForwardMsg) -> None:
        if message.WhichOneof("type") == "auto_rerun":
            self.timed.add(message.auto_rerun.fragment_id)
        if message.WhichOneof("type") == "script_finished":
            for fragment in message.metadata.run.fragment_ids:
                self.runs[fragment] = self.runs.get(fragment, 0) + 1
        super()._take(message)


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
def retold(app: App, run_id: str) -> Iterator[Retold]:
    run = RunDirectory(placed(app, inspected.labels(app.runs / "made"), run_id))
    steps = by_step([json.loads(line) for line in run.journal.read_bytes().splitlines()])
    run.journal.write_bytes(b"")
    with run.lock():
        found = Retold(run, list(steps))
        found.write_step()
        yield found


def test_charts_are_asked_for_once_a_step(app: App) -> None:
    with retold(app, "20260105-0000-once-smc-0000") as told:
        line = Counted(run=told.run.id, address=app.url)
        again = len(told.steps)
        assert again > 1

        async def watch() -> None:
            watching = asyncio.create_task(line.watch(time.time() + WITHIN_S, enough=3 * again + 4))
            for turn in range(again):
                while line.refreshes < 3 * turn + 3 and not watching.done():
                    await asyncio.sleep(0.05)
                told.write_step()
            await watching

        with ThreadPoolExecutor(1) as thread:  # Playwright's event loop may be running in this one
            thread.submit(asyncio.run, watch()).result()
    assert line.faults == []
    assert [count for fragment, count in line.runs.items() if fragment not in line.timed] == [again]
    assert sum(count for fragment, count in line.runs.items() if fragment in line.timed) > again


def test_charts_follow_the_newest_step_and_a_click_as_they_are_asked_for_counts(app: App, visit: Visit) -> None:
    page = visit.page
    page.set_default_timeout(1000 * WITHIN_S)
    with retold(app, "20260105-0001-newest-smc-0000") as told:
        page.goto(f"{app.url}/watch?run={told.run.id}")
        page.locator("article.card").first.wait_for()
        while told.steps:
            told.write_step()
            newest = shown_step(RunReader(told.run).refresh().view)
            page.wait_for_function(f"() => ({CAPTIONS})().some((words) => words.includes('at step {newest}'))")
            if len(told.steps) == 1:
                page.evaluate(BURST)
                page.get_by_text("Stopping: the test rows").wait_for()
                command = told.run.pending_command()
                assert command is not None
                assert command.command == "stop"


# A meaning that is being read


def test_a_meaning_that_is_read_stays_while_the_numbers_move(app: App, visit: Visit) -> None:
    live = RunDirectory(placed(app, other(app.runs / "made", asked=False), "20260105-0002-other"))
    page = visit.page
    page.set_default_timeout(1000 * WITHIN_S)
    with live.lock():
        live.beat(asdict(Usage(learner=3)), queued=False)
        page.goto(f"{app.url}/watch?run={live.id}")
        term = page.locator(".strip button.term", has_text="ESS")
        calls = page.locator(".strip > div", has_text="Calls").locator("dd").first
        term.focus()
        page.keyboard.press("Enter")
        meaning = page.locator("#term-ess")
        meaning.wait_for(state="visible")
        live.beat(asdict(Usage(learner=7_000)), queued=False)
        calls.filter(has_text="7,000").wait_for()
        assert "Effective sample size" in meaning.inner_text()
        assert page.evaluate("document.activeElement.textContent") == "ESS"
        page.keyboard.press("Escape")
        meaning.wait_for(state="hidden")


# A reader's selection, fold, zoom and half-typed text, over two steps of a live run

PENGUINS = ROOT / "assets" / "examples" / "penguins.csv"
READ_STEPS, READ_WITHIN_S = 2, 180
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


def test_what_a_reader_holds_survives_two_steps_of_a_live_run(app: App, context: BrowserContext) -> None:
    worker, directory = begin(app)
    watch = context.new_page()
    watch.set_default_timeout(40_000)
    try:
        fold = hold_watch(watch, app, directory)
        posterior = context.new_page()  # not before: a page behind another is slow to answer the pointer
        posterior.set_default_timeout(40_000)
        half_type(posterior, app, directory)
        reader = RunReader(directory)
        held, asked, step = seen(watch, fold), posterior.evaluate(ASKED, FIELD), last_step(reader)
        for _ in range(2 * READ_WITHIN_S):
            watch.wait_for_timeout(500)
            later, asked_later = seen(watch, fold), posterior.evaluate(ASKED, FIELD)
            both_follow = later["told"] != held["told"] and asked_later["told"] != asked["told"]
            if both_follow and last_step(reader) >= step + READ_STEPS:
                break
        assert both_follow, "both pages follow the run"
        assert last_step(reader) >= step + READ_STEPS
        assert reader.refresh().state == "running"
        assert (held["open"], later["open"]) == (True, True), "an open fold stays open"
        assert len(held["selected"]) > 10
        assert later["selected"] == held["selected"]
        assert min(held["scrolled"], later["scrolled"]) >= 700
        # Where something above the deck grows, the browser scrolls so that the deck stays there.
        assert later["place"] == held["place"]
        assert held["zoom"][0] > 0
        assert later["zoom"] == pytest.approx(held["zoom"])
        for each in (asked, asked_later):
            assert (each["typed"], each["has_focus"]) == (TYPED, True)
        posterior.close()
    finally:
        watch.close()
        end(worker)


def begin(app: App) -> tuple[subprocess.Popen[bytes], RunDirectory]:
    """Start a run of the demo model that is slow enough to outlast the reading."""
    path = app.runs / "20260101-0000-penguins-smc-0000"
    command = [sys.executable, "-m", "vpp", "run", str(PENGUINS), "--target", "species", "--epochs", "8"]
    command += ["--demo", "--demo-latency-ms", "450", "--no-cache", "--run-dir", str(path), "--quiet"]
    return subprocess.Popen(command, cwd=ROOT, env=app.environment), RunDirectory(path)


def hold_watch(page: Page, app: App, directory: RunDirectory) -> list[str]:
    """Zoom a chart, open a fold of a card, select a sentence and scroll; return the card's key and the fold's name."""
    wait_until(directory.journal.exists, "the run begins")
    page.goto(f"{app.url}/watch?run={directory.id}")
    page.locator("article.card details").first.wait_for()
    zoom(page)
    fold: list[str] = page.wait_for_function(OPEN).json_value()
    page.evaluate(SELECT)
    page.evaluate("document.querySelector('[data-testid=\"stMain\"]').scrollTop = 700")
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


def last_step(reader: RunReader) -> int:
    step = reader.refresh().view.last_step
    return -2 if step is None else step


# Several watchers, by two servers

ENOUGH = 3
"""Refreshes of each watcher, the first drawing included. `make watchers` measures how late they are."""


def test_a_run_is_watched_by_many_and_paused_from_another_app(app: App, visit: Visit) -> None:
    page = visit.page
    page.set_default_timeout(1000 * WITHIN_S)
    with living(Plan(runs=1), app) as (run,), serving(app.runs) as another:
        lines = [Line(run=run.id, address=app.url) for _ in range(4)]
        watching = threading.Thread(
            target=lambda: asyncio.run(watch_all(lines, time.time() + WITHIN_S, enough=ENOUGH)),
        )
        watching.start()
        page.goto(f"{another.url}/watch?run={run.id}")
        page.get_by_role("button", name="Pause").wait_for()
        while watching.is_alive():
            page.wait_for_timeout(100)
        assert [line.faults for line in lines] == [[], [], [], []]
        assert min(line.refreshes for line in lines) == ENOUGH
        assert all(line.first_at for line in lines)
        page.get_by_role("button", name="Pause").click()
        expect(page.get_by_role("button", name="Go on")).to_be_visible(timeout=1000 * WITHIN_S)
        assert RunReader(run).refresh().state == "paused"
        page.goto(f"{app.url}/watch?run={run.id}")
        expect(page.get_by_role("button", name="Go on")).to_be_visible(timeout=1000 * WITHIN_S)
