"""Applying hypotheses to rows with known targets: log p(rows | theta) (Eq. 5 and 6)."""

from dataclasses import replace
from typing import Literal

import numpy as np

from vpp.data.dataset import Row
from vpp.events import Scored
from vpp.inference.population import Outcome, Particle
from vpp.posterior.likelihood import Likelihood
from vpp.problem import Prediction, Problem

Role = Literal["forward", "proposal", "buffer", "final"]


async def score(
    problem: Problem,
    likelihood: Likelihood,
    slot: int,
    particle: Particle,
    rows: tuple[Row, ...],
    *,
    step: int,
    role: Role,
) -> Outcome:
    """The particle with its predictions on `rows` and their log-likelihood."""
    predictions = await problem.learner.predict(particle.text, rows)
    log_lik = log_likelihood(likelihood, predictions, rows)
    event = Scored(
        step=step,
        particle=slot,
        hypothesis=particle.id,
        role=role,
        rows=tuple(row.id for row in rows),
        predictions=tuple(p.value for p in predictions),
        log_likelihood=log_lik,
    )
    return Outcome(
        slot=slot, particle=replace(particle, predictions=predictions, log_likelihood=log_lik), events=(event,)
    )


def log_likelihood(likelihood: Likelihood, predictions: tuple[Prediction, ...], rows: tuple[Row, ...]) -> float:
    """Natural log, summed over the rows. Rows in another order, or as many right answers elsewhere, give the same bits:

    a tie at the median or in a ratio must be one (choices 6 and 18).
    """
    terms = likelihood.terms([p.value for p in predictions], [row.target for row in rows])
    with np.errstate(over="ignore"):
        return float(np.sort(terms).sum())
