"""Chains, which depend on themselves alone: none waits for another's step, unless the population is to be resized."""

from collections.abc import AsyncGenerator, Coroutine
from dataclasses import replace
from typing import Any, Protocol

from vpp.inference.guesses import Guesses
from vpp.inference.lanes import Lanes
from vpp.inference.population import Outcome, Particle, Population, Told
from vpp.posterior.likelihood import Likelihood
from vpp.problem import Problem
from vpp.settings import Config


class Move(Protocol):
    """One chain's step."""

    def __call__(
        self,
        problem: Problem,
        config: Config,
        likelihood: Likelihood,
        slot: int,
        particle: Particle,
        guesses: Guesses,
        *,
        step: int,
    ) -> Coroutine[Any, Any, Outcome]: ...


async def chains_step(
    problem: Problem, config: Config, population: Population, *, step: int, lanes: Lanes, move: Move
) -> AsyncGenerator[Told, None]:
    """Every chain moves once; yields what happens, then the population."""
    last = problem.steps - 1 if config.is_free else step
    if not lanes.is_expected(step, "move"):
        likelihood = problem.likelihood(epsilon=config.epsilon, tau=population.tau)
        for k, p in enumerate(population.particles):
            lanes.begin(_chain(problem, config, likelihood, lanes, move, k, p, first=step, last=last))
    lanes.reach(step)
    for _ in population.particles:
        for event in await lanes.taken(step, "move"):
            yield event
    if step < last:
        lanes.expect(step + 1, "move")
    yield replace(population, step=step, particles=lanes.particles(step, "move"))


async def _chain(
    problem: Problem,
    config: Config,
    likelihood: Likelihood,
    lanes: Lanes,
    move: Move,
    slot: int,
    particle: Particle,
    *,
    first: int,
    last: int,
) -> None:
    """A chain's steps, one after another."""
    async with Guesses(problem) as guesses:
        for step in range(first, last + 1):
            await lanes.turn(step)
            with lanes.ahead(step):
                outcome = await move(problem, config, likelihood, slot, particle, guesses, step=step)
            particle = outcome.particle
            lanes.bring(step, "move", outcome)
