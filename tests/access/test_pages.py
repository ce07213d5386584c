"""Every page as axe-core, a narrow screen, a screen reader and a keyboard have it: one visit a page."""

from itertools import pairwise
from typing import Any

import pytest
from playwright.sync_api import Page

from tests.access import axe
from tests.access.places import PLACES, settle
from tests.access.survey import check_arrows, survey
from tests.app.conftest import App
from vpp.show import markup
from vpp.show.cards import skeletons_html

pytestmark = pytest.mark.browser


@pytest.mark.parametrize("name", PLACES)
def test_a_page_is_accessible(page: Page, shown: App, name: str) -> None:
    """Each page is checked by axe-core in one theme and width; neighbours in the list differ in both."""
    place = PLACES[name]
    wrong, structure = survey(page, shown.url, place, is_dark=list(PLACES).index(name) % 2 == 1)
    assert {what: found for what, found in wrong.items() if found} == {}
    assert page.locator("[data-testid=stAppDeployButton], [data-testid=stException]").count() == 0
    check_structure(structure, name)
    if place.is_walked:
        check_arrows(page)


def check_structure(structure: dict[str, Any], name: str) -> None:
    assert (structure["title"], structure["lang"], structure["mains"]) == (f"{PLACES[name].title} · VPP", "en", 1)
    levels = [level for level, _ in structure["headings"]]
    assert levels.count(1) == 1
    assert levels[0] == 1
    assert [(a, b) for a, b in pairwise(levels) if b > a + 1] == [], "headings skip no level"
    # An error is announced immediately, a state when the reader pauses, cards and matrices never.
    assert set(structure["errors"]) <= {"alert"}
    assert set(structure["empty"]) <= {"status"}
    assert structure["live"] == []
    for chart in structure["charts"]:
        assert len(chart["name"].split()) >= 5
        assert chart["name"] != chart["head"]
        assert chart["table"] == "Show as table"


MOVING = """() => document.getAnimations()
    .filter((moving) => moving.playState === 'running' && moving.effect.target?.closest('.vpp'))
    .map((moving) => moving.animationName ?? moving.transitionProperty)"""


def test_planted_faults_are_found_and_what_waits_moves_unless_motion_is_reduced(page: Page, shown: App) -> None:
    """An image without words, a button without a name, pale text: axe-core names each, and whose it is."""
    planted = '<img src="data:,"><button></button><p style="color:#ddd;background:#fff">pale</p>'
    place = PLACES["no such run"]
    page.emulate_media(color_scheme="light")
    page.goto(shown.url + place.path)
    settle(page, place)
    page.eval_on_selector(
        place.shows,
        "(state, html) => state.insertAdjacentHTML('beforeend', html)",
        planted + markup.block(skeletons_html(1)),
    )
    found = [each for each in axe.faults(page) if each.is_ours]
    assert {"image-alt", "button-name", "color-contrast"} <= {each.rule for each in found}
    assert {each.impact for each in found if each.rule != "image-alt"} <= {"serious", "critical"}
    assert page.evaluate(MOVING) == []
    page.emulate_media(reduced_motion="no-preference")
    assert set(page.evaluate(MOVING)) == {"vpp-breathe"}
