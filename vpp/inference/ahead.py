"""Work done ahead of its turn. It changes when calls are sent, never what a step does.

The algorithms read as if each step waited for the one before. Three things here let a run wait less; without them a
step takes the same events, decisions and counts, only later:

- `Chains` (MH, VML): chains are independent, so each goes on by itself; their outcomes are merged in step order.
- `Guesses` (MH): a chain's answers to the next step's rows are asked for before it is known which text goes on.
- `Ahead.then_ask` (SMC): a rewritten particle's answers to the next step's rows are asked for at once.

What is asked ahead belongs to a `Transaction` (vpp/usage.py): it counts in the step that needs it.
"""

import asyncio
from collections import defaultdict, deque
from collections.abc import AsyncGenerator, Callable, Coroutine, Sequence
from contextvars import Context
from dataclasses import replace
from typing import Any, Self, TypeVar, cast

from vpp.cancellation import cancel
from vpp.data.dataset import Row
from vpp.events import INITIAL_STEP
from vpp.inference.plan import may_be_prefetched
from vpp.inference.population import Chain, Outcome, Population, Yielded, chains, in_order
from vpp.problem import Prediction, Problem, Proposal
from vpp.settings import Config
from vpp.usage import Transaction

LEAD = 4
"""Steps that a chain may be ahead of the one whose events are yielded.

A run that is resumed without the response cache asks again for at most so many steps of a chain.
"""
Move = Callable[[Chain], Coroutine[Any, Any, Outcome]]
"""One chain's step."""
Questions = tuple[str, tuple[int, ...]]
"""A hypothesis and the ids of the rows it is applied to."""
T = TypeVar("T")
_END = object()


def next_rows(problem: Problem, config: Config, step: int) -> tuple[Row, ...]:
    """Rows that the next step scores particles on.

    Empty where they must not be asked about ahead: at the last step, where K may change, and where rows share requests.
    """
    is_last = step + 1 == problem.steps
    return () if is_last or not config.may_run_ahead else problem.scored_rows(config, step + 1)


class Tasks:
    """Tasks that end with the block that began them: leaving it cancels those under way and waits for their end."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[Any]] = set()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await cancel(self._tasks)

    def begin(self, work: Coroutine[Any, Any, T], context: Context | None = None) -> asyncio.Task[T]:
        """Start the work beside the other tasks."""
        task = asyncio.get_running_loop().create_task(work, context=context)
        self._tasks.add(task)
        task.add_done_callback(self._ended)
        return task

    def _ended(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (failure := task.exception()):
            self._failed(failure)

    def _failed(self, failure: BaseException) -> None:
        """Called with the failure of each task that failed."""


class Ahead(Tasks):
    """A run's tasks that outlive a step, and its learner: what was asked ahead is not asked again.

    The first of its tasks that fails ends the run.
    """

    def __init__(self, problem: Problem, config: Config) -> None:
        super().__init__()
        self._problem, self._config = problem, config
        self._asked: defaultdict[Questions, deque[tuple[asyncio.Task[tuple[Prediction, ...]], Transaction]]]
        self._asked = defaultdict(deque)
        self._failure: asyncio.Future[BaseException] = asyncio.get_running_loop().create_future()

    def _failed(self, failure: BaseException) -> None:
        if not self._failure.done():
            self._failure.set_result(failure)

    @property
    def problem(self) -> Problem:
        """The run's problem with this learner."""
        return replace(self._problem, learner=self)

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

    def then_ask(self, mutate: Move) -> Move:
        """Return `mutate` followed by a request for the new text's answers to the next step's rows.

        So the learner applies texts that are rewritten while the optimizer still writes others.
        """

        async def then_asked(chain: Chain) -> Outcome:
            outcome = await mutate(chain)
            if rows := next_rows(self._problem, self._config, chain.step):
                self._ask(outcome.particle.text, rows)
            return outcome

        return then_asked

    def _ask(self, hypothesis: str, rows: tuple[Row, ...]) -> None:
        transaction = Transaction()
        task = self.begin(self._problem.learner.predict(hypothesis, rows), transaction.context())
        self._asked[_questions(hypothesis, rows)].append((task, transaction))

    async def predict(self, hypothesis: str, rows: Sequence[Row]) -> tuple[Prediction, ...]:
        """Predictions as the learner gives them; those asked for ahead count from now on."""
        if asked := self._asked.get(_questions(hypothesis, rows)):
            task, transaction = asked.popleft()
            transaction.commit()
            return await task
        return await self._problem.learner.predict(hypothesis, rows)


def _questions(hypothesis: str, rows: Sequence[Row]) -> Questions:
    return hypothesis, tuple(row.id for row in rows)


class Chains:
    """K chains in a task each, at most `LEAD` steps ahead; their outcomes come out step by step."""

    def __init__(self, ahead: Ahead, move: Move) -> None:
        self._ahead, self._move = ahead, move
        self._begun_to = INITIAL_STEP
        self._outcomes: defaultdict[int, asyncio.Queue[Outcome]] = defaultdict(asyncio.Queue)
        self._reached: defaultdict[int, asyncio.Event] = defaultdict(asyncio.Event)
        self._transactions: defaultdict[int, Transaction] = defaultdict(Transaction)

    async def step(
        self, problem: Problem, config: Config, population: Population, *, step: int
    ) -> AsyncGenerator[Yielded, None]:
        """Move every chain once. Yield each event as it happens, and last the population after the step."""
        if step > self._begun_to:
            self._begun_to = problem.steps - 1 if config.may_run_ahead else step
            for chain in chains(problem, config, population, step=step):
                self._ahead.begin(self._run(chain, last=self._begun_to))
        self._transactions[step].commit()
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
        """One chain's steps, one after another."""
        first = chain.step
        async with Guesses(chain) as guesses:
            for step in range(first, last + 1):
                if step - LEAD >= first:
                    await self._reached[step - LEAD].wait()
                with self._transactions[step].opened():
                    outcome = await guesses.moved(self._move, replace(chain, step=step))
                self._outcomes[step].put_nowait(outcome)
                chain = chain.of(outcome.particle)


class Guesses(Tasks):
    """One chain's learner and optimizer, which also ask for its next forward pass on a guess.

    While the optimizer writes a proposal, the current text's answers to the next step's rows are asked for; while the
    proposal is judged, its own. Those of the text that loses are cancelled and dropped. A guess that fails is ignored:
    if its answers are needed, they are asked for again.
    """

    def __init__(self, chain: Chain) -> None:
        super().__init__()
        self._problem, self._config = chain.problem, chain.config
        self._theta = chain.particle.text
        self._next_rows: tuple[Row, ...] = ()
        self._asked: dict[str, tuple[asyncio.Task[object], Transaction]] = {}

    async def moved(self, move: Move, chain: Chain) -> Outcome:
        """The chain's step, with guesses about the next one."""
        self._theta = chain.particle.text
        is_guessed = may_be_prefetched(self._config)
        self._next_rows = next_rows(self._problem, self._config, chain.step) if is_guessed else ()
        outcome = await move(replace(chain, problem=replace(self._problem, learner=self, optimizer=self)))
        self._keep(outcome.particle.text)
        return outcome

    async def predict(self, hypothesis: str, rows: Sequence[Row]) -> tuple[Prediction, ...]:
        """Predictions as the learner gives them. Those of a proposal are needed for its judgement: guess beside it."""
        if hypothesis != self._theta:
            self._guess(hypothesis)
        return await self._problem.learner.predict(hypothesis, rows)

    async def propose(self, *asked: Any, **options: Any) -> Proposal:
        """A proposal as the optimizer writes it, with a guess about the current text beside it."""
        self._guess_anew()
        return await self._problem.optimizer.propose(*asked, **options)

    async def draw(self, **options: Any) -> Proposal:
        """A draw from the prior, with a guess about the current text beside it."""
        self._guess_anew()
        return await self._problem.optimizer.draw(**options)

    def _guess_anew(self) -> None:
        """The forward pass is done: earlier guesses were needed by it, or not at all."""
        self._keep(None)
        self._guess(self._theta)

    def _guess(self, hypothesis: str) -> None:
        """Ask about the next step's rows if the learner has room; its caller's own question goes first."""
        if not self._next_rows or hypothesis in self._asked or not self._problem.has_room():
            return
        transaction = Transaction(is_guess=True)
        task = self.begin(self._problem.learner.predict(hypothesis, self._next_rows), transaction.context())
        self._asked[hypothesis] = task, transaction

    def _keep(self, hypothesis: str | None) -> None:
        """Cancel and drop the guesses about every other text."""
        for text in self._asked.keys() - {hypothesis}:
            task, transaction = self._asked.pop(text)
            task.cancel()
            transaction.rollback()
