"""Times of a run: a pause says when it ends."""

import time

import pytest

from tests.runs.test_view import FIRST, view
from vpp.events import Event, RunPaused
from vpp.findings.status import retry_words
from vpp.runs.view import RunView


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
