"""An endpoint before a full server, and before one that keeps connections open."""

import asyncio
import resource
import time
from collections.abc import Callable

import pytest

from vpp.errors import EndpointUnreachable
from vpp.llm import client, limits, transport
from vpp.llm.counters import Counters
from vpp.llm.endpoint import Patience

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


async def test_a_process_that_may_open_few_files_sends_fewer_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    limit = limits.OTHER_FILES + 3
    monkeypatch.setattr(resource, "getrlimit", lambda _: (limit, limit))
    monkeypatch.setattr(resource, "setrlimit", lambda *_: None)
    counters = Counters()

    async with endpoint_of(script(chat()), concurrency=8, counters=counters) as (endpoint, _):
        assert (counters.snapshot().window, counters.snapshot().narrowed_by) == (3, "files")
        assert endpoint._throttle.ceiling == 3


async def test_a_wait_that_a_server_asks_for_is_reported_until_it_answers() -> None:
    counters = Counters()

    async with endpoint_of(script(as_json({}, 429, retry_after="80"), chat()), counters=counters) as (endpoint, _):
        began = time.time()
        waits = asyncio.create_task(ask(endpoint))
        await until(lambda: counters.snapshot().held_until, "the wait is reported")
        assert began + 80 <= counters.snapshot().held_until <= time.time() + 80
        waits.cancel()
        endpoint._throttle.semaphore.release()
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
            assert (endpoint._throttle.semaphore.inside, len(endpoint._throttle.semaphore._waiting)) == (1, 1)
            free.set()
            await first
            await third
        refused.cancel()


async def test_a_timeout_narrows_the_window_until_the_endpoint_is_closed() -> None:
    async def silent(request: Request) -> Reply:
        await asyncio.Event().wait()
        raise AssertionError

    async with endpoint_of(silent, concurrency=8, timeout_s=0.02, max_attempts=1) as (endpoint, _):
        with pytest.raises(EndpointUnreachable):
            await ask(endpoint)
        assert endpoint.counters.snapshot().window == 4
        await endpoint.aclose()
        assert endpoint.counters.snapshot().window == 0


async def test_the_end_of_a_run_waits_for_no_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transport, "CLOSE_S", 0.01)

    async with endpoint_of(script(chat())) as (endpoint, _):
        await ask(endpoint)
        opened, never = endpoint._transport._client, asyncio.Event()
        assert opened is not None
        real = opened.aclose
        monkeypatch.setattr(opened, "aclose", never.wait)
        await endpoint.aclose()
        assert endpoint._transport._client is None
        await real()


def test_waits_are_granted_up_to_a_limit_since_the_last_answer() -> None:
    clock = [0.0]
    patience = Patience(25, now=lambda: clock[0])
    assert (patience.granted_s(20), patience.is_used_up) == (20, False)
    clock[0] = 20
    assert patience.granted_s(20) == 5
    clock[0] = 25
    assert (patience.granted_s(20), patience.is_used_up, patience.waited_s) == (0, True, 25)
    patience.answered()
    assert (patience.waited_s, patience.granted_s(20)) == (0, 20)
    unwilling = Patience(0)
    assert (unwilling.granted_s(20), unwilling.is_used_up) == (0, False), "the usual attempts remain"


async def test_a_server_that_asks_for_longer_waits_than_are_granted_is_given_up() -> None:
    clock = [0.0]

    async def behave(request: Request) -> Reply:
        clock[0] += 30
        return as_json({}, 429, retry_after="100000")

    async with endpoint_of(behave) as (endpoint, stub):
        endpoint._retries.patience = Patience(0.01, now=lambda: clock[0])
        with pytest.raises(EndpointUnreachable, match=r"HTTP 429: it is overloaded") as raised:
            await ask(endpoint)
        assert raised.value.waited_s == 30
        assert len(stub.requests) == 2
        assert not endpoint._throttle.held_until
