"""Measures sets of templates on a real model: `python -m tests.models.prompts --base-url URL --model NAME`.

A set's learner applies known rules to known rows, or writes them as programs; its optimizer proposes from batches.
Every answer of the model can be kept with `--save FILE`, a JSON object a line.
"""

import argparse
import asyncio
import json
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.models.rules import ROWS, TABLES, Rule, Table
from vpp.data.build import build_dataset
from vpp.data.dataset import Dataset
from vpp.data.split import SplitPlan
from vpp.data.table import ColumnChoice
from vpp.data.table import Table as Csv
from vpp.llm.choices import STRUCTURED
from vpp.llm.conversation import Chat
from vpp.llm.endpoint import Endpoint, Limits, Server
from vpp.llm.learner import LearnerOptions, LlmLearner
from vpp.llm.limits import Counters
from vpp.llm.optimizer import LlmOptimizer
from vpp.llm.prompts import LearnerPrompts, ModelLimits, OptimizerPrompts, ProgramPrompts, seed_sentence
from vpp.llm.protocol import Completion, Messages, Structure
from vpp.llm.templates import shipped
from vpp.llm.translator import ProgramLearner
from vpp.problem import Prediction, Proposal
from vpp.programs.columns import Columns
from vpp.programs.sandbox import Sandbox

BATCH = 10
"""Rows that a proposal is made from."""
ROLES = ("learner", "optimizer")
LEARNER_TOKENS, OPTIMIZER_TOKENS = 128, 256
"""Limits of an answer: what runs past them is counted as cut off."""


@dataclass
class Recorder:
    """Passes calls on to an endpoint and keeps every answer."""

    endpoint: Chat
    kept: Path | None = None
    """A file that every answer is added to as it comes, a JSON object a line."""
    about: dict[str, Any] = field(default_factory=dict)
    """Fields saved with every answer: role, model, templates, table, labels."""
    answers: list[Completion] = field(default_factory=list)

    async def complete(
        self, messages: Messages, *, temperature: float, seed: int, max_tokens: int, structured: Structure | None = None
    ) -> Completion:
        completion = await self.endpoint.complete(
            messages, temperature=temperature, seed=seed, max_tokens=max_tokens, structured=structured
        )
        self.answers.append(completion)
        self._keep({**self.about, "answer": completion.text, "cut_off": completion.cut_off})
        return completion

    def _keep(self, record: dict[str, Any]) -> None:
        if self.kept is not None:
            with self.kept.open("a", encoding="utf-8") as file:
                file.write(json.dumps(record, ensure_ascii=False) + "\n")


@dataclass(frozen=True, slots=True, kw_only=True)
class LearnerFigures:
    """Figures of a learner that applied one rule."""

    rule: Rule
    rows: int
    at_once: int
    """Answers that could be read at the first attempt."""
    right: int
    """Answers that are what the rule gives."""


def dataset_of(table: Table, rule: Rule, n: int, *, seed: int = 0) -> Dataset:
    """The table with the rule's outputs as its target and `n` rows for training, drawn by `seed`."""
    csv = Csv.read(table.csv(rule, n + max(8, n // 4), seed=seed).encode(), name=table.name)
    return build_dataset(
        csv,
        target=table.target,
        columns=ColumnChoice(task="classification"),
        split=SplitPlan(seed=0, train_size=n, test_size=max(8, n // 4)),
    )


async def follow(chat: Chat, name: str, table: Table, rule: Rule, options: argparse.Namespace) -> LearnerFigures:
    """Applies one rule to rows, with one set of templates or as a program."""
    n = options.rows
    dataset = dataset_of(table, rule, n)
    attempts: list[int] = []

    def note(_: str, prediction: Prediction, asked: int) -> None:
        attempts.append(asked if prediction.value is not None else 99)

    prompts = LearnerPrompts(
        dataset=dataset, template=shipped("learner", name), is_structured=options.structured == "auto"
    )
    limits = LearnerOptions(seed=0, max_tokens=LEARNER_TOKENS)
    learner: LlmLearner | ProgramLearner = LlmLearner(chat, prompts, limits, counters=Counters(), on_answer=note)
    async with Sandbox() as sandbox:
        if options.reading == "program" and isinstance(learner, LlmLearner):
            asked = ProgramPrompts(dataset=dataset, columns=Columns(dataset))
            learner = ProgramLearner(
                learner, chat, asked, limits, sandbox, counters=Counters(), falls_back=False, on_answer=note
            )
        predictions = await learner.predict(f"{seed_sentence(dataset)} {rule.text}", dataset.train)
    right = sum(given.value == row.target for given, row in zip(predictions, dataset.train, strict=True))
    return LearnerFigures(rule=rule, rows=n, at_once=sum(n_asked <= 1 for n_asked in attempts), right=right)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProposalFigures:
    """Figures of an optimizer that was asked for rules."""

    proposals: tuple[Proposal, ...]
    parents: tuple[str, ...]
    """The rule that each was to improve."""
    refused: int
    """Answers that a guard refused, those asked for again included: echoes, foreign labels, broken ends."""
    unreadable: int


def optimizer_of(chat: Chat, name: str, dataset: Dataset, counters: Counters) -> LlmOptimizer:
    """An optimizer with one set of templates."""
    prompts = OptimizerPrompts(
        dataset=dataset,
        refining=shipped("optimizer", name),
        drawing=shipped("prior", name),
        seed_text=seed_sentence(dataset),
    )
    return LlmOptimizer(chat, prompts, ModelLimits(max_tokens=OPTIMIZER_TOKENS), counters=counters)


async def propose(chat: Chat, name: str, table: Table, n: int) -> ProposalFigures:
    """First hypotheses and rewrites of wrong rules, half and half, for the table's first rule."""
    truth, *others = table.rules
    dataset = dataset_of(table, truth, ROWS)
    counters, seed_text = Counters(), seed_sentence(dataset)
    optimizer = optimizer_of(chat, name, dataset, counters)
    asked, parents = [], []
    for number in range(n):
        rows = dataset.train[number % 3 * BATCH :][:BATCH]
        wrong = others[number % len(others)]
        parent = seed_text if number % 2 else f"{seed_text} {wrong.text}"
        given = [Prediction(row=row.id, value=wrong.gives(dict(row.inputs))) for row in rows]
        temperature = 0.3 + 0.9 * number / max(1, n - 1)
        parents.append(parent)
        asked.append(optimizer.propose(parent, rows, given, temperature=temperature, seed=number))
    proposals = await asyncio.gather(*asked)
    asked_again = counters.snapshot()
    return ProposalFigures(
        proposals=tuple(proposals),
        parents=tuple(parents),
        refused=asked_again.refused,
        unreadable=asked_again.unparsable,
    )


def percent(part: int, whole: int) -> str:
    """A share with one decimal."""
    return f"{100 * part / whole:.1f} %" if whole else "–"


async def measure(options: argparse.Namespace) -> None:
    """Prints a table row for each set of templates, and what each rule came to."""
    endpoint = Endpoint(
        Server(base_url=options.base_url, model=options.model),
        limits=Limits(concurrency=options.concurrency, timeout_s=900, max_attempts=2),
    )
    lines: list[str] = []
    try:
        for name in options.templates:
            lines += await measure_set(endpoint, name, options)
    finally:
        await endpoint.aclose()
    print("\n".join(lines))


async def measure_set(endpoint: Chat, name: str, options: argparse.Namespace) -> list[str]:
    """Prints the row of one set of templates; returns what each rule and each proposal came to."""
    learners, optimizers = ([_recorder(endpoint, name, options, role, t) for t in TABLES] for role in ROLES)
    started = time.monotonic()
    figures = await asyncio.gather(
        *(
            follow(chat, name, table, rule, options)
            for chat, table in zip(learners, TABLES, strict=True)
            for rule in table.rules[: options.rules]
        )
    )
    answers = [answer for chat in learners for answer in chat.answers]
    seconds = (time.monotonic() - started) / max(1, len(answers))
    asked = zip(optimizers, TABLES if options.proposals else (), strict=False)
    proposed = await asyncio.gather(*(propose(chat, name, table, options.proposals) for chat, table in asked))
    rules = [answer for chat in optimizers for answer in chat.answers]
    cells = summary(name, figures, proposed, answers, rules, seconds)
    if name == options.templates[0]:
        print(f"| {' | '.join(cells)} |\n{'|---' * len(cells)}|")
    print(f"| {' | '.join(cells.values())} |", flush=True)
    lines = [f"{name}: {f.right}/{f.rows}, read {f.at_once}: {f.rule.text}" for f in figures]
    return lines + [f"{name}: {p.text or f'refused: {p.reason}'}" for one in proposed for p in one.proposals]


def _recorder(endpoint: Chat, name: str, options: argparse.Namespace, role: str, table: Table) -> Recorder:
    about = {"role": role, "model": options.model, "templates": name, "table": table.name, "labels": table.labels}
    return Recorder(endpoint, options.save, about)


def summary(
    name: str,
    figures: Sequence[LearnerFigures],
    proposed: Sequence[ProposalFigures],
    learner: Sequence[Completion],
    optimizer: Sequence[Completion],
    seconds: float,
) -> dict[str, str]:
    """One line of the table, by column."""
    rows = sum(f.rows for f in figures)
    pairs = [(p, parent) for one in proposed for p, parent in zip(one.proposals, one.parents, strict=True)]
    prompt = sum(c.prompt_tokens for c in learner) // max(1, len(learner))
    answer = sum(c.completion_tokens for c in learner) / max(1, len(learner))
    return {
        "templates": name,
        "read at once": percent(sum(f.at_once for f in figures), rows),
        "fidelity": percent(sum(f.right for f in figures), rows),
        "rules": percent(sum(p.text is not None for p, _ in pairs), len(pairs)),
        "refused, unreadable": f"{sum(one.refused for one in proposed)}, {sum(one.unreadable for one in proposed)}",
        "unchanged": percent(sum(p.text == parent for p, parent in pairs), len(pairs)),
        "cut off": str(sum(c.cut_off for c in (*learner, *optimizer))),
        "prompt tokens": str(prompt),
        "answer tokens": f"{answer:.1f}",
        "s a call": f"{seconds:.2f}",
    }


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
    parser.add_argument("--structured", choices=STRUCTURED, default="off", help="what holds answers to a form")
    parser.add_argument("--concurrency", type=int, default=8)
    parser.add_argument("--save", type=Path, default=None, help="a file that every answer is added to")
    return parser.parse_args(words)


if __name__ == "__main__":
    asyncio.run(measure(options_of()))
