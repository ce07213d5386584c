"""VPP-SMC (Section 3.3, Algorithm 2)."""

from collections.abc import AsyncGenerator
from dataclasses import replace

from vpp.events import Resampled, Reweighted
from vpp.inference.mutating import mutations
from vpp.inference.population import Particle, Population, Told, log_likelihoods
from vpp.inference.rounds import Round
from vpp.inference.scoring import score
from vpp.posterior.resampling import systematic_resample
from vpp.posterior.weights import ess, normalise, tempered_log_weights
from vpp.problem import Problem
from vpp.randomness import rng
from vpp.settings import Config


async def step(problem: Problem, config: Config, population: Population, *, step: int) -> AsyncGenerator[Told, None]:
    """Reweights, resamples where ESS is low, and mutates; yields what happens, then the population."""
    likelihood = problem.likelihood(epsilon=config.epsilon, tau=population.tau)
    buffer = problem.buffer(step, size=config.buffer_size)
    # log p(buffer | theta_{t-1}^(k))
    scores = (
        score(problem, likelihood, k, p, buffer, step=step, role="buffer") for k, p in enumerate(population.particles)
    )
    async with Round(scores) as scoring:
        async for event in scoring:
            yield event
    reweighted, particles = reweight(scoring.particles, config, step=step, steps=problem.steps)
    yield reweighted
    ancestors = None
    if reweighted.ess < config.ess_threshold * len(particles) and len(particles) > 1:
        resampled, particles = resample(particles, reweighted.weights, config, step=step)
        ancestors = resampled.ancestors
        yield resampled
    # theta_t^(k) <- f_opt(theta_{t-1}^(k), {x_m, y^_m, y_m})
    async with Round(mutations(problem, config, likelihood, particles, buffer, ancestors, step=step)) as mutating:
        async for event in mutating:
            yield event
    mutated = (
        replace(new, log_likelihood=old.log_likelihood) for new, old in zip(mutating.particles, particles, strict=True)
    )
    yield replace(population, step=step, particles=tuple(mutated))


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
