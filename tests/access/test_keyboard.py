"""A page by keyboard alone: everything is reached, in order, and one sees where one is."""

from typing import Any

import pytest
from playwright.sync_api import Page

from tests.access.places import PLACES, settle
from tests.app.conftest import App

pytestmark = pytest.mark.browser
MARK = """() => {
    const main = document.querySelector('[data-testid="stMain"]')
    const isReached = (element) => element.tabIndex >= 0 && !element.disabled &&
        element.checkVisibility({visibilityProperty: true}) && !(element.type === 'radio' && !element.checked) &&
        !element.matches('[data-variant="segmented_control"] + *')
    window.looks = (element) => {
        const found = []
        const ends = ['stElementContainer', 'stMain']
        for (let at = element; at && !ends.includes(at.dataset.testid); at = at.parentElement) {
            const {outline, boxShadow, borderColor, backgroundColor, textDecoration} = getComputedStyle(at)
            found.push([outline, boxShadow, borderColor, backgroundColor, textDecoration].join())
        }
        return found.join()
    }
    const selector = 'a[href], button, summary, input, select, textarea, [tabindex="0"]'
    window.ways = [...main.querySelectorAll(selector)].filter(isReached)
    window.before = window.ways.map(window.looks)
    const start = document.createElement('button')
    main.prepend(start)
    start.focus()
    return window.ways.map((element) => element.outerHTML.slice(0, 150))
}"""
WHERE = """() => {
    const at = document.activeElement
    window.looks(at)
    document.getAnimations().forEach((moving) => moving instanceof CSSTransition && moving.finish())
    const number = window.ways.indexOf(at)
    if (number < 0) return at.closest('[data-testid="stMain"]') ? at.outerHTML.slice(0, 150) : null
    return [number, window.looks(at) !== window.before[number]]
}"""
AT_REST = """() => new Promise((done) => {
    const main = document.querySelector('[data-testid="stMain"]')
    let last = setTimeout(() => done(true), 300)
    new MutationObserver(() => {
        clearTimeout(last)
        last = setTimeout(() => done(true), 300)
    }).observe(main, {childList: true, subtree: true})
})"""
"""Nothing was added to the page or taken from it for 0.3 s."""
WALKED = ("new run, a table", "watch", "posterior", "disagreement", "compare", "paper", "report")
TOOLBAR = 'kind="elementToolbar"'
"""Streamlit's Copy in a block of code: seen, and on the way, only while focus is in the block."""
SEGMENT = '[data-variant="segmented_control"]'
"""Its choices are one stop; arrow keys go from one to the next."""


def tabbed(page: Page, most: int) -> list[Any]:
    """Where Tab leads, from the first element of the page's body to where it is left."""
    found: list[Any] = []
    while len(found) < most:
        page.keyboard.press("Tab")
        at = page.evaluate(WHERE)
        if at is None:
            return found
        found.append(at)
    return found


@pytest.mark.parametrize("name", WALKED)
def test_tab_reaches_everything_once_in_order_and_shows_where_it_is(still: Page, shown: App, name: str) -> None:
    still.goto(shown.url + PLACES[name].path)
    settle(still, PLACES[name])
    still.wait_for_function(AT_REST)
    ways = still.evaluate(MARK)
    found = [at for at in tabbed(still, 2 * len(ways)) if TOOLBAR not in str(at)]
    for segment in still.locator(f"{SEGMENT}:first-child").all():
        segment.press("ArrowRight")
        assert still.evaluate(f"document.activeElement.matches('{SEGMENT} + {SEGMENT}')")
    assert [at if isinstance(at, str) else ways[at[0]] for at in found] == ways
    assert [ways[at[0]] for at in found if not at[1]] == []


def test_a_fold_opens_with_enter_and_the_step_moves_with_arrows(still: Page, shown: App) -> None:
    place = PLACES["watch"]
    still.goto(shown.url + place.path)
    settle(still, place)
    still.locator("input[type=range]").focus()
    still.keyboard.press("ArrowLeft")
    fold = still.locator(".card details").first
    fold.locator("summary").first.focus()
    still.keyboard.press("Enter")
    assert fold.evaluate("(fold) => fold.open")
    assert still.locator("input[type=range]").get_attribute("aria-valuetext") == "step 1"
