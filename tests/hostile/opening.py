"""Everything of a page opened: folds, tabs, switches, popovers and the hover of charts."""

from playwright.sync_api import Page

ENDED = '[data-testid="stApp"][data-test-script-state="notRunning"]'
MAIN = '[data-testid="stMain"]'
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
WIDER = """() => {
    const main = document.querySelector('[data-testid="stMain"]') ?? document.documentElement
    return main.scrollWidth - main.clientWidth
}"""


def settled(page: Page) -> None:
    """Wait until the page's script has ended; twice, since a click begins it a moment later."""
    for _ in range(2):
        page.wait_for_timeout(120)
        page.wait_for_selector(ENDED)


def opened_whole(page: Page) -> None:
    """Open folds within folds, switches, then each tab."""
    for _ in range(3):
        moved = page.evaluate(OPEN_FOLDS) + page.evaluate(SWITCHES)
        settled(page)
        if not moved:
            break
    for tab in page.get_by_role("tab").all():
        tab.click()
    page.evaluate(OPEN_FOLDS)
    settled(page)


def text(page: Page) -> str:
    """Return all characters of a page, fields included; white space as one blank, word joiners left out."""
    return str(page.evaluate(TEXT))


def wider_by(page: Page) -> int:
    """Return how many pixels the page is wider than its place."""
    return int(page.evaluate(WIDER))
