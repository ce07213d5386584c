"""A stranger's way through the app, in a real browser: from a CSV to a report, over every button of Watch."""

import json
from contextlib import suppress
from pathlib import Path

import pytest
from playwright.sync_api import Page, TimeoutError, expect

from tests.app.conftest import ROOT, App, Visit
from vpp.runs.directory import RunDirectory
from vpp.runs.reader import RunReader

pytestmark = pytest.mark.browser
PENGUINS = ROOT / "assets" / "examples" / "penguins.csv"


def wait_for_step(page: Page, step: int) -> None:
    """Wait until the page shows that step, or a later one, without being asked."""
    page.wait_for_function(
        """(step) => {
            const found = document.body.innerText.match(/Hypotheses at step (\\d+)/)
            return found && Number(found[1]) >= step
        }""",
        arg=step,
        timeout=60_000,
    )


def test_a_csv_is_learned_watched_steered_replayed_and_reported(app: App, visit: Visit) -> None:
    page = visit.page
    page.goto(app.url)
    page.locator('input[type="file"]').set_input_files(str(PENGUINS))
    expect(page.get_by_text("species has 3 labels, so this is classification.")).to_be_visible()
    epochs = page.get_by_label("Epochs", exact=True)
    epochs.fill("8")  # a run that a slow machine does not end before it is stopped
    epochs.press("Enter")
    page.get_by_role("button", name="Start the run").click()

    page.wait_for_url("**/watch?run=*")
    run = page.url.partition("run=")[2]
    expect(page.get_by_label("state of the run")).to_be_visible()
    page.wait_for_selector("article.card .hyp")
    first = page.inner_text(".deck")
    page.wait_for_function("(first) => document.querySelector('.deck').innerText !== first", arg=first)
    expect(page.get_by_role("button", name="demo model")).to_be_visible()
    listed = page.locator('nav.runs [aria-current="true"]')
    expect(listed).to_contain_text("SMC · running")

    steer(page, run)
    expect(listed).to_contain_text("SMC · stopped")
    for key, shown in (("Home", "Hypotheses at step 0"), ("End", "at the end")):
        page.get_by_role("slider", name="Step shown").press(key)
        expect(page.get_by_text(shown).first).to_be_visible()

    complete = (RunReader(RunDirectory(app.runs / run)).refresh().view.last_step or 0) + 1
    page.get_by_role("button", name="Resume").click()
    page.get_by_role("button", name="Pause").wait_for()
    expect(page.get_by_label("Follow latest")).to_be_checked()
    wait_for_step(page, complete)
    stop(page)

    page.get_by_role("link", name="Read the posterior").wait_for()
    page.goto(f"{app.url}/report?run={run}")
    with page.expect_download() as download:
        page.get_by_role("button", name="Markdown", exact=True).click()
    report = Path(download.value.path()).read_text(encoding="utf-8")
    assert report.startswith("# ")
    assert "not a language model" in report
    assert json.loads((app.runs / run / "run.json").read_text())["status"] == "stopped"
    assert page.locator('[data-testid="stException"]').count() == 0
    assert visit.outside == []


def steer(page: Page, run: str) -> None:
    """Pause, go on, load the page anew, and stop."""
    page.get_by_role("button", name="Pause").click()
    page.get_by_role("button", name="Go on").click()
    page.get_by_role("button", name="Pause").wait_for()
    wait_for_step(page, 1)
    page.reload()
    page.wait_for_selector("article.card")
    assert page.url.partition("run=")[2] == run
    wait_for_step(page, 1)
    stop(page)
    expect(page.get_by_text("Stopped", exact=False).first).to_be_visible()


def stop(page: Page) -> None:
    """Press until it takes: a page that is drawn anew at that moment can lose a press."""
    for _ in range(4):
        with suppress(TimeoutError):
            page.get_by_role("button", name="Stop and keep").click(timeout=5_000)
        with suppress(TimeoutError):
            page.get_by_role("button", name="Resume").wait_for(timeout=25_000)
            return
    raise AssertionError("the run does not stop")
