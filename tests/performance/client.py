"""What a call costs the client: the endpoint beside the SDK's own client with aiohttp, in one process, turn about."""

import asyncio
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import AsyncExitStack
from itertools import count, islice
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


async def in_turn(
    calls: dict[str, Call], measured: Callable[[Call, Iterator[int]], Awaitable[float]], *, times: int
) -> dict[str, list[float]]:
    """Measure each in turn, so many times, after a time that opens the connections. No call number is used twice."""
    numbers = count()
    values: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(1 + times):
        for name, call in calls.items():
            values[name].append(await measured(call, numbers))
    return {name: each[1:] for name, each in values.items()}


async def cpu_ms(call: Call, numbers: Iterator[int], *, rounds: int) -> float:
    """CPU milliseconds a call of this process, over rounds of IN_FLIGHT calls at once."""
    began = time.process_time()
    for _ in range(rounds):
        await asyncio.gather(*map(call, islice(numbers, IN_FLIGHT)))
    return (time.process_time() - began) * 1000 / (rounds * IN_FLIGHT)


async def cost(base_url: str, *, times: int, rounds: int) -> dict[str, list[float]]:
    """CPU milliseconds a call: the endpoint without a cache, with an empty one that is written, and the SDK."""
    async with AsyncExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        cache = ResponseCache(Path(folder))
        bare = Endpoint(Server(base_url=base_url, model="stub"))
        cached = Endpoint(Server(base_url=base_url, model="stub"), cache=cache)
        client = sdk(base_url, IN_FLIGHT)
        stack.callback(cache.close)
        for close in (bare.aclose, cached.aclose, client.close):
            stack.push_async_callback(close)
        calls = {"ours": ours(bare), "sdk": sdks(client), "cached": ours(cached)}
        return await in_turn(calls, lambda call, numbers: cpu_ms(call, numbers, rounds=rounds), times=times)


async def per_second(call: Call, numbers: Iterator[int], *, calls: int) -> float:
    """Calls a second of so many begun at once."""
    began = time.monotonic()
    await asyncio.gather(*map(call, islice(numbers, calls)))
    return calls / (time.monotonic() - began)


async def queue(base_url: str, *, times: int, calls: int) -> dict[str, list[float]]:
    """All at once through the endpoint, which leaves the waiting to the server; the SDK behind a semaphore of 64."""
    room = asyncio.Semaphore(CAPACITY)
    endpoint = Endpoint(Server(base_url=base_url, model="stub"))
    client = sdk(base_url, CAPACITY)
    direct = sdks(client)

    async def behind(number: int) -> object:
        async with room:
            return await direct(number)

    try:
        both = {"ours": ours(endpoint), "sdk": behind}
        return await in_turn(both, lambda call, numbers: per_second(call, numbers, calls=calls), times=times)
    finally:
        await endpoint.aclose()
        await client.close()


def cost_figures(_: Path, short: bool) -> list[Figure]:
    """CPU a call."""
    times, rounds = (1, 2) if short else (3, 3)
    with served(learner_s=LATENCY_S) as stub:
        spent = asyncio.run(cost(stub.base_url, times=times, rounds=rounds))
        stub_ms = 1000 * stub.counts()["cpu_s"] / stub.counts()["calls"]
    ratios = tuple(a / b for a, b in zip(spent["ours"], spent["sdk"], strict=True))
    name = f"client CPU a call at {IN_FLIGHT} in flight"
    return [
        Figure(name=f"{name} / the SDK's own client with aiohttp", values=ratios, target=1.0, sense="under"),
        Figure(name=f"{name}, without a cache", values=tuple(spent["ours"]), unit="ms"),
        Figure(name=f"{name}, with a fresh cache that is written", values=tuple(spent["cached"]), unit="ms"),
        Figure(name=f"{name}, the SDK's", values=tuple(spent["sdk"]), unit="ms"),
        Figure(name="the stub's own CPU a call", values=(stub_ms,), unit="ms"),
    ]


def queue_figures(_: Path, short: bool) -> list[Figure]:
    """Many calls against few places."""
    times, calls = (1, 300) if short else (3, QUEUED)
    with served(learner_s=LATENCY_S, capacity=CAPACITY) as stub:
        rates = asyncio.run(queue(stub.base_url, times=times, calls=calls))
    with served(learner_s=LATENCY_S, capacity=CAPACITY, queue=CAPACITY) as stub:
        refused = asyncio.run(refusing(stub.base_url, calls=calls))
    ratios = tuple(a / b for a, b in zip(rates["ours"], rates["sdk"], strict=True))
    name = "calls a second"
    limit = f"{calls:,} calls; the server's limit is {CAPACITY / LATENCY_S:.0f} a second"
    return [
        Figure(
            name=f"{name} / the SDK's behind a semaphore of {CAPACITY}", values=ratios, target=1.0, sense="at least"
        ),
        Figure(name=name, values=tuple(rates["ours"]), note=limit),
        Figure(name=f"{name}, the SDK's", values=tuple(rates["sdk"])),
        Figure(name=f"{name}, server refuses (503) beyond a queue of {CAPACITY}", values=(refused,)),
    ]


async def refusing(base_url: str, *, calls: int) -> float:
    """Calls a second through the endpoint where the server refuses what is too many."""
    endpoint = Endpoint(Server(base_url=base_url, model="stub"))
    try:
        return await per_second(ours(endpoint), count(), calls=calls)
    finally:
        await endpoint.aclose()
