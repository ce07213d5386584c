"""Draws from the prior (Section 3.1; Algorithms 1 and 2, line 1)."""

from collections.abc import AsyncGenerator, Coroutine, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from vpp.events import ParticleDrawn, hypothesis_id
from vpp.inference.ahead import Round
from vpp.inference.population import Outcome, Particle, Population, Yielded
from vpp.problem import Problem, Proposal
from vpp.randomness import call_seed
from vpp.settings import INITIAL_TEMPERATURES, PRIOR_TEMPERATURE, Config

PRIOR_DRAWS = 8
"""Most draws from the prior for one hypothesis; the first that can be read is taken."""


async def first_population(
    problem: Problem, config: Config, population: Population, *, step: int
) -> AsyncGenerator[Yielded, None]:
    """theta_0^(k) <- f_opt(theta_init, seed batch), each at its own temperature. Yield events, then the particles.

    Given hypotheses come first, and the rest are drawn. VML begins with theta_init itself.
    """
    given = problem.start_texts
    bare = () if config.draws_initial else (problem.seed_text,) * (config.size - len(given))
    log_w = (*problem.start_log_weights, *(0.0 for _ in bare))
    particles = tuple(Particle(text=text, parent=k, log_weight=log_w[k]) for k, text in enumerate((*given, *bare)))
    for k, p in enumerate(particles):
        yield ParticleDrawn(particle=k, hypothesis=p.id, text=p.text, temperature=0.0, raw="", origin=problem.origin(k))
    if slots := range(len(particles), config.size):
        async with Round(await _draws(problem, config, slots)) as drawing:
            async for event in drawing:
                yield event
        particles += drawing.particles
    yield replace(population, step=step, particles=particles)


async def _draws(problem: Problem, config: Config, slots: Sequence[int]) -> list[Coroutine[Any, Any, Outcome]]:
    """One draw for each slot: from the batch, at temperatures spread over the slots, or from the prior, all at one."""
    seeds = [call_seed(problem.seed, "draw", 0, k) for k in slots]
    if config.starts_from_prior:
        return [_drawn(problem, k, _from_prior(problem, seed)) for k, seed in zip(slots, seeds, strict=True)]
    batch, propose = problem.batch(0), problem.optimizer.propose
    predictions = await problem.learner.predict(problem.seed_text, batch) if problem.shows_predictions else ()
    evenly = np.linspace(*INITIAL_TEMPERATURES, len(slots))
    temperatures = [round(float(t), 6) for t in evenly]
    return [
        _drawn(problem, k, propose(problem.seed_text, batch, predictions, temperature=t, seed=seed))
        for k, t, seed in zip(slots, temperatures, seeds, strict=True)
    ]


async def _from_prior(problem: Problem, seed: int) -> Proposal:
    """A draw from the prior, defined as the law of readable draws: an unreadable one is repeated."""
    for again in range(PRIOR_DRAWS):
        proposal = await problem.optimizer.draw(temperature=PRIOR_TEMPERATURE, seed=call_seed(seed, "draw", again))
        if proposal.text is not None:
            break
    return proposal


async def _drawn(problem: Problem, slot: int, asking: Coroutine[Any, Any, Proposal]) -> Outcome:
    proposal = await asking
    text = problem.seed_text if proposal.text is None else proposal.text
    event = ParticleDrawn(
        particle=slot,
        hypothesis=hypothesis_id(text),
        text=text,
        temperature=proposal.temperature,
        raw=proposal.raw,
        reason=proposal.reason,
        shown=proposal.shown,
        thoughts=proposal.thoughts,
        refused=proposal.refused,
    )
    return Outcome(slot=slot, particle=Particle(text=text, parent=slot), events=(event,))
