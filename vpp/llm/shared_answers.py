"""Shares the learner's answers: a question is asked once, and its answer is stored for later callers.

Answers may be requested ahead of their turn, in a transaction (`vpp.usage`). They count once somebody needs them.
When all who might need one have dropped it, it is forgotten.
"""

import asyncio
from collections.abc import Callable, Coroutine, Iterable
from dataclasses import dataclass, field, replace
from functools import partial

from vpp.llm.counters import Counters
from vpp.problem import Prediction
from vpp.usage import Transaction, open_transaction

Question = tuple[str, int]
"""Ids of a hypothesis and a row."""
Ask = Callable[[], Coroutine[None, None, None]]


@dataclass(slots=True, eq=False)
class _Ahead:
    """An answer, present or requested, that nobody has needed so far."""

    transaction: Transaction
    """Transaction of its request."""
    claims: set[Transaction] = field(default_factory=set)
    """Transactions that may still need it."""


@dataclass(slots=True, eq=False)
class _Request:
    """A request in flight."""

    questions: tuple[Question, ...]
    task: asyncio.Task[None]
    waiting: int = 0
    """Callers that wait for it."""


class SharedAnswers:
    """Answers by question, and the requests in flight that will give more."""

    def __init__(self, counters: Counters) -> None:
        self._counters = counters
        self._answers: dict[Question, Prediction] = {}
        self._requests: dict[Question, _Request] = {}
        self._ahead: dict[Question, _Ahead] = {}

    def __len__(self) -> int:
        return len(self._answers)

    def __contains__(self, question: Question) -> bool:
        return question in self._answers

    def __getitem__(self, question: Question) -> Prediction:
        return self._answers[question]

    def keep(self, hypothesis: str, prediction: Prediction) -> None:
        """Keep an answer without its thoughts, which are long and used nowhere."""
        self._answers[hypothesis, prediction.row] = (
            replace(prediction, thoughts="") if prediction.thoughts else prediction
        )

    def is_requested(self, question: Question) -> bool:
        """Return whether a request in flight will answer it."""
        return question in self._requests

    def request(self, questions: Iterable[Question], ask: Ask) -> asyncio.Task[None]:
        """Begin a request in which `ask` keeps the answers to these questions.

        Inside a transaction it has one of its own, committed when the first of its answers is needed.
        """
        keys = tuple(questions)
        context = None
        if ahead := open_transaction():
            transaction = Transaction(is_guess=ahead.is_guess)
            if ahead.is_guess:
                self._counters.add(ahead=1, ahead_unused=1)
                transaction.on_commit(partial(self._counters.add, ahead_unused=-1))
            context = transaction.context()
            self._ahead.update((key, _Ahead(transaction)) for key in keys)
        task = asyncio.create_task(ask(), context=context)
        self._requests.update(dict.fromkeys(keys, _Request(keys, task)))
        return task

    async def wait(self, questions: Iterable[Question]) -> None:
        """Wait until all are answered. A request is cancelled once nobody waits for it. Raises EndpointError."""
        joined = list(dict.fromkeys(self._requests[question] for question in questions))
        for request in joined:
            request.waiting += 1
        try:
            done, _ = await asyncio.wait([request.task for request in joined], return_when=asyncio.FIRST_EXCEPTION)
            for task in done:
                task.result()
        finally:
            for request in joined:
                self._leave(request)

    def _leave(self, request: _Request) -> None:
        request.waiting -= 1
        if request.waiting:
            return
        for question in request.questions:
            self._requests.pop(question, None)
        task = request.task
        is_answered = task.done() and not task.cancelled() and task.exception() is None
        if not is_answered:
            task.cancel()
        for question in request.questions:
            if is_answered:
                self._forget_unclaimed(question)
            else:
                self._ahead.pop(question, None)

    # --- answers requested ahead of their turn ----------------------------------------------------------------------

    def need(self, questions: Iterable[Question]) -> None:
        """Count these answers, if requested ahead, as needed: now, or when the caller's own transaction commits."""
        if not self._ahead:
            return
        transaction = open_transaction()
        for question in set(questions) & self._ahead.keys():
            if transaction is None:
                self._settle(question)
            elif transaction not in self._ahead[question].claims:
                self._ahead[question].claims.add(transaction)
                transaction.on_commit(
                    partial(self._settle, question), on_rollback=partial(self._drop, question, transaction)
                )

    def _settle(self, question: Question) -> None:
        if ahead := self._ahead.pop(question, None):
            ahead.transaction.commit()

    def _drop(self, question: Question, transaction: Transaction) -> None:
        if ahead := self._ahead.get(question):
            ahead.claims.discard(transaction)
            self._forget_unclaimed(question)

    def _forget_unclaimed(self, question: Question) -> None:
        """Forget an answer that nobody claims, unless others may still join its request."""
        if question in self._ahead and not self._ahead[question].claims and question not in self._requests:
            del self._ahead[question]
            self._answers.pop(question, None)
