"""Watch's charts have a fragment of their own: it is asked for when a step is new, and only then."""

import asyncio
import json
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from tests import inspected
from tests.app.conftest import App, serving
from tests.performance.live import Lines, by_step, write
from tests.watchers.line import Line
from vpp.runs.directory import RunDirectory
from vpp.runs.reader import RunReader
from vpp.wording.progress import shown_step

pytestmark = pytest.mark.browser
WITHIN_S = 60
BURST = """async () => {
    const stop = [...document.querySelectorAll("button")].find((each) => each.textContent.includes("Stop and keep"))
    const due = (what) => document.dispatchEvent(new CustomEvent("vpp.due.watch.charts", { detail: what }))
    for (const happen of [() => due("this"), () => stop.click(), () => due("that")]) {
        happen()
        await new Promise((done) => requestIdleCallback(() => setTimeout(done)))
    }
}"""
"""A click between two askings; the server is still busy with the first, so that it takes the others together."""
CAPTIONS = "() => [...document.querySelectorAll('.st-key-watch_charts .cap')].map((each) => each.textContent)"


@dataclass
class Counted(Line):
    """A watcher that counts how often each fragment was run by itself."""

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
class Told:
    """A finished run that is told again, a step at a time, as if a worker held it."""

    app: App
    run: RunDirectory
    steps: list[Lines]

    def tell(self) -> None:
        """The next step."""
        step = self.steps.pop(0)
        write(self.run, step)
        self.run.beat(step[-1]["usage"], queued=False)


@pytest.fixture
def told(tmp_path: Path) -> Iterator[Told]:
    run = inspected.labels(tmp_path).directory
    first, *steps = by_step([json.loads(line) for line in run.journal.read_bytes().splitlines()])
    run.journal.write_bytes(b"")
    with run.lock(), serving(tmp_path) as app:
        found = Told(app, run, [first, *steps])
        found.tell()
        yield found


def test_charts_are_asked_for_once_a_step(told: Told) -> None:
    line = Counted(run=told.run.id, address=told.app.url)
    again = len(told.steps)
    assert again > 1

    async def watch() -> None:
        watching = asyncio.create_task(line.watch(time.time() + WITHIN_S, enough=3 * again + 4))
        for turn in range(again):
            while line.refreshes < 3 * turn + 3 and not watching.done():
                await asyncio.sleep(0.05)
            told.tell()
        await watching

    asyncio.run(watch())
    assert line.faults == []
    assert [count for fragment, count in line.runs.items() if fragment not in line.timed] == [again]
    assert sum(count for fragment, count in line.runs.items() if fragment in line.timed) > again


def test_charts_follow_the_newest_step(told: Told, context: BrowserContext) -> None:
    page = context.new_page()
    page.set_default_timeout(1000 * WITHIN_S)
    page.goto(f"{told.app.url}/watch?run={told.run.id}")
    page.locator("article.card").first.wait_for()
    while told.steps:
        told.tell()
        newest = shown_step(RunReader(told.run).refresh().view)
        page.wait_for_function(f"() => ({CAPTIONS})().some((words) => words.includes('at step {newest}'))")
    page.close()


def test_a_click_at_the_moment_charts_are_asked_for_counts(told: Told, context: BrowserContext) -> None:
    page = context.new_page()
    page.set_default_timeout(1000 * WITHIN_S)
    page.goto(f"{told.app.url}/watch?run={told.run.id}")
    page.locator("article.card").first.wait_for()
    page.get_by_role("button", name="Stop and keep").wait_for()
    page.evaluate(BURST)
    page.get_by_text("Stopping: the test rows").wait_for()
    word = told.run.waiting_word()
    assert word is not None
    assert word.command == "stop"
    page.close()
