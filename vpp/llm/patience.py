"""How long a server may have its callers wait (Retry-After) while it answers nothing."""

import time
from collections.abc import Callable


class Patience:
    """Grants the waits that a server asks for, up to a limit since its last answer."""

    def __init__(self, max_wait_s: float, *, now: Callable[[], float] = time.monotonic) -> None:
        """max_wait_s: seconds for which waits are granted. now: seconds of a steady clock."""
        self._max_wait_s = max_wait_s
        self._now = now
        self._began: float | None = None

    @property
    def waited_s(self) -> float:
        """Seconds since the server first asked for a wait; 0.0 if it has answered since."""
        return 0.0 if self._began is None else self._now() - self._began

    @property
    def is_used_up(self) -> bool:
        """Whether the server was granted waits, and is granted no more."""
        return 0 < self._max_wait_s <= self.waited_s

    def granted_s(self, asked_s: float) -> float:
        """Return the seconds to wait, of those that the server asks for now."""
        self._began = self._now() if self._began is None else self._began
        return min(asked_s, max(0.0, self._max_wait_s - self.waited_s))

    def answered(self) -> None:
        """Start over: the server answered a call."""
        self._began = None
