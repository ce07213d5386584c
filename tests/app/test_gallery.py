"""The gallery, where every piece of the instrument stands beside the others; and what no page has of bare Streamlit.

Pictures go to $VPP_PICTURES if it is set.
"""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page

from tests import inspected
from vpp.wording.theme import Mode

from .conftest import App, Visit, serving

WIDTHS = (1440, 1024, 390)
PAGES = ("", "watch")
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
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    """With one finished run, which only the other pages need."""
    runs = tmp_path_factory.mktemp("gallery")
    inspected.labels(runs)
    with serving(runs) as served:
        yield served


@pytest.fixture(scope="module", params=["light", "dark"])
def gallery(app: App, browser: Browser, request: pytest.FixtureRequest) -> Iterator[tuple[Mode, Visit]]:
    """The gallery in one theme, drawn to its end."""
    context = browser.new_context(viewport={"width": 1440, "height": 1000}, color_scheme=request.param)
    page, asked = context.new_page(), []
    page.on("request", lambda sent: asked.append(sent.url))
    page.on("websocket", lambda opened: asked.append(opened.url))
    page.goto(f"{app.url}/gallery")
    at_rest(page)
    yield request.param, Visit(page, asked)
    context.close()


def at_rest(page: Page) -> None:
    """Waits until the server has drawn all, and every chart stands."""
    page.wait_for_selector(".vpp h1")
    page.wait_for_selector("[data-testid=stStatusWidget]", state="detached")
    page.wait_for_function("() => !document.querySelector('[data-testid=stSkeleton]')")
    page.evaluate("document.fonts.ready.then(() => true)")


def test_every_named_piece_is_seen(gallery: tuple[Mode, Visit]) -> None:
    shown = gallery[1].page
    shown.wait_for_selector("[data-testid=stExpander]")
    assert shown.evaluate(UNSEEN, [f".vpp{' ' * (not piece.startswith('.tree'))}{piece}" for piece in PIECES]) == []


def test_every_field_of_streamlit_is_seen(gallery: tuple[Mode, Visit]) -> None:
    assert gallery[1].page.evaluate(UNSEEN, [f"[data-testid=st{field}]" for field in FIELDS]) == []


def test_nothing_fails(gallery: tuple[Mode, Visit]) -> None:
    assert gallery[1].page.locator("[data-testid=stException], [data-testid=stAlert]").count() == 0


@pytest.mark.parametrize("width", WIDTHS)
def test_nothing_overflows_sideways(gallery: tuple[Mode, Visit], width: int) -> None:
    mode, shown = gallery[0], gallery[1].page
    shown.set_viewport_size({"width": width, "height": 1000})
    shown.wait_for_function(FITS)
    if folder := os.environ.get("VPP_PICTURES"):
        photograph(shown, Path(folder) / f"gallery-{width}-{mode}.png")


def photograph(page: Page, path: Path) -> None:
    """The whole page: the window is made as high as what scrolls in it, then as before."""
    size = page.viewport_size or {"width": 1440, "height": 1000}
    height = page.evaluate("document.querySelector('[data-testid=stMain]').scrollHeight")
    page.set_viewport_size({"width": size["width"], "height": height})
    page.wait_for_timeout(300)
    path.parent.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=path)
    page.set_viewport_size(size)


def test_it_asks_nobody_outside(gallery: tuple[Mode, Visit]) -> None:
    assert gallery[1].outside == []


@pytest.mark.parametrize("family", ["VPP Serif", "VPP Sans", "VPP Mono"])
def test_its_fonts_are_loaded(gallery: tuple[Mode, Visit], family: str) -> None:
    gallery[1].page.wait_for_function(LOADED, arg=family)


def test_it_is_not_in_the_navigation(gallery: tuple[Mode, Visit]) -> None:
    links = gallery[1].page.locator("[data-testid=stSidebarNavLink]").all_inner_texts()
    assert links[1] == "Watch"
    assert "Gallery" not in links


def test_every_word_of_it_is_set_in_the_products_fonts(gallery: tuple[Mode, Visit]) -> None:
    assert gallery[1].page.evaluate(STRANGERS) == []


@pytest.fixture(scope="module", params=PAGES)
def page(app: App, context: BrowserContext, request: pytest.FixtureRequest) -> Iterator[Page]:
    """A page in the light, drawn to its end."""
    opened = context.new_page()
    opened.emulate_media(color_scheme="light")
    opened.set_viewport_size({"width": 1440, "height": 700})
    run = next(path.name for path in app.runs.iterdir() if path.is_dir())
    opened.goto(f"{app.url}/{request.param}?run={run}")
    at_rest(opened)
    yield opened
    opened.close()


def test_every_word_is_set_in_the_products_fonts(page: Page) -> None:
    assert page.evaluate(STRANGERS) == []


def test_there_is_one_scroll_bar(page: Page) -> None:
    assert page.evaluate(SCROLLERS) in (["stMain"], [])


def test_there_is_no_deploy_button(page: Page) -> None:
    assert page.locator("[data-testid=stAppDeployButton]").count() == 0
