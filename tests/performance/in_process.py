"""Runs without processes and HTTP: the samplers and the real roles around the demo model, called as a function."""

import json
from dataclasses import dataclass

from tests.reporting.sampled import last_population
from vpp.data.dataset import Dataset
from vpp.demo.chat import MODEL, read_request, respond
from vpp.events import Evaluated, Event
from vpp.inference import sample
from vpp.inference.evaluation import conclude
from vpp.llm.context import ModelLimits
from vpp.llm.counters import Counters
from vpp.llm.learner import LearnerOptions, LlmLearner
from vpp.llm.optimizer import LlmOptimizer
from vpp.llm.prompts import LearnerPrompts, OptimizerPrompts, seed_sentence
from vpp.llm.protocol import Completion, Messages
from vpp.llm.structure import Structure
from vpp.llm.templates import shipped
from vpp.problem import Problem
from vpp.settings import Config
from vpp.usage import Usage

MAX_TOKENS = 4_000


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
        body = {"model": MODEL, "messages": messages, "temperature": temperature, "seed": seed}
        text = respond(read_request(json.dumps(body).encode()))
        return Completion(text=text, finish_reason="stop", prompt_tokens=0, completion_tokens=0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Finished:
    """End of a run."""

    test: Evaluated
    train: Evaluated
    texts: tuple[str, ...]
    """(K,) the last population."""
    usage: Usage


async def run(dataset: Dataset, config: Config) -> Finished:
    """Run from the first draw to the final evaluation."""
    seed_text, counters, chat = seed_sentence(dataset, config.prior), Counters(), DemoChat()
    options = LearnerOptions(seed=config.seed, max_tokens=MAX_TOKENS)
    prompts = OptimizerPrompts(
        dataset=dataset, refining=shipped("optimizer"), drawing=shipped("prior"), seed_text=seed_text
    )
    problem = Problem(
        dataset=dataset,
        learner=LlmLearner(
            chat, LearnerPrompts(dataset=dataset, template=shipped("learner")), options, counters=counters
        ),
        optimizer=LlmOptimizer(chat, prompts, ModelLimits(max_tokens=MAX_TOKENS), counters=counters),
        seed_text=seed_text,
        batch_size=config.batch_size,
        epochs=config.epochs,
        seed=config.seed,
        batch_order=config.batch_order,
        deduplicate_buffer=config.deduplicate_buffer,
        error_mass=config.error_mass,
    )
    events: list[Event] = [event async for event in sample(problem, config)]
    population = last_population(events)
    ends = {e.split: e async for e in conclude(problem, config, population) if isinstance(e, Evaluated)}
    texts = tuple(particle.text for particle in population.particles)
    return Finished(test=ends["test"], train=ends["train"], texts=texts, usage=counters.snapshot())
