"""A live run of SmolLM2-135M on the page Watch: cards come and change by themselves while a real model answers."""

import pytest

from tests.app.conftest import Visit, browser, context, serving, visit
from tests.processes import PENGUINS, TARGET, Desk
from tests.servers.served import Served

__all__ = ["browser", "context", "visit"]
SMALL_RUN = ("--particles", "2", "--epochs", "1", "--train-size", "12", "--test-size", "4", "--batch-size", "4")
SHORT = ("--limit", "learner=96", "--limit", "optimizer=64", "--concurrency", "2", "--limit", "call=300")
FINISHES_MS = 400_000

pytestmark = pytest.mark.browser


def test_watch_follows_a_real_models_run_to_its_end(llamacpp: Served, desk: Desk, visit: Visit) -> None:
    desk.runs.mkdir()
    where = desk.runs / "live"
    running = desk.start(
        *("run", PENGUINS, *TARGET, *llamacpp.options, *SMALL_RUN, *SHORT, "--json", "--quiet", "--run-dir", where)
    )
    page = visit.page
    with serving(desk.runs) as app:
        page.goto(f"{app.url}/watch?run=live")
        page.wait_for_selector("article.card", timeout=FINISHES_MS)
        before = page.inner_text(".deck")
        page.wait_for_function(
            "(before) => document.querySelector('.deck').innerText !== before", arg=before, timeout=FINISHES_MS
        )
        page.get_by_role("link", name="Read the posterior").wait_for(timeout=FINISHES_MS)
        assert not page.get_by_text("Traceback").count()
    assert running.finish(within_s=FINISHES_MS / 1000).result["status"] == "finished"
    assert visit.outside == []
