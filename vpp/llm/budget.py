"""Caps on a run's calls and money.

At a cap no further call is sent, and those in flight finish. With a cap on money, each call in flight counts as much
as the most expensive so far; until a price is known, calls are sent one at a time.
"""

import asyncio
from dataclasses import dataclass

from vpp.llm.context import prompt_tokens, tokens_at_most
from vpp.llm.limits import Counters
from vpp.llm.protocol import Completion, Messages

MILLION = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """Price of a million tokens."""

    prompt: float = 0.0
    completion: float = 0.0

    @property
    def is_given(self) -> bool:
        return bool(self.prompt or self.completion)

    def of(self, prompt_tokens: float, completion_tokens: float) -> float:
        return (self.prompt * prompt_tokens + self.completion * completion_tokens) / MILLION

    def charged(self, messages: Messages, completion: Completion) -> float:
        """Return an answer's price; an upper bound if the server does not count tokens."""
        if not self.is_given:
            return 0.0
        return self.of(
            completion.prompt_tokens or prompt_tokens(messages),
            completion.completion_tokens or tokens_at_most(completion.text),
        )


FREE = Price()


@dataclass(frozen=True, slots=True, kw_only=True)
class Cap:
    """Limits at which a run pauses."""

    calls: int = 0
    """Requests sent, retries included; 0: no cap."""
    cost: float = 0.0
    """Money spent; 0: no cap."""


NO_CAP = Cap()


class Budget:
    """Shared by the endpoints of a run; one event loop."""

    def __init__(self, counters: Counters, cap: Cap = NO_CAP) -> None:
        self._counters = counters
        self._cap = cap
        self._in_flight = 0
        self._waiting = 0
        self._dearest = 0.0
        self._changed = asyncio.Event()
        self._may_send = asyncio.Event()
        self._may_send.set()
        self.exhausted = asyncio.Event()
        """Set when a call may not be sent and none is in flight."""

    def pause(self) -> None:
        """Send no new call until `go_on`; calls in flight finish."""
        self._may_send.clear()

    def go_on(self) -> None:
        self._may_send.set()

    async def turn(self) -> None:
        """Wait until a call may be sent; it counts as sent, and in flight until `ended`."""
        while True:
            await self._may_send.wait()
            if self._is_within_cap():
                self._in_flight += 1
                self._counters.add(sent=1)
                return
            if not self._in_flight:
                self.exhausted.set()
            self._waiting += 1
            try:
                await self._changed.wait()
            finally:
                self._waiting -= 1

    def pay(self, cost: float) -> None:
        self._dearest = max(self._dearest, cost)
        self._counters.add(cost=cost)

    def ended(self) -> None:
        self._in_flight -= 1
        if self._waiting and (not self._in_flight or self._is_within_cap()):
            self._wake()

    def _is_within_cap(self) -> bool:
        if self._cap.calls and self._counters.sent >= self._cap.calls:
            return False
        if self._cap.cost and not self._dearest:
            return not self._in_flight and self._counters.cost < self._cap.cost
        cost = self._counters.cost + (self._in_flight + 1) * self._dearest
        return not self._cap.cost or cost <= self._cap.cost

    def _wake(self) -> None:
        changed, self._changed = self._changed, asyncio.Event()
        changed.set()
