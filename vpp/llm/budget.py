"""What a run may still send: a cap on calls and on money, counted as calls leave. Nobody is cut off.

At a cap no further call leaves, and those in flight end first. With a cap on money a call leaves only where it fits
beside those in flight, each taken to be as dear as the dearest so far; until one is known, calls go one at a time.
"""

import asyncio
from dataclasses import dataclass

from vpp.errors import EndpointRefused
from vpp.llm.allowance import Allowance
from vpp.llm.context import prompt_tokens, tokens_at_most
from vpp.llm.counters import Counters
from vpp.llm.wire import Completion, Messages

MILLION = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """What a million tokens cost, in the user's own currency."""

    prompt: float = 0.0
    completion: float = 0.0

    @property
    def is_given(self) -> bool:
        """Whether anything is charged."""
        return bool(self.prompt or self.completion)

    def of(self, prompt_tokens: float, completion_tokens: float) -> float:
        """What so many tokens cost."""
        return (self.prompt * prompt_tokens + self.completion * completion_tokens) / MILLION

    def charged(self, messages: Messages, completion: Completion) -> float:
        """What an answer costs; where the server does not count tokens, at most."""
        if not self.is_given:
            return 0.0
        return self.of(
            completion.prompt_tokens or prompt_tokens(messages),
            completion.completion_tokens or tokens_at_most(completion.text),
        )


FREE = Price()


@dataclass(frozen=True, slots=True, kw_only=True)
class Cap:
    """At which a run pauses."""

    calls: int = 0
    """Requests sent, retries included; 0: no cap."""
    cost: float = 0.0
    """Money spent, in the user's own currency; 0: no cap."""


NO_CAP = Cap()


class Budget:
    """Shared by the endpoints of a run; one event loop."""

    def __init__(
        self, counters: Counters, cap: Cap = NO_CAP, *, allowance: Allowance | None = None, waits: bool = False
    ) -> None:
        """allowance: the user's own, where there is one; waits: whether somebody renews what is exhausted.

        Where nobody does, a call beyond the allowance raises EndpointRefused.
        """
        self._counters = counters
        self._cap = cap
        self._allowance = allowance
        self._waits = waits
        self._granted = 0
        self._in_flight = 0
        self._waiting = 0
        self._dearest = 0.0
        self._changed = asyncio.Event()
        self.exhausted = asyncio.Event()
        """Set once a call may not leave and none is in flight."""

    def renew(self, cap: Cap) -> None:
        """Goes on with another cap; one that is reached already exhausts it again with the next call."""
        self._cap = cap
        self.exhausted.clear()
        self._wake()

    async def turn(self, gate: asyncio.Event) -> None:
        """Waits until the gate is open and a call may leave, which then counts as sent; `ended` undoes its place."""
        while True:
            await gate.wait()
            if self._has_room() and self._is_granted():
                self._granted -= self._allowance is not None
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

    def _is_granted(self) -> bool:
        """Whether the user's own allowance has a call left. Raises EndpointRefused where nobody waits for more."""
        if self._allowance is None or self._granted:
            return True
        self._granted = self._allowance.take()
        if not self._granted and not self._waits:
            raise EndpointRefused(self._allowance.words)
        return self._granted > 0

    def fits(self, calls: int) -> bool:
        """Whether so many more calls stay within the caps; with an allowance by the day, nobody can say."""
        if self._allowance is not None or (self._cap.cost and not self._dearest):
            return False
        is_within = not self._cap.calls or self._counters.sent + calls <= self._cap.calls
        cost = self._counters.cost + (self._in_flight + calls) * self._dearest
        return is_within and (not self._cap.cost or cost <= self._cap.cost)

    def close(self) -> None:
        """Gives back what was granted and not sent."""
        if self._allowance is not None and self._granted:
            self._allowance.give_back(self._granted)
            self._granted = 0

    def pay(self, cost: float) -> None:
        """Notes what an answer cost."""
        self._dearest = max(self._dearest, cost)
        self._counters.pay(cost)

    def ended(self) -> None:
        """A call that left is in flight no more."""
        self._in_flight -= 1
        if self._waiting and (not self._in_flight or self._has_room()):
            self._wake()

    def _has_room(self) -> bool:
        if self._cap.calls and self._counters.sent >= self._cap.calls:
            return False
        if not self._cap.cost:
            return True
        if not self._dearest:
            return not self._in_flight and self._counters.cost < self._cap.cost
        return self._counters.cost + (self._in_flight + 1) * self._dearest <= self._cap.cost

    def _wake(self) -> None:
        changed, self._changed = self._changed, asyncio.Event()
        changed.set()
