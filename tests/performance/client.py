"""Processor time of a call: the product's endpoint over the SDK's own client with aiohttp, turn about."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator
from itertools import count, islice
from pathlib import Path
from statistics import median

import httpx2
import openai

from tests.performance.ratios import Ratio, divided
from tests.performance.stub import served
from vpp.llm.endpoint import Endpoint, Server

IN_FLIGHT, ROUNDS = 400, 3
MAX_TOKENS = 512
RULE = "You predict label. Where the width is above the height, say yes; else say no. "
PROMPT = (
    8 * RULE + "\n\nInput:\nwidth: {0}\nheight: 17\n\nLabels:\n- no\n- yes\n\nAnswer in this form:\nOutput: a label"
)
"""Prompt of a learner's usual length."""
Call = Callable[[list[dict[str, str]]], Awaitable[object]]


def ratios(_: Path, short: bool) -> list[Ratio]:
    """Client processor seconds a call."""
    with served(learner_s=0.3) as stub:
        ours, bare = asyncio.run(spent_ms(stub.base_url, times=1 if short else 3))
    return [divided("client processor time a call / the bare SDK client's", ours, bare, unit="ms", most=1.0)]


async def spent_ms(base_url: str, *, times: int) -> tuple[float, float]:
    """Median milliseconds a call of both; each opens its connections first."""
    endpoint = Endpoint(Server(base_url=base_url, model="stub"))
    limits = httpx2.Limits(max_connections=IN_FLIGHT, max_keepalive_connections=IN_FLIGHT)
    http = openai.DefaultAioHttpClient(limits=limits, timeout=httpx2.Timeout(120))
    client = openai.AsyncOpenAI(api_key="EMPTY", base_url=base_url, max_retries=0, http_client=http)

    def ours(messages: list[dict[str, str]]) -> Awaitable[object]:
        return endpoint.complete(messages, temperature=0.0, seed=0, max_tokens=MAX_TOKENS)

    def bare(messages: list[dict[str, str]]) -> Awaitable[object]:
        return client.chat.completions.create(
            model="stub", messages=messages, temperature=0.0, seed=0, max_completion_tokens=MAX_TOKENS  # type: ignore[arg-type]
        )  # fmt: skip

    numbers = count()
    try:
        found = [[await cpu_ms(call, numbers) for call in (ours, bare)] for _ in range(1 + times)][1:]
    finally:
        await endpoint.aclose()
        await client.close()
    return median(a for a, _ in found), median(b for _, b in found)


async def cpu_ms(call: Call, numbers: Iterator[int]) -> float:
    """Processor milliseconds a call of this process, over rounds of IN_FLIGHT calls at once."""
    began = time.process_time()
    for _ in range(ROUNDS):
        prompts = [[{"role": "user", "content": PROMPT.format(n)}] for n in islice(numbers, IN_FLIGHT)]
        await asyncio.gather(*map(call, prompts))
    return (time.process_time() - began) * 1000 / (ROUNDS * IN_FLIGHT)
