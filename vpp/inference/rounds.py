"""A round: independent calls that are all in flight together."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Coroutine, Iterable
from typing import Any, TypeVar

from vpp.cancellation import cancel
from vpp.events import Event
from vpp.inference.population import Outcome, Particle, in_order

T = TypeVar("T")


class Round:
    """Every slot at work at once. Iterated inside `async with`, it gives the events as they come;

    its particles are known once all are done. Leaving it early cancels what is in flight.
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
        """By slot, whatever the order in which they were done."""
        return in_order(self._done)


async def completed(coroutines: Iterable[Coroutine[Any, Any, T]]) -> AsyncGenerator[T, None]:
    """Results as they come. The first failure, or closing the iterator, cancels the rest and waits for them to end.

    Whoever may leave the loop early closes it with `aclosing`: a dropped iterator is only closed some time later.
    """
    tasks = [asyncio.ensure_future(c) for c in coroutines]
    try:
        for task in asyncio.as_completed(tasks):
            yield await task
    finally:
        await cancel(tasks)


async def together(coroutines: Iterable[Coroutine[Any, Any, T]]) -> list[T]:
    """Results in the order given. The first failure, or being cancelled, cancels the rest and waits for them to end."""
    tasks = [asyncio.ensure_future(c) for c in coroutines]
    try:
        return await asyncio.gather(*tasks)
    finally:
        await cancel(tasks)
