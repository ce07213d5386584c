"""SMC's mutation: the optimizer rewrites particles, cautiously or boldly (Section 3.3; choices 4 to 6)."""

from collections.abc import Callable, Coroutine, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from vpp.data.dataset import Row
from vpp.inference.deciding import decide
from vpp.inference.population import Outcome, Particle, log_likelihoods
from vpp.inference.proposing import propose
from vpp.posterior.likelihood import Likelihood
from vpp.problem import Problem
from vpp.settings import Config


def mutation(
    problem: Problem,
    config: Config,
    likelihood: Likelihood,
    particles: tuple[Particle, ...],
    rows: tuple[Row, ...],
    ancestors: Sequence[int] | None,
    *,
    step: int,
    exponent: float = 1.0,
) -> Callable[[int, Particle], Coroutine[Any, Any, Outcome]]:
    """What is done to a slot's particle (choice 6):

    theta_t^(k) <- f_opt(theta_{t-1}^(k), batch), cautious at or above the median of the log-likelihoods, bold below.

    rows: those that made the weights, on which a filtered mutation is decided. ancestors: of a resampling just done.
    """
    batch = problem.batch(step)
    median = float(np.median(log_likelihoods(particles)))
    copies = _copies(ancestors)

    async def mutate(slot: int, particle: Particle) -> Outcome:
        if config.mutate == "duplicates" and slot not in copies:
            return Outcome(slot=slot, particle=particle, events=())
        temperature = _temperature(particle, median, config)
        candidate = await propose(problem, config, slot, particle, batch, step=step, temperature=temperature)
        if config.is_filtered:
            return await decide(problem, config, likelihood, candidate, rows, exponent=exponent)
        decision = candidate.kept() if candidate.text is None else candidate.event(accepted=True, why="taken")
        mutated = replace(particle, text=candidate.text or particle.text, exchange=candidate.exchange)
        return Outcome(slot=slot, particle=mutated, events=(decision,))

    return mutate


def _copies(ancestors: Sequence[int] | None) -> set[int]:
    """Slots whose ancestor stands in an earlier slot too."""
    return {k for k, a in enumerate(ancestors or ()) if a in (ancestors or ())[:k]}


def _temperature(particle: Particle, median: float, config: Config) -> float:
    at_least = particle.log_likelihood is not None and particle.log_likelihood >= median
    return config.cautious_temperature if at_least else config.bold_temperature
