"""Retries of a call: how often, after which wait, and when the server is given up."""

import asyncio
import random
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from vpp.errors import EndpointRefused, EndpointUnreachable
from vpp.llm.counters import Counters
from vpp.llm.limits import DEFAULT_CONCURRENCY
from vpp.llm.protocol import Completion
from vpp.llm.transport import AttemptFailed

BACKOFF_LIMIT_S = 30.0
MAX_ATTEMPTS = 6
EMPTY_ATTEMPTS = 2
"""Attempts for a text from a server that answers other calls; then the empty text is the answer."""
MUTE_ATTEMPTS = {"cut off before any answer": 3, "tool called": 3, "answer withheld": MAX_ATTEMPTS}
"""Attempts for a text from a server that never gave one, by a kind of fault that time does not change; then the model
is refused. A content filter gets the most: calls about other rows may be answered meanwhile."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Limits on the calls sent to a server, and on the time each is tried."""

    concurrency: int = DEFAULT_CONCURRENCY
    """Calls in flight at most; fewer while the server does not keep up, or if this process may open too few files."""
    timeout_s: float = 120
    """Seconds for one attempt, body included."""
    max_attempts: int = MAX_ATTEMPTS
    backoff_s: float = 0.5
    """Upper bound of the first wait between attempts; doubled with each attempt, up to 30 s."""
    max_wait_s: float = 3600.0
    """Seconds for which waits that the server asks for (Retry-After) are granted while it answers nothing."""


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
        """Return whether the server was granted waits, and is granted no more."""
        return 0 < self._max_wait_s <= self.waited_s

    def granted_s(self, asked_s: float) -> float:
        """Return the seconds to wait, of those that the server asks for now."""
        self._began = self._now() if self._began is None else self._began
        return min(asked_s, max(0.0, self._max_wait_s - self.waited_s))

    def answered(self) -> None:
        """Start over: the server answered a call."""
        self._began = None


class Retries:
    """Repeats the attempts of an endpoint's calls. It knows of all of them: an overloaded server may answer others."""

    def __init__(self, limits: Limits, counters: Counters, message: Callable[[str], str]) -> None:
        """message: completes a reason to an error message."""
        self.patience = Patience(limits.max_wait_s)
        self._limits = limits
        self._counters = counters
        self._message = message
        self._successes = 0
        self.has_answered = False
        """Return whether any call ever got an answer, from the cache included."""

    def succeeded(self) -> None:
        """Record that the server answered a call with a text."""
        self._successes += 1
        self.patience.answered()
        self.has_answered = True

    async def run(self, attempt: Callable[[], Awaitable[Completion]]) -> Completion:
        """Attempt a call until it succeeds; its text is empty if the model gives none. Raises EndpointError.

        Attempts refused by an overloaded server do not count while it answers other calls.
        """
        strikes = tries = 0
        successes = self._successes
        while True:
            try:
                return await attempt()
            except AttemptFailed as failure:
                self._counters.fault(failure.fault.kind)
                tries += 1
                if failure.empty and self.has_answered and tries >= min(EMPTY_ATTEMPTS, self._limits.max_attempts):
                    return failure.empty
                strikes = 0 if failure.overloaded and self._successes > successes else strikes + 1
                successes = self._successes
                self._give_up(failure, tries, strikes)
                self._counters.add(retried=1)
                await asyncio.sleep(self._wait_s(failure, tries))
            except EndpointRefused:
                self._counters.add(failed=1)
                raise

    def _give_up(self, failure: AttemptFailed, tries: int, strikes: int) -> None:
        """Raise if no further attempt is worth making."""
        words, fix, most = failure.fault.words, failure.fault.fix, self._limits.max_attempts
        mute_attempts = MUTE_ATTEMPTS.get(failure.fault.kind)
        if mute_attempts and not self.has_answered and tries >= min(mute_attempts, most):
            self._counters.add(failed=1)
            asked = f" at each of {tries} attempts, and no call was ever answered" if tries > 1 else ""
            raise EndpointRefused(self._message(f"{words}{asked}: {fix}")) from None
        if strikes >= most or (failure.asked_wait_s and self.patience.is_used_up):
            self._counters.add(failed=1)
            last = f", at the last of {most} attempts" if strikes >= most > 1 else ""
            raise EndpointUnreachable(self._message(f"{words}{last}: {fix}"), waited_s=self.patience.waited_s) from None

    def _wait_s(self, failure: AttemptFailed, tries: int) -> float:
        """Exponential back-off with full jitter, after the wait that the server asked for."""
        ceiling = min(self._limits.backoff_s * 2 ** min(tries - 1, 16), BACKOFF_LIMIT_S)
        return failure.wait_s + random.uniform(0, ceiling)
