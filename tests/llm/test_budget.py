"""The cap on calls and money, call by call."""

import asyncio
from typing import Any

import pytest

from tests.llm.asking import ask
from tests.llm.stub import Reply, Request, chat, endpoint_of, refusal, script
from vpp.events import Usage
from vpp.llm.budget import Budget, Cap, Price
from vpp.llm.cache import ResponseCache
from vpp.llm.limits import Counters

DEAR = Price(prompt=100_000.0, completion=1_000_000.0)
"""The stub's answers, 7 tokens in and 3 out, cost 3.7 each."""


async def asked(behave: Any, cap: Cap, scene: Any, *, price: Price = DEAR, **options: Any) -> Counters:
    """A scene with an endpoint, a budget and a function that asks `n` questions at once."""
    counters = Counters()
    budget = Budget(counters, cap)
    async with endpoint_of(behave, counters=counters, budget=budget, price=price, **options) as (endpoint, _):
        await scene(lambda n: [asyncio.create_task(ask(endpoint, str(i))) for i in range(n)], budget)
    return counters


async def one(asking: Any, _: Budget) -> None:
    await asyncio.gather(*asking(1))


async def reached(budget: Budget) -> None:
    await asyncio.wait_for(budget.exhausted.wait(), 10)


async def test_at_the_cap_no_call_leaves_and_those_in_flight_end() -> None:
    sent: list[str] = []

    async def behave(request: Request) -> Reply:
        sent.append(request.path)
        await asyncio.sleep(0.01)
        return chat()

    async def scene(asking: Any, budget: Budget) -> None:
        tasks = asking(20)
        await reached(budget)
        assert len(sent) == sum(task.done() for task in tasks) == 7
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    assert (await asked(behave, Cap(calls=7), scene)).sent == len(sent) == 7


async def test_a_cap_on_money_is_not_passed_though_many_wait() -> None:
    async def behave(request: Request) -> Reply:
        await asyncio.sleep(0.01)
        return chat()

    async def scene(asking: Any, budget: Budget) -> None:
        tasks = asking(20)
        await reached(budget)
        assert sum(task.done() for task in tasks) == 5
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    counters = await asked(behave, Cap(cost=20.0), scene)
    assert (counters.sent, counters.cost) == (5, pytest.approx(5 * 3.7))


async def test_retries_and_refused_fields_count_as_sent_and_cost_nothing() -> None:
    counters = await asked(script(refusal(503), refusal(400, "unknown field seed", param="seed"), chat()), Cap(), one)
    assert (counters.sent, counters.cost) == (3, pytest.approx(3.7))


async def test_what_the_cache_answers_is_neither_sent_nor_paid(tmp_path: Any) -> None:
    async def scene(asking: Any, _: Budget) -> None:
        await asyncio.gather(*asking(1))
        await asyncio.gather(*asking(1))

    cache = ResponseCache(tmp_path)
    counters = await asked(script(chat()), Cap(calls=1), scene, cache=cache)
    cache.close()
    assert (counters.sent, counters.snapshot().cached) == (1, 1)


async def test_an_answer_whose_tokens_nobody_counted_is_paid_by_its_length() -> None:
    uncounted = Reply(b'{"choices": [{"finish_reason": "stop", "message": {"content": "Output: 1"}}]}')
    assert (await asked(script(uncounted), Cap(), one)).cost > 3


def test_what_was_sent_and_paid_survives_going_back_to_the_last_whole_step() -> None:
    counters = Counters()
    counters.add(sent=9, learner=8)
    counters.add(cost=1.5)
    counters.restore(Usage(learner=3, sent=4, cost=0.5))
    assert counters.snapshot() == Usage(learner=3)
    assert (counters.sent, counters.cost) == (9, 1.5)
    counters.add(learner=1, cached=1)
    assert counters.snapshot() == Usage(learner=4, cached=1)
    with pytest.raises(KeyError):
        counters.add(lerner=1)
