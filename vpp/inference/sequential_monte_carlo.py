"""VPP-SMC (Section 3.3, Algorithm 2)."""

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from dataclasses import replace

import numpy as np

from vpp.data.dataset import Row
from vpp.events import Event, Resampled, Reweighted
from vpp.inference.drawing import draw_initial, first_population
from vpp.inference.evaluation import evaluate_now
from vpp.inference.population import Outcome, Particle, Population, in_order, log_likelihoods
from vpp.inference.proposing import propose
from vpp.inference.rounds import completed
from vpp.inference.scoring import score
from vpp.posterior.resampling import systematic_resample
from vpp.posterior.weights import ess, normalise, tempered_log_weights
from vpp.problem import Problem
from vpp.randomness import rng
from vpp.settings import Config


async def sample(problem: Problem, config: Config, *, resume_from: Population | None = None) -> AsyncIterator[Event]:
    """Yields every event of the run in order; goes on after `resume_from.step`."""
    population = resume_from
    if population is None:
        drawn: dict[int, Outcome] = {}
        async with aclosing(draw_initial(problem, config)) as outcomes:
            async for outcome in outcomes:
                drawn[outcome.slot] = outcome
                for event in outcome.events:
                    yield event
        population = await first_population(problem, config, in_order(drawn))
        yield population.finished(batch=())
    for step in range(population.step + 1, problem.steps):
        batch = problem.batch(step)
        buffer = problem.buffer(step, size=config.buffer_size)
        scored: dict[int, Outcome] = {}
        async with aclosing(_score_all(problem, config, population, buffer, step=step)) as outcomes:
            async for outcome in outcomes:
                scored[outcome.slot] = outcome
                yield outcome.events[0]
        reweighted, particles = reweight(in_order(scored), config, step=step, steps=problem.steps)
        yield reweighted
        if reweighted.ess < config.ess_threshold * config.size and config.size > 1:
            resampled, particles = resample(particles, reweighted.weights, config, step=step)
            yield resampled
        mutated: dict[int, Outcome] = {}
        async with aclosing(_mutate_all(problem, config, particles, batch, step=step)) as outcomes:
            async for outcome in outcomes:
                mutated[outcome.slot] = outcome
                yield outcome.events[0]
        population = Population(step=step, particles=in_order(mutated), tau=population.tau)
        async for event in evaluate_now(problem, config, population):
            yield event
        yield population.finished(batch=tuple(row.id for row in batch))


def _score_all(
    problem: Problem, config: Config, population: Population, buffer: tuple[Row, ...], *, step: int
) -> AsyncGenerator[Outcome, None]:
    """log p(buffer | theta^(k)) for every particle."""
    likelihood = problem.likelihood(epsilon=config.epsilon, tau=population.tau)
    scores = (
        score(problem, likelihood, k, p, buffer, step=step, role="buffer") for k, p in enumerate(population.particles)
    )
    return completed(scores)


def reweight(
    particles: tuple[Particle, ...], config: Config, *, step: int, steps: int
) -> tuple[Reweighted, tuple[Particle, ...]]:
    """Tempered weights of scored particles (Eq. 10)."""
    beta = config.beta(step, steps=steps)
    log_w = tempered_log_weights(log_likelihoods(particles), beta=beta)
    w = normalise(log_w)
    event = Reweighted(step=step, beta=beta, log_weights=tuple(log_w.tolist()), weights=tuple(w.tolist()), ess=ess(w))
    return event, tuple(
        replace(p, log_weight=float(lw), parent=k) for k, (p, lw) in enumerate(zip(particles, log_w, strict=True))
    )


def resample(
    particles: tuple[Particle, ...], weights: tuple[float, ...], config: Config, *, step: int
) -> tuple[Resampled, tuple[Particle, ...]]:
    """Systematic resampling; text, predictions and log-likelihood are the ancestor's, log-weights 0 (choice 5)."""
    u = float(rng(config.seed, "resample", step, 0).random())
    ancestors = systematic_resample(weights, u=u)
    event = Resampled(step=step, u=u, ancestors=tuple(int(a) for a in ancestors))
    return event, tuple(replace(particles[a], log_weight=0.0, parent=int(a)) for a in ancestors)


def _mutate_all(
    problem: Problem, config: Config, particles: tuple[Particle, ...], batch: tuple[Row, ...], *, step: int
) -> AsyncGenerator[Outcome, None]:
    """theta_t^(k) <- f_opt(theta_{t-1}^(k), batch), cautious at or above the median, bold below (choice 6)."""
    median = float(np.median(log_likelihoods(particles)))
    mutations = (
        _mutate(problem, k, p, batch, step=step, temperature=_temperature(p, median, config))
        for k, p in enumerate(particles)
    )
    return completed(mutations)


def _temperature(particle: Particle, median: float, config: Config) -> float:
    at_least = particle.log_likelihood is not None and particle.log_likelihood >= median
    return config.cautious_temperature if at_least else config.bold_temperature


async def _mutate(
    problem: Problem, slot: int, particle: Particle, batch: tuple[Row, ...], *, step: int, temperature: float
) -> Outcome:
    # The buffer ends with the batch, so the particle's predictions on it are known.
    predictions = particle.predictions[-len(batch) :]
    if len(predictions) < len(batch):
        predictions = await problem.learner.predict(particle.text, batch)
    candidate = await propose(problem, slot, particle, batch, predictions, step=step, temperature=temperature)
    if candidate.text is None:
        return Outcome(slot=slot, particle=particle, events=(candidate.kept(),))
    event = candidate.event(accepted=True, why="taken")
    return Outcome(slot=slot, particle=replace(particle, text=candidate.text), events=(event,))
