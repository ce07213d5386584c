"""Shares the learner's answers: a question is asked once, and its answer is stored for later callers."""

import asyncio
from collections.abc import Callable, Coroutine, Iterable
from dataclasses import dataclass, replace

from vpp.problem import Prediction

Question = tuple[str, int]
"""Ids of a hypothesis and a row."""
Ask = Callable[[], Coroutine[None, None, None]]


@dataclass(slots=True, eq=False)
class _Request:
    """A request in flight."""

    questions: tuple[Question, ...]
    task: asyncio.Task[None]
    waiting: int = 0
    """Callers that wait for it."""


class SharedAnswers:
    """Answers by question, and the requests in flight that will give more."""

    def __init__(self) -> None:
        self._answers: dict[Question, Prediction] = {}
        self._requests: dict[Question, _Request] = {}

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
        """Begin a request in which `ask` keeps the answers to these questions."""
        keys = tuple(questions)
        task = asyncio.create_task(ask())
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
        request.task.cancel()
