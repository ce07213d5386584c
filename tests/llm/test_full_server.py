"""What an endpoint does with a server that is full, one with a prefix cache, and one that keeps a line open."""

import asyncio

import pytest

from vpp.llm import endpoint as module
from vpp.llm.counters import Counters
from vpp.llm.endpoint import Endpoint

from .stub import Reply, Request, Stub, chat, refusal, script
from .tables import row
from .test_endpoint import ask, run
from .test_roles import RULE, endpoint_of, learner_at


def test_a_full_server_narrows_the_window_and_the_counts_tell_of_it() -> None:
    counters = Counters()

    async def use(endpoint: Endpoint, stub: Stub) -> None:
        assert endpoint.has_room()
        await ask(endpoint)
        assert counters.snapshot().window == 4
        assert not endpoint.has_room()

    run(script(refusal(503), chat()), use, concurrency=8, counters=counters)


def test_the_end_of_a_run_waits_for_no_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "CLOSE_S", 0.01)

    async def use(endpoint: Endpoint, stub: Stub) -> None:
        await ask(endpoint)
        client, never = endpoint._client, asyncio.Event()
        assert client is not None
        real = client.aclose
        monkeypatch.setattr(client, "aclose", never.wait)
        await endpoint.aclose()
        assert endpoint._client is None
        await real()

    run(script(chat()), use)


@pytest.mark.parametrize("warm_prefix", [True, False])
def test_a_warm_prefix_is_one_call_first_and_the_same_answers(warm_prefix: bool) -> None:
    free = asyncio.Event()

    async def held(request: Request) -> Reply:
        await free.wait()
        return chat()

    async def scene() -> None:
        async with endpoint_of(held) as (endpoint, stub):
            learner = learner_at(endpoint, warm_prefix=warm_prefix)
            asked = asyncio.create_task(learner.predict(RULE, [row(i) for i in range(1, 7)]))
            while not stub.requests:
                await asyncio.sleep(0.001)
            for _ in range(20):
                await asyncio.sleep(0.001)
            assert (len(stub.requests) == 1) is warm_prefix
            free.set()
            assert [each.value for each in await asked] == ["1"] * 6
            assert len(stub.requests) == 6

    asyncio.run(scene())
