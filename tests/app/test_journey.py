"""A stranger's way through the app, in a real browser."""

import json
import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.app.conftest import App, Visit
from vpp.runs.directory import RunDirectory
from vpp.runs.reader import RunReader

pytestmark = pytest.mark.browser
IRIS_LIKE = Path(__file__).parents[2] / "assets" / "examples" / "penguins.csv"


def step_shown(page: Page) -> int:
    """Return the step in the deck's head; -1 before the first."""
    found = re.search(r"Hypotheses at step (\d+)", page.inner_text('[data-testid="stMain"]'))
    return int(found.group(1)) if found else -1


def wait_for_step(page: Page, step: int) -> None:
    """Wait until the page shows that step without being asked."""
    page.wait_for_function(
        """(step) => {
            const found = document.body.innerText.match(/Hypotheses at step (\\d+)/)
            return found && Number(found[1]) >= step
        }""",
        arg=step,
        timeout=60_000,
    )


def run_example(page: Page, app: App) -> None:
    """Press the button of the first page, which is folded away once there is a run."""
    page.goto(app.url)
    button, fold = (
        page.get_by_role("button", name="Run the example"),
        page.get_by_text("What this does, and an example"),
    )
    button.or_(fold).first.wait_for()
    if fold.count():
        fold.click()
    button.click()
    page.wait_for_url("**/watch?run=*")


def test_a_csv_goes_in_and_a_report_comes_out(app: App, visit: Visit) -> None:
    page = visit.page
    page.goto(app.url)
    page.locator('input[type="file"]').set_input_files(str(IRIS_LIKE))
    expect(page.get_by_text("species has 3 labels, so this is classification.")).to_be_visible()
    page.get_by_role("button", name="Start the run").click()

    page.wait_for_url("**/watch?run=*")
    run = page.url.partition("run=")[2]
    page.wait_for_selector("article.card")
    seen = {page.inner_text(".deck")}
    for _ in range(2):  # whatever the pace: a slow page may skip steps
        page.wait_for_function(
            "(seen) => !seen.includes(document.querySelector('.deck').innerText)", arg=list(seen), timeout=60_000
        )
        seen.add(page.inner_text(".deck"))
    assert len(seen) >= 3, "the cards change by themselves"
    wait_for_step(page, 3)

    page.reload()
    page.wait_for_selector("article.card")
    assert page.url.partition("run=")[2] == run
    assert step_shown(page) >= 3

    page.get_by_role("button", name="Stop and keep").click()
    page.get_by_role("link", name="Read the posterior").wait_for(timeout=30_000)
    expect(page.get_by_text("Stopped", exact=False).first).to_be_visible()

    page.goto(f"{app.url}/report?run={run}")
    with page.expect_download() as download:
        page.get_by_role("button", name="Download report.md").click()
    report = Path(download.value.path()).read_text(encoding="utf-8")
    assert report.startswith("# ")
    assert "not a language model" in report

    status = json.loads((app.runs / run / "run.json").read_text())["status"]
    assert status == "stopped"
    assert visit.outside == []


def test_the_example_is_watched_paused_stopped_replayed_and_resumed(app: App, visit: Visit) -> None:
    page = visit.page
    run_example(page, app)
    expect(page.get_by_label("state of the run")).to_be_visible()
    page.wait_for_selector("article.card .hyp", timeout=60_000)
    expect(page.get_by_text("not a language model").first).to_be_visible()
    listed = page.locator('nav.runs [aria-current="true"]')
    expect(listed).to_contain_text("SMC · running", timeout=20_000)
    page.get_by_role("button", name="Pause").click()
    page.get_by_role("button", name="Go on").click()
    page.get_by_role("button", name="Pause").wait_for()
    wait_for_step(page, 2)
    page.get_by_role("button", name="Stop and keep").click()
    page.get_by_role("button", name="Resume").wait_for()
    expect(listed).to_contain_text("SMC · stopped", timeout=20_000)

    slider = page.get_by_role("slider", name="Step shown")
    for key, shown in (("Home", "Hypotheses at step 0"), ("ArrowRight", "Hypotheses at step 1"), ("End", "at the end")):
        slider.press(key)
        expect(page.get_by_text(shown).first).to_be_visible()
    assert page.locator('[data-testid="stException"]').count() == 0
    expect(page.get_by_label("Show the end")).to_be_checked()

    stopped_at = step_count(app, page.url.partition("run=")[2])
    page.get_by_role("button", name="Resume").click()
    page.get_by_role("button", name="Pause").wait_for()
    expect(page.get_by_label("Follow latest")).to_be_checked()
    wait_for_step(page, stopped_at)
    page.get_by_role("button", name="Stop and keep").click()
    page.get_by_role("button", name="Resume").wait_for()
    assert visit.outside == []


def step_count(app: App, run: str) -> int:
    """Complete steps of a run, step 0 included: the number of its next step."""
    return (RunReader(RunDirectory(app.runs / run)).refresh().view.last_step or 0) + 1
