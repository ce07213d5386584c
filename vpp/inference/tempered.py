"""SMC over tempered posteriors p(D | theta)^phi p(theta) on a fixed likelihood, with the evidence.

Weights are ratios between successive targets and are carried from step to step; every mutation passes an accept step on
the target it moves in (Del Moral, Doucet, Jasra 2006). Exponents are the paper's schedule, phi_t = 1 / beta_t, or found
so that the ESS keeps to a fraction of K (Chopin, Papaspiliopoulos 2020, Algorithm 17.3).
"""

from collections.abc import AsyncGenerator
from dataclasses import replace

import numpy as np

from vpp.events import Reweighted
from vpp.inference.mutating import mutation
from vpp.inference.population import Particle, Population, Told, log_likelihoods
from vpp.inference.rounds import Round
from vpp.inference.scoring import score
from vpp.inference.sequential_monte_carlo import resample
from vpp.posterior.tempering import carried_log_weights, log_mean_weight, next_exponent
from vpp.posterior.weights import Floats, ess, normalise
from vpp.problem import Problem
from vpp.settings import Config


async def step(problem: Problem, config: Config, population: Population, *, step: int) -> AsyncGenerator[Told, None]:
    """Reweights to the next target, resamples where ESS is low, and mutates within it; then yields the population."""
    likelihood = problem.likelihood(epsilon=config.epsilon, tau=population.tau)
    rows = problem.dataset.train
    scores = (
        score(problem, likelihood, k, p, rows, step=step, role="buffer") for k, p in enumerate(population.particles)
    )
    async with Round(scores) as scoring:
        async for event in scoring:
            yield event
    population = replace(population, particles=scoring.particles)
    exponent = find_exponent(population, config, step=step, steps=problem.steps)
    reweighted, particles = reweight(population, exponent, step=step)
    yield reweighted
    ancestors, log_evidence = None, population.log_evidence
    if is_resampled(reweighted, config, exponent=exponent, size=population.size):
        # Z_t = Z_s (1/K) sum_k w_t^(k), and the weights begin anew
        log_evidence += log_mean_weight(reweighted.log_weights)
        resampled, particles = resample(particles, reweighted.weights, config, step=step)
        ancestors = resampled.ancestors
        yield resampled
    mutate = mutation(problem, config, likelihood, particles, rows, ancestors, step=step, exponent=exponent)
    async with Round(mutate(k, p) for k, p in enumerate(particles)) as mutating:
        async for event in mutating:
            yield event
    yield replace(population, step=step, particles=mutating.particles, exponent=exponent, log_evidence=log_evidence)


def find_exponent(population: Population, config: Config, *, step: int, steps: int) -> float:
    """phi_t: of the schedule, or by bisection; the last step always reaches the end of the schedule."""
    ceiling = 1 / config.beta_end
    if config.tempering == "incremental":
        return 1 / config.beta(step, steps=steps)
    if step == steps - 1:
        return ceiling
    return next_exponent(
        _log_weights(population),
        log_likelihoods(population.particles),
        previous=population.exponent,
        ceiling=ceiling,
        target=config.ess_threshold * population.size,
    )


def reweight(population: Population, exponent: float, *, step: int) -> tuple[Reweighted, tuple[Particle, ...]]:
    """Carried weights of scored particles at the next exponent, and the evidence so far."""
    log_w = carried_log_weights(
        _log_weights(population),
        log_likelihoods(population.particles),
        exponent=exponent,
        previous=population.exponent,
    )
    w = normalise(log_w)
    event = Reweighted(
        step=step,
        beta=1 / exponent,
        log_weights=tuple(log_w.tolist()),
        weights=tuple(w.tolist()),
        ess=ess(w),
        log_evidence=population.log_evidence + log_mean_weight(log_w),
    )
    return event, tuple(
        replace(p, log_weight=float(lw), parent=k)
        for k, (p, lw) in enumerate(zip(population.particles, log_w, strict=True))
    )


def is_resampled(reweighted: Reweighted, config: Config, *, exponent: float, size: int) -> bool:
    """ESS is below its threshold; or an exponent was found short of the end, where ESS is just at it."""
    found_short = config.tempering == "adaptive" and exponent < 1 / config.beta_end
    return size > 1 and (found_short or reweighted.ess < config.ess_threshold * size)


def _log_weights(population: Population) -> Floats:
    return np.array([p.log_weight for p in population.particles], dtype=np.float64)
