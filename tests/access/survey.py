"""A place looked at once: at 1440 px in the light, at the widths between, and at 390 px in the dark."""

from dataclasses import dataclass
from typing import Any

from playwright.sync_api import Page

from tests.access.axe import Finding, findings
from tests.access.places import SETTLED, Place, come

WIDTHS = (1024, 720)
"""Between a desk's screen and a phone's; 720 is a screen of 1440 px with the page at 200 %."""
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


@dataclass(frozen=True, slots=True)
class Survey:
    """What was found at a place."""

    light: list[Finding]
    dark: list[Finding]
    sideways: dict[int, list[str]]
    """By width, what is wider than its place."""
    small: list[str]
    """Targets of ours less than 24 px high on a phone."""
    structure: dict[str, Any]


def survey(page: Page, url: str, place: Place) -> Survey:
    """Goes there and looks."""
    page.set_viewport_size({"width": 1440, "height": 1000})
    page.emulate_media(color_scheme="light")
    come(page, url, place)
    structure, light = page.evaluate(STRUCTURE), findings(page)
    sideways = {1440: page.evaluate(SIDEWAYS)}
    for width in WIDTHS:
        resize(page, width)
        sideways[width] = page.evaluate(SIDEWAYS)
    page.emulate_media(color_scheme="dark")
    resize(page, 390)
    sideways[390] = page.evaluate(SIDEWAYS)
    return Survey(light, findings(page), sideways, page.evaluate(SMALL, 24), structure)


def resize(page: Page, width: int) -> None:
    """Until what follows the width has followed: charts are drawn anew, the sidebar gives way."""
    page.set_viewport_size({"width": width, "height": 1000})
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    page.wait_for_function(SETTLED)
    page.wait_for_function("() => document.getAnimations().every((moving) => moving.playState !== 'running' || "
                           "moving.effect.getComputedTiming().iterations === Infinity)")  # fmt: skip
