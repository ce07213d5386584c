"""Measures sets of templates on a real model: `python -m tests.models.prompts --base-url URL --model NAME`.

A set's learner applies known rules to known rows, or writes them as programs; its optimizer proposes from batches.
"""

import argparse
import asyncio
import time
from collections.abc import Sequence
from contextlib import aclosing

from tests.models.rules import ROWS, TABLES, Rule, Table, dataset_of
from vpp.llm.endpoint import Endpoint, Limits, Server
from vpp.llm.learner import LearnerOptions, LlmLearner
from vpp.llm.optimizer import LlmOptimizer
from vpp.llm.prompts import LearnerPrompts, ModelLimits, OptimizerPrompts, ProgramPrompts, seed_sentence
from vpp.llm.templates import shipped
from vpp.llm.translator import ProgramLearner
from vpp.problem import Prediction, Proposal
from vpp.programs.columns import Columns
from vpp.programs.sandbox import Sandbox

BATCH = 10
"""Rows that a proposal is made from."""
LEARNER_TOKENS, OPTIMIZER_TOKENS = 128, 256
"""Limits of an answer."""
HEAD = ("templates", "rows right", "rules", "refused, unreadable", "prompt, answer tokens", "s a learner call")


class Trial:
    """One set of templates on a server."""

    def __init__(self, name: str, options: argparse.Namespace) -> None:
        self.name = name
        self.options = options
        server = Server(base_url=options.base_url, model=options.model)
        limits = Limits(concurrency=options.concurrency, timeout_s=900, max_attempts=2)
        self.reader, self.writer = Endpoint(server, limits=limits), Endpoint(server, limits=limits)

    async def aclose(self) -> None:
        await self.reader.aclose()
        await self.writer.aclose()

    async def follow(self, table: Table, rule: Rule) -> int:
        """Return the number of rows for which one rule is followed."""
        dataset = dataset_of(table, rule, self.options.rows)
        prompts = LearnerPrompts(dataset=dataset, template=shipped("learner", self.name))
        limits = LearnerOptions(seed=0, max_tokens=LEARNER_TOKENS)
        chat, counters = self.reader, self.reader.counters
        by_row = LlmLearner(chat, prompts, limits, counters=counters)
        async with Sandbox() as sandbox:
            forms = ProgramPrompts(dataset=dataset, columns=Columns(dataset))
            by_program = ProgramLearner(by_row, chat, forms, limits, sandbox, counters=counters, falls_back=False)
            learner = by_program if self.options.reading == "program" else by_row
            predictions = await learner.predict(f"{seed_sentence(dataset)} {rule.text}", dataset.train)
        return sum(given.value == row.target for given, row in zip(predictions, dataset.train, strict=True))

    async def propose(self, table: Table, n: int) -> list[Proposal]:
        """Return first hypotheses and rewrites of wrong rules, half and half, for the table's first rule."""
        truth, *others = table.rules
        dataset = dataset_of(table, truth)
        seed_text = seed_sentence(dataset)
        refining, drawing = shipped("optimizer", self.name), shipped("prior", self.name)
        prompts = OptimizerPrompts(dataset=dataset, refining=refining, drawing=drawing, seed_text=seed_text)
        limits = ModelLimits(max_tokens=OPTIMIZER_TOKENS)
        optimizer = LlmOptimizer(self.writer, prompts, limits, counters=self.writer.counters)

        def ask(number: int) -> "asyncio.Future[Proposal]":
            rows = dataset.train[number % 3 * BATCH :][:BATCH]
            wrong = others[number % len(others)]
            parent = seed_text if number % 2 else f"{seed_text} {wrong.text}"
            answers = [Prediction(row=row.id, value=wrong.gives(dict(row.inputs))) for row in rows]
            temperature = 0.3 + 0.9 * number / max(1, n - 1)
            call = optimizer.propose(parent, rows, answers, temperature=temperature, seed=number)
            return asyncio.ensure_future(call)

        return await asyncio.gather(*map(ask, range(n)))

    async def measure(self) -> list[str]:
        """Print the set's row of the table; return what each rule and each proposal came to."""
        began, options = time.monotonic(), self.options
        tried = [(table, rule) for table in TABLES for rule in table.rules[: options.rules]]
        right = await asyncio.gather(*(self.follow(table, rule) for table, rule in tried))
        read, seconds = self.reader.counters.snapshot(), time.monotonic() - began
        per_table = await asyncio.gather(*(self.propose(table, options.proposals) for table in TABLES))
        proposals = [proposal for each in per_table for proposal in each]
        written, calls = self.writer.counters.snapshot(), max(1, read.learner)
        cells = (
            self.name,
            f"{100 * sum(right) / (options.rows * len(tried)):.1f} %",
            f"{sum(proposal.text is not None for proposal in proposals)} of {len(proposals)}",
            f"{written.refused}, {read.unparsable + written.unparsable}",
            f"{read.prompt_tokens / calls:,.0f}, {read.completion_tokens / calls:.0f}",
            f"{seconds / calls:.2f}",
        )
        print(f"| {' | '.join(cells)} |", flush=True)
        followed = [f"{n}/{options.rows}: {rule.text}" for n, (_, rule) in zip(right, tried, strict=True)]
        return followed + [proposal.text or f"refused: {proposal.reason}" for proposal in proposals]


async def measure(options: argparse.Namespace) -> None:
    """Print a table row for each set of templates, then what each rule came to."""
    print(f"| {' | '.join(HEAD)} |\n{'|---' * len(HEAD)}|")
    found: list[str] = []
    for name in options.templates:
        async with aclosing(Trial(name, options)) as trial:
            found += await trial.measure()
    print("\n".join(found))


def options_of(words: Sequence[str] | None = None) -> argparse.Namespace:
    """Return the options of the command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.models.prompts", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--base-url", required=True)
    parser.add_argument("--model", required=True)
    parser.add_argument("--templates", nargs="+", default=["examples", "paper"])
    parser.add_argument("--rows", type=int, default=ROWS, help="rows a rule")
    parser.add_argument("--rules", type=int, default=None, help="rules a table, its first (all)")
    parser.add_argument("--proposals", type=int, default=10, help="a table")
    parser.add_argument("--reading", choices=("rows", "program"), default="rows")
    parser.add_argument("--concurrency", type=int, default=8)
    return parser.parse_args(words)


if __name__ == "__main__":
    asyncio.run(measure(options_of()))
