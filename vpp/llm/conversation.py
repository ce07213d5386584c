"""Conversations with a model: calls counted and shared, and questions asked again after an unreadable answer."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from typing import Any, Literal, Protocol, TypeVar

from vpp.errors import EndpointRefused, PromptRefused
from vpp.llm.limits import Counters
from vpp.llm.prompts import question
from vpp.llm.protocol import FIX_MODEL, FIX_THOUGHTS, Completion, Messages
from vpp.problem import Prediction, Proposal

ASKS = 3
"""Attempts at a readable answer: the question, and two repetitions."""
REFUSED = "An earlier answer was refused:"
"""Begins the line that gives a fault of an earlier answer."""
CUT_OFF = "it was cut off at its limit of tokens: explain in one short sentence"
LEAST_REFUSALS, MOST_REFUSALS = 10, 512
"""Refused calls, before any was answered, at which a role may end, and at which it does."""
Question = tuple[str, int]
"""Ids of a hypothesis and a row."""
T = TypeVar("T", Prediction, Proposal)


class Chat(Protocol):
    """The part of an endpoint that learner and optimizer use."""

    @property
    def complete(self) -> Callable[..., Awaitable[Completion]]:
        """Return one answer to messages. Raises EndpointError."""
        ...


class RoleChat:
    """The calls of one role, counted. A refusal costs its question alone, unless the server answers none of the first.

    An answer without a text counts as refused: a thinking model may be cut off before each of its answers.
    """

    def __init__(self, endpoint: Chat, counters: Counters, role: Literal["learner", "optimizer"]) -> None:
        self.has_answered = False
        self._endpoint = endpoint
        self._counters = counters
        self._role = role
        self._refused = self._open = 0

    async def complete(self, messages: Messages, **options: Any) -> Completion:
        """Return one answer. Raises EndpointError."""
        self._open += 1
        try:
            completion = await self._endpoint.complete(messages, **options)
            self._counters.add(**{self._role: 1})
            self.has_answered |= bool(completion.text.strip() or completion.first_tokens)
            if not self.has_answered:
                why = " (all text came as reasoning: is its reasoning parser wrong?)" if completion.reasoning else ""
                why = ", cut off at its limit of tokens" if completion.cut_off else why
                self._count_refusal(f"the answer is empty{why}: {FIX_THOUGHTS if why else FIX_MODEL}")
            return completion
        except PromptRefused as refusal:
            if not self.has_answered:
                self._count_refusal(str(refusal))
            raise
        finally:
            self._open -= 1

    def _count_refusal(self, words: str) -> None:
        """Count a refusal. Raises EndpointRefused once the first calls are all refused.

        Refusals come faster than answers, so they are weighed against the calls that are still open.
        """
        self._refused += 1
        if self._refused >= max(LEAST_REFUSALS, min(self._open, MOST_REFUSALS)):
            raise EndpointRefused(f"{words} (no question was answered, and {self._refused} refused)") from None

    async def until_read(
        self, messages: Messages, read: Callable[[Completion], T], *, seed: int, **options: Any
    ) -> tuple[T, int]:
        """Return the first answer without a reason why it cannot be read, or else the last one; and its number.

        A repetition has another seed, and a line for each fault so far above the question. The answers are left out: a
        small model that sees its own wrong answer stops answering in the asked form. Raises EndpointError.
        """
        answer, n, faults = None, 0, ""
        while answer is None or (answer.reason is not None and n < ASKS):
            asked = [*messages[:-1], question(faults + messages[-1]["content"])]
            try:
                completion = await self.complete(asked, seed=seed + n, **options)
            except PromptRefused:
                if answer is None:
                    raise
                break
            answer, n = read(completion), n + 1
            if answer.reason is not None:
                is_refused = isinstance(answer, Proposal) and answer.refused
                self._counters.add(**{"refused" if is_refused else "unparsable": 1})
                faults += f"{REFUSED} {CUT_OFF if completion.cut_off else answer.reason}.\n"
        return answer, n


def cut_off_words(completion: Completion) -> str:
    """Say that an answer stopped at its token limit, and how to give it room."""
    if completion.reasoning and not completion.text.strip():
        return "cut off at its limit of tokens while it thought; a higher limit, or less thinking, gives it room"
    return "the answer was cut off at its limit of tokens; a higher limit gives it room"


class SharedRequests:
    """The requests in flight: a question that several callers have is asked once."""

    def __init__(self) -> None:
        self._tasks: dict[Question, asyncio.Task[None]] = {}
        self._waiting: dict[Question, int] = {}
        """Callers that wait for each."""

    async def wait(self, questions: Mapping[Question, Callable[[], Coroutine[None, None, None]]]) -> None:
        """Wait until all are answered. A request is cancelled once nobody waits for it. Raises EndpointError.

        questions: with the call that asks each, unless a request is in flight.
        """
        for asked, ask in questions.items():
            if asked not in self._tasks:
                self._tasks[asked] = asyncio.create_task(ask())
            self._waiting[asked] = self._waiting.get(asked, 0) + 1
        tasks = {asked: self._tasks[asked] for asked in questions}
        try:
            done, _ = await asyncio.wait(tasks.values(), return_when=asyncio.FIRST_EXCEPTION)
            for task in done:
                task.result()
        finally:
            for asked, task in tasks.items():
                self._waiting[asked] -= 1
                if not self._waiting[asked]:
                    del self._waiting[asked], self._tasks[asked]
                    task.cancel()
