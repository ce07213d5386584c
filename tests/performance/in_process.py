"""Runs without processes and HTTP: the samplers with the demo model called as functions.

The optimizer is the real one, with its template, its guard and its parsers, around the demo model's `respond`. The
learner calls the demo model's own reader of rules: its prompt, explanation and parser would take most of the time.
"""

import json
import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import cast

from vpp.data.dataset import Dataset, Row, Value
from vpp.demo.chat import MODEL, read_request, respond
from vpp.demo.read_rule import read_rule
from vpp.demo.values import Row as Cells
from vpp.demo.values import read_row
from vpp.events import Evaluated, ParticleDrawn, Proposed, StepFinished
from vpp.inference import sample
from vpp.inference.evaluation import conclude
from vpp.inference.population import Particle, Population
from vpp.llm.context import ModelLimits
from vpp.llm.counters import Counters
from vpp.llm.optimizer import LlmOptimizer
from vpp.llm.prompts import OptimizerPrompts, seed_sentence
from vpp.llm.protocol import Completion, Messages
from vpp.llm.rendering import render_input, units
from vpp.llm.structure import Structure
from vpp.llm.templates import shipped
from vpp.problem import Exchange, Prediction, Problem, Proposal
from vpp.settings import Config

MAX_TOKENS = 4_000


@dataclass(frozen=True, slots=True)
class Known:
    """Answers of the demo model by question; runs on one table share them."""

    answers: dict[tuple[str, int], Prediction] = field(default_factory=dict)
    """By hypothesis text and row."""
    proposals: dict[Hashable, tuple[Proposal, int]] = field(default_factory=dict)
    """By question, each with the calls that it took."""


class DemoChat:
    """The demo model behind the protocol `Chat`."""

    async def complete(
        self,
        messages: Messages,
        *,
        temperature: float,
        seed: int,
        max_tokens: int,
        structured: Structure | None = None,
    ) -> Completion:
        """What the server would answer."""
        body = {"model": MODEL, "messages": messages, "temperature": temperature, "seed": seed}
        text = respond(read_request(json.dumps(body).encode()))
        return Completion(text=text, finish_reason="stop", prompt_tokens=0, completion_tokens=0)


class DemoLearner:
    """f(x; theta) of the demo model. Counts a call for each hypothesis and row of its run."""

    def __init__(self, dataset: Dataset, known: Known) -> None:
        """known: grows, and may be another run's on the same table."""
        rows, named = (*dataset.train, *dataset.test), units(dataset)
        self._rows = {row.id: read_row(render_input(row, named)) for row in rows}
        self._labels = dataset.classes
        self._known = known
        self._asked: set[tuple[str, int]] = set()

    @property
    def calls(self) -> int:
        """Calls that a run with a server would have made."""
        return len(self._asked)

    async def predict(self, hypothesis: str, rows: Sequence[Row]) -> tuple[Prediction, ...]:
        """One prediction a row."""
        self._asked.update((hypothesis, row.id) for row in rows)
        return tuple(self._prediction(hypothesis, row) for row in rows)

    def _prediction(self, hypothesis: str, row: Row) -> Prediction:
        key, answers = (hypothesis, row.id), self._known.answers
        if key not in answers:
            answers[key] = Prediction(row=row.id, value=self._answer(hypothesis, self._rows[row.id]))
        return answers[key]

    def _answer(self, hypothesis: str, row: Cells) -> Value:
        """As `vpp.demo.learner.answer` has it: the rule's answer, or its constant guess."""
        rule = read_rule(hypothesis, tuple(row.cells), self._labels).rule
        value = None if rule is None else rule.answer(row)
        if isinstance(value, str):
            return value
        if isinstance(value, float) and math.isfinite(value):
            return float(f"{value:.10g}")
        return self._labels[0] if self._labels else 0.0


class DemoOptimizer(LlmOptimizer):
    """The real optimizer around the demo model. Counts the calls of its run."""

    def __init__(self, dataset: Dataset, seed_text: str, known: Known) -> None:
        self._known, self._counts, self.calls = known.proposals, Counters(), 0
        prompts = OptimizerPrompts(
            dataset=dataset, refining=shipped("optimizer"), drawing=shipped("prior"), seed_text=seed_text
        )
        super().__init__(DemoChat(), prompts, ModelLimits(max_tokens=MAX_TOKENS), counters=self._counts)

    async def propose(
        self,
        hypothesis: str,
        rows: Sequence[Row],
        predictions: Sequence[Prediction],
        *,
        temperature: float,
        seed: int,
        history: Sequence[Exchange] = (),
    ) -> Proposal:
        """As the real one, once a question."""
        key = (hypothesis, tuple((p.row, p.value) for p in predictions), temperature, seed, tuple(history))
        if key not in self._known:
            before = self._counts.calls
            proposal = await super().propose(
                hypothesis, rows, predictions, temperature=temperature, seed=seed, history=history
            )
            self._known[key] = (proposal, self._counts.calls - before)
        proposal, calls = self._known[key]
        self.calls += calls
        return proposal


@dataclass(frozen=True, slots=True, kw_only=True)
class Finished:
    """What a run ends with."""

    test: Evaluated
    train: Evaluated
    texts: tuple[str, ...]
    """(K,) the last population."""
    learner_calls: int
    optimizer_calls: int


async def run(dataset: Dataset, config: Config, known: Known) -> Finished:
    """A whole run, with its final weights and evaluations."""
    seed_text = seed_sentence(dataset, config.prior)
    learner, optimizer = DemoLearner(dataset, known), DemoOptimizer(dataset, seed_text, known)
    problem = Problem(
        dataset=dataset,
        learner=learner,
        optimizer=optimizer,
        seed_text=seed_text,
        batch_size=config.batch_size,
        epochs=config.epochs,
        seed=config.seed,
        batch_order=config.batch_order,
        deduplicate_buffer=config.deduplicate_buffer,
        error_mass=config.error_mass,
    )
    population = await _population(problem, config)
    ends = {e.split: e async for e in conclude(problem, config, population) if isinstance(e, Evaluated)}
    return Finished(
        test=ends["test"],
        train=ends["train"],
        texts=tuple(p.text for p in population.particles),
        learner_calls=learner.calls,
        optimizer_calls=optimizer.calls,
    )


async def _population(problem: Problem, config: Config) -> Population:
    """The last one, put together from the events as a worker does."""
    texts: dict[str, str] = {}
    last: StepFinished | None = None
    async for event in sample(problem, config):
        if isinstance(event, ParticleDrawn):
            texts[event.hypothesis] = event.text
        elif isinstance(event, Proposed) and event.proposal is not None:
            texts[event.proposal] = cast(str, event.text)
        elif isinstance(event, StepFinished):
            last = event
    if last is None:
        raise RuntimeError("the run ended before its first population")
    particles = tuple(
        Particle(
            text=texts[state.hypothesis],
            parent=state.parent,
            log_likelihood=state.log_likelihood,
            log_weight=state.log_weight,
        )
        for state in last.population
    )
    return Population(
        step=last.step, particles=particles, tau=last.tau, exponent=last.exponent, log_evidence=last.log_evidence
    )
