"""An adaptive K: it grows while distinct texts or the ESS stay few, and shrinks when all particles agree.

Beyond the paper, which leaves it for future work: at K = 10 chains degenerate on a hard symbolic task (Section 5.4).
"""

import math
from collections.abc import AsyncGenerator
from dataclasses import replace

from vpp.events import Resampled
from vpp.inference.drawing import draws
from vpp.inference.plan import PATIENCE
from vpp.inference.population import Particle, Population, Yielded
from vpp.inference.rounds import Round
from vpp.posterior.tempering import log_mean_weight
from vpp.posterior.weights import ess, systematic_resample
from vpp.problem import Problem
from vpp.randomness import call_seed, rng
from vpp.settings import ESS_SHARE, PARTICLES_MIN, Config


async def resize(
    problem: Problem, config: Config, population: Population, *, step: int
) -> AsyncGenerator[Yielded, None]:
    """Count how long the population has been few or agreed; after PATIENCE steps change K. The last step keeps K.

    Yield each event as it happens, and last the population.
    """
    population = _counted(problem, config, population)
    if step + 1 < problem.steps and population.agreed_for >= PATIENCE:
        resampled, population = shrink(config.seed, population)
        if resampled:
            yield resampled
    elif step + 1 < problem.steps and population.few_for >= PATIENCE:
        size = min(2 * population.size, config.particles_max)
        slots = range(population.size, size)
        seeds = [call_seed(problem.seed, "resize", step, k) for k in slots]
        if slots:
            coming = await draws(problem, config, slots, seeds, batch=problem.batch(step), step=step)
            async with Round(coming) as newcomers:
                async for event in newcomers:
                    yield event
            population = _joined(population, newcomers.particles)
        population = replace(population, few_for=0)
    yield population


def _counted(problem: Problem, config: Config, population: Population) -> Population:
    agreed = not _was_resampled(population) and agree(problem, config, population)  # copies agree by construction
    few = not agreed and is_few(config, population)
    return replace(
        population, agreed_for=population.agreed_for + 1 if agreed else 0, few_for=population.few_for + 1 if few else 0
    )


def is_few(config: Config, population: Population) -> bool:
    """True if at most half of the texts are distinct, or the ESS is, or before resampling was, below its threshold."""
    n_unique = len({p.text for p in population.particles})
    low = config.is_weighted and (ess(population.weights) < ESS_SHARE * population.size or _was_resampled(population))
    return 2 * n_unique <= population.size or low


def _was_resampled(population: Population) -> bool:
    return any(p.parent != k for k, p in enumerate(population.particles))


def agree(problem: Problem, config: Config, population: Population) -> bool:
    """True if all particles answered the rows last scored alike, with errors that the likelihood's noise explains.

    If every proposal is taken, the answers are those of the texts before the step's mutation.
    """
    first, *others = ([p.answer for p in particle.predictions] for particle in population.particles)
    if any(answers != first for answers in others):
        return False
    said = population.particles[0].predictions
    known = {row.id: row.target for row in problem.dataset.train}
    likelihood = problem.likelihood(epsilon=config.epsilon, tau=population.tau)
    terms = likelihood.terms([p.answer for p in said], [known[p.row] for p in said])
    return bool(said) and float(terms.mean()) >= likelihood.usual_term


def _joined(population: Population, newcomers: tuple[Particle, ...]) -> Population:
    """The population with newcomers at the mean weight, which they keep until they are weighed."""
    average = log_mean_weight([p.log_weight for p in population.particles])
    return replace(population, particles=(*population.particles, *(replace(p, log_weight=average) for p in newcomers)))


def shrink(seed: int, population: Population) -> tuple[Resampled | None, Population]:
    """Resample the population to half its size, at least `PARTICLES_MIN`. The event is None if K stays."""
    size = max(PARTICLES_MIN, math.ceil(population.size / 2))
    if size >= population.size:
        return None, population
    u = float(rng(seed, "resize", population.step).random())
    ancestors = tuple(int(a) for a in systematic_resample(population.weights, u=u, size=size))
    particles = tuple(replace(population.particles[a], log_weight=0.0) for a in ancestors)
    event = Resampled(step=population.step, u=u, ancestors=ancestors, why="agreement")
    return event, replace(population, particles=particles, agreed_for=0)
