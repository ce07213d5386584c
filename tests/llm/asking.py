"""Calls, learners and optimizers whose model is a scripted server."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from vpp.data.dataset import Dataset
from vpp.events import Counters
from vpp.llm.endpoint import Endpoint
from vpp.llm.learner import LearnerOptions, LlmLearner
from vpp.llm.optimizer import LlmOptimizer
from vpp.llm.prompts import LearnerPrompts, ModelLimits, seed_sentence
from vpp.llm.protocol import Completion
from vpp.llm.templates import Template, shipped
from vpp.problem import Prediction

from .stub import Behaviour, Reply, Stub, endpoint_of, script
from .tables import PARITY, optimizer_prompts

Noted = tuple[str, Prediction, int]
RULE = "The label is 1 if the sum is even."
SEED_TEXT = seed_sentence(PARITY, "The sum matters")


async def ask(endpoint: Endpoint, content: str = "hello", **options: Any) -> Completion:
    settings = {"temperature": 0.0, "seed": 5, "max_tokens": 50, **options}
    return await endpoint.complete([{"role": "user", "content": content}], **settings)


@asynccontextmanager
async def learner_of(
    *said: Behaviour | Reply,
    dataset: Dataset = PARITY,
    template: Template | None = None,
    noted: list[Noted] | None = None,
    **options: Any,
) -> AsyncIterator[tuple[LlmLearner, Stub, Counters]]:
    """Learner whose server has this behaviour, or gives these answers in turn. noted: what `on_answer` receives."""
    prompts = LearnerPrompts(dataset=dataset, template=template or shipped("learner", "paper"))
    asking = LearnerOptions(seed=9, max_tokens=64, **options)
    answers = [] if noted is None else noted
    async with endpoint_of(_behaviour(said)) as (endpoint, stub):
        learner = LlmLearner(
            endpoint, prompts, asking, counters=endpoint.counters, on_answer=lambda *answer: answers.append(answer)
        )
        yield learner, stub, endpoint.counters


@asynccontextmanager
async def optimizer_of(
    *said: Behaviour | Reply, dataset: Dataset = PARITY, seed_text: str = SEED_TEXT, context_length: int = 0
) -> AsyncIterator[tuple[LlmOptimizer, Stub, Counters]]:
    """Optimizer whose server has this behaviour, or gives these answers in turn."""
    prompts = optimizer_prompts(dataset, seed_text=seed_text)
    limits = ModelLimits(max_tokens=64, context_length=context_length)
    async with endpoint_of(_behaviour(said)) as (endpoint, stub):
        yield LlmOptimizer(endpoint, prompts, limits, counters=endpoint.counters), stub, endpoint.counters


def _behaviour(said: tuple[Behaviour | Reply, ...]) -> Behaviour:
    (first, *_), replies = said, [one for one in said if isinstance(one, Reply)]
    return first if callable(first) else script(*replies)
