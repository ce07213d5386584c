"""A hypothesis on the clipboard, whole."""

import pytest

from tests import inspected
from tests.app.conftest import App, Visit

pytestmark = pytest.mark.browser
REFUSING = "Object.defineProperty(navigator, 'clipboard', {value: {writeText: () => Promise.reject()}})"


@pytest.mark.parametrize("refuses", [False, True])
def test_a_click_copies_the_whole_hypothesis_and_says_so(app: App, visit: Visit, refuses: bool) -> None:
    """Also where the browser refuses its clipboard to scripts: then by way of a field."""
    run = app.runs / f"20260103-0000-copied-smc-000{int(refuses)}"
    inspected.labels(app.runs / "made").directory.path.rename(run)
    visit.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    visit.page.goto(f"{app.url}/posterior?run={run.name}")
    button = visit.page.locator("button.copy").first
    button.wait_for()
    read = "navigator.clipboard.readText()"
    visit.page.evaluate("navigator.clipboard.writeText('nothing')")
    if refuses:
        visit.page.evaluate(f"navigator.read = navigator.clipboard; {REFUSING}")
        read = "navigator.read.readText()"
    button.click()
    visit.page.locator("button.copy", has_text="Copied").wait_for()
    assert visit.page.evaluate(read) == inspected.EVEN
    visit.page.locator("button.copy", has_text="Copied").wait_for(state="detached")
