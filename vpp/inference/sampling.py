"""A run from its first population to its last: what every method shares around its own step."""

from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing
from functools import partial
from typing import Protocol

from vpp.events import INITIAL_STEP, Event
from vpp.inference import metropolis_hastings, sequential_monte_carlo, tempered, vml
from vpp.inference.chains import chains_step
from vpp.inference.drawing import first_population
from vpp.inference.evaluation import evaluate_now
from vpp.inference.lanes import Lanes
from vpp.inference.population import NOBODY, Population, Told
from vpp.inference.resizing import resize
from vpp.problem import Problem
from vpp.settings import Config


class Phase(Protocol):
    """A part of a step: yields what happens and, where it changes the population, the one it leaves."""

    def __call__(
        self, problem: Problem, config: Config, population: Population, *, step: int
    ) -> AsyncGenerator[Told, None]: ...


async def sample(problem: Problem, config: Config, *, resume_from: Population | None = None) -> AsyncIterator[Event]:
    """Every event of the run in order, up to the last step's population; goes on after `resume_from.step`."""
    population = resume_from or NOBODY
    async with Lanes() as lanes:
        for step in range(population.step + 1, problem.steps):
            for phase in phases(config, step, lanes):
                async with aclosing(phase(problem, config, population, step=step)) as told:
                    async for each in told:
                        if isinstance(each, Population):
                            population = each
                        else:
                            yield each


def phases(config: Config, step: int, lanes: Lanes) -> Sequence[Phase]:
    """The parts of a step in order; the step before the first draws the population."""
    if step == INITIAL_STEP:
        return (first_population, finish)
    move = _move(config, lanes)
    evaluating = partial(evaluate_now, lanes=lanes)
    return (move, resize, evaluating, finish) if config.particles_max else (move, evaluating, finish)


def _move(config: Config, lanes: Lanes) -> Phase:
    if config.is_telescoping:
        return tempered.step
    if config.method == "smc":
        return partial(sequential_monte_carlo.step, lanes=lanes)
    return partial(chains_step, lanes=lanes, move=metropolis_hastings.move if config.method == "mh" else vml.revise)


async def finish(problem: Problem, config: Config, population: Population, *, step: int) -> AsyncGenerator[Told, None]:
    """The event that keeps the population."""
    batch = () if step == INITIAL_STEP else problem.batch(step)
    yield population.finished(batch=tuple(row.id for row in batch))
