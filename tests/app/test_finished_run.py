"""A finished run in a browser: film, prompts, copied texts, the matrix."""

import json
import math
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Locator, Page, expect

from pages.parts.opening import SHIPPED
from tests import inspected
from tests.app.conftest import App, Visit, opening, placed
from tests.hostile.opening import ENDED
from tests.live import Lines, by_step
from tests.live import write as write_lines
from tests.processes import wait_until
from tests.reporting.builders import SEED, dataset, run
from tests.reporting.test_document import HOSTILE
from tests.reporting.test_markdown import smc_run
from vpp.reporting.document import report_html
from vpp.runs.directory import RunDirectory
from vpp.runs.prompts import PromptMaker
from vpp.runs.reader import RunReader
from vpp.runs.store import unpack

pytestmark = pytest.mark.browser
AT_REST = """() => document.querySelector('[data-testid="stApp"]').dataset.testScriptState === 'notRunning'"""


@dataclass(frozen=True)
class Finished:
    """A finished run of two steps in the app, written by hand."""

    app: App
    run: str
    prompts: tuple[str | None, ...]
    """What the optimizer was asked for particle 0, by step."""

    def open(self, visit: Visit, page: str) -> Page:
        visit.page.goto(f"{self.app.url}/{page}?run={self.run}")
        return visit.page


@pytest.fixture(scope="module")
def finished(app: App) -> Finished:
    reader = inspected.labels(app.runs / "made")
    snapshot = reader.refresh()
    maker = PromptMaker(snapshot.spec, reader.dataset())
    prompts = tuple(maker.proposal(snapshot.view, step, 0) for step in (0, 1))
    return Finished(app, placed(app, reader, "20260102-0000-labels-smc-0000").name, prompts)


# What the optimizer was asked, under a card: it comes when it is opened

SHOWS = """(words) => document.querySelector('details[data-wanted="0"][open] pre')?.innerText === words"""


def first_card(finished: Finished, visit: Visit) -> Locator:
    """Open particle 0's card at step 0."""
    page = finished.open(visit, "watch")
    to_step(page, "Home", "step 0")
    return page.locator('article.card[data-key="0"]')


def to_step(page: Page, key: str, place: str) -> None:
    page.get_by_role("slider", name="Step shown").focus()
    page.keyboard.press(key)
    page.get_by_role("heading", name=f"Hypotheses at {place}").wait_for()


def test_a_prompt_comes_when_it_is_opened_even_while_words_are_selected(finished: Finished, visit: Visit) -> None:
    """A card with a selection is left alone, and the run has ended: nothing is sent again."""
    with visit.page.expect_websocket() as line:
        card = first_card(finished, visit)
    page = visit.page
    fold = card.locator('details[data-fold="next"]')
    fold.locator("summary").first.click()
    page.evaluate(
        """() => document.getSelection().selectAllChildren(document.querySelector('article.card[data-key="0"] .hyp'))"""
    )
    assert fold.locator("details[data-wanted]").count() == 1
    assert fold.locator("details[data-wanted] pre").count() == 0
    fold.locator("details[data-wanted] > summary").focus()
    prompt = (finished.prompts[0] or "").splitlines()[0].encode()
    with line.value.expect_event("framereceived", lambda frame: isinstance(frame, bytes) and prompt in frame):
        page.keyboard.press("Enter")
    page.wait_for_function(AT_REST)
    assert fold.get_by_text("One moment.").count() == 1
    page.evaluate("document.getSelection().removeAllRanges()")
    page.wait_for_function(SHOWS, arg=finished.prompts[0])
    assert page.locator("details[data-wanted] pre").count() == 1
    assert page.locator("article.card").count() > 1
    for key, step in (("ArrowRight", 1), ("Home", 0)):
        to_step(page, key, f"step {step}")
    page.wait_for_function(SHOWS, arg=finished.prompts[0])
    # At the end a card has no such fold: an open one stays, without a prompt that can no longer come.
    to_step(page, "End", "the end")
    card.locator('details[data-before="true"]').wait_for()
    assert card.locator("details[data-wanted]").count() == 0
    assert page.get_by_text("One moment.").count() == 0


# A hypothesis on the clipboard


def test_a_click_copies_the_whole_hypothesis_and_says_so(finished: Finished, visit: Visit) -> None:
    """Also where the browser refuses its clipboard to scripts: then by way of a field."""
    visit.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page = finished.open(visit, "posterior")
    button, copied = page.locator("button.copy").first, page.locator("button.copy", has_text="Copied")
    button.wait_for()
    page.evaluate("navigator.read = navigator.clipboard")
    for refuses in (False, True):
        copied.wait_for(state="detached")
        page.evaluate("navigator.clipboard.writeText('nothing')")
        if refuses:
            refusing = "{value: {writeText: () => Promise.reject()}}"
            page.evaluate(f"Object.defineProperty(navigator, 'clipboard', {refusing})")
        button.click()
        copied.wait_for()
        assert page.evaluate("navigator.read.readText()") == inspected.EVEN


# The matrix


def test_a_row_is_opened_by_keys_or_by_a_press_and_a_wide_matrix_says_so(finished: Finished, visit: Visit) -> None:
    visit.page.set_viewport_size({"width": 390, "height": 900})
    page = finished.open(visit, "disagreement")
    rows = page.locator(".mx button.row")
    rows.first.wait_for()
    assert re.fullmatch(r"[1-6] of 7 columns in view: scroll sideways\.", page.locator(".cue").first.inner_text())
    rows.first.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.locator(".mx tr.under h2", has_text="Row 7").wait_for()
    assert page.evaluate("document.activeElement.textContent") == "7"
    page.locator('.mx tr[data-row="9"] td.in').click()
    page.locator(".mx tr.under h2", has_text="Row 9").wait_for()
    page.locator('.mx tr[data-row="9"] td.in').click()
    page.locator(".mx tr.under").wait_for(state="detached")
