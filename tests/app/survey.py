"""A page opened whole and looked at: from 1440 px in the light to 390 px in the dark, by keyboard and by axe-core."""

from typing import Any

from playwright.sync_api import Page

from tests.app import axe

ENDED = '[data-testid="stApp"][data-test-script-state="notRunning"]'
SETTLED = """() => {
    const app = document.querySelector('[data-testid="stApp"]')
    const main = document.querySelector('[data-testid="stMain"]')
    const charts = [...document.querySelectorAll('[data-testid="stPlotlyChart"]')]
    return app?.dataset.testScriptState === 'notRunning' && main?.querySelector('.vpp') &&
        !main.querySelector('[data-testid="stSkeleton"], [data-stale="true"]') &&
        charts.every((chart) => chart.querySelector('.main-svg'))
}"""
OPEN_FOLDS = """() => {
    let opened = 0
    for (const fold of document.querySelectorAll('[data-testid="stMain"] details:not([open])')) {
        if (fold.closest('[data-testid="stExpander"]') === fold.parentElement) fold.querySelector('summary').click()
        else fold.open = true
        opened += 1
    }
    return opened
}"""
SWITCHES = """() => {
    const off = [...document.querySelectorAll('[data-testid="stMain"] [data-testid="stCheckbox"] input:not(:checked)')]
    for (const one of off) if (!one.disabled && !one.dataset.tried) { one.dataset.tried = 'yes'; one.click() }
    return off.length
}"""
TEXT = """() => {
    const within = (root) => [...root.querySelectorAll('*')].reduce(
        (all, e) => e.shadowRoot ? all + ' ' + e.shadowRoot.textContent + within(e.shadowRoot) : all, '')
    const fields = [...document.querySelectorAll('input, textarea')].map((each) => `${each.value} ${each.placeholder}`)
    const words = document.body.textContent + ' ' + within(document.body) + ' ' + fields.join(' ')
    return words.replaceAll('\\u2060', '').replaceAll(/\\s+/g, ' ')
}"""
"""All characters of a page, fields included; white space as one blank, word joiners left out."""
MIDDLE = {False: 1024, True: 720}
"""Between a desk's screen and a phone's; 720 is a screen of 1440 px with the page at 200 %."""
FONTS = """() => [...document.querySelectorAll("body *")].filter(element => {
    const said = [...element.childNodes].some(node => node.nodeType === 3 && node.textContent.trim())
    const isIcon = element.closest("[data-testid=stIconMaterial], style, script, noscript")
    return said && !isIcon && element.getClientRects().length
        && !/^"?VPP (Sans|Serif|Mono)/.test(getComputedStyle(element).fontFamily)
}).map(element => `${getComputedStyle(element).fontFamily}: ${element.textContent.slice(0, 40)}`)"""
"""Text in a font that is not the product's."""
SIDEWAYS = """() => [document.documentElement, document.querySelector('[data-testid="stMain"]')]
    .filter((place) => place && place.scrollWidth > place.clientWidth)
    .map((place) => `${place.tagName} ${place.scrollWidth} > ${place.clientWidth}`)"""
STRUCTURE = """() => {
    const main = document.querySelector('[data-testid="stMain"]')
    const roles = (selector) => [...main.querySelectorAll(selector)].map((state) => state.getAttribute('role'))
    const live = '[aria-live], [role=status], [role=alert], [role=log]'
    const blocks = [...main.querySelectorAll('[data-testid="stPlotlyChart"], .vpp')]
    const heads = (i) => blocks.slice(0, i).flatMap((block) => [...block.querySelectorAll('h2, h3')])
    const name = (chart) => chart.closest('[aria-label]') ?? chart.querySelector('[aria-label]')
    return {
        title: document.title,
        errors: roles('.err'),
        empty: roles('.state:not(.err), .wait'),
        live: [...main.querySelectorAll('.deck, .card, .out, .mx, .band')].filter((part) => part.closest(live))
            .map((part) => part.className),
        charts: blocks.flatMap((block, i) => block.classList.contains('vpp') ? [] : [{
            name: name(block)?.getAttribute('aria-label') ?? '',
            head: heads(i).at(-1)?.textContent ?? '',
            table: blocks[i + 1]?.querySelector('details.astable summary')?.textContent ?? '',
        }]),
    }
}"""


def settle(page: Page) -> None:
    """Wait until the page's script has ended; twice, since a click begins it a moment later."""
    for _ in range(2):
        page.wait_for_timeout(120)
        page.wait_for_selector(ENDED)


def open_whole(page: Page) -> None:
    for _ in range(3):
        moved = page.evaluate(OPEN_FOLDS) + page.evaluate(SWITCHES)
        settle(page)
        if not moved:
            break
    for tab in page.get_by_role("tab").all():
        tab.click()
    page.evaluate(OPEN_FOLDS)
    settle(page)


def survey(page: Page, *, is_dark: bool) -> tuple[dict[str, list[Any]], dict[str, Any]]:
    """Return what is wrong with the page, by what should be, and its structure.

    is_dark: axe-core checks the narrow dark page, else the wide light one. The sizes are sampled likewise: each page at
    1440 and 390 px, and at one of the widths between.
    """
    wrong = {
        "text is in the product's fonts": page.evaluate(FONTS),
        "nothing is wider than 1440 px": page.evaluate(SIDEWAYS),
        "axe-core finds nothing": [] if is_dark else axe.faults(page),
    }
    structure = page.evaluate(STRUCTURE)
    resize(page, MIDDLE[is_dark])
    wrong[f"nothing is wider than {MIDDLE[is_dark]} px"] = page.evaluate(SIDEWAYS)
    page.emulate_media(color_scheme="dark")
    resize(page, 390)
    wrong["nothing is wider than 390 px"] = page.evaluate(SIDEWAYS)
    if is_dark:
        wrong["axe-core finds nothing"] = axe.faults(page)
    return wrong, structure


def resize(page: Page, width: int) -> None:
    """Resize the page, and wait until charts are drawn anew and the sidebar has moved."""
    page.set_viewport_size({"width": width, "height": 1000})
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    page.wait_for_function(SETTLED)
    page.wait_for_function("() => document.getAnimations().every((moving) => moving.playState !== 'running' || "
                           "moving.effect.getComputedTiming().iterations === Infinity)")  # fmt: skip


# By keyboard alone: where Tab leads, and whether one sees where one is


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
    stops = [at for at in tab_stops(page, 2 * len(ways)) if TOOLBAR not in str(at)]
    assert [at if isinstance(at, str) else ways[at[0]] for at in stops] == ways
    assert [ways[at[0]] for at in stops if not at[1]] == [], "focus is not seen"
    page.evaluate(LEAVE)


def tab_stops(page: Page, most: int) -> list[Any]:
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
