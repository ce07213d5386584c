"""Tempered SMC: the posteriors p(D | theta)^phi_t p(theta) of Section 2 as targets, with the evidence.

Beyond the paper. Weights are ratios between successive targets, carried from step to step, and every mutation passes an
accept step on its target (Del Moral, Doucet, Jasra 2006). The exponents are those of the paper's schedule,
phi_t = 1 / beta_t, or are chosen to keep the ESS at a fraction of K (Chopin, Papaspiliopoulos 2020, Algorithm 17.3).
"""

from collections.abc import AsyncGenerator
from dataclasses import replace

import numpy as np

from vpp.events import Reweighted
from vpp.inference.ahead import Round
from vpp.inference.population import Particle, Population, Yielded, chains, log_likelihoods
from vpp.inference.proposing import score
from vpp.inference.sequential_monte_carlo import mutation, resample
from vpp.posterior.weights import Floats, carried_log_weights, ess, log_mean_weight, next_exponent, normalise
from vpp.problem import Problem
from vpp.settings import ESS_SHARE, Config


async def step(problem: Problem, config: Config, population: Population, *, step: int) -> AsyncGenerator[Yielded, None]:
    """Reweight to the next target, resample where the ESS is low, mutate on the target.

    Yield each event as it happens, and last the population after the step. Comments name the lines of Algorithm 2.
    """
    # line 3: all training rows stand in for the buffer
    rows = problem.scored_rows(config, step)
    before = chains(problem, config, population, step=step)
    # lines 4 to 6: log p(D | theta_{t-1}^(k)) for all k                            (Eq. 5 or 6)
    async with Round(score(chain, rows, role="buffer") for chain in before) as scoring:
        async for event in scoring:
            yield event
    population = replace(population, particles=scoring.particles)
    # line 7: w_t^(k) = w_{t-1}^(k) p(D | theta_{t-1}^(k))^(phi_t - phi_{t-1})
    exponent = find_exponent(population, config, step=step, steps=problem.steps)
    reweighted, particles = reweight(population, exponent, step=step)
    yield reweighted
    if config.is_weighing:
        yield replace(population, step=step, particles=particles, exponent=exponent)
        return
    # lines 8 to 10: resample by w_t, w_t^(k) <- 1/K
    log_evidence = population.log_evidence
    if is_resampled(reweighted, config, exponent=exponent, size=population.size):
        # Z_t = Z_s (1/K) sum_k w_t^(k), and the weights begin anew
        log_evidence += log_mean_weight(reweighted.log_weights)
        resampled, particles = resample(particles, reweighted.weights, config, step=step)
        yield resampled
    # lines 11 to 14: theta_t^(k) <- f_opt(theta_{t-1}^(k), {x_m, y^_m, y_m}), accepted on p(D | theta)^phi_t p(theta)
    mutate = mutation(particles, rows, exponent=exponent)
    async with Round(mutate(chain.of(p)) for chain, p in zip(before, particles, strict=True)) as mutating:
        async for event in mutating:
            yield event
    yield replace(population, step=step, particles=mutating.particles, exponent=exponent, log_evidence=log_evidence)


def find_exponent(population: Population, config: Config, *, step: int, steps: int) -> float:
    """phi_t, from the schedule or by bisection on the ESS; the last step always takes the last exponent."""
    if config.schedule == "incremental":
        return 1 / config.beta(step, steps=steps)
    if step == steps - 1:
        return 1.0
    return next_exponent(
        _log_weights(population),
        log_likelihoods(population.particles),
        previous=population.exponent,
        ceiling=1.0,
        target=ESS_SHARE * population.size,
    )


def reweight(population: Population, exponent: float, *, step: int) -> tuple[Reweighted, tuple[Particle, ...]]:
    """Carried weights of scored particles at the next exponent. Return the event, and the (K,) particles with them."""
    log_w = carried_log_weights(
        _log_weights(population), log_likelihoods(population.particles), exponent=exponent, previous=population.exponent
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
    """True if the ESS is below its threshold, or adaptive tempering has just set it there."""
    is_short = config.schedule == "adaptive" and exponent < 1
    return size > 1 and (is_short or reweighted.ess < ESS_SHARE * size)


def _log_weights(population: Population) -> Floats:
    return np.array([p.log_weight for p in population.particles], dtype=np.float64)
