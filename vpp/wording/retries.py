"""When a run that waits for its endpoint tries again, and when it gives up."""

import time
from math import ceil

from vpp.runs.view import RunView
from vpp.wording.words import seconds


def retry_words(view: RunView, *, now: float) -> str:
    """`Next try in 12 s (at 14:05:10); gives up at 15:04.`; empty where it does not try by itself. now: Unix time."""
    if view.phase != "paused" or view.retry_at is None:
        return ""
    wait_s = ceil(view.retry_at - now)
    when = f"in {seconds(wait_s)} (at {_clock(view.retry_at, '%H:%M:%S')})" if wait_s > 0 else "any moment"
    until = f"; gives up at {_clock(view.gives_up_at, '%H:%M')}" if view.gives_up_at is not None else ""
    return f"Next try {when}{until}."


def _clock(at: float, form: str) -> str:
    return time.strftime(form, time.localtime(at))
