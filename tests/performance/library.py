"""Processor time of a call over the SDK's own, of reading a table over pandas', and programs in the sandbox."""

import asyncio
import io
import random
import time
from collections.abc import Awaitable, Callable, Iterator
from itertools import count, islice
from pathlib import Path
from statistics import median

import httpx2
import openai
import pandas as pd

from tests.performance.ratios import Ratio, ratio
from tests.performance.stub import served
from vpp.data.table import Table
from vpp.llm.endpoint import Endpoint, Server
from vpp.programs.sandbox import Sandbox
from vpp.programs.source import read_program

IN_FLIGHT, ROUNDS = 400, 3
MAX_TOKENS = 512
RULE = "You predict label. Where the width is above the height, say yes; else say no. "
PROMPT = (
    8 * RULE + "\n\nInput:\nwidth: {0}\nheight: 17\n\nLabels:\n- no\n- yes\n\nAnswer in this form:\nOutput: a label"
)
"""Prompt of a learner's usual length."""
Call = Callable[[list[dict[str, str]]], Awaitable[object]]
PROGRAMS = 10
ALLOWED_S = {100: 0.2, 10_000: 15.0}
"""Seconds for all programs, by rows."""
CODE = """\
def predict(size, weight, colour):
    if size > {0} and (weight is None or weight < 50) or colour == "red":
        return "yes"
    if sum(each > {0} for each in (size, weight or 0)) == 1:
        return "perhaps"
    return "no"
"""


def client(_: Path) -> list[Ratio]:
    """Client processor time of a call: the product's endpoint over the SDK's client with aiohttp, turn about."""
    with served(0.3) as base_url:
        ours, bare = asyncio.run(_spent_ms(base_url, times=3))
    return [ratio("client processor time a call / the bare SDK client's", ours, bare, unit="ms", most=1.0)]


async def _spent_ms(base_url: str, *, times: int) -> tuple[float, float]:
    """Median milliseconds a call of both; each opens its connections first."""
    endpoint = Endpoint(Server(base_url=base_url, model="stub"))
    limits = httpx2.Limits(max_connections=IN_FLIGHT, max_keepalive_connections=IN_FLIGHT)
    http = openai.DefaultAioHttpClient(limits=limits, timeout=httpx2.Timeout(120))
    sdk = openai.AsyncOpenAI(api_key="EMPTY", base_url=base_url, max_retries=0, http_client=http)

    def ours(messages: list[dict[str, str]]) -> Awaitable[object]:
        return endpoint.complete(messages, temperature=0.0, seed=0, max_tokens=MAX_TOKENS)

    def bare(messages: list[dict[str, str]]) -> Awaitable[object]:
        return sdk.chat.completions.create(
            model="stub", messages=messages, temperature=0.0, seed=0, max_completion_tokens=MAX_TOKENS  # type: ignore[arg-type]
        )  # fmt: skip

    numbers = count()
    try:
        found = [[await _cpu_ms(call, numbers) for call in (ours, bare)] for _ in range(1 + times)][1:]
    finally:
        await endpoint.aclose()
        await sdk.close()
    return median(a for a, _ in found), median(b for _, b in found)


async def _cpu_ms(call: Call, numbers: Iterator[int]) -> float:
    """Processor milliseconds a call of this process, over rounds of IN_FLIGHT calls at once."""
    began = time.process_time()
    for _ in range(ROUNDS):
        prompts = [[{"role": "user", "content": PROMPT.format(n)}] for n in islice(numbers, IN_FLIGHT)]
        await asyncio.gather(*map(call, prompts))
    return (time.process_time() - began) * 1000 / (ROUNDS * IN_FLIGHT)


def tables(_: Path) -> list[Ratio]:
    """Megabytes a second of processor time, pandas' over ours: 10 means that ours takes ten times as long."""
    numbers = random.Random(0)
    lines = [
        f"{n},{numbers.random():.4f},{numbers.randrange(10**6)},{numbers.choice(('red', 'green'))},"
        f'"a note, with {n % 97} commas",{numbers.choice(("yes", "no"))}\n'
        for n in range(200_000)
    ]
    content = "".join(["id,share,amount,colour,note,label\n", *lines]).encode()
    rates = []
    for read in (lambda: pd.read_csv(io.BytesIO(content)), lambda: Table.read(content, name="large.csv")):
        began = time.process_time()
        read()
        rates.append(len(content) / 1e6 / (time.process_time() - began))
    return [ratio("reading a CSV, pandas / this", *rates, unit="MB a second", most=40.0)]


def programs(_: Path) -> list[Ratio]:
    """Seconds from the call to the last answer, over those allowed; the workers run already."""
    return [
        ratio(f"{PROGRAMS} programs on {rows:,} rows / allowed", asyncio.run(_seconds(rows)), s, unit="s", most=1.0)
        for rows, s in ALLOWED_S.items()
    ]


async def _seconds(rows: int) -> float:
    columns = ("size", "weight", "colour")
    made = [read_program(CODE.format(k), columns) for k in range(PROGRAMS)]
    cells = [(n % 97, None if n % 11 == 0 else n % 83 / 2, ("red", "green", "blue")[n % 3]) for n in range(rows)]
    async with Sandbox() as sandbox:
        await asyncio.gather(*(sandbox.run(program, cells[:1]) for program in made))
        began = time.monotonic()
        answers = await asyncio.gather(*(sandbox.run(program, cells) for program in made))
        taken = time.monotonic() - began
    assert all(len(each) == rows and not any(one.fault for one in each) for each in answers)
    return taken
