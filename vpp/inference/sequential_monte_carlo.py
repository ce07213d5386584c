"""VPP-SMC (Section 3.3, Algorithm 2): reweight, resample where the ESS is low, mutate."""

import math
from collections import Counter
from collections.abc import AsyncGenerator
from dataclasses import replace

import numpy as np

from vpp.data.dataset import Row
from vpp.events import Resampled, Reweighted
from vpp.inference.ahead import Ahead, Move, Round
from vpp.inference.population import Chain, Outcome, Particle, Population, Yielded, chains, log_likelihoods
from vpp.inference.proposing import decide, propose, score
from vpp.posterior.weights import ess, ess_of_sentences, normalise, systematic_resample, tempered_log_weights
from vpp.problem import Problem, constant_of
from vpp.randomness import rng
from vpp.settings import BETA_END, BOLD_TEMPERATURE, CAUTIOUS_TEMPERATURE, ESS_SHARE, Config


async def step(
    problem: Problem, config: Config, population: Population, *, step: int, ahead: Ahead
) -> AsyncGenerator[Yielded, None]:
    """Lines 3 to 14 of Algorithm 2. Yield each event as it happens, and last the population after the step."""
    # line 3: D_buffer, the last B rows seen
    buffer = problem.scored_rows(config, step)
    before = chains(problem, config, population, step=step)
    # lines 4 to 6: log p(D_buffer | theta_{t-1}^(k)) for all k                     (Eq. 5 or 6)
    async with Round(score(chain, buffer, role="buffer") for chain in before) as scoring:
        async for event in scoring:
            yield event
    # line 7: w_t^(k) ∝ exp(log p(D_buffer | theta_{t-1}^(k)) / beta_t)             (Eq. 10)
    beta = config.beta(step, steps=problem.steps)
    reweighted, particles = reweight(scoring.particles, beta=beta, step=step)
    yield reweighted
    # lines 8 to 10: if ESS(w_t) < K/2, resample by w_t and reset w_t^(k) <- 1/K
    if reweighted.ess < ESS_SHARE * population.size and population.size > 1:
        resampled, particles = resample(particles, reweighted.weights, config, step=step)
        yield resampled
    # lines 11 to 14: theta_t^(k) <- f_opt(theta_{t-1}^(k), {x_m, y^_m, y_m}) for all k
    mutate = ahead.and_ask_next(mutation(particles, buffer))
    async with Round(mutate(chain.of(p)) for chain, p in zip(before, particles, strict=True)) as mutating:
        async for event in mutating:
            yield event
    yield replace(population, step=step, particles=_as_weighed(mutating.particles, particles))


def reweight(particles: tuple[Particle, ...], *, beta: float, step: int) -> tuple[Reweighted, tuple[Particle, ...]]:
    """Tempered weights of scored particles (Eq. 10). Return the event, and the (K,) particles with their weights."""
    log_w = tempered_log_weights(log_likelihoods(particles), beta=beta)
    w = normalise(log_w)
    event = Reweighted(step=step, beta=beta, log_weights=tuple(log_w.tolist()), weights=tuple(w.tolist()), ess=ess(w))
    return event, tuple(
        replace(p, log_weight=float(lw), parent=k) for k, (p, lw) in enumerate(zip(particles, log_w, strict=True))
    )


def weigh_once(problem: Problem, config: Config, scored: Population) -> Reweighted:
    """The posterior over the distinct sentences and the constant answer.

    Half of the prior is the constant answer's: no sentence has to do with the targets. The other half is shared evenly
    by all sentences that the run, or the runs that it pools, wrote; given sentences have their given priors.
    Copies of a sentence share its weight: the population's law is already near prior times likelihood, so weights of
    copies would count both twice. scored: its particles' log-likelihoods are of the final rows.
    """
    # of carried weights that a stop left tempered, the posterior they had reached; else the likelihood itself
    beta = 1 / scored.exponent if scored.exponent else BETA_END
    event, _ = reweight(scored.particles, beta=beta, step=scored.step)
    constant = constant_of(problem.dataset, config, problem.final_rows(config, scored.step))
    texts = [p.text for p in scored.particles]
    copies = Counter(texts)
    n_candidates = max(scored.n_candidates, len(copies))
    log_prior = np.full(scored.size, -math.log(n_candidates))
    if config.is_weighing:
        log_prior = np.array(problem.start_log_weights) - math.log(max(scored.size, problem.n_written))
    # p(theta | D) ∝ p(D | theta)^(1 / beta) p(theta), shared by the copies of theta
    log_w = np.array(event.log_weights) + log_prior - np.log([copies[text] for text in texts])
    w = normalise([*log_w, constant.log_likelihood / event.beta])
    *weights, constant_weight = w.tolist()
    return replace(
        event,
        log_weights=tuple(log_w.tolist()),
        weights=tuple(weights),
        ess=ess_of_sentences(texts, weights, constant=constant_weight),
        constant=replace(constant, weight=constant_weight),
        role="final",
    )


def resample(
    particles: tuple[Particle, ...], weights: tuple[float, ...], config: Config, *, step: int
) -> tuple[Resampled, tuple[Particle, ...]]:
    """Systematic resampling. Return the event, and (K,) particles with log-weight 0.

    A copy takes its ancestor's text, predictions and log-likelihood, which go together. weights: (K,) normalised.
    """
    u = float(rng(config.seed, "resample", step, 0).random())
    ancestors = systematic_resample(weights, u=u)
    event = Resampled(step=step, u=u, ancestors=tuple(int(a) for a in ancestors))
    return event, tuple(replace(particles[a], log_weight=0.0, parent=int(a)) for a in ancestors)


def mutation(particles: tuple[Particle, ...], rows: tuple[Row, ...], *, exponent: float = 1.0) -> Move:
    """Return the function that rewrites any one of the particles.

    particles: (K,) after resampling; their median decides on temperatures. rows: those that made the weights, on which
    a filtered mutation is decided. exponent: power of the likelihood in that decision.
    """
    median = float(np.median(log_likelihoods(particles)))

    async def mutate(chain: Chain) -> Outcome:
        # line 12: optimizer temperature by the log-likelihood, above or below the median
        temperature = _temperature(chain.particle, median)
        # line 13: theta_t^(k) <- f_opt(theta_{t-1}^(k), {x_m, y^_m, y_m})
        candidate = await propose(chain, temperature=temperature)
        if chain.config.is_filtered:
            # beyond the paper: the new text has to pass the accept step of Algorithm 1
            return await decide(candidate, rows, exponent=exponent)
        mutated = replace(chain.particle, text=candidate.text or chain.particle.text)
        return Outcome(slot=chain.slot, particle=mutated, events=(candidate.taken(),))

    return mutate


def _temperature(particle: Particle, median: float) -> float:
    """Cautious at or above the median of the log-likelihoods, bold below (Section 3.3, "Mutate")."""
    at_least = particle.log_likelihood is not None and particle.log_likelihood >= median
    return CAUTIOUS_TEMPERATURE if at_least else BOLD_TEMPERATURE


def _as_weighed(mutated: tuple[Particle, ...], weighed: tuple[Particle, ...]) -> tuple[Particle, ...]:
    """The mutated particles with the log-likelihoods that made the weights, which are of the texts before."""
    return tuple(replace(new, log_likelihood=old.log_likelihood) for new, old in zip(mutated, weighed, strict=True))
