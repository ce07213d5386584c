"""A place looked at once: from 1440 px in the light to 390 px in the dark, by keyboard and by axe-core."""

from typing import Any

from playwright.sync_api import Page

from tests.access.axe import faults
from tests.access.places import FOLDS, SETTLED, Place, settle
from tests.access.walk import check_tab

MIDDLE = {False: 1024, True: 720}
"""Between a desk's screen and a phone's; 720 is a screen of 1440 px with the page at 200 %."""
FONTS = """() => [...document.querySelectorAll("body *")].filter(element => {
    const said = [...element.childNodes].some(node => node.nodeType === 3 && node.textContent.trim())
    const isIcon = element.closest("[data-testid=stIconMaterial], style, script, noscript")
    return said && !isIcon && element.getClientRects().length
        && !/^"?VPP (Sans|Serif|Mono)/.test(getComputedStyle(element).fontFamily)
}).map(element => `${getComputedStyle(element).fontFamily}: ${element.textContent.slice(0, 40)}`)"""
"""Text in a font that is not the product's."""
SCROLLERS = """() => [...document.querySelectorAll("*")].filter(element => {
    const style = getComputedStyle(element)
    return /auto|scroll/.test(style.overflowY) && element.scrollHeight > element.clientHeight + 1
        && element.clientHeight > innerHeight / 2 && !element.closest("[data-testid=stSidebar]")
}).map(element => element.dataset.testid ?? element.tagName)"""
SIDEWAYS = """() => [document.documentElement, document.querySelector('[data-testid="stMain"]')]
    .filter((place) => place.scrollWidth > place.clientWidth)
    .map((place) => `${place.tagName} ${place.scrollWidth} > ${place.clientWidth}`)"""
SMALL = """(least) => [...document.querySelectorAll(
        '.vpp :is(a[href], button, summary, input, select, textarea, [role="button"])')]
    .filter((target) => target.checkVisibility({visibilityProperty: true}) && !target.closest('[popover]'))
    .filter((target) => {
        const held = target.labels?.[0] ?? target
        const isInline = getComputedStyle(target).display === 'inline' && target.closest('p, li, h2, dt, th, td')
        return !isInline && Math.max(held.getBoundingClientRect().height, target.getBoundingClientRect().height) < least
    })
    .map((target) => `${target.getBoundingClientRect().height} ${target.outerHTML.slice(0, 120)}`)"""
STRUCTURE = """() => {
    const main = document.querySelector('[data-testid="stMain"]')
    const isShown = (element) => element.checkVisibility({visibilityProperty: true})
    const roles = (selector) => [...main.querySelectorAll(selector)].map((state) => state.getAttribute('role'))
    const live = '[aria-live], [role=status], [role=alert], [role=log]'
    const blocks = [...main.querySelectorAll('[data-testid="stPlotlyChart"], .vpp')]
    const heads = (i) => blocks.slice(0, i).flatMap((block) => [...block.querySelectorAll('h2, h3')])
    const name = (chart) => chart.closest('[aria-label]') ?? chart.querySelector('[aria-label]')
    return {
        title: document.title,
        lang: document.documentElement.lang,
        mains: document.querySelectorAll('main, [role=main]').length,
        headings: [...main.querySelectorAll('h1, h2, h3, h4, h5, h6')].filter(isShown)
            .map((heading) => [Number(heading.tagName[1]), heading.textContent.trim()]),
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


def survey(page: Page, url: str, place: Place, *, is_dark: bool) -> tuple[dict[str, list[Any]], dict[str, Any]]:
    """Go there and look; return what is wrong, by what should be, and the page's structure.

    is_dark: axe-core checks the narrow dark page, else the wide light one. The sizes are sampled likewise: each page at
    1440 and 390 px, and at one of the widths between.
    """
    page.set_viewport_size({"width": 1440, "height": 1000})
    page.emulate_media(color_scheme="light")
    page.goto(url + place.path)
    settle(page, place)
    if place.is_walked:
        check_tab(page)
    place.act(page)
    page.wait_for_function(SETTLED)
    page.evaluate(FOLDS)
    wrong = {
        "text is in the product's fonts": page.evaluate(FONTS),
        "one scroll bar": [each for each in page.evaluate(SCROLLERS) if each != "stMain"],
        "nothing is wider than 1440 px": page.evaluate(SIDEWAYS),
        "axe-core finds nothing": [] if is_dark else faults(page),
    }
    structure = page.evaluate(STRUCTURE)
    resize(page, MIDDLE[is_dark])
    wrong[f"nothing is wider than {MIDDLE[is_dark]} px"] = page.evaluate(SIDEWAYS)
    page.emulate_media(color_scheme="dark")
    resize(page, 390)
    wrong["nothing is wider than 390 px"] = page.evaluate(SIDEWAYS)
    wrong["targets are 24 px high, but for what is part of a line of text (WCAG 2.2, 2.5.8)"] = page.evaluate(SMALL, 24)
    if is_dark:
        wrong["axe-core finds nothing"] = faults(page)
    return wrong, structure


def resize(page: Page, width: int) -> None:
    """Resize the page, and wait until charts are drawn anew and the sidebar has moved."""
    page.set_viewport_size({"width": width, "height": 1000})
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    page.wait_for_function(SETTLED)
    page.wait_for_function("() => document.getAnimations().every((moving) => moving.playState !== 'running' || "
                           "moving.effect.getComputedTiming().iterations === Infinity)")  # fmt: skip
