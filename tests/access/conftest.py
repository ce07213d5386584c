"""The pages as they are looked at: one server, one browser a module."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Browser, Page

from tests.access.places import write_runs
from tests.app.conftest import App, serving
from tests.app.conftest import browser as browser

WAIT_MS = 40_000


@pytest.fixture(scope="session")
def shown(tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    """The app over the runs of tests/access/places.py."""
    runs = tmp_path_factory.mktemp("runs")
    write_runs(runs)
    with serving(runs) as app:
        yield app


@contextmanager
def emptied(app: App) -> Iterator[None]:
    """Keep the app's runs elsewhere, as before the first run."""
    kept = app.runs.with_name("elsewhere")
    kept.mkdir()
    runs = [path for path in app.runs.iterdir() if path.is_dir()]
    for path in runs:
        path.rename(kept / path.name)
    yield
    for path in runs:
        (kept / path.name).rename(path)
    kept.rmdir()


@contextmanager
def opened(browser: Browser, width: int = 1440, **options: str) -> Iterator[Page]:
    """A fresh page, 1000 px high."""
    context = browser.new_context(viewport={"width": width, "height": 1000}, **options)  # type: ignore[arg-type]
    page = context.new_page()
    page.set_default_timeout(WAIT_MS)
    yield page
    context.close()
