"""A run from its first population to its last: a loop of steps, each a few phases."""

from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing
from functools import partial
from typing import Protocol

from vpp.events import INITIAL_STEP, Event
from vpp.inference import metropolis_hastings, sequential_monte_carlo, tempered, vml
from vpp.inference.ahead import Ahead, Chains
from vpp.inference.drawing import first_population
from vpp.inference.population import NOBODY, Population, Yielded
from vpp.inference.resizing import resize
from vpp.problem import Problem
from vpp.settings import Config


class Phase(Protocol):
    """A part of a step. Yields each event as it happens and, if it changes the population, the new one last."""

    def __call__(
        self, problem: Problem, config: Config, population: Population, *, step: int
    ) -> AsyncGenerator[Yielded, None]: ...


async def sample(problem: Problem, config: Config, *, resume_from: Population | None = None) -> AsyncIterator[Event]:
    """Yield every event of the run in order, to the last step's population; resume after `resume_from.step`."""
    population = resume_from or NOBODY
    async with Ahead() as ahead:
        move = _move(config, ahead)
        for step in range(population.step + 1, problem.steps):
            for phase in phases(config, step, move):
                async with aclosing(ahead.guard(phase(problem, config, population, step=step))) as yielded:
                    async for each in yielded:
                        if isinstance(each, Population):
                            population = each
                        else:
                            yield each


def phases(config: Config, step: int, move: Phase) -> Sequence[Phase]:
    """Phases of a step, in order; the step before the first draws the population."""
    if step == INITIAL_STEP:
        return (first_population, finish)
    return (move, resize, finish) if config.particles_max else (move, finish)


def _move(config: Config, ahead: Ahead) -> Phase:
    """The phase that is the method's own: Eq. 1, Algorithm 1, Algorithm 2 or tempered SMC."""
    if config.is_telescoping:
        return tempered.step
    if config.method == "smc":
        return partial(sequential_monte_carlo.step, ahead=ahead)
    move = partial(metropolis_hastings.move, ahead=ahead) if config.method == "mh" else vml.revise
    return Chains(ahead, move).step


async def finish(
    problem: Problem, config: Config, population: Population, *, step: int
) -> AsyncGenerator[Yielded, None]:
    """Yield the event that records the population."""
    batch = () if step == INITIAL_STEP else problem.batch(step)
    yield population.finished(batch=tuple(row.id for row in batch))
