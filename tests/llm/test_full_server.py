"""An endpoint before a full server, and before one that keeps connections open."""

import asyncio
import time
from collections.abc import Callable

import pytest

from vpp.llm import client
from vpp.llm.endpoint import Limits, Retries
from vpp.llm.limits import Counters

from .asking import ask
from .stub import Reply, Request, as_json, chat, endpoint_of, refusal, script

WITHIN_S = 30


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


async def test_a_full_server_narrows_the_window_and_the_counts_say_so() -> None:
    counters = Counters()

    async with endpoint_of(script(refusal(503), chat()), concurrency=8, counters=counters) as (endpoint, _):
        await ask(endpoint)
        assert (counters.snapshot().window, counters.snapshot().narrowed_by) == (4, "full")


async def test_a_wait_that_a_server_asks_for_is_reported_until_it_answers() -> None:
    counters = Counters()

    async with endpoint_of(script(as_json({}, 429, retry_after="80"), chat()), counters=counters) as (endpoint, _):
        began = time.time()
        waits = asyncio.create_task(ask(endpoint))
        await until(lambda: counters.snapshot().held_until, "the wait is reported")
        assert began + 80 <= counters.snapshot().held_until <= time.time() + 80
        waits.cancel()
        endpoint._throttle.release()
        await ask(endpoint)
        assert counters.snapshot().held_until == 0


async def test_a_server_that_asks_to_wait_gets_no_other_call_until_it_answers_one() -> None:
    free = asyncio.Event()

    async def behave(request: Request) -> Reply:
        if "first" not in str(request.body):
            return as_json({}, 429, retry_after="80")
        await free.wait()
        return chat()

    async with endpoint_of(behave) as (endpoint, _):
        first, refused = (asyncio.create_task(ask(endpoint, name)) for name in ("first", "second"))
        await until(lambda: endpoint._throttle.held_until, "the semaphore is held")
        async with asyncio.timeout(WITHIN_S):
            third = asyncio.create_task(ask(endpoint, "the first again"))
            await asyncio.sleep(0)
            assert (endpoint._throttle.inside, len(endpoint._throttle._waiting)) == (1, 1)
            free.set()
            await first
            await third
        refused.cancel()


def test_waits_are_granted_up_to_a_limit_since_the_last_answer() -> None:
    clock = [0.0]
    retries = Retries(Limits(max_wait_s=25), Counters(), str, now=lambda: clock[0])
    assert (retries.granted_s(20), retries.waited_s) == (20, 0)
    clock[0] = 20
    assert retries.granted_s(20) == 5
    clock[0] = 25
    assert (retries.granted_s(20), retries.waited_s) == (0, 25)
    retries.succeeded()
    assert (retries.waited_s, retries.granted_s(20)) == (0, 20)
