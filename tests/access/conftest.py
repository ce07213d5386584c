"""The pages as they are looked at: one server, one browser a module."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page

from tests.access import axe
from tests.access.places import write_runs
from tests.app.conftest import App, opening, serving
from tests.app.conftest import browser as browser


@pytest.fixture(scope="session")
def shown(tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    """The app over the runs of tests/access/places.py."""
    runs = tmp_path_factory.mktemp("runs")
    write_runs(runs)
    with serving(runs) as app:
        yield app


@pytest.fixture(scope="module")
def page(browser: Browser) -> Iterator[Page]:
    """The one page that is taken to every place."""
    axe.required()
    with opening(browser) as context:
        yield context.new_page()
