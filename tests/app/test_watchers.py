"""Several watchers, by two servers, of one live run: each sees new steps, and one pauses what another began."""

import asyncio
import threading
import time
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.app.conftest import serving
from tests.watchers.campaign import Plan, living, watch_all
from tests.watchers.line import Line
from vpp.runs.reader import RunReader

pytestmark = pytest.mark.browser
WITHIN_S = 90
ENOUGH = 3
"""Refreshes of each, the first drawing included. How late they are is what `make watchers` measures."""


def test_a_run_is_watched_by_many_and_paused_from_another_app(browser: Browser, tmp_path: Path) -> None:
    page = browser.new_page()
    page.set_default_timeout(1000 * WITHIN_S)
    with serving(tmp_path) as one, living(Plan(runs=1), one) as (run,), serving(tmp_path) as other:
        lines = [Line(run=run.id, address=one.url) for _ in range(4)]
        watching = threading.Thread(
            target=lambda: asyncio.run(watch_all(lines, time.time() + WITHIN_S, enough=ENOUGH)),
        )
        watching.start()
        page.goto(f"{other.url}/watch?run={run.id}")
        page.get_by_role("button", name="Pause").wait_for()
        while watching.is_alive():
            page.wait_for_timeout(100)
        assert [line.faults for line in lines] == [[], [], [], []]
        assert min(line.refreshes for line in lines) == ENOUGH
        assert all(line.first_at for line in lines)
        page.get_by_role("button", name="Pause").click()
        expect(page.get_by_role("button", name="Go on")).to_be_visible(timeout=1000 * WITHIN_S)
        assert RunReader(run).refresh().state == "paused"
        page.goto(f"{one.url}/watch?run={run.id}")
        expect(page.get_by_role("button", name="Go on")).to_be_visible(timeout=1000 * WITHIN_S)
    page.close()
