"""A run in a browser: its film, copied texts, the matrix, its report, and live."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, Route, expect

from pages.parts.asking import ASKING
from pages.parts.opening import SHIPPED
from tests import inspected
from tests.app.conftest import App, move_run, opening
from tests.live import Replay, replaying
from tests.reporting.builders import YES_NO, drawn, reweighted, run, scored, started
from tests.reporting.builders import finished as finished_step
from vpp.events import RunFinished
from vpp.reporting.document import report_html
from vpp.runs.directory import RunDirectory
from vpp.runs.store import unpack
from vpp.settings import Config

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def finished(app: App) -> str:
    """Address of a page, whose name stands in braces, of a finished run of two steps written by hand."""
    return (
        f"{app.url}/{{}}?run={move_run(app, inspected.labels(app.runs / 'made'), '20260102-0000-labels-smc-0000').name}"
    )


KEYS = """() => [...document.querySelectorAll('.stage article.card:not(.ghost)')].map((card) => card.dataset.key)"""


@pytest.fixture(scope="module")
def film(app: App) -> str:
    """Address of a run whose first step favours the first hypothesis, whose second step and end the second."""
    texts, answers = ("First.", "Second."), {0: "yes", 1: "no"}
    events = [started(Config(particles=2), YES_NO), *drawn(*texts)]
    for step, weights in enumerate(((0.8, 0.2), (0.2, 0.8))):
        events += [scored(step, k, text, {**answers, 2: answers[k]}) for k, text in enumerate(texts)]
        events += [reweighted(step, weights), finished_step(step, texts, weights=weights)]
    reader = run(app.runs / "made", *events, RunFinished(outcome="finished"))
    return f"{app.url}/watch?run={move_run(app, reader, '20260102-0001-film-smc-0000').name}"


MOVING = """() => document.getAnimations()
    .filter((each) => each.effect.target.closest(".stage article.card") && !each.animationName)"""
COVERED = f"""(now) => {{
    for (const each of ({MOVING})()) {{ each.pause(); each.currentTime = now }}
    const cards = [...document.querySelectorAll(".stage article.card")]
    const boxes = cards.filter((card) => getComputedStyle(card).opacity > 0.05)
        .map((card) => card.getBoundingClientRect()).sort((one, other) => one.top - other.top)
    return boxes.some((box, i) => i && box.top < boxes[i - 1].bottom - 2)
}}"""


def test_no_card_covers_another_while_they_glide(app: App, browser: Browser, film: str) -> None:
    with opening(browser, reduced_motion="no-preference") as context:
        page = context.new_page()
        page.goto(film)
        page.get_by_role("slider", name="Step shown").fill("1")
        page.get_by_role("heading", name="Step 1 of 2").wait_for()
        page.wait_for_function(f"() => ({MOVING})().length === 0")
        page.get_by_role("slider", name="Step shown").fill("2")
        page.wait_for_function(f"() => ({MOVING})().length > 0")
        assert not [now for now in range(0, 450, 25) if page.evaluate(COVERED, now)]


def test_a_film_sorts_each_step_under_a_resting_pointer(film: str, page: Page) -> None:
    page.goto(film)
    page.locator(".stage article.card").nth(1).hover()
    assert page.evaluate(KEYS) == ["2", "1"]
    page.get_by_role("button", name="Replay").press("Enter")
    for heading, keys in (("Step 1 of 2", ["1", "2"]), ("Step 2 of 2", ["2", "1"])):
        page.get_by_role("heading", name=heading).wait_for()
        page.wait_for_function(f"(keys) => `${{({KEYS})()}}` === `${{keys}}`", arg=keys)


def test_a_click_copies_the_whole_hypothesis_and_says_so(finished: str, page: Page) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.goto(finished.format("posterior"))
    page.locator("button.copy").first.click()
    page.locator("button.copy", has_text="Copied").wait_for()
    assert page.evaluate("navigator.clipboard.readText()") == inspected.EVEN


def test_a_row_is_opened_by_keys_or_by_a_press(finished: str, page: Page) -> None:
    page.set_viewport_size({"width": 390, "height": 900})
    page.goto(finished.format("disagreement"))
    rows = page.locator(".mx button.row")
    rows.first.wait_for()
    rows.first.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.locator('.mx tr[data-row="7"].now + tr.under').wait_for()
    assert page.evaluate("document.activeElement.textContent") == "7"
    page.locator('.mx tr[data-row="9"] td.in').click()
    page.locator('.mx tr[data-row="9"].now + tr.under').wait_for()
    page.locator('.mx tr[data-row="9"] td.in').click()
    page.locator(".mx tr.under").wait_for(state="detached")


def test_a_report_fits_and_follows_the_theme_without_a_complaint(browser: Browser, tmp_path: Path) -> None:
    report = tmp_path / "report.html"
    report.write_text(report_html(inspected.labels(tmp_path)), encoding="utf-8")
    complaints: list[str] = []
    with opening(browser, offline=True, color_scheme="light") as context:
        page = context.new_page()
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.goto(report.as_uri())
        for width in (390, 1440):
            page.set_viewport_size({"width": width, "height": 900})
            page.wait_for_function("width => document.documentElement.scrollWidth <= width", arg=width)
        words = page.locator(".card .hyp").first
        expect(words).to_have_css("color", "rgb(22, 32, 42)")
        page.emulate_media(color_scheme="dark")
        expect(words).to_have_css("color", "rgb(233, 236, 232)")
        page.emulate_media(media="print")
        expect(words).to_have_css("color", "rgb(22, 32, 42)")
        expect(page.locator("body")).to_have_css("background-color", "rgba(0, 0, 0, 0)")
    assert complaints == []


@contextmanager
def replay(app: App, made: RunDirectory, run_id: str, *, n_first: int = 1) -> Iterator[Replay]:
    with replaying(RunDirectory(made.path.rename(app.runs / run_id)), n_first=n_first) as live:
        yield live


TYPED = "half a w"
FIELD = '[data-testid="stForm"] input[type="text"]'
OPEN = """() => {
    const fold = document.querySelector('article.card details > summary')
    if (!fold) return null
    fold.click()
    return [fold.closest('article').dataset.key, fold.parentElement.dataset.fold]
}"""
SELECT = """() => {
    const words = [...document.querySelectorAll('article.card > div > .hyp')].at(-1)
    const range = document.createRange()
    range.selectNodeContents(words)
    document.getSelection().removeAllRanges()
    document.getSelection().addRange(range)
}"""
HELD = """([key, name]) => {
    const folded = document.querySelector(`article.card[data-key="${key}"]`)
    const selected = document.getSelection().anchorNode?.parentElement.closest('article.card')
    return folded && selected && {
        open: document.querySelector(`article.card[data-key="${key}"] details[data-fold="${name}"]`)?.open,
        selected: document.getSelection().toString(),
        scrolled: document.querySelector('[data-testid="stMain"]').scrollTop,
        places: [folded, selected].map((card) => Math.round(card.getBoundingClientRect().top)),
    }
}"""
ASKED = """(field) => ({
    typed: document.querySelector(field).value,
    has_focus: document.activeElement === document.querySelector(field),
    deck: document.querySelector('.vpp .deck').textContent,
})"""


def test_what_a_reader_holds_survives_two_steps_of_a_live_run(app: App, context: BrowserContext) -> None:
    example = unpack(SHIPPED, app.runs / "made")
    with replay(app, example, "20260105-0002-held-smc-0000", n_first=2) as live:
        watch = context.new_page()
        fold = hold_watch(watch, app, live.run)
        posterior = context.new_page()  # not before: a page behind another is slow to answer the pointer
        half_type(posterior, app, live.run)
        held, asked = seen(watch, fold), posterior.evaluate(ASKED, FIELD)
        for _ in range(2):
            before = watch.locator(".happened").text_content() or ""
            live.write_step()
            expect(watch.locator(".happened")).not_to_have_text(before)
        expect(posterior.locator(".vpp .deck").first).not_to_have_text(asked["deck"])
        later, asked_later = seen(watch, fold), posterior.evaluate(ASKED, FIELD)
        posterior.close()
        watch.close()
    assert (held["open"], later["open"]) == (True, True), f"an open fold stays open: {fold}"
    assert len(held["selected"]) > 10
    assert later["selected"] == held["selected"]
    assert min(held["scrolled"], later["scrolled"]) >= 200
    moved = [abs(after - before) for after, before in zip(later["places"], held["places"], strict=True)]
    assert min(moved) <= 1, "the first card in view that is read stays where it is"
    for each in (asked, asked_later):
        assert (each["typed"], each["has_focus"]) == (TYPED, True)


def hold_watch(page: Page, app: App, directory: RunDirectory) -> list[str]:
    """Open a fold of a card, select a sentence and scroll; return the card's key and the fold's name."""
    page.goto(f"{app.url}/watch?run={directory.id}")
    page.locator("article.card details").first.wait_for()
    fold: list[str] = page.wait_for_function(OPEN).json_value()
    page.evaluate(SELECT)
    page.evaluate("document.querySelector('[data-testid=\"stMain\"]').scrollTop = 300")
    page.wait_for_function("document.querySelector('[data-testid=\"stMain\"]').scrollTop >= 200")
    return fold


def seen(page: Page, fold: list[str]) -> Any:
    """Return what a reader holds, between two drawings of the page."""
    return page.wait_for_function(HELD, arg=fold).json_value()


def half_type(page: Page, app: App, directory: RunDirectory) -> None:
    """Type into a field of the form that asks the posterior, and neither press Enter nor leave it.

    A form is drawn again, empty, in the first moments of a page: type until the words stay.
    """
    page.goto(f"{app.url}/posterior?run={directory.id}")
    page.wait_for_selector(".vpp .deck article")
    page.get_by_text(ASKING).click()
    for _ in range(10):
        page.locator(FIELD).first.click()
        page.keyboard.press("ControlOrMeta+a")
        page.keyboard.type(TYPED)
        page.wait_for_timeout(1000)
        if page.evaluate(ASKED, FIELD)["typed"] == TYPED:
            return


SHIFTS = """
window.shifted = 0
new PerformanceObserver((list) => {
    for (const shift of list.getEntries()) if (!shift.hadRecentInput) window.shifted += shift.value
}).observe({ type: 'layout-shift' })
"""
WHOLE = """() => [...document.querySelectorAll('.stage article.card')].filter((card) => {
    const { top, bottom } = card.getBoundingClientRect()
    return top >= 0 && bottom <= innerHeight
}).length"""
SCREENS = ((1440, 900, 4), (1280, 720, 3), (1024, 768, 3), (390, 844, 2))
"""Width, height, and the fewest complete cards."""
MOST_SHIFTED = 0.1


def test_what_follows_the_cards_is_out_of_sight_until_they_are_there(browser: Browser, finished: str) -> None:
    scripts: list[Route] = []
    with opening(browser) as context:
        page = context.new_page()
        page.route("**/BidiComponent*.js", lambda route: scripts.append(route))
        page.goto(finished.format("posterior"))
        below = page.get_by_text("Ask about new rows")
        below.wait_for(state="attached")
        expect(below).to_be_hidden()
        scripts[0].continue_()
        expect(below).to_be_visible()


def test_a_live_run_does_not_jump_and_shows_complete_cards(app: App, browser: Browser) -> None:
    example = unpack(SHIPPED, app.runs / "made")
    with replay(app, example, "20260105-0003-steady-smc-0000", n_first=2) as live, ExitStack() as stack:
        pages = []
        for width, height, _ in SCREENS:
            viewport = {"width": width, "height": height}
            context = stack.enter_context(opening(browser, viewport=viewport, reduced_motion="no-preference"))
            page = context.new_page()
            page.goto(f"{app.url}/watch?run={live.run.id}")
            page.locator("article.card .hyp").first.wait_for()
            page.wait_for_timeout(1_000)  # fonts, and the list of runs
            page.evaluate(SHIFTS)
            pages.append(page)
        for n in range(2, 2 + len(live.steps)):
            live.write_step()
            for page, (width, _, least) in zip(pages, SCREENS, strict=True):
                expect(page.get_by_role("heading", name=f"Step {n} of")).to_be_visible()
                page.wait_for_timeout(500)
                assert page.evaluate(WHOLE) >= least, width
        live.end()
        for page in pages:
            expect(page.get_by_label("Verdict")).to_be_visible()
            expect(page.get_by_role("heading", name="Hypotheses at the end")).to_be_visible()
            page.wait_for_timeout(1_000)
        shifted = {width: page.evaluate("window.shifted") for page, (width, *_) in zip(pages, SCREENS, strict=True)}
        assert max(shifted.values()) < MOST_SHIFTED, shifted
