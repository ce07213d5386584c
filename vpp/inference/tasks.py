"""Tasks that end with what began them."""

import asyncio
from collections.abc import Coroutine
from contextvars import Context
from typing import Any, Self

from vpp.cancellation import cancel


class Tasks:
    """Any number at once. Leaving cancels what is under way and waits for its end."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[object]] = set()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await cancel(self._tasks)

    def begin(self, work: Coroutine[Any, Any, object], context: Context | None = None) -> asyncio.Task[object]:
        """Works at it beside the others."""
        task = asyncio.get_running_loop().create_task(work, context=context)
        self._tasks.add(task)
        task.add_done_callback(self._ended)
        return task

    def _ended(self, task: asyncio.Task[object]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (failure := task.exception()):
            self._failed(failure)

    def _failed(self, failure: BaseException) -> None:
        """Hears of each that failed."""
