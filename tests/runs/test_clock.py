"""Times of a run: calls are seen between events, tries grow apart, and a pause says when it ends."""

import time
from collections.abc import Awaitable, Callable

import pytest

from tests.runs.test_view import FIRST, view
from vpp.events import Event, RunPaused
from vpp.findings.status import retry_words
from vpp.runs import worker
from vpp.runs.view import RunView
from vpp.runs.worker import LONGEST_RETRY_S, Outage

Attempt = Callable[[worker._Attempt], Awaitable[None]]


def test_an_hour_without_an_endpoint_is_a_few_tries_that_grow_apart_and_end() -> None:
    """No hour passes here: the clock is the test's own."""
    now = [0.0]
    gone = Outage(None, max_wait_s=3600, now=lambda: now[0])
    waits = []
    while (wait_s := gone.next_wait_s()) is not None:
        waits.append(wait_s)
        now[0] += wait_s
    assert waits[:9] == [2, 4, 8, 16, 32, 64, 128, 256, 300]
    assert max(waits) == LONGEST_RETRY_S
    assert sum(waits) == 3600
    assert len(waits) == 19


def paused(retry_at: float | None, gives_up_at: float | None = None) -> RunView:
    event: Event = RunPaused(reason="endpoint", detail="gone", retry_at=retry_at, gives_up_at=gives_up_at)
    return view(*FIRST, event)


def test_a_pause_tells_when_it_tries_again_and_until_when(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "localtime", time.gmtime)
    at = 1_800_000_000.0
    assert retry_words(paused(at + 12, at + 3600), now=at).replace("\xa0", " ") == (
        "Next try in 12 s (at 08:00:12); gives up at 09:00."
    )
    assert retry_words(paused(at, at + 60), now=at + 1) == "Next try any moment; gives up at 08:01."
    assert retry_words(paused(None), now=at) == ""
    assert retry_words(view(*FIRST), now=at) == ""
