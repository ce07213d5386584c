"""Thinking models: what they think is cut off the answer and kept aside, and a thought without an end is noticed."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from vpp.llm.context import ModelLimits
from vpp.llm.counters import Counters
from vpp.llm.endpoint import Endpoint
from vpp.llm.learner import THOUGHTS_LIMIT, LearnerOptions, LlmLearner
from vpp.llm.optimizer import LlmOptimizer
from vpp.llm.prompts import LearnerPrompts, OptimizerPrompts, seed_sentence
from vpp.llm.templates import shipped
from vpp.problem import Prediction, Proposal

from .stub import Reply, chat, endpoint_at, script, serving
from .tables import PARITY

RULE = "The label is 1 if the sum is even."
LONG = "Let me see. Output: 0. " * 200


def predicted(reply: Reply) -> Prediction:
    """What is made of the reply, once the model has shown that it can answer."""

    async def ask(endpoint: Endpoint) -> Prediction:
        answered: list[Prediction] = []
        learner = LlmLearner(
            endpoint,
            LearnerPrompts(dataset=PARITY, template=shipped("learner")),
            LearnerOptions(seed=1, max_tokens=64),
            counters=endpoint.counters,
            on_answer=lambda _, prediction, attempts: answered.append(prediction),
        )
        await learner.predict(RULE, PARITY.train[:1])
        remembered = await learner.predict(RULE, PARITY.train[1:2])
        assert remembered == (replace(answered[1], thoughts=""),)
        return answered[1]

    return asyncio.run(served(ask, chat("Output: 0"), reply))


def proposed(reply: Reply) -> Proposal:
    async def ask(endpoint: Endpoint) -> Proposal:
        prompts = OptimizerPrompts(
            dataset=PARITY,
            refining=shipped("optimizer"),
            drawing=shipped("prior"),
            seed_text=seed_sentence(PARITY),
        )
        optimizer = LlmOptimizer(endpoint, prompts, ModelLimits(max_tokens=64), counters=endpoint.counters)
        return await optimizer.draw(temperature=0.0, seed=1)

    return asyncio.run(served(ask, reply))


async def served(ask: Any, *replies: Reply) -> Any:
    async with serving(script(*replies)) as stub:
        endpoint = endpoint_at(stub.base_url, counters=Counters())
        try:
            return await ask(endpoint)
        finally:
            await endpoint.aclose()


WAYS = {
    "in the answer": chat(f"<think>{LONG}</think>\nOutput: 1"),
    "in the answer, its begin in the prompt": chat(f"{LONG}</think>Output: 1"),
    "beside it, as reasoning": chat("Output: 1", reasoning=LONG),
    "beside it, as reasoning_content": chat("Output: 1", reasoning_content=LONG),
}


@pytest.mark.parametrize("way", WAYS)
def test_thoughts_are_no_answer_and_their_beginning_is_kept(way: str) -> None:
    prediction = predicted(WAYS[way])
    assert prediction.value == "1"
    assert "Output" not in prediction.explanation
    assert len(prediction.thoughts) == THOUGHTS_LIMIT
    assert "Let me see." in prediction.thoughts


@pytest.mark.parametrize(
    "reply",
    [chat(None, finish="length", reasoning=LONG), chat(f"<think>{LONG}", finish="length")],
    ids=["beside it", "in the answer"],
)
def test_a_thought_without_an_end_abstains_and_says_what_would_help(reply: Reply) -> None:
    prediction = predicted(reply)
    assert prediction.value is None
    assert "cut off at its limit of tokens while it thought; a higher limit" in (prediction.reason or "")
    assert prediction.thoughts.removeprefix("<think>").startswith(LONG)


def test_a_rule_is_read_after_thoughts_which_are_kept_with_it() -> None:
    proposal = proposed(chat("New rule: Output 1.", reasoning=LONG))
    assert proposal.text == f"{seed_sentence(PARITY)} Output 1."
    assert proposal.thoughts.startswith("Let me see.")
    cut = proposed(chat("New rule: Outp", finish="length"))
    assert cut.text is None
    assert cut.reason == "the answer was cut off at its limit of tokens; a higher limit gives it room"
