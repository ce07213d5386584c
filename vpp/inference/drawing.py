"""Draws from the prior (Section 3.1; Algorithms 1 and 2, line 1), and an adaptive K that takes more of them.

K grows while distinct texts or the ESS stay few, and shrinks when all particles agree. That is beyond the paper, which
leaves it for future work: at K = 10 chains degenerate on a hard symbolic task (Section 5.4).
"""

import math
from collections.abc import AsyncGenerator, Coroutine, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from vpp.data.dataset import Row
from vpp.events import ParticleDrawn, Resampled, hypothesis_id
from vpp.inference.ahead import Round
from vpp.inference.plan import PATIENCE
from vpp.inference.population import Outcome, Particle, Population, Yielded
from vpp.posterior.weights import ess, log_mean_weight, systematic_resample
from vpp.problem import Problem, Proposal, likelihood_of
from vpp.randomness import call_seed, rng
from vpp.settings import ESS_SHARE, INITIAL_TEMPERATURES, PARTICLES_MIN, PRIOR_TEMPERATURE, Config

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
        seeds = [call_seed(problem.seed, "draw", 0, k) for k in slots]
        coming = await draws(problem, config, slots, seeds, batch=problem.batch(0), step=step)
        async with Round(coming) as drawing:
            async for event in drawing:
                yield event
        particles += drawing.particles
    yield replace(population, step=step, particles=particles)


async def draws(
    problem: Problem, config: Config, slots: Sequence[int], seeds: Sequence[int], *, batch: tuple[Row, ...], step: int
) -> list[Coroutine[Any, Any, Outcome]]:
    """One draw for each slot: from the batch, at temperatures spread over the slots, or from the prior, all at one."""
    if config.starts_from_prior:
        return [_drawn(problem, k, _from_prior(problem, seed), step=step) for k, seed in zip(slots, seeds, strict=True)]
    predictions = await problem.learner.predict(problem.seed_text, batch)
    propose = problem.optimizer.propose
    evenly = np.linspace(*INITIAL_TEMPERATURES, len(slots))
    temperatures = [round(float(t), 6) for t in evenly]
    return [
        _drawn(problem, k, propose(problem.seed_text, batch, predictions, temperature=t, seed=seed), step=step)
        for k, t, seed in zip(slots, temperatures, seeds, strict=True)
    ]


async def _from_prior(problem: Problem, seed: int) -> Proposal:
    """A draw from the prior, defined as the law of readable draws: an unreadable one is repeated."""
    for again in range(PRIOR_DRAWS):
        proposal = await problem.optimizer.draw(temperature=PRIOR_TEMPERATURE, seed=call_seed(seed, "draw", again))
        if proposal.text is not None:
            break
    return proposal


async def _drawn(problem: Problem, slot: int, asking: Coroutine[Any, Any, Proposal], *, step: int) -> Outcome:
    proposal = await asking
    text = problem.seed_text if proposal.text is None else proposal.text
    event = ParticleDrawn(
        particle=slot,
        hypothesis=hypothesis_id(text),
        text=text,
        temperature=proposal.temperature,
        raw=proposal.raw,
        reason=proposal.reason,
        step=step,
        shown=proposal.shown,
        thoughts=proposal.thoughts,
        refused=proposal.refused,
    )
    return Outcome(slot=slot, particle=Particle(text=text, parent=slot), events=(event,))


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
    likelihood = likelihood_of(problem.dataset, config).predictive((), ())  # under the noise expected beforehand
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
