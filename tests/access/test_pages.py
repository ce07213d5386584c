"""Every page as axe-core, a narrow screen and a screen reader have it."""

from collections.abc import Iterator
from contextlib import nullcontext
from itertools import pairwise

import pytest
from playwright.sync_api import Browser, Page

from tests.access import axe
from tests.access.conftest import emptied, opened
from tests.access.places import PLACES, settle
from tests.access.survey import Survey, survey
from tests.app.conftest import App

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def page(browser: Browser) -> Iterator[Page]:
    """Open the one page that is taken to every place."""
    axe.required()
    with opened(browser) as page:
        yield page


@pytest.mark.parametrize("name", PLACES)
def test_a_page_is_accessible(page: Page, shown: App, name: str) -> None:
    place = PLACES[name]
    with emptied(shown) if place.is_first else nullcontext():
        found = survey(page, shown.url, place)
    for theme in (found.light, found.dark):
        assert axe.ours(theme) == []
        assert axe.unlisted(theme) == [], "Streamlit breaks a rule that is not on the list"
    assert found.sideways == {1440: [], 1024: [], 720: [], 390: []}
    assert found.small == [], "24 px high, but for what is part of a line of text (WCAG 2.2, 2.5.8)"
    check_structure(found, name)


def check_structure(found: Survey, name: str) -> None:
    told = found.structure
    assert (told["title"], told["lang"], told["mains"]) == (f"{PLACES[name].title} · VPP", "en", 1)
    levels = [level for level, _ in told["headings"]]
    assert levels.count(1) == 1
    assert levels[0] == 1
    assert [(a, b) for a, b in pairwise(levels) if b > a + 1] == [], "headings skip no level"
    # An error is announced immediately, a state when the reader pauses, cards and matrices never.
    assert set(told["errors"]) <= {"alert"}
    assert set(told["empty"]) <= {"status"}
    assert told["live"] == []
    charts = told["charts"] if name.startswith(("watch", "disagreement", "compare")) else [None]
    assert charts
    for chart in filter(None, charts):
        assert len(chart["name"].split()) >= 5
        assert chart["name"] != chart["head"]
        assert chart["table"] == "Show as table"


def test_a_planted_fault_is_found(page: Page, shown: App) -> None:
    """An image without words, a button without a name, pale text: the same check tells each, and whose it is."""
    planted = '<img src="data:,"><button></button><p style="color:#ddd;background:#fff">pale</p>'
    place = PLACES["no such run"]
    page.emulate_media(color_scheme="light")
    page.goto(shown.url + place.path)
    page.wait_for_selector(place.shows)
    page.eval_on_selector(place.shows, "(state, html) => state.insertAdjacentHTML('beforeend', html)", planted)
    found = axe.ours(axe.findings(page))
    assert {"image-alt", "button-name", "color-contrast"} <= {each.rule for each in found}
    assert {each.impact for each in found if each.rule != "image-alt"} <= {"serious", "critical"}


MOVING = """() => document.getAnimations()
    .filter((moving) => moving.playState === 'running' && moving.effect.target?.closest('.vpp'))
    .map((moving) => moving.animationName ?? moving.transitionProperty)"""


def test_what_waits_moves_unless_motion_is_reduced(page: Page, shown: App) -> None:
    for motion, moving in (("reduce", set()), ("no-preference", {"vpp-breathe"})):
        page.emulate_media(reduced_motion=motion)  # type: ignore[arg-type]
        page.goto(shown.url + PLACES["gallery"].path)
        settle(page, PLACES["gallery"])
        page.locator(".vpp .wait").first.wait_for()
        assert set(page.evaluate(MOVING)) == moving
