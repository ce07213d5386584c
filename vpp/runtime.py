"""The interpreter around a run: cancelling asyncio tasks, and the collector of cyclic garbage."""

import gc
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from asyncio import Future


async def cancel(tasks: "Iterable[Future[Any]]") -> list[Any]:
    """Cancel the tasks and wait until all have ended.

    Return, in their order, each task's result or the exception that ended it.
    """
    from asyncio import gather  # here, since a help text would wait for it

    ending = tuple(tasks)
    for task in ending:
        task.cancel()
    return await gather(*ending, return_exceptions=True)


@contextmanager
def no_collecting() -> Iterator[None]:
    """Switch the collector off for large imports and tables, which make many objects and no garbage."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


@contextmanager
def rare_collecting() -> Iterator[None]:
    """Collect less often, and nothing that exists now: else a sixth of the time of hundreds of calls goes there."""
    thresholds = gc.get_threshold()
    gc.freeze()
    gc.set_threshold(10_000, *thresholds[1:])
    try:
        yield
    finally:
        gc.set_threshold(*thresholds)
        gc.unfreeze()
