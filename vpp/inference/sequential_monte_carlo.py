"""VPP-SMC (Section 3.3, Algorithm 2)."""

from collections.abc import AsyncGenerator, Callable, Coroutine
from dataclasses import replace
from typing import Any

from vpp.events import Resampled, Reweighted
from vpp.inference.lanes import Lanes
from vpp.inference.mutating import mutation
from vpp.inference.population import Outcome, Particle, Population, Told, log_likelihoods
from vpp.inference.scoring import score
from vpp.posterior.likelihood import Likelihood
from vpp.posterior.resampling import systematic_resample
from vpp.posterior.weights import ess, normalise, tempered_log_weights
from vpp.problem import Problem
from vpp.randomness import rng
from vpp.settings import Config


async def step(
    problem: Problem, config: Config, population: Population, *, step: int, lanes: Lanes
) -> AsyncGenerator[Told, None]:
    """Reweights, resamples where ESS is low, and mutates; yields what happens, then the population."""
    likelihood = problem.likelihood(epsilon=config.epsilon, tau=population.tau)
    size = population.size
    # log p(buffer | theta_{t-1}^(k))
    if not lanes.is_expected(step, "weigh"):
        weigh = weighing(problem, config, likelihood, step=step)
        for k, p in enumerate(population.particles):
            lanes.begin(_weighed(lanes, weigh, k, p, step=step))
    lanes.reach(step)
    for _ in range(size):
        for event in await lanes.taken(step, "weigh"):
            yield event
    scored = lanes.particles(step, "weigh")
    reweighted, particles = reweight(scored, config, step=step, steps=problem.steps)
    yield reweighted
    ancestors = None
    if reweighted.ess < config.ess_threshold * size and size > 1:
        resampled, particles = resample(particles, reweighted.weights, config, step=step)
        ancestors = resampled.ancestors
        yield resampled
    # theta_t^(k) <- f_opt(theta_{t-1}^(k), {x_m, y^_m, y_m})
    buffer = problem.buffer(step, size=config.buffer_size)
    mutate = mutation(problem, config, likelihood, particles, buffer, ancestors, step=step)
    is_followed = config.is_free and step + 1 < problem.steps
    following = weighing(problem, config, likelihood, step=step + 1) if is_followed else None
    for k, p in enumerate(particles):
        lanes.begin(_mutated(lanes, mutate, following, k, p, step=step))
    for _ in range(size):
        for event in await lanes.taken(step, "mutate"):
            yield event
    if is_followed:
        lanes.expect(step + 1, "weigh")
    yield replace(population, step=step, particles=lanes.particles(step, "mutate"))


Work = Callable[[int, Particle], Coroutine[Any, Any, Outcome]]


def weighing(problem: Problem, config: Config, likelihood: Likelihood, *, step: int) -> Work:
    """What gives a slot's particle its weight."""
    buffer = problem.buffer(step, size=config.buffer_size)
    return lambda slot, particle: score(problem, likelihood, slot, particle, buffer, step=step, role="buffer")


async def _weighed(lanes: Lanes, weigh: Work, slot: int, particle: Particle, *, step: int) -> None:
    with lanes.ahead(step):
        lanes.bring(step, "weigh", await weigh(slot, particle))


async def _mutated(
    lanes: Lanes, mutate: Work, following: Work | None, slot: int, particle: Particle, *, step: int
) -> None:
    """Mutates, and at once scores on the next step's buffer, whatever the others are at."""
    new = await mutate(slot, particle)
    # The log-likelihood stays the one that made the weights.
    outcome = replace(new, particle=replace(new.particle, log_likelihood=particle.log_likelihood))
    lanes.bring(step, "mutate", outcome)
    if following is not None:
        await _weighed(lanes, following, slot, outcome.particle, step=step + 1)


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
