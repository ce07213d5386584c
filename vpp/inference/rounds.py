"""A round: independent calls that are all in flight together."""

import asyncio
from collections.abc import AsyncGenerator, Coroutine, Iterable, Sequence
from typing import Any, TypeVar

T = TypeVar("T")


async def completed(coroutines: Iterable[Coroutine[Any, Any, T]]) -> AsyncGenerator[T, None]:
    """Results as they come. The first failure, or closing the iterator, cancels the rest and waits for them to end.

    Whoever may leave the loop early closes it with `aclosing`: a dropped iterator is only closed some time later.
    """
    tasks = [asyncio.ensure_future(c) for c in coroutines]
    try:
        for task in asyncio.as_completed(tasks):
            yield await task
    finally:
        await _end(tasks)


async def together(coroutines: Iterable[Coroutine[Any, Any, T]]) -> list[T]:
    """Results in the order given. The first failure, or being cancelled, cancels the rest and waits for them to end."""
    tasks = [asyncio.ensure_future(c) for c in coroutines]
    try:
        return await asyncio.gather(*tasks)
    finally:
        await _end(tasks)


async def _end(tasks: Sequence[asyncio.Future[T]]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
