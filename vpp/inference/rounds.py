"""Rounds: independent coroutines that run concurrently, such as one loop over k in Algorithms 1 and 2."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Coroutine, Iterable
from typing import Any, TypeVar

from vpp.cancellation import cancel
from vpp.events import Event
from vpp.inference.population import Outcome, Particle, in_order

T = TypeVar("T")


class Round:
    """One operation on each of K particles, concurrently.

    Iterate inside `async with` for the events, in order of completion; then read `particles`. Leaving the block early
    cancels what is in flight.
    """

    def __init__(self, work: Iterable[Coroutine[Any, Any, Outcome]]) -> None:
        self._done: dict[int, Outcome] = {}
        self._outcomes = completed(work)

    async def __aenter__(self) -> "Round":
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._outcomes.aclose()

    async def __aiter__(self) -> AsyncIterator[Event]:
        async for outcome in self._outcomes:
            self._done[outcome.slot] = outcome
            for event in outcome.events:
                yield event

    @property
    def particles(self) -> tuple[Particle, ...]:
        """(K,) particles in the order of their slots, once the iteration has ended."""
        return in_order(self._done)


async def completed(coroutines: Iterable[Coroutine[Any, Any, T]]) -> AsyncGenerator[T, None]:
    """Yield results in order of completion. The first failure, or closing the generator, cancels the rest.

    Either returns once all have ended. Wrap it in `aclosing` if the loop may be left early: a dropped generator is
    closed some time later.
    """
    tasks = [asyncio.ensure_future(c) for c in coroutines]
    try:
        for task in asyncio.as_completed(tasks):
            yield await task
    finally:
        await cancel(tasks)


async def together(coroutines: Iterable[Coroutine[Any, Any, T]]) -> list[T]:
    """Return results in the order given. A failure or cancellation cancels the rest and waits until they have ended."""
    tasks = [asyncio.ensure_future(c) for c in coroutines]
    try:
        return await asyncio.gather(*tasks)
    finally:
        await cancel(tasks)
