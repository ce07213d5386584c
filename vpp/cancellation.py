"""Cancelling asyncio tasks."""

import asyncio
from collections.abc import Iterable
from typing import Any


async def cancel(tasks: Iterable[asyncio.Future[Any]]) -> list[Any]:
    """Cancel the tasks and wait until all have ended.

    Return, in their order, each task's result or the exception that ended it.
    """
    ending = tuple(tasks)
    for task in ending:
        task.cancel()
    return await asyncio.gather(*ending, return_exceptions=True)
