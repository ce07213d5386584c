"""Concurrent work: rounds over the particles, and work done ahead of its turn.

The algorithms read as if each step waited for the one before. Two things here let a run wait less; they change when
calls are sent, never what a step does:

- `Chains` (MH, VML): chains are independent, so each goes on by itself; their outcomes are merged in step order.
- `Ahead.ask_next` (SMC, MH): a text's answers to the next step's rows are asked for before that step begins.

A call counts when it is answered. The learner keeps the answers, so whoever needs one later finds it or waits for it.
"""

import asyncio
from collections import defaultdict
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Coroutine, Iterable
from dataclasses import replace
from typing import Any, Self, TypeVar, cast

from vpp.events import INITIAL_STEP, Event
from vpp.inference.population import Chain, Outcome, Particle, Population, Yielded, chains, in_order
from vpp.problem import Problem
from vpp.runtime import cancel
from vpp.settings import Config

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


LEAD = 4
"""Steps that a chain may be ahead of the one whose events are yielded.

A run that is resumed without the response cache asks again for at most so many steps of a chain.
"""
Move = Callable[[Chain], Coroutine[Any, Any, Outcome]]
_END = object()


class Ahead:
    """A run's tasks that outlive a step. The first that fails ends the run; leaving the block cancels them all."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[Any]] = set()
        self._failure: asyncio.Future[BaseException] = asyncio.get_running_loop().create_future()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await cancel(self._tasks)

    def begin(self, work: Coroutine[Any, Any, object]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (failure := task.exception()) and not self._failure.done():
            self._failure.set_result(failure)

    async def guard(self, phase: AsyncGenerator[T, None]) -> AsyncGenerator[T, None]:
        """Yield what the phase yields. Raise the failure of a task of this run as soon as there is one."""
        try:
            while True:
                coming = asyncio.ensure_future(anext(phase, _END))
                try:
                    await asyncio.wait((coming, self._failure), return_when=asyncio.FIRST_COMPLETED)
                    if self._failure.done():
                        raise self._failure.result()
                finally:
                    await cancel((coming,))
                if coming.result() is _END:
                    return
                yield cast(T, coming.result())
        finally:
            await phase.aclose()

    def ask_next(self, chain: Chain, *texts: str) -> None:
        """Ask for these texts' answers to the rows that the next step scores particles on.

        Nothing is asked at the last step.
        """
        problem, config, step = chain.problem, chain.config, chain.step + 1
        if step < problem.steps:
            for text in texts:
                self.begin(problem.learner.predict(text, problem.scored_rows(config, step)))

    def and_ask_next(self, mutate: Move) -> Move:
        """Return `mutate` followed by a request for the new text's answers to the next step's rows.

        So the learner applies texts that are rewritten while the optimizer still writes others.
        """

        async def move(chain: Chain) -> Outcome:
            outcome = await mutate(chain)
            self.ask_next(chain, outcome.particle.text)
            return outcome

        return move


class Chains:
    """K chains in a task each, at most `LEAD` steps ahead; their outcomes come out step by step."""

    def __init__(self, ahead: Ahead, move: Move) -> None:
        self._ahead, self._move = ahead, move
        self._begun_to = INITIAL_STEP
        self._outcomes: defaultdict[int, asyncio.Queue[Outcome]] = defaultdict(asyncio.Queue)
        self._reached: defaultdict[int, asyncio.Event] = defaultdict(asyncio.Event)

    async def step(
        self, problem: Problem, config: Config, population: Population, *, step: int
    ) -> AsyncGenerator[Yielded, None]:
        """Move every chain once. Yield each event as it happens, and last the population after the step."""
        if step > self._begun_to:
            self._begun_to = problem.steps - 1
            for chain in chains(problem, config, population, step=step):
                self._ahead.begin(self._run(chain, last=self._begun_to))
        self._reached[step].set()
        moved: dict[int, Outcome] = {}
        while len(moved) < population.size:
            outcome = await self._outcomes[step].get()
            moved[outcome.slot] = outcome
            for event in outcome.events:
                yield event
        del self._outcomes[step]
        yield replace(population, step=step, particles=in_order(moved))

    async def _run(self, chain: Chain, *, last: int) -> None:
        first = chain.step
        for step in range(first, last + 1):
            if step - LEAD >= first:
                await self._reached[step - LEAD].wait()
            outcome = await self._move(replace(chain, step=step))
            self._outcomes[step].put_nowait(outcome)
            chain = chain.of(outcome.particle)
