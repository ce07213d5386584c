"""Every page, in the states in which it is looked at."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import Page

from tests import beside, inspected

LABELS, OTHER, PROGRAMS = (f"20260104-000{i}-toy-smc-000{i}" for i in range(3))
EXAMPLE = Path(__file__).parents[2] / "assets" / "examples" / "penguins.csv"
SETTLED = """() => {
    const app = document.querySelector('[data-testid="stApp"]')
    const main = document.querySelector('[data-testid="stMain"]')
    const charts = [...document.querySelectorAll('[data-testid="stPlotlyChart"]')]
    return app?.dataset.testScriptState === 'notRunning' && main?.querySelector('.vpp') &&
        !main.querySelector('[data-testid="stSkeleton"], [data-stale="true"]') &&
        charts.every((chart) => chart.querySelector('.main-svg'))
}"""
FOLDS = "document.querySelectorAll('.vpp details').forEach((fold) => (fold.open = true))"


@dataclass(frozen=True, slots=True)
class Place:
    """An address, what must be there, and what is done there."""

    path: str
    shows: str
    """A selector of what is drawn last."""
    act: Callable[[Page], None] = lambda page: None
    title: str = ""
    """Of the page, as the browser's tab has it."""
    is_walked: bool = False
    """Whether Tab is taken through it."""


def write_runs(folder: Path) -> None:
    """Write a run of labels, another of the same rows, and one of programs."""
    for make, name in ((inspected.labels, LABELS), (beside.other, OTHER), (inspected.programs, PROGRAMS)):
        make(folder / "made").directory.path.rename(folder / name)


def settle(page: Page, place: Place) -> None:
    """Wait until the page is drawn."""
    page.wait_for_selector(place.shows, state="attached")
    page.wait_for_function(SETTLED)


def upload_and_unfold(page: Page) -> None:
    """Upload a table on New run, and open what a run costs, under Advanced."""
    page.locator('input[type="file"]').set_input_files(str(EXAMPLE))
    unfold(page, "Advanced")
    unfold(page, "Cost")
    page.get_by_text("All calls").wait_for()


def unfold(page: Page, head: str, shows: str = "") -> None:
    """Open a fold of Streamlit's. head: how it begins. shows: a button in it."""
    page.get_by_test_id("stExpander").locator("summary", has_text=head).click()
    if shows:
        page.get_by_role("button", name=shows, exact=True).wait_for()


def open_folds(page: Page) -> None:
    """Open what is folded away on Watch, at the last step, whose cards have folds, and the meaning of a term."""
    slider = page.locator("input[type=range]")
    slider.press("ArrowLeft")
    fold = page.locator(".card .folds > details").first
    fold.wait_for()
    assert slider.get_attribute("aria-valuetext") == "step 2 of 2"
    fold.locator("summary").first.press("Enter")
    assert fold.evaluate("(fold) => fold.open")
    unfold(page, "This run", "Delete this run")
    page.locator(".at-rail button.term").click()
    page.locator("#term-ess").wait_for(state="visible")


def open_point(page: Page) -> None:
    """Open a test row of Disagreement."""
    page.locator(".mx button.row").nth(1).press("Enter")
    page.locator(".mx tr.now:nth-child(2) + tr.under").wait_for()


def open_line(page: Page) -> None:
    """Open the history of a hypothesis, and the rows against a ruled-out text."""
    page.locator(".card [data-fold=history] summary").first.press("Enter")
    page.locator(".vpp .way").first.wait_for()
    page.locator(".ledger button").first.press("Enter")
    page.locator(".ledger table").wait_for()


PLACES = {
    "new run, a table": Place("/", ".vpp h1", upload_and_unfold, title="New run", is_walked=True),
    "watch, a step": Place(f"/watch?run={LABELS}", ".card", open_folds, title="Watch", is_walked=True),
    "posterior": Place(f"/posterior?run={LABELS}", ".ledger", open_line, title="Posterior", is_walked=True),
    "disagreement": Place(f"/disagreement?run={LABELS}", ".mx", open_point, title="Disagreement", is_walked=True),
    "compare": Place(f"/compare?run={LABELS}&compare={LABELS},{OTHER}", "table.t", title="Compare", is_walked=True),
    "report": Place(f"/report?run={LABELS}", ".report h2", title="Report", is_walked=True),
    "posterior, a program": Place(f"/posterior?run={PROGRAMS}", ".card [data-fold=program]", title="Posterior"),
    "no such run": Place("/watch?run=none", ".state.err", title="Watch"),
}
