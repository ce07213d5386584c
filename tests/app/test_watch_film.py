"""A finished run is replayed as a film: step after step as it is drawn, until its end or a hand stops it."""

import os
import signal
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests import inspected
from tests.app.conftest import App, Visit, serving

pytestmark = pytest.mark.browser
WITHIN_MS = 60_000
BEYOND_MS = 700
"""Longer than a film at full speed stays at a step."""


@pytest.fixture(scope="module")
def films(tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    """A finished run of two steps by hand."""
    with serving(tmp_path_factory.mktemp("runs")) as app:
        inspected.labels(app.runs)
        yield app


def opened(films: App, visit: Visit) -> Page:
    run = next(path.name for path in films.runs.iterdir() if (path / "run.json").exists())
    visit.page.set_default_timeout(WITHIN_MS)
    expect.set_options(timeout=WITHIN_MS)
    visit.page.goto(f"{films.url}/watch?run={run}")
    visit.page.get_by_text("Hypotheses at the end").wait_for()
    visit.page.get_by_role("button", name="Play the film").wait_for()
    # Every place that is shown from now on, in order, and how often the slider is drawn.
    visit.page.evaluate(
        """() => {
            window.places = ['the end']
            window.drawn = 0
            const follow = document.querySelector('.scrubber .follow span')
            new MutationObserver(() => drawn++).observe(follow, { childList: true })
            const note = () => {
                const place = document.querySelector('.slide output').textContent
                if (places.at(-1) !== place) places.push(place)
            }
            new MutationObserver(note).observe(document.body, { childList: true, subtree: true, characterData: true })
        }"""
    )
    return visit.page


def test_a_film_shows_every_step_to_the_end_and_stops_there(films: App, visit: Visit) -> None:
    page = opened(films, visit)
    page.get_by_label("Speed").select_option("4")
    page.get_by_role("slider", name="Step shown").press(" ")
    page.get_by_role("button", name="Pause the film").wait_for()
    page.wait_for_function("() => places.length > 1 && places.at(-1) === 'the end'")
    page.get_by_role("button", name="Play the film").wait_for()
    assert page.evaluate("places") == ["the end", "step 0", "step 1", "the end"]
    expect(page.get_by_text("The last texts were weighed once more")).to_be_visible()


def test_a_film_waits_for_a_server_that_is_held(films: App, visit: Visit) -> None:
    """Another theme draws the slider again, with what the server said last: no word that the step is drawn."""
    page = opened(films, visit)
    page.get_by_label("Speed").select_option("4")
    page.get_by_role("slider", name="Step shown").press(" ")
    page.wait_for_function("() => places.includes('step 0')")
    os.kill(films.pid, signal.SIGSTOP)
    try:
        for scheme in ("dark", "light"):
            drawn = page.evaluate("drawn")
            page.emulate_media(color_scheme=scheme)
            page.wait_for_function("() => drawn > " + str(drawn))
            page.wait_for_timeout(BEYOND_MS)
        assert "the end" not in page.evaluate("places.slice(1)")
    finally:
        os.kill(films.pid, signal.SIGCONT)
    page.wait_for_function("() => places.length > 1 && places.at(-1) === 'the end'")
    assert page.evaluate("places") == ["the end", "step 0", "step 1", "the end"]


def test_a_move_by_hand_stops_the_film_where_the_hand_puts_it(films: App, visit: Visit) -> None:
    page = opened(films, visit)
    page.get_by_label("Speed").select_option("0.5")
    page.get_by_role("button", name="Play the film").click()
    expect(page.get_by_text("Hypotheses at step 0")).to_be_visible()
    page.get_by_role("slider", name="Step shown").press("ArrowRight")
    page.get_by_role("button", name="Play the film").wait_for()
    expect(page.get_by_text("Hypotheses at step 1")).to_be_visible()


def test_tiles_sentence_and_cards_tell_of_one_step(films: App, visit: Visit) -> None:
    page = opened(films, visit)
    page.get_by_role("slider", name="Step shown").press("Home")
    expect(page.get_by_text("Hypotheses at step 0")).to_be_visible()
    expect(page.locator(".happened")).to_contain_text("Step 0: ESS came to 3.2 of 4")
    expect(page.locator(".say")).to_contain_text("At step 0:")
    expect(page.locator('article.card[data-key="0"] .wt')).to_have_text("0.375")
    expect(page.locator('article.card[data-key="0"] .moved')).to_have_text("up from 0.250")
