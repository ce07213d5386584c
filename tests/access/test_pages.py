"""Every page as axe-core, a narrow screen and a screen reader have it."""

from collections.abc import Callable, Iterator
from functools import cache
from itertools import pairwise

import pytest
from playwright.sync_api import Browser

from tests.access import axe
from tests.access.conftest import opened
from tests.access.places import PLACES
from tests.access.survey import Survey, survey
from tests.app.conftest import App

pytestmark = pytest.mark.browser
Look = Callable[[str], Survey]
everywhere = pytest.mark.parametrize("name", PLACES)


@pytest.fixture(scope="module")
def look(browser: Browser, shown: App, fresh: App) -> Iterator[Look]:
    """Each place is gone to once."""
    axe.required()
    with opened(browser) as page:

        def seen(name: str) -> Survey:
            place = PLACES[name]
            return survey(page, (fresh if place.is_first else shown).url, place)

        yield cache(seen)


@everywhere
def test_nothing_of_ours_breaks_a_rule(look: Look, name: str) -> None:
    found = look(name)
    assert axe.ours(found.light) == []
    assert axe.ours(found.dark) == []


@everywhere
def test_what_streamlit_breaks_is_known(look: Look, name: str) -> None:
    found = look(name)
    assert axe.unlisted(found.light) == []
    assert axe.unlisted(found.dark) == []


@everywhere
def test_no_page_scrolls_sideways(look: Look, name: str) -> None:
    assert look(name).sideways == {1440: [], 1024: [], 720: [], 390: []}


@everywhere
def test_a_finger_finds_its_target(look: Look, name: str) -> None:
    """24 px high, but for what stands in a line of text (WCAG 2.2, 2.5.8)."""
    assert look(name).small == []


@everywhere
def test_headings_start_at_one_and_skip_no_level(look: Look, name: str) -> None:
    levels = [level for level, _ in look(name).structure["headings"]]
    assert levels.count(1) == 1
    assert levels[0] == 1
    assert [(a, b) for a, b in pairwise(levels) if b > a + 1] == []


@everywhere
def test_the_page_says_what_it_is_and_in_which_language(look: Look, name: str) -> None:
    found = look(name).structure
    assert (found["title"], found["lang"], found["mains"]) == (f"{PLACES[name].title} · VPP", "en", 1)


@everywhere
def test_what_is_live_is_said_at_the_right_time(look: Look, name: str) -> None:
    """An error at once, a state when there is room, cards and matrices never."""
    found = look(name).structure
    assert set(found["errors"]) <= {"alert"}
    assert set(found["empty"]) <= {"status"}
    assert found["live"] == []


CHARTED = [name for name in PLACES if name.startswith(("watch", "disagreement", "compare"))]


@pytest.mark.parametrize("name", CHARTED)
def test_a_chart_says_its_finding_and_has_a_table(look: Look, name: str) -> None:
    charts = look(name).structure["charts"]
    assert charts
    for chart in charts:
        assert len(chart["name"].split()) >= 5
        assert chart["name"] != chart["head"]
        assert chart["table"] == "Show as table"


def test_a_planted_fault_is_found(browser: Browser, shown: App) -> None:
    """An image without words, a button without a name, pale text: the same check tells each, and whose it is."""
    axe.required()
    planted = '<img src="data:,"><button></button><p style="color:#ddd;background:#fff">pale</p>'
    with opened(browser) as page:
        place = PLACES["no such run"]
        page.goto(shown.url + place.path)
        page.wait_for_selector(place.shows)
        page.eval_on_selector(place.shows, "(state, html) => state.insertAdjacentHTML('beforeend', html)", planted)
        found = axe.ours(axe.findings(page))
    assert {"image-alt", "button-name", "color-contrast"} <= {each.rule for each in found}
    assert {each.impact for each in found if each.rule != "image-alt"} <= {"serious", "critical"}
