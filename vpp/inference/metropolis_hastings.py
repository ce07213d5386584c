"""VPP-MH (Section 3.2, Algorithm 1): K chains, each proposal filtered by a likelihood ratio."""

from collections.abc import AsyncGenerator
from dataclasses import replace

from vpp.data.dataset import Row
from vpp.inference.deciding import decide
from vpp.inference.population import Outcome, Particle, Population, Told
from vpp.inference.proposing import propose
from vpp.inference.rounds import Round
from vpp.inference.scoring import score
from vpp.posterior.likelihood import Likelihood
from vpp.problem import Problem
from vpp.settings import Config


async def step(problem: Problem, config: Config, population: Population, *, step: int) -> AsyncGenerator[Told, None]:
    """Every chain moves once; yields what happens, then the population."""
    likelihood = problem.likelihood(epsilon=config.epsilon, tau=population.tau)
    batch, rows = problem.batch(step), decision_rows(problem, config, step)
    moves = (
        move(problem, config, likelihood, k, p, batch, rows, step=step) for k, p in enumerate(population.particles)
    )
    async with Round(moves) as moving:
        async for event in moving:
            yield event
    yield replace(population, step=step, particles=moving.particles)


def decision_rows(problem: Problem, config: Config, step: int) -> tuple[Row, ...]:
    """The rows of both sides of the ratio (choice 7)."""
    if config.mh_rows == "batch":
        return problem.batch(step)
    return problem.dataset.train if config.mh_rows == "train" else problem.buffer(step, size=config.buffer_size)


async def move(
    problem: Problem,
    config: Config,
    likelihood: Likelihood,
    slot: int,
    particle: Particle,
    batch: tuple[Row, ...],
    rows: tuple[Row, ...],
    *,
    step: int,
) -> Outcome:
    """Forward pass, proposal, accept or reject: one chain's step."""
    # y^_m <- f(x_m; theta_{t-1})
    current = await score(problem, likelihood, slot, particle, rows, step=step, role="forward")
    # theta~ <- f_opt(theta_{t-1}, {x_m, y^_m, y_m})
    candidate = await propose(
        problem, config, slot, current.particle, batch, step=step, temperature=config.optimizer_temperature
    )
    # theta_t <- theta~ with probability alpha                                      (Eq. 9)
    decided = await decide(problem, config, likelihood, candidate, rows)
    return Outcome(slot=slot, particle=decided.particle.settled(slot), events=(*current.events, *decided.events))
