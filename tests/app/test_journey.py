"""A stranger's way through the app, in a real browser: from a CSV to a report, over every button of Watch."""

import json
import os
import signal
from contextlib import suppress
from pathlib import Path

import pytest
from playwright.sync_api import Page, TimeoutError, expect

from pages.parts.opening import SHIPPED
from tests import inspected
from tests.app.conftest import ROOT, App, serving
from vpp.runs.directory import RunDirectory, RunReader
from vpp.runs.store import unpack

pytestmark = pytest.mark.browser
PENGUINS = ROOT / "assets" / "examples" / "penguins.csv"
POLL_MS = 500
"""Playwright's own way is to look at every frame, which the browser then has to paint."""


COUNT = """() => {
    const buttons = () => [...document.querySelectorAll('.st-key-watch_controls button')]
    const count = () => {
        window.most = Math.max(window.most ?? 0, buttons().filter((each) => each.checkVisibility()).length)
        requestAnimationFrame(count)
    }
    count()
}"""
"""Keeps the greatest number of buttons that Watch has shown at a time."""


def wait_for_step(page: Page, step: int) -> None:
    """Wait until the page shows that step, or a later one, without being asked."""
    page.wait_for_function(
        """(step) => {
            const found = document.body.innerText.match(/Step (\\d+) of/)
            return found && Number(found[1]) > step
        }""",
        arg=step,
        polling=POLL_MS,
    )


def test_a_csv_is_learned_watched_steered_replayed_and_reported(app: App, page: Page) -> None:
    page.goto(app.url)
    page.locator('input[type="file"]').set_input_files(str(PENGUINS))
    expect(page.get_by_text("species has 3 labels, so this is classification.")).to_be_visible()
    for fold in ("Advanced", "Method"):
        page.get_by_test_id("stExpander").locator("summary").get_by_text(fold, exact=True).click()
    # A run of quick steps that does not end before it is stopped
    for name, value in (("Particles K", "3"), ("Epochs", "30"), ("Patience", "0")):
        field = page.get_by_label(name, exact=True)
        expect(field).to_have_count(1)  # while a page is drawn anew, its old field is still there for a moment
        field.fill(value)
        field.press("Enter")
    page.get_by_role("button", name="Start the run").click()

    page.wait_for_url("**/watch?run=*")
    run = page.url.partition("run=")[2]
    expect(page.get_by_label("state of the run")).to_be_visible()
    page.wait_for_selector("article.card .hyp")
    first = page.inner_text(".deck")
    changed = "(first) => document.querySelector('.deck').innerText !== first"
    page.wait_for_function(changed, arg=first, polling=POLL_MS)
    expect(page.get_by_role("button", name="demo model")).to_be_visible()
    listed = page.locator('nav.runs [aria-current="true"]')
    expect(listed).to_contain_text("SMC · running")

    steer(page, run, app.pid)
    expect(listed).to_contain_text("SMC · stopped")
    for key, shown in (("Home", "Step 1 of"), ("End", "at the end")):
        page.get_by_role("slider", name="Step shown").press(key)
        expect(page.get_by_text(shown).first).to_be_visible()

    complete = (RunReader(RunDirectory(app.runs / run)).refresh().view.last_step or 0) + 1
    page.evaluate(COUNT)
    page.get_by_role("button", name="Resume").click()
    page.get_by_role("button", name="Pause").wait_for()
    expect(page.get_by_role("button", name="Latest")).to_be_hidden()
    wait_for_step(page, complete)
    stop(page)
    assert page.evaluate("window.most") == 2

    page.get_by_role("link", name="Read the posterior").wait_for()
    page.goto(f"{app.url}/report?run={run}")
    with page.expect_download() as download:
        page.get_by_role("button", name="Markdown", exact=True).click()
    report = Path(download.value.path()).read_text(encoding="utf-8")
    assert report.startswith("# ")
    assert "not a language model" in report
    assert json.loads((app.runs / run / "summary.json").read_text())["phase"] == "stopped"
    assert page.locator('[data-testid="stException"]').count() == 0


def steer(page: Page, run: str, server: int) -> None:
    os.kill(server, signal.SIGSTOP)
    page.get_by_role("button", name="Pause").click()
    dimmed = page.get_by_role("button", name="Stop here").evaluate("(button) => getComputedStyle(button).opacity")
    os.kill(server, signal.SIGCONT)
    assert dimmed == "0.4", "the buttons answer before the server does"
    page.get_by_role("button", name="Go on").click()
    page.get_by_role("button", name="Pause").wait_for()
    wait_for_step(page, 1)
    page.reload()
    page.wait_for_selector("article.card")
    assert page.url.partition("run=")[2] == run
    stop(page)
    expect(page.get_by_text("Stopped", exact=False).first).to_be_visible()


def stop(page: Page) -> None:
    """Press until it takes: a page that is drawn anew at that moment can lose a press."""
    for _ in range(4):
        with suppress(TimeoutError):
            page.get_by_role("button", name="Stop here").click(timeout=5_000)
        with suppress(TimeoutError):
            page.get_by_role("button", name="Resume").wait_for(timeout=25_000)
            return
    raise AssertionError("the run does not stop")


def write_many(folder: Path) -> None:
    unpack(SHIPPED, folder)
    first = inspected.labels(folder / "made").directory
    for n in range(62):
        copy = folder / f"20260101-00{n:02}-a-smc-0000" if n < 60 else folder / f"20260102-00{n - 60:02}-b-smc-0000"
        copy.mkdir()
        for file in ("run.json", "data.csv", "events.jsonl"):
            (copy / file).write_bytes((first.path / file).read_bytes())
        content = json.loads((copy / "run.json").read_text())
        (copy / "run.json").write_text(json.dumps({**content, "name": "<b>bees</b>" if n == 7 else f"Run {n}"}))


def test_a_fresh_server_has_start_in_view_and_finds_runs_by_name(tmp_path: Path, page: Page) -> None:
    with serving(tmp_path) as fresh:
        for width, height in ((1440, 900), (390, 844)):
            page.set_viewport_size({"width": width, "height": height})
            page.goto(fresh.url)
            expect(page.get_by_role("button", name="Start the run")).to_be_in_viewport(ratio=1)
            expect(page.get_by_text("Choose a table first.")).to_be_in_viewport(ratio=1)
        page.set_viewport_size({"width": 1440, "height": 1000})
        links = page.locator('[data-testid="stSidebarNavLink"]')
        assert links.all_inner_texts() == ["New run", "Watch", "Posterior", "Disagreement", "Compare"]
        page.get_by_role("link", name="The paper’s claims").click()
        expect(page.get_by_role("heading", name="Where the paper contradicts itself")).to_be_visible()
        write_many(tmp_path)
        page.goto(fresh.url)
        rows = page.locator("nav.runs .run")
        expect(rows).to_have_count(60)
        expect(page.locator("nav.runs")).to_contain_text(
            "finished · 100.0 % of 52, linear model 100.0 % · shipped example"
        )
        page.get_by_role("button", name="Show 3 more of 63").click()
        expect(rows).to_have_count(63)
        page.get_by_label("Find by name").press_sequentially("BEES")
        expect(rows).to_have_count(1)
        expect(rows.first).to_contain_text("<b>bees</b>")
        rows.first.press("Enter")
        page.wait_for_url("**/watch?run=20260101-0007-a-smc-0000")
        expect(page.locator('nav.runs [aria-current="true"]')).to_contain_text("open · SMC · finished")
        expect(page.get_by_label("Find by name")).to_have_value("BEES")
