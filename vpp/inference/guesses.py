"""Guesses: a chain's answers to the next rows, asked for before it is known which hypothesis goes on."""

import asyncio

from vpp.data.dataset import Row
from vpp.problem import Problem
from vpp.usage import Account


class Guesses:
    """The learner asked ahead, a task a hypothesis. What is answered it remembers; a guess that fails is no failure.

    Leaving cancels what is under way.
    """

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self._asked: dict[str, asyncio.Task[object]] = {}
        self._tasks: set[asyncio.Task[object]] = set()

    async def __aenter__(self) -> "Guesses":
        return self

    async def __aexit__(self, *_: object) -> None:
        tasks = tuple(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def ask(self, hypothesis: str, rows: tuple[Row, ...]) -> None:
        """Asks about the rows after whatever the caller asks next, if the learner has room for it."""
        if not rows or hypothesis in self._asked or not self._problem.has_room():
            return
        coroutine = self._problem.learner.predict(hypothesis, rows)
        task = asyncio.get_running_loop().create_task(coroutine, context=Account(is_guess=True).context())
        self._asked[hypothesis] = task
        self._tasks.add(task)
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[object]) -> None:
        self._tasks.discard(task)
        if not task.cancelled():
            task.exception()  # marks it as seen: where the answers are needed they are asked for again

    def keep(self, hypothesis: str) -> None:
        """Cancels all but what was asked of this one."""
        for text in self._asked.keys() - {hypothesis}:
            self._asked.pop(text).cancel()

    def forget(self) -> None:
        """What was asked is known by now, or no longer wanted."""
        self.keep("")
