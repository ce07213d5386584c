"""Calls in flight, waits that a server asks for, and caps: the laws on a virtual clock, and over real HTTP."""

import asyncio
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from vpp.events import Counters, Usage
from vpp.llm import client
from vpp.llm.cache import ResponseCache
from vpp.llm.limits import Budget, Cap, Price, Throttle

from .asking import ask
from .stub import Reply, Request, as_json, chat, endpoint_of, refusal, script

WITHIN_S = 30


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The time in seconds; a test sets it."""
    now = [0.0]
    monkeypatch.setattr("vpp.llm.limits.time.monotonic", lambda: now[0])
    return now


def test_refusals_of_one_round_trip_halve_the_window_once(clock: list[float]) -> None:
    throttle = Throttle(512)
    clock[0] = 1.0
    for _ in range(512):
        throttle.refused(0.0)
    assert throttle.slots.total_tokens == 256
    clock[0] = 2.0
    throttle.refused(clock[0])
    assert throttle.slots.total_tokens == 128


def test_the_window_is_never_below_one_and_answers_widen_it_while_it_is_used(clock: list[float]) -> None:
    throttle = Throttle(8)
    for moment in range(1, 20):
        clock[0] = moment
        throttle.refused(clock[0])
    assert throttle.slots.total_tokens == 1
    clock[0] = 30
    for calls, limit in ((1, 2), (2, 4), (4, 8)):  # at least half of the window is in use
        throttle.began = [clock[0]] * calls
        for _ in range(200):
            throttle.answered(clock[0])
        assert throttle.slots.total_tokens == limit


async def settle() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


# Full servers, over real HTTP


async def until(happens: Callable[[], object], what: str) -> None:
    """Wait until it happens; fail after half a minute."""
    end = time.monotonic() + WITHIN_S
    while not happens():
        assert time.monotonic() < end, f"not within {WITHIN_S} s: {what}"
        await asyncio.sleep(0.001)


async def test_an_idle_connection_is_used_again_until_its_time_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    for keepalive_s, connections in ((60, 1), (0.001, 2)):
        monkeypatch.setattr(client, "KEEPALIVE_S", keepalive_s)
        async with endpoint_of(script(chat())) as (endpoint, stub):
            await ask(endpoint)
            await asyncio.sleep(0.01)
            await ask(endpoint)
            assert (len(stub.requests), stub.connections) == (2, connections)


async def test_a_llama_server_gets_no_more_calls_than_it_has_slots() -> None:
    for reply, most in ((as_json({"total_slots": 4}), 4), (refusal(404), 1024), (as_json({"total_slots": "x"}), 1024)):
        async with endpoint_of(script(reply)) as (endpoint, stub):
            await endpoint.keep_to_slots()
            assert stub.requests[0].path == "/props"
            assert endpoint._throttle.slots.total_tokens == most


async def test_a_full_server_narrows_the_window() -> None:
    async with endpoint_of(script(refusal(503), chat()), concurrency=8) as (endpoint, _):
        await ask(endpoint)
        assert endpoint._throttle.slots.total_tokens == 4


async def test_a_server_that_asks_to_wait_gets_no_other_call_until_then_or_until_it_answers_one() -> None:
    free = asyncio.Event()

    async def behave(request: Request) -> Reply:
        if "first" not in str(request.body):
            return as_json({}, 429, retry_after="80")
        await free.wait()
        return chat()

    async with endpoint_of(behave) as (endpoint, stub):
        began = time.time()
        first, refused = (asyncio.create_task(ask(endpoint, name)) for name in ("first", "second"))
        await until(lambda: endpoint.counters.snapshot().held_until, "the wait is reported")
        assert began + 80 <= endpoint.counters.snapshot().held_until <= time.time() + 80
        held = asyncio.create_task(ask(endpoint, "the first again"))
        await settle()
        assert len(stub.requests) == 2
        free.set()
        await first
        assert endpoint.counters.snapshot().held_until == 0
        await ask(endpoint, "the first once more")
        for waiting in (held, refused):
            waiting.cancel()


# The cap on calls and money

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


@pytest.mark.parametrize(("cap", "n"), [(Cap(calls=7), 7), (Cap(cost=20.0), 5)])
async def test_at_the_cap_no_call_leaves_though_many_wait_and_those_in_flight_end(cap: Cap, n: int) -> None:
    sent: list[str] = []

    async def behave(request: Request) -> Reply:
        sent.append(request.path)
        await asyncio.sleep(0.01)
        return chat()

    async def scene(asking: Any, budget: Budget) -> None:
        tasks = asking(20)
        await asyncio.wait_for(budget.exhausted.wait(), 10)
        assert len(sent) == sum(task.done() for task in tasks) == n
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    counters = await asked(behave, cap, scene)
    assert (counters.snapshot().sent, len(sent), counters.snapshot().cost) == (n, n, pytest.approx(n * 3.7))


async def test_retries_and_refused_fields_count_as_sent_and_cost_nothing() -> None:
    counters = await asked(script(refusal(503), refusal(400, "unknown field seed", param="seed"), chat()), Cap(), one)
    assert (counters.snapshot().sent, counters.snapshot().cost) == (3, pytest.approx(3.7))


async def test_what_the_cache_answers_is_neither_sent_nor_paid(tmp_path: Path) -> None:
    async def scene(asking: Any, _: Budget) -> None:
        await asyncio.gather(*asking(1))
        await asyncio.gather(*asking(1))

    cache = ResponseCache(tmp_path)
    counters = await asked(script(chat()), Cap(calls=1), scene, cache=cache)
    cache.close()
    assert (counters.snapshot().sent, counters.snapshot().cached) == (1, 1)


async def test_an_answer_whose_tokens_nobody_counted_is_paid_by_its_length() -> None:
    uncounted = Reply(b'{"choices": [{"finish_reason": "stop", "message": {"content": "Output: 1"}}]}')
    assert (await asked(script(uncounted), Cap(), one)).snapshot().cost > 3


def test_what_was_sent_and_paid_survives_going_back_to_the_last_whole_step() -> None:
    counters = Counters()
    counters.add(sent=9, learner=8)
    counters.add(cost=1.5)
    counters.restore(Usage(learner=3, sent=4, cost=0.5))
    assert counters.snapshot() == Usage(learner=3)
    assert (counters.snapshot().sent, counters.snapshot().cost) == (9, 1.5)
    counters.add(learner=1, cached=1)
    assert counters.snapshot() == Usage(learner=4, cached=1)
    with pytest.raises(KeyError):
        counters.add(lerner=1)
