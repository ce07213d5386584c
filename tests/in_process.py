"""Runs without processes and HTTP: the samplers and the real roles around the demo model, called as a function."""

import json
from dataclasses import dataclass, replace
from typing import Any

from tests.reporting.sampled import last_population
from vpp.data.dataset import Dataset
from vpp.demo.chat import MODEL, read_request, respond
from vpp.events import Evaluated, Event, ParticleDrawn, Proposed, Usage
from vpp.inference import sample
from vpp.inference.sampling import conclude
from vpp.llm.learner import LearnerOptions, LlmLearner
from vpp.llm.limits import Counters
from vpp.llm.optimizer import LlmOptimizer
from vpp.llm.prompts import ModelLimits
from vpp.llm.protocol import Completion, Messages
from vpp.runs.prompts import learner_prompts, optimizer_prompts, problem_of
from vpp.runs.spec import EndpointSpec, RunSpec
from vpp.settings import Config

MAX_TOKENS = 4_000


class DemoChat:
    """The demo model behind the protocol `Chat`."""

    def __init__(self) -> None:
        self.sizes: list[int] = []
        """Characters of every prompt."""

    async def complete(self, messages: Messages, *, temperature: float, seed: int, **_: Any) -> Completion:
        self.sizes.append(sum(len(message["content"]) for message in messages))
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
    written: tuple[str, ...]
    """Every hypothesis that was drawn or proposed."""
    usage: Usage
    learner: DemoChat
    optimizer: DemoChat


async def run(dataset: Dataset, config: Config) -> Finished:
    """Run from the first draw to the final evaluation."""
    spec = RunSpec(name="", config=config, endpoint=EndpointSpec(demo=True))
    counters, asked, rewriting = Counters(), DemoChat(), DemoChat()
    options = LearnerOptions(seed=config.seed, max_tokens=MAX_TOKENS)
    limits = ModelLimits(max_tokens=MAX_TOKENS)
    problem = replace(
        problem_of(spec, dataset),
        learner=LlmLearner(asked, learner_prompts(spec, dataset), options, counters=counters),
        optimizer=LlmOptimizer(rewriting, optimizer_prompts(spec, dataset), limits, counters=counters),
    )
    events: list[Event] = [event async for event in sample(problem, config)]
    population = last_population(events)
    ends = {e.split: e async for e in conclude(problem, config, population) if isinstance(e, Evaluated)}
    return Finished(
        test=ends["test"],
        train=ends["train"],
        texts=tuple(particle.text for particle in population.particles),
        written=tuple(e.text for e in events if isinstance(e, ParticleDrawn | Proposed) and e.text),
        usage=counters.snapshot(),
        learner=asked,
        optimizer=rewriting,
    )
