"""The gallery shows every piece of the app, drawn as it should be; and no page has marks of bare Streamlit.

Pictures go to $VPP_PICTURES if it is set.
"""

import os
from pathlib import Path

import pytest
from playwright.sync_api import Page

from tests import inspected
from tests.app.conftest import App, Visit, placed
from vpp.wording.theme import Mode

pytestmark = pytest.mark.browser
WIDTHS = (1440, 1024, 390)
MODES: tuple[Mode, ...] = ("light", "dark")
PIECES = (
    *(".banner", ".title h1", ".say", ".strip dd", ".sec h2", ".legend .badge", ".seed", ".t td"),
    *(".card .wt", ".card.faint", ".card .hyp ins", ".card .hyp del", ".card details[open] .hyp"),
    *(f".card .m.{mark}" for mark in ("acc", "rej", "gone", "abs", "same")),
    *(f".card .sq .{answer}" for answer in ("ok", "no", "ab")),
    *(".band .b.done u", ".mx td.di", ".mx td.ab", ".vote .c0", ".vote .c1", ".vote .ca", ".kin td", ".out .why td"),
    *(".tree svg.lines", ".state:not(.err) p", ".state.err p", ".wait i"),
)
FIELDS = (
    *("BaseButton-primary", "BaseButton-secondary", "TextInput", "NumberInput", "Selectbox", "Slider", "Checkbox"),
    *("ButtonGroup", "FileUploader", "TextArea", "Expander", "PageLink", "PlotlyChart"),
)
UNSEEN = """selectors => selectors.filter(selector => ![...document.querySelectorAll(selector)].some(element => {
    const box = element.getBoundingClientRect()
    return box.width > 0 && box.height > 0
}))"""
FITS = """() => [document.documentElement, document.querySelector("[data-testid=stMain]")].every(
    element => element.scrollWidth === element.clientWidth)"""
LOADED = """family => [...document.fonts].some(
    face => face.family.replaceAll('"', "") === family && face.status === "loaded")"""
STRANGERS = """() => [...document.querySelectorAll("body *")].filter(element => {
    const said = [...element.childNodes].some(node => node.nodeType === 3 && node.textContent.trim())
    const isIcon = element.closest("[data-testid=stIconMaterial], style, script, noscript")
    return said && !isIcon && element.getClientRects().length
        && !/^"?VPP (Sans|Serif|Mono)/.test(getComputedStyle(element).fontFamily)
}).map(element => `${getComputedStyle(element).fontFamily}: ${element.textContent.slice(0, 40)}`)"""
SCROLLERS = """() => [...document.querySelectorAll("*")].filter(element => {
    const style = getComputedStyle(element)
    return /auto|scroll/.test(style.overflowY) && element.scrollHeight > element.clientHeight + 1
        && element.clientHeight > innerHeight / 2 && !element.closest("[data-testid=stSidebar]")
}).map(element => element.dataset.testid ?? element.tagName)"""


@pytest.fixture(scope="module")
def run(app: App) -> str:
    """A finished run, which the other pages need."""
    return placed(app, inspected.labels(app.runs / "made"), "20260106-0000-gallery-smc-0000").name


def wait_until_drawn(page: Page) -> None:
    """Wait until the server has drawn all, and every chart is there."""
    page.wait_for_selector(".vpp h1")
    page.wait_for_selector("[data-testid=stStatusWidget]", state="detached")
    page.wait_for_function("() => !document.querySelector('[data-testid=stSkeleton]')")
    page.evaluate("document.fonts.ready.then(() => true)")


def test_every_piece_and_field_is_seen_in_both_themes_and_at_every_width(app: App, visit: Visit) -> None:
    page = visit.page
    page.goto(f"{app.url}/gallery")
    wait_until_drawn(page)
    page.wait_for_selector("[data-testid=stExpander]")
    links = page.locator("[data-testid=stSidebarNavLink]").all_inner_texts()
    assert links[1] == "Watch"
    assert "Gallery" not in links
    for family in ("VPP Serif", "VPP Sans", "VPP Mono"):
        page.wait_for_function(LOADED, arg=family)
    pieces = [f".vpp{' ' * (not piece.startswith('.tree'))}{piece}" for piece in PIECES]
    fields = [f"[data-testid=st{field}]" for field in FIELDS]
    for mode in MODES:
        page.emulate_media(color_scheme=mode)
        wait_until_drawn(page)
        assert page.evaluate(UNSEEN, [*pieces, *fields]) == [], mode
        assert page.locator("[data-testid=stException], [data-testid=stAlert]").count() == 0
        assert page.evaluate(STRANGERS) == []
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": 1000})
            page.wait_for_function(FITS)
            if folder := os.environ.get("VPP_PICTURES"):
                photograph(page, Path(folder) / f"gallery-{width}-{mode}.png")
        page.set_viewport_size({"width": 1440, "height": 1000})
    assert visit.outside == []


def photograph(page: Page, path: Path) -> None:
    """Photograph the whole page: make the window as high as what scrolls in it, then as before."""
    size = page.viewport_size or {"width": 1440, "height": 1000}
    height = page.evaluate("document.querySelector('[data-testid=stMain]').scrollHeight")
    page.set_viewport_size({"width": size["width"], "height": height})
    page.wait_for_timeout(300)
    path.parent.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=path)
    page.set_viewport_size(size)


def test_other_pages_use_the_products_fonts_one_scroll_bar_and_no_deploy_button(
    app: App, visit: Visit, run: str
) -> None:
    page = visit.page
    page.set_viewport_size({"width": 1440, "height": 700})
    for name in ("", "watch"):
        page.goto(f"{app.url}/{name}?run={run}")
        wait_until_drawn(page)
        assert page.evaluate(STRANGERS) == [], name
        assert page.evaluate(SCROLLERS) in (["stMain"], []), name
        assert page.locator("[data-testid=stAppDeployButton]").count() == 0, name
