"""A stranger's way through the app, in a real browser."""

import json
import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.app.conftest import App, Visit, serving

pytestmark = pytest.mark.browser
IRIS_LIKE = Path(__file__).parents[2] / "assets" / "examples" / "penguins.csv"


def step_shown(page: Page) -> int:
    """The step in the deck's head; -1 before the first."""
    found = re.search(r"Hypotheses at step (\d+)", page.inner_text('[data-testid="stMain"]'))
    return int(found.group(1)) if found else -1


def wait_for_step(page: Page, step: int) -> None:
    """Until the page shows that step, by itself."""
    page.wait_for_function(
        """(step) => {
            const found = document.body.innerText.match(/Hypotheses at step (\\d+)/)
            return found && Number(found[1]) >= step
        }""",
        arg=step,
        timeout=60_000,
    )


def run_example(page: Page, app: App) -> None:
    """From the first page, where the way to it is folded away once there is a run."""
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
    for _ in range(3):  # whatever the pace: a slow page may skip steps
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


def test_the_example_shows_its_state_and_its_first_sentence_at_once(app: App, visit: Visit) -> None:
    page = visit.page
    run_example(page, app)
    expect(page.get_by_label("state of the run")).to_be_visible()
    page.wait_for_selector("article.card .hyp", timeout=60_000)
    expect(page.get_by_text("not a language model").first).to_be_visible()
    page.get_by_role("button", name="Pause").click()
    page.get_by_role("button", name="Go on").wait_for()
    page.get_by_role("button", name="Go on").click()
    page.get_by_role("button", name="Pause").wait_for()
    page.get_by_role("button", name="Stop and keep").click()
    page.get_by_role("button", name="Resume").wait_for()
    assert visit.outside == []


def test_the_list_of_runs_follows_the_state_of_the_run_one_watches(tmp_path: Path, visit: Visit) -> None:
    with serving(tmp_path) as fresh:
        page = visit.page
        run_example(page, fresh)
        listed = page.locator('[data-testid="stSidebar"]')
        page.locator("article.card").first.wait_for()
        for state in ("running", "stopped"):
            expect(listed.get_by_text(f"SMC · {state}")).to_be_visible(timeout=20_000)
            if state == "running":
                page.get_by_role("button", name="Stop and keep").click()
        assert page.locator("article.card").count() > 0


def test_a_stopped_run_is_replayed_by_keyboard_and_resumed(app: App, visit: Visit) -> None:
    page = visit.page
    run_example(page, app)
    wait_for_step(page, 2)
    page.get_by_role("button", name="Stop and keep").click()
    page.get_by_role("button", name="Resume").wait_for()

    slider = page.get_by_role("slider", name="Step shown")
    for key, shown in (("Home", "Hypotheses at step 0"), ("ArrowRight", "Hypotheses at step 1"), ("End", "at the end")):
        slider.press(key)
        expect(page.get_by_text(shown).first).to_be_visible()
    assert page.locator('[data-testid="stException"]').count() == 0

    expect(page.get_by_label("Show the end")).to_be_checked()

    page.get_by_role("button", name="Resume").click()
    page.get_by_role("button", name="Pause").wait_for()
    expect(page.get_by_label("Follow latest")).to_be_checked()
    wait_for_step(page, 4)
    page.get_by_role("button", name="Stop and keep").click()
    page.get_by_role("button", name="Resume").wait_for()


def test_a_link_opened_before_anything_else_shows_the_whole_app(tmp_path: Path, visit: Visit) -> None:
    with serving(tmp_path) as fresh:
        visit.page.goto(f"{fresh.url}/posterior")
        expect(visit.page.get_by_text("No runs yet")).to_be_visible()
        links = visit.page.locator('[data-testid="stSidebarNavLink"]')
        assert links.all_inner_texts() == [
            "New run",
            "Watch",
            "Posterior",
            "Disagreement",
            "Compare",
            "Paper",
            "Report",
        ]
        visit.page.get_by_role("link", name="Watch").click()
        expect(visit.page.get_by_text("Watch shows a run as it goes")).to_be_visible()


def test_a_link_to_no_run_says_so(app: App, visit: Visit) -> None:
    visit.page.goto(f"{app.url}/watch?run=20200101-0000-nothing-smc-0000")
    expect(visit.page.get_by_text("This run cannot be opened")).to_be_visible()
