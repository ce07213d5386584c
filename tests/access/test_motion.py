"""A reader who asks for reduced motion sees none of ours."""

import pytest
from playwright.sync_api import Page

from tests.access.places import PLACES, settle
from tests.app.conftest import App

pytestmark = pytest.mark.browser
MOVING = """() => document.getAnimations()
    .filter((moving) => moving.playState === 'running' && moving.effect.target?.closest('.vpp'))
    .map((moving) => moving.animationName ?? moving.transitionProperty)"""


def waiting(page: Page, app: App) -> list[str]:
    """What moves on the page that shows a run that goes on and a place that waits."""
    place = PLACES["gallery"]
    page.goto(app.url + place.path)
    settle(page, place)
    page.locator(".vpp .wait").first.wait_for()
    moving: list[str] = page.evaluate(MOVING)
    return moving


def test_what_waits_breathes_unless_motion_is_reduced(still: Page, shown: App) -> None:
    assert waiting(still, shown) == []
    still.emulate_media(reduced_motion="no-preference")
    assert set(waiting(still, shown)) == {"vpp-breathe"}
