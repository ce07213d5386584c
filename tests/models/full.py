"""Measures whether scoring rounds keep a server full: `python -m tests.models.full --base-url URL --model NAME`.

The same questions, each time about rows that no one asked about before, as a run asks them and as a plain load of the
openai client at several concurrencies; the plain load's best is what the server can do. Rounds take turns, so that a
machine that slows down slows both.
"""

import argparse
import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from statistics import median

from openai import AsyncOpenAI

from tests.models.prompts import dataset_of
from tests.models.rules import TABLES
from vpp.data.dataset import Dataset, Row
from vpp.llm.endpoint import Endpoint, Limits, Server
from vpp.llm.learner import LearnerOptions, LlmLearner
from vpp.llm.limits import Counters
from vpp.llm.prompts import LearnerPrompts, seed_sentence
from vpp.llm.templates import shipped

TEMPLATE = shipped("learner", "examples")
LOANS = TABLES[1]
"""Incomes and ages: hardly a row comes twice."""
ANSWER_TOKENS = 64
Round = Callable[[Sequence[Row]], Awaitable[int]]
"""Asks about rows and returns the prompt tokens that the server had cached."""


def product(options: argparse.Namespace, dataset: Dataset, hypothesis: str) -> Round:
    """A particle's scoring round, through everything that a run goes through but its cache."""

    async def asked(rows: Sequence[Row]) -> int:
        endpoint = Endpoint(
            Server(base_url=options.base_url, model=options.model),
            limits=Limits(concurrency=options.concurrency, timeout_s=900),
        )
        learner = LlmLearner(
            endpoint,
            LearnerPrompts(dataset=dataset, template=TEMPLATE),
            LearnerOptions(seed=0, max_tokens=ANSWER_TOKENS),
            counters=Counters(),
        )
        try:
            await learner.predict(hypothesis, rows)
        finally:
            await endpoint.aclose()
        return 0

    return asked


def plain(options: argparse.Namespace, dataset: Dataset, hypothesis: str, at_once: int) -> Round:
    """The same questions, `at_once` at a time."""

    async def asked(rows: Sequence[Row]) -> int:
        free = asyncio.Semaphore(at_once)

        async def ask(row: Row) -> int:
            async with free:
                answer = await client.chat.completions.create(
                    model=options.model,
                    messages=LearnerPrompts(dataset=dataset, template=TEMPLATE).messages(hypothesis, row),  # type: ignore[arg-type]
                    temperature=0,
                    max_tokens=ANSWER_TOKENS,
                    seed=0,
                )
                details = answer.usage.prompt_tokens_details if answer.usage else None
                return (details.cached_tokens if details else None) or 0

        async with AsyncOpenAI(base_url=options.base_url, api_key="none", timeout=900, max_retries=0) as client:
            return sum(await asyncio.gather(*map(ask, rows)))

    return asked


async def measure(options: argparse.Namespace) -> None:
    """Prints calls per second of each way, the median of its rounds."""
    rule = LOANS.rules[0]
    kinds = 1 + len(options.at_once)
    dataset = dataset_of(LOANS, rule, options.rows * options.rounds * kinds, seed=options.seed)
    hypothesis = f"{seed_sentence(dataset)} {rule.text}"
    ways = {"as a run asks": product(options, dataset, hypothesis)}
    ways |= {f"plain, {n} at once": plain(options, dataset, hypothesis, n) for n in options.at_once}
    slots = max(options.at_once)
    await plain(options, dataset, hypothesis, slots)(dataset.test[:slots])  # each slot reads the prefix once
    rows = iter(dataset.train)
    rates: dict[str, list[float]] = {name: [] for name in ways}
    cached = dict.fromkeys(ways, 0)
    for _ in range(options.rounds):
        for name, ask in ways.items():
            batch = [next(rows) for _ in range(options.rows)]
            started = time.monotonic()
            cached[name] += await ask(batch)
            rates[name].append(options.rows / (time.monotonic() - started))
            print(f"{name}: {rates[name][-1]:.3f} calls/s", flush=True)
    best = max(median(rates[name]) for name in list(ways)[1:])
    for name, found in rates.items():
        tokens = cached[name] / options.rows / options.rounds
        print(f"| {name} | {median(found):.3f} | {median(found) / best:.2f} | {tokens:.0f} |")


def options_of(words: Sequence[str] | None = None) -> argparse.Namespace:
    """Return the options of the command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.models.full", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--base-url", required=True)
    parser.add_argument("--model", required=True)
    parser.add_argument("--rows", type=int, default=40, help="rows a round")
    parser.add_argument("--seed", type=int, default=0, help="of the rows: a server remembers those of an earlier run")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--at-once", type=int, nargs="+", default=[4, 8, 16, 32], help="of the plain load")
    parser.add_argument("--concurrency", type=int, default=32, help="of the run")
    return parser.parse_args(words)


if __name__ == "__main__":
    asyncio.run(measure(options_of()))
