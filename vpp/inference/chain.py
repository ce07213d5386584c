"""A chain: one particle theta^(k) at one step t, with all that the step needs to move it."""

from dataclasses import dataclass, replace

from vpp.data.dataset import Row
from vpp.inference.population import Particle, Population
from vpp.posterior.likelihood import Likelihood
from vpp.problem import Problem
from vpp.settings import Config


@dataclass(frozen=True, slots=True, kw_only=True)
class Chain:
    """Input of every operation on one particle: score, propose, decide, mutate."""

    problem: Problem
    config: Config
    likelihood: Likelihood
    """Eq. 5 or 6, with the run's epsilon or tau."""
    step: int
    """t, from 0."""
    slot: int
    """k, from 0."""
    particle: Particle
    """theta_{t-1}^(k), with what the step knows of it so far."""

    @property
    def batch(self) -> tuple[Row, ...]:
        """(M,) the step's mini-batch {(x_m, y_m)}; the last of an epoch may be shorter."""
        return self.problem.batch(self.step)

    @property
    def rows(self) -> tuple[Row, ...]:
        """Rows on which the step scores the particle: its batch, the rolling buffer, or all training rows."""
        return self.problem.scored_rows(self.config, self.step)

    def of(self, particle: Particle) -> "Chain":
        """The same chain with another particle."""
        return replace(self, particle=particle)


def chains(problem: Problem, config: Config, population: Population, *, step: int) -> list[Chain]:
    """(K,) the population's particles at the step."""
    likelihood = problem.likelihood(epsilon=config.epsilon, tau=population.tau)
    return [
        Chain(problem=problem, config=config, likelihood=likelihood, step=step, slot=k, particle=particle)
        for k, particle in enumerate(population.particles)
    ]
