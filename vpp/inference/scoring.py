"""Scores: log p(rows | theta) of a hypothesis on rows with known targets (Eq. 5 and 6). Natural logarithms."""

from dataclasses import replace
from typing import Literal

import numpy as np

from vpp.data.dataset import Row
from vpp.events import Scored
from vpp.inference.population import Chain, Outcome
from vpp.posterior.likelihood import Likelihood
from vpp.problem import Prediction, graded_of

Role = Literal["forward", "proposal", "buffer", "final"]


async def score(chain: Chain, rows: tuple[Row, ...], *, role: Role) -> Outcome:
    """The chain's particle with its predictions y^_m on `rows` and their log-likelihood."""
    # y^_m <- f(x_m; theta)
    predictions = await chain.problem.learner.predict(chain.particle.text, rows)
    log_lik = log_likelihood(chain.likelihood, predictions, rows)
    event = Scored(
        step=chain.step,
        particle=chain.slot,
        hypothesis=chain.particle.id,
        role=role,
        rows=tuple(row.id for row in rows),
        predictions=tuple(p.value for p in predictions),
        log_likelihood=log_lik,
        shares=graded_of(predictions),
    )
    scored = replace(chain.particle, predictions=predictions, log_likelihood=log_lik)
    return Outcome(slot=chain.slot, particle=scored, events=(event,))


def log_likelihood(likelihood: Likelihood, predictions: tuple[Prediction, ...], rows: tuple[Row, ...]) -> float:
    """log p(rows | theta), the sum of one term a row (Eq. 5 or 6).

    Equal terms in another order give the same bits, so that hypotheses that explain the rows equally well tie at the
    median and in a ratio. predictions, rows: (M,) in one order.
    """
    terms = likelihood.terms([p.answer for p in predictions], [row.target for row in rows])
    with np.errstate(over="ignore"):
        return float(np.sort(terms).sum())
