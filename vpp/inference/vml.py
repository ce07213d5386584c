"""VML (Eq. 1): hypotheses that go their own ways, every proposal taken.

One is `vml`, five are `vml5`; K of them that begin like Algorithm 1's are its ablation `always-accept` (Section 5.4).
"""

from collections.abc import AsyncGenerator
from dataclasses import replace

from vpp.data.dataset import Row
from vpp.inference.population import Outcome, Particle, Population, Told
from vpp.inference.proposing import propose
from vpp.inference.rounds import Round
from vpp.inference.scoring import score
from vpp.posterior.likelihood import Likelihood
from vpp.problem import Problem
from vpp.settings import Config


async def step(problem: Problem, config: Config, population: Population, *, step: int) -> AsyncGenerator[Told, None]:
    """Every hypothesis is revised once; yields what happens, then the population."""
    likelihood = problem.likelihood(epsilon=config.epsilon, tau=population.tau)
    batch = problem.batch(step)
    revisions = (
        revise(problem, config, likelihood, k, p, batch, step=step) for k, p in enumerate(population.particles)
    )
    async with Round(revisions) as revising:
        async for event in revising:
            yield event
    yield replace(population, step=step, particles=revising.particles)


async def revise(
    problem: Problem,
    config: Config,
    likelihood: Likelihood,
    slot: int,
    particle: Particle,
    batch: tuple[Row, ...],
    *,
    step: int,
) -> Outcome:
    """Forward pass and a proposal that is taken as it is."""
    scored = await score(problem, likelihood, slot, particle, batch, step=step, role="forward")
    candidate = await propose(
        problem, config, slot, scored.particle, batch, step=step, temperature=config.optimizer_temperature
    )
    decision = candidate.kept() if candidate.text is None else candidate.event(accepted=True, why="taken")
    revised = replace(scored.particle, text=candidate.text or particle.text, exchange=candidate.exchange)
    return Outcome(slot=slot, particle=revised.settled(slot), events=(*scored.events, decision))
