"""The stage of Watch in a browser: complete cards on the first screen, one step in every part, and cards that move."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import BrowserContext, Page

from pages.parts.opening import SHIPPED
from tests.app.conftest import App
from tests.live import living

pytestmark = pytest.mark.browser


READINGS = 120
STEPS = """() => {
    const within = (place, pattern) => document.querySelector(`.stage ${place}`)?.textContent.match(pattern)?.[1]
    return {
        slider: within('.slide output', /step (\\d+)/),
        cards: within('.sec h2', /step (\\d+)/),
        did: within('.happened', /Step (\\d+)/),
        ess: ['.happened', '.bars figcaption'].map((place) => within(place, /ESS ([\\d.]+)/)),
        tile: within('.strip dd', /^([\\d.]+)/),
        bar: document.querySelector('.stage .band .b.now') && String([...document.querySelectorAll('.stage .band .b')]
            .indexOf(document.querySelector('.stage .band .b.now'))),
    }
}"""
MOVES = """() => {
    window.moves = 0
    const animate = Element.prototype.animate
    Element.prototype.animate = function (...how) { moves += 1; return animate.apply(this, how) }
}"""


@contextmanager
def watched(app: App, context: BrowserContext, name: str, *, every_s: float = 3600.0, shown: int = 4) -> Iterator[Page]:
    """Watch the shipped example as a live run."""
    with living(SHIPPED, app.runs / name, shown=shown, every_s=every_s) as run:
        page = context.new_page()
        page.goto(f"{app.url}/watch?run={run.id}")
        page.locator(".stage article.card .hyp").first.wait_for()
        yield page
        page.close()


def test_every_part_shows_the_same_step_at_each_of_many_readings(app: App, context: BrowserContext) -> None:
    steps = set()
    with watched(app, context, "20260106-0001-readings-smc-0000", every_s=1.5, shown=2) as page:
        for _ in range(READINGS):
            seen = page.evaluate(STEPS)
            assert seen["slider"] == seen["cards"] == seen["did"] == seen["bar"], seen
            assert seen["ess"] == [seen["tile"]] * 2, seen
            steps.add(seen["slider"])
            page.wait_for_timeout(50)
    assert len(steps) > 3


@pytest.mark.parametrize("motion", ["reduce", "no-preference"])
def test_cards_move_from_step_to_step_unless_a_reader_prefers_none(
    app: App, context: BrowserContext, motion: str
) -> None:
    with watched(app, context, f"20260106-0002-{motion}-smc-0000", every_s=2.0) as page:
        page.emulate_media(reduced_motion=motion)  # type: ignore[arg-type]
        page.evaluate(MOVES)
        if motion == "reduce":
            page.wait_for_function(f"() => Number(({STEPS})().slider) >= 6")
            assert page.evaluate("moves") == 0
        else:
            page.wait_for_function("() => moves > 0")
        page.emulate_media(reduced_motion="no-preference")
