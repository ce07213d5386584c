"""SMC's mutation: the optimizer rewrites particles, cautiously or boldly (Section 3.3; Algorithm 2, lines 11 to 14)."""

from collections.abc import Callable, Coroutine, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from vpp.data.dataset import Row
from vpp.inference.deciding import decide
from vpp.inference.population import Chain, Outcome, Particle, log_likelihoods
from vpp.inference.proposing import propose
from vpp.settings import Config

Mutate = Callable[[Chain], Coroutine[Any, Any, Outcome]]
"""Rewrites one particle."""


def mutation(
    particles: tuple[Particle, ...], rows: tuple[Row, ...], ancestors: Sequence[int] | None, *, exponent: float = 1.0
) -> Mutate:
    """Return the function that rewrites any one of the particles.

    particles: (K,) after resampling; their median decides on temperatures. rows: those that made the weights, on which
    a filtered mutation is decided. ancestors: (K,) of a resampling just done, None without one. exponent: power of the
    likelihood in that decision.
    """
    median = float(np.median(log_likelihoods(particles)))
    copies = _copies(ancestors)

    async def mutate(chain: Chain) -> Outcome:
        if chain.config.mutate == "duplicates" and chain.slot not in copies:
            return Outcome(slot=chain.slot, particle=chain.particle, events=())
        # line 12: optimizer temperature by the log-likelihood, above or below the median
        temperature = _temperature(chain.particle, median, chain.config)
        # line 13: theta_t^(k) <- f_opt(theta_{t-1}^(k), {x_m, y^_m, y_m})
        candidate = await propose(chain, temperature=temperature)
        if chain.config.is_filtered:
            # beyond the paper: the new text has to pass the accept step of Algorithm 1
            return await decide(candidate, rows, exponent=exponent)
        mutated = replace(chain.particle, text=candidate.text or chain.particle.text, exchange=candidate.exchange)
        return Outcome(slot=chain.slot, particle=mutated, events=(candidate.taken(),))

    return mutate


def _copies(ancestors: Sequence[int] | None) -> set[int]:
    """Slots whose ancestor is also that of an earlier slot."""
    return {k for k, a in enumerate(ancestors or ()) if a in (ancestors or ())[:k]}


def _temperature(particle: Particle, median: float, config: Config) -> float:
    """Cautious at or above the median of the log-likelihoods, bold below (Section 3.3, "Mutate")."""
    at_least = particle.log_likelihood is not None and particle.log_likelihood >= median
    return config.cautious_temperature if at_least else config.bold_temperature
