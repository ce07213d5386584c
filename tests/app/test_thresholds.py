"""The thresholds' fold in a browser: one field after another, and from page to page."""

import pytest
from playwright.sync_api import Locator, Page

from tests import inspected
from tests.app.conftest import App, Visit

pytestmark = pytest.mark.browser


def opened(page: Page) -> None:
    page.get_by_text("Thresholds of the verdicts").click()
    field(page, "well_backed").wait_for()


def field(page: Page, name: str) -> Locator:
    return page.locator(f".st-key-thresholds-{name} input")


def test_fields_are_filled_one_after_another_and_keep_their_values_on_another_page(app: App, visit: Visit) -> None:
    run, page = app.runs / "20260104-0000-thresholds-smc-0000", visit.page
    inspected.labels(app.runs / "made").directory.path.rename(run)
    page.goto(f"{app.url}/watch?run={run.name}")
    opened(page)
    field(page, "well_backed").fill("90")
    page.keyboard.press("Tab")
    page.get_by_text("1 threshold moved.").wait_for()
    assert page.evaluate("document.activeElement !== document.body")
    field(page, "few_rows").fill("77")
    page.keyboard.press("Enter")
    page.get_by_text("2 thresholds moved.").wait_for()
    assert [field(page, name).input_value() for name in ("well_backed", "few_rows")] == ["90", "77"]
    page.get_by_role("link", name="Disagreement").click()
    page.get_by_role("heading", name="What would settle it").wait_for()
    opened(page)
    assert [field(page, name).input_value() for name in ("well_backed", "few_rows")] == ["90", "77"]
