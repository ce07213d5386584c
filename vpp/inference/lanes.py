"""Lanes: a task a slot, each as far as it can go by itself; what they bring is told step by step all the same."""

import asyncio
from collections import defaultdict, deque
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import Any, Literal, TypeVar

from vpp.events import Event
from vpp.inference.population import Outcome, Particle, in_order
from vpp.inference.tasks import Tasks
from vpp.usage import Account

AHEAD = 4
"""Steps that a lane may be ahead of the one that is told.

What was done ahead is asked again where a run is resumed without the response cache: so many steps of a lane at most.
"""
Stage = Literal["move", "mutate", "weigh"]
T = TypeVar("T")


class Lanes(Tasks):
    """The tasks of a run that outlive a step. The first that fails ends the run; leaving cancels them all."""

    def __init__(self) -> None:
        super().__init__()
        self._brought: defaultdict[tuple[int, Stage], deque[Outcome]] = defaultdict(deque)
        self._taken: defaultdict[tuple[int, Stage], dict[int, Outcome]] = defaultdict(dict)
        self._expected: set[tuple[int, Stage]] = set()
        self._accounts: defaultdict[int, Account] = defaultdict(Account)
        self._step = -1
        self._reached = asyncio.Event()
        self._news = asyncio.Event()
        self._failure: BaseException | None = None

    def _failed(self, failure: BaseException) -> None:
        self._failure = self._failure or failure
        self._news.set()

    def reach(self, step: int) -> None:
        """This step is told now: what was asked ahead of it is needed, and lanes may go as far ahead again."""
        self._step = step
        self._accounts.pop(step, Account()).settle()
        reached, self._reached = self._reached, asyncio.Event()
        reached.set()

    async def turn(self, step: int) -> None:
        """Waits until a lane may begin the step."""
        while step > self._step + AHEAD:
            await self._reached.wait()

    @contextmanager
    def ahead(self, step: int) -> Iterator[None]:
        """What is asked within is needed once the step is reached."""
        if step <= self._step:
            yield
        else:
            with self._accounts[step].opened():
                yield

    def bring(self, step: int, stage: Stage, outcome: Outcome) -> None:
        """Hands over what became of a slot."""
        self._brought[step, stage].append(outcome)
        self._news.set()

    def expect(self, step: int, stage: Stage) -> None:
        """Lanes that are under way bring it."""
        self._expected.add((step, stage))

    def is_expected(self, step: int, stage: Stage) -> bool:
        """Whether it need not be begun."""
        return (step, stage) in self._expected

    async def taken(self, step: int, stage: Stage) -> tuple[Event, ...]:
        """What happened to the next slot that lanes bring, as they come. Raises what one of them failed for."""
        brought = self._brought[step, stage]
        while not brought:
            await self._wait()
        outcome = brought.popleft()
        self._taken[step, stage][outcome.slot] = outcome
        return outcome.events

    def particles(self, step: int, stage: Stage) -> tuple[Particle, ...]:
        """By slot, once all are taken."""
        del self._brought[step, stage]
        return in_order(self._taken.pop((step, stage)))

    async def beside(self, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """What the work gives, while lanes go on. Raises what it, or one of them, failed for."""
        given: list[T] = []

        async def give() -> None:
            given.append(await work())
            self._news.set()

        self.begin(give())
        while not given:
            await self._wait()
        return given[0]

    async def _wait(self) -> None:
        """For anything new."""
        if self._failure is not None:
            raise self._failure
        self._news.clear()
        await self._news.wait()
