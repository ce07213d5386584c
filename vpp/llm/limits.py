"""Limits on a run's calls: calls in flight at a server, a cap on calls and money, prices.

The window of calls in flight starts at its ceiling. It follows TCP's law of additive increase and multiplicative
decrease (Chiu and Jain, 1989; RFC 5681): a call that the server had no room for (429, 503, no answer in time) halves
it, at most once a round trip. A round trip without one adds its square root.
"""

import asyncio
import math
import resource
import time
from contextlib import suppress
from dataclasses import dataclass
from typing import Annotated

from annotated_types import Ge
from anyio import CapacityLimiter, WouldBlock

from vpp.events import Amount, Counters, Traffic

DEFAULT_CONCURRENCY = 1_024
"""Default ceiling of calls in flight: enough to send a step's calls, and usually all test rows, together."""
OTHER_FILES = 200
"""Files and sockets that a process has open besides its connections."""


class Throttle(Traffic):
    """Admits calls to one server, first come first served, while fewer than an adaptive limit are inside."""

    def __init__(self, ceiling: int) -> None:
        """ceiling: most calls in flight while the server keeps up."""
        super().__init__()
        self.ceiling = ceiling
        self.slots = CapacityLimiter(self.ceiling)
        self._cut_at = -math.inf
        self._resize(self.ceiling)

    async def __aenter__(self) -> None:
        try:
            self.slots.acquire_nowait()  # `acquire` also goes once around the event loop
        except WouldBlock:
            await self.slots.acquire()

    async def __aexit__(self, *_: object) -> None:
        self.slots.release()

    def narrow(self, most: int) -> None:
        self.ceiling = min(self.ceiling, most)
        self._resize(self._exact)

    def _resize(self, limit: float) -> None:
        self._exact = max(1.0, min(limit, self.ceiling))
        self.slots.total_tokens = int(self._exact)

    def answered(self, began: float) -> None:
        """Record that a call in flight got its answer, which ends a hold; an unused window does not grow."""
        if began > self._cut_at and 2 * len(self.began) >= self._exact:
            self._resize(self._exact + 1 / math.sqrt(self._exact))
        self.held_until = 0.0

    def refused(self, began: float, *, hold_s: float = 0.0) -> None:
        """Record that the server had no room for a call. hold_s: seconds in which it wants no other; 0: any time."""
        if began > self._cut_at:  # at most one halving a round trip
            self._resize(self._exact / 2)
            self._cut_at = time.monotonic()
        if hold_s:
            self.held_until = max(self.held_until, time.time() + hold_s)


def affordable(window: int) -> int:
    """Return how many of these connections the process can open, at least 1; raises its soft limit of open files."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY:
        return window
    wanted = window + OTHER_FILES if hard == resource.RLIM_INFINITY else min(window + OTHER_FILES, hard)
    with suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, wanted), hard))
    return max(1, min(window, resource.getrlimit(resource.RLIMIT_NOFILE)[0] - OTHER_FILES))


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """Price of a million tokens."""

    prompt: Amount = 0.0
    completion: Amount = 0.0

    def of(self, prompt_tokens: float, completion_tokens: float) -> float:
        return (self.prompt * prompt_tokens + self.completion * completion_tokens) / 1_000_000


FREE = Price()


@dataclass(frozen=True, slots=True, kw_only=True)
class Cap:
    """Limits at which a run pauses."""

    calls: Annotated[int, Ge(0)] = 0
    """Requests sent, retries included; 0: no cap."""
    cost: Amount = 0.0
    """Money spent; 0: no cap."""

    def is_reached(self, counters: Counters) -> bool:
        return bool(0 < self.calls <= counters.counts["sent"] or 0 < self.cost <= counters.counts["cost"])


NO_CAP = Cap()


@dataclass(eq=False)
class Budget:
    """Lets a run's calls go within its cap; shared by its endpoints; one event loop.

    At the cap no further call is sent, and those in flight finish. With a cap on money, each call in flight counts as
    much as the most expensive so far; until a price is known, calls are sent one at a time.
    """

    counters: Counters
    cap: Cap = NO_CAP

    def __post_init__(self) -> None:
        self._in_flight = 0
        self._dearest = 0.0
        self._is_paused = False
        self._changed = asyncio.Event()
        self.exhausted = asyncio.Event()
        """Set when a call may not be sent and none is in flight."""

    def pause(self) -> None:
        """Send no new call until `go_on`; calls in flight finish."""
        self._is_paused = True

    def go_on(self) -> None:
        self._is_paused = False
        self._wake()

    async def turn(self) -> None:
        """Wait until a call may be sent; it counts as sent, and in flight until `ended`."""
        while self._is_paused or not self._is_within_cap():
            if not (self._is_paused or self._in_flight):
                self.exhausted.set()
            await self._changed.wait()
        self._in_flight += 1
        self.counters.add(sent=1)

    def pay(self, cost: float) -> None:
        self._dearest = max(self._dearest, cost)
        self.counters.add(cost=cost)

    def ended(self) -> None:
        self._in_flight -= 1
        if not self._in_flight or (self.cap.cost and self._is_within_cap()):
            self._wake()

    def _is_within_cap(self) -> bool:
        cost, n = self.counters.counts["cost"], self._in_flight + 1
        is_affordable = cost + n * self._dearest <= self.cap.cost if self._dearest else n == 1
        return not self.cap.is_reached(self.counters) and (is_affordable or not self.cap.cost)

    def _wake(self) -> None:
        changed, self._changed = self._changed, asyncio.Event()
        changed.set()
