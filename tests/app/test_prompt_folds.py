"""What the optimizer was asked, under a card of Watch: it comes when it is opened."""

import pytest
from playwright.sync_api import Locator

from pages.parts import frame
from tests import inspected
from tests.app.conftest import App, Visit
from vpp.runs.prompts import PromptMaker

pytestmark = pytest.mark.browser
SHOWS = """(words) => document.querySelector('details[data-wanted="0"][open] pre')?.innerText === words"""


@pytest.mark.parametrize(
    ("told", "slots"),
    [
        ([2, 0], (0, 2)),
        ([2, 3, -1, 10**9], (2,)),
        ([True, "1", 1.0, None, [1]], ()),
        (1, ()),
        ({"1": 1}, ()),
        (None, ()),
    ],
)
def test_a_browser_gets_prompts_of_slots_that_there_are(
    told: object, slots: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(frame.st, "session_state", {"deck": {"wanted": told}})
    assert frame.wanted("deck", most=3) == slots


def first_card(app: App, visit: Visit, name: str) -> Locator:
    """Particle 0's at step 0 of a finished run."""
    run = app.runs / name
    if not run.exists():
        inspected.labels(app.runs / "made").directory.path.rename(run)
    visit.page.goto(f"{app.url}/watch?run={run.name}")
    visit.page.get_by_role("slider", name="Step shown").focus()
    visit.page.keyboard.press("Home")
    visit.page.get_by_role("heading", name="Hypotheses at step 0").wait_for()
    return visit.page.locator('article.card[data-key="0"]')


def test_a_prompt_comes_when_it_is_opened_and_stays_on_the_way_through_the_steps(app: App, visit: Visit) -> None:
    reader = inspected.labels(app.runs / "made")
    snapshot = reader.refresh()
    maker = PromptMaker(snapshot.spec, reader.dataset())
    asked = [maker.proposal(snapshot.view, step, 0) for step in (0, 1)]
    reader.directory.path.rename(app.runs / "20260103-0000-asked-smc-0000")
    card = first_card(app, visit, "20260103-0000-asked-smc-0000")
    fold = card.locator('details[data-fold="next"]')
    fold.locator("summary").first.click()
    assert fold.locator("details[data-wanted]").count() == 1
    told = card.locator('details[data-wanted="0"]')
    assert told.locator("pre").count() == 0
    told.locator("summary").click()
    told.locator("pre").wait_for()
    assert told.locator("pre").inner_text() == asked[0]
    assert visit.page.locator("details[data-wanted] pre").count() == 1
    assert visit.page.locator("article.card").count() > 1
    for key, step in (("ArrowRight", 1), ("Home", 0)):
        visit.page.get_by_role("slider", name="Step shown").focus()
        visit.page.keyboard.press(key)
        visit.page.get_by_role("heading", name=f"Hypotheses at step {step}").wait_for()
        visit.page.wait_for_function(SHOWS, arg=asked[step])


def test_a_prompt_that_comes_while_words_are_selected_is_there_when_they_are_not(app: App, visit: Visit) -> None:
    """A card with a selection is left alone, and the run has ended: nothing is sent again."""
    card = first_card(app, visit, "20260103-0001-selected-smc-0000")
    fold = card.locator('details[data-fold="next"]')
    fold.locator("summary").first.click()
    visit.page.evaluate(
        """() => document.getSelection().selectAllChildren(document.querySelector('article.card[data-key="0"] .hyp'))"""
    )
    fold.locator("details[data-wanted] > summary").focus()
    visit.page.keyboard.press("Enter")
    visit.page.wait_for_timeout(1500)
    assert card.get_by_text("One moment.").count() == 1
    visit.page.evaluate("document.getSelection().removeAllRanges()")
    fold.locator("details[data-wanted] pre").wait_for()


def test_a_fold_from_a_step_before_promises_no_prompt(app: App, visit: Visit) -> None:
    """At the end a card has no such fold: an open one stays, without what can no longer come."""
    card = first_card(app, visit, "20260103-0002-before-smc-0000")
    card.locator('details[data-fold="next"] > summary').click()
    assert card.locator("details[data-wanted]").count() == 1
    visit.page.get_by_role("slider", name="Step shown").focus()
    visit.page.keyboard.press("End")
    visit.page.get_by_role("heading", name="Hypotheses at the end").wait_for()
    card.locator('details[data-before="true"]').wait_for()
    assert card.locator("details[data-wanted]").count() == 0
    assert visit.page.get_by_text("One moment.").count() == 0
