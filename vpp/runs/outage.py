"""An endpoint that does not answer: how long a run leaves it alone, and when it gives up."""

import time
from collections.abc import Callable

from vpp.errors import EndpointUnreachable

FIRST_RETRY_S = 2.0
LONGEST_RETRY_S = 300.0


def given_up(error: EndpointUnreachable, max_wait_s: float) -> str:
    """What the endpoint did last, and that the run has left it: nothing more where it was not to wait at all."""
    if not max_wait_s:
        return str(error)
    waited = f"the run waited for {max_wait_s:g} s (--max-wait) and gave up"
    return f"{error}; {waited}: resume it once the endpoint answers"


class Outage:
    """Waits that double, up to a limit, until patience ends."""

    def __init__(self, step: int | None, *, max_wait_s: float, now: Callable[[], float] = time.monotonic) -> None:
        """step: the last whole step when it went, since progress begins a new count. now: seconds of an even clock."""
        self.step = step
        self._now = now
        self._ends = now() + max_wait_s
        self._pause_s = FIRST_RETRY_S

    @property
    def left_s(self) -> float:
        """Seconds of patience left."""
        return self._ends - self._now()

    def next_wait_s(self) -> float | None:
        """Seconds until it is worth asking again; None where it has been gone for too long. The last try ends it."""
        left, pause = self.left_s, self._pause_s
        self._pause_s = min(pause * 2, LONGEST_RETRY_S)
        return min(pause, left) if left > 0 else None
