"""What a call costs the client: the endpoint beside the SDK's own client with aiohttp, in one process, turn about."""

import asyncio
import tempfile
import time
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path

import httpx2
import openai

from tests.performance.figures import Figure
from tests.performance.stub import served
from vpp.llm.cache import ResponseCache
from vpp.llm.endpoint import Endpoint, Server
from vpp.llm.limits import DEFAULT_CONCURRENCY

IN_FLIGHT = 400
QUEUED, CAPACITY = 1_000, 64
WINDOW = DEFAULT_CONCURRENCY
"""The endpoint's own, the default of `--concurrency`."""
LATENCY_S = 0.3
MAX_TOKENS = 512
PROMPT = """You apply a rule to one input and report what the rule gives. Follow the rule as it is written, even where
you would have guessed otherwise. If the rule leaves something open, choose the most likely answer it allows.

Rule:
<<<
You are designed to do binary classification: predict label. Where the width is above the height, say yes; else say no.
>>>

Input:
<<<
width: {0}
height: 17
>>>

Labels:
- no
- yes

Answer in exactly this form:
Explanation: one or two short sentences
Output: one of the labels, nothing else"""
Call = Callable[[int], Awaitable[object]]
"""Makes one call; its number makes the prompt another."""


def messages(number: int) -> list[dict[str, str]]:
    """One question, as a learner is asked."""
    return [{"role": "user", "content": PROMPT.format(number)}]


def ours(endpoint: Endpoint) -> Call:
    """A call through the product's endpoint."""
    return lambda number: endpoint.complete(messages(number), temperature=0.0, seed=0, max_tokens=MAX_TOKENS)


def sdks(client: openai.AsyncOpenAI) -> Call:
    """A call through the SDK's `chat.completions.create`."""

    async def call(number: int) -> object:
        return await client.chat.completions.create(
            model="stub",
            messages=messages(number),  # type: ignore[arg-type]
            temperature=0.0,
            seed=0,
            max_completion_tokens=MAX_TOKENS,
        )

    return call


def sdk(base_url: str, window: int) -> openai.AsyncOpenAI:
    """The SDK's client with aiohttp."""
    limits = httpx2.Limits(max_connections=window, max_keepalive_connections=window)
    http = openai.DefaultAioHttpClient(limits=limits, timeout=httpx2.Timeout(120))
    return openai.AsyncOpenAI(api_key="EMPTY", base_url=base_url, max_retries=0, http_client=http)


class Numbers:
    """Call numbers that are never given twice."""

    def __init__(self) -> None:
        self._next = 0

    def take(self, count: int) -> range:
        self._next += count
        return range(self._next - count, self._next)


async def cpu_ms(call: Call, numbers: Numbers, *, rounds: int, in_flight: int) -> float:
    """CPU milliseconds a call of this process, over rounds of so many at once."""
    began = time.process_time()
    for _ in range(rounds):
        await asyncio.gather(*map(call, numbers.take(in_flight)))
    return (time.process_time() - began) * 1000 / (rounds * in_flight)


async def turn_about(calls: dict[str, Call], *, times: int, rounds: int, in_flight: int) -> dict[str, list[float]]:
    """CPU milliseconds a call of each, in turn, after a round that opens the connections."""
    numbers = Numbers()
    found: dict[str, list[float]] = {name: [] for name in calls}
    for call in calls.values():
        await cpu_ms(call, numbers, rounds=1, in_flight=in_flight)
    for _ in range(times):
        for name, call in calls.items():
            found[name].append(await cpu_ms(call, numbers, rounds=rounds, in_flight=in_flight))
    return found


async def cost(base_url: str, *, times: int, rounds: int, in_flight: int) -> dict[str, list[float]]:
    """The endpoint without a cache, with an empty one that is written, and the SDK."""
    async with AsyncExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        cache = ResponseCache(Path(folder))
        bare = Endpoint(Server(base_url=base_url, model="stub"))
        cached = Endpoint(Server(base_url=base_url, model="stub"), cache=cache)
        client = sdk(base_url, in_flight)
        stack.callback(cache.close)
        for close in (bare.aclose, cached.aclose, client.close):
            stack.push_async_callback(close)
        calls = {"ours": ours(bare), "sdk": sdks(client), "cached": ours(cached)}
        return await turn_about(calls, times=times, rounds=rounds, in_flight=in_flight)


async def per_second(call: Call, numbers: Numbers, *, calls: int) -> float:
    """Calls a second of so many begun at once."""
    began = time.monotonic()
    await asyncio.gather(*map(call, numbers.take(calls)))
    return calls / (time.monotonic() - began)


async def queue(base_url: str, *, times: int, calls: int) -> dict[str, list[float]]:
    """All at once through the endpoint, which leaves the waiting to the server; the SDK behind a semaphore of 64."""
    numbers, room = Numbers(), asyncio.Semaphore(CAPACITY)
    endpoint = Endpoint(Server(base_url=base_url, model="stub"))
    client = sdk(base_url, CAPACITY)
    direct = sdks(client)

    async def behind(number: int) -> object:
        async with room:
            return await direct(number)

    found: dict[str, list[float]] = {"ours": [], "sdk": []}
    try:
        for call in (ours(endpoint), behind):
            await per_second(call, numbers, calls=CAPACITY)
        for _ in range(times):
            found["ours"].append(await per_second(ours(endpoint), numbers, calls=calls))
            found["sdk"].append(await per_second(behind, numbers, calls=calls))
    finally:
        await endpoint.aclose()
        await client.close()
    return found


def cost_figures(*, times: int, rounds: int, in_flight: int = IN_FLIGHT) -> list[Figure]:
    """CPU a call."""
    with served(learner_s=LATENCY_S) as stub:
        found = asyncio.run(cost(stub.base_url, times=times, rounds=rounds, in_flight=in_flight))
        stub_ms = 1000 * stub.counts()["cpu_s"] / stub.counts()["calls"]
    ratios = tuple(a / b for a, b in zip(found["ours"], found["sdk"], strict=True))
    name = f"client CPU a call at {in_flight} in flight"
    return [
        Figure(name=f"{name} / the SDK's own client with aiohttp", values=ratios, target=1.0, sense="under"),
        Figure(name=f"{name}, without a cache", values=tuple(found["ours"]), unit="ms"),
        Figure(name=f"{name}, with a fresh cache that is written", values=tuple(found["cached"]), unit="ms"),
        Figure(name=f"{name}, the SDK's", values=tuple(found["sdk"]), unit="ms"),
        Figure(name="the stub's own CPU a call", values=(stub_ms,), unit="ms"),
    ]


def queue_figures(*, times: int, calls: int = QUEUED) -> list[Figure]:
    """Many calls against few places."""
    with served(learner_s=LATENCY_S, capacity=CAPACITY) as stub:
        found = asyncio.run(queue(stub.base_url, times=times, calls=calls))
    with served(learner_s=LATENCY_S, capacity=CAPACITY, queue=CAPACITY) as stub:
        refused = asyncio.run(refusing(stub.base_url, calls=calls))
    ratios = tuple(a / b for a, b in zip(found["ours"], found["sdk"], strict=True))
    name = "calls a second"
    limit = f"{calls:,} calls; the server's limit is {CAPACITY / LATENCY_S:.0f} a second"
    return [
        Figure(
            name=f"{name} / the SDK's behind a semaphore of {CAPACITY}", values=ratios, target=1.0, sense="at least"
        ),
        Figure(name=name, values=tuple(found["ours"]), note=limit),
        Figure(name=f"{name}, the SDK's", values=tuple(found["sdk"])),
        Figure(name=f"{name}, server refuses (503) beyond a queue of {CAPACITY}", values=(refused,)),
    ]


async def refusing(base_url: str, *, calls: int) -> float:
    """Calls a second through the endpoint where the server refuses what is too many."""
    endpoint = Endpoint(Server(base_url=base_url, model="stub"))
    try:
        return await per_second(ours(endpoint), Numbers(), calls=calls)
    finally:
        await endpoint.aclose()
