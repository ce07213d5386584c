"""A page by keyboard alone: where Tab leads, and whether one sees where one is."""

from typing import Any

from playwright.sync_api import Page

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
LEAVE = "document.querySelector('[data-testid=\"stMain\"]').firstChild.remove()"
AT_REST = """() => new Promise((done) => {
    const main = document.querySelector('[data-testid="stMain"]')
    let last = setTimeout(() => done(true), 300)
    new MutationObserver(() => {
        clearTimeout(last)
        last = setTimeout(() => done(true), 300)
    }).observe(main, {childList: true, subtree: true})
})"""
"""Nothing was added to the page or taken from it for 0.3 s."""
TOOLBAR = 'kind="elementToolbar"'
"""Streamlit's Copy in a block of code: seen, and on the way, only while focus is in the block."""
SEGMENT = '[data-variant="segmented_control"]'
"""The choices of one such control are a single stop; arrow keys go from one to the next."""


def check_tab(page: Page) -> None:
    """Assert that Tab reaches every element once, in order, and that focus is visible on each."""
    page.wait_for_function(AT_REST)
    ways = page.evaluate(MARK)
    stops = [at for at in tabbed(page, 2 * len(ways)) if TOOLBAR not in str(at)]
    assert [at if isinstance(at, str) else ways[at[0]] for at in stops] == ways
    assert [ways[at[0]] for at in stops if not at[1]] == [], "focus is not seen"
    page.evaluate(LEAVE)


def tabbed(page: Page, most: int) -> list[Any]:
    """Return where Tab leads, from the first element of the page's main part until focus leaves it."""
    stops: list[Any] = []
    while len(stops) < most:
        page.keyboard.press("Tab")
        at = page.evaluate(WHERE)
        if at is None:
            return stops
        stops.append(at)
    return stops


def check_arrows(page: Page) -> None:
    """Assert that an arrow key goes from a choice to the next."""
    for segment in page.locator(f"{SEGMENT}:first-child").all():
        segment.press("ArrowRight")
        assert page.evaluate(f"document.activeElement.matches('{SEGMENT} + {SEGMENT}')")
