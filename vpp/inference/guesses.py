"""Guesses: a chain's answers to the next rows, asked for before it is known which hypothesis goes on."""

import asyncio

from vpp.data.dataset import Row
from vpp.inference.tasks import Tasks
from vpp.problem import Problem
from vpp.usage import Account


class Guesses(Tasks):
    """The learner asked ahead, a task a hypothesis. A guess that fails is no failure: it is asked again if needed.

    What is answered the learner remembers until the guess is dropped.
    """

    def __init__(self, problem: Problem) -> None:
        super().__init__()
        self._problem = problem
        self._asked: dict[str, tuple[asyncio.Task[object], Account]] = {}

    def ask(self, hypothesis: str, rows: tuple[Row, ...]) -> None:
        """Asks about the rows after whatever the caller asks next, if the learner has room for it."""
        if not rows or hypothesis in self._asked or not self._problem.has_room():
            return
        account = Account(is_guess=True)
        task = self.begin(self._problem.learner.predict(hypothesis, rows), account.context())
        self._asked[hypothesis] = task, account

    def keep(self, hypothesis: str) -> None:
        """Cancels and drops all but what was asked of this one."""
        for text in self._asked.keys() - {hypothesis}:
            task, account = self._asked.pop(text)
            task.cancel()
            account.drop()

    def forget(self) -> None:
        """What was asked is needed by now, or no longer wanted."""
        self.keep("")
