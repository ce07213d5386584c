"""Single flight: callers who ask for the same thing at the same time share one piece of work."""

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

T = TypeVar("T")


@dataclass(slots=True, eq=False)
class _Flight(Generic[T]):
    """Work under way and how many callers wait for it."""

    task: asyncio.Task[T]
    waiting: int = 0


class SingleFlight(Generic[T]):
    """Work under way by key. Work that nobody waits for any more is cancelled."""

    def __init__(self) -> None:
        self._flights: dict[str, _Flight[T]] = {}

    async def run(self, key: str, work: Callable[[], Coroutine[Any, Any, T]]) -> tuple[T, bool]:
        """The work's result, and whether another caller had begun it. Raises what the work raises."""
        flight = self._flights.get(key)
        is_joined = flight is not None
        if flight is None:
            flight = self._flights[key] = _Flight(asyncio.create_task(work()))
        flight.waiting += 1
        try:
            return await asyncio.shield(flight.task), is_joined
        finally:
            flight.waiting -= 1
            if not flight.waiting:
                self._flights.pop(key, None)
                if not flight.task.done():
                    flight.task.cancel()
                    await asyncio.gather(flight.task, return_exceptions=True)
