"""Scores: log p(rows | theta) of a hypothesis on rows with known targets (Eq. 5 and 6). Natural logarithms."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from vpp.cancellation import cancel
from vpp.data.dataset import Row
from vpp.events import Scored
from vpp.inference.population import Chain, Outcome, Particle
from vpp.posterior.likelihood import Likelihood
from vpp.posterior.weights import Floats
from vpp.problem import Prediction, Problem, graded_of

Role = Literal["forward", "proposal", "buffer", "final"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Partial:
    """A proposal's score on the rows that were answered before its rejection was certain."""

    event: Scored
    unanswered: int
    """Number of rows without an answer."""
    bound: float
    """The largest log-likelihood that all rows could still give."""


async def score(chain: Chain, rows: tuple[Row, ...], *, role: Role) -> Outcome:
    """The chain's particle with its predictions y^_m on `rows` and their log-likelihood."""
    # y^_m <- f(x_m; theta)
    predictions = await chain.problem.learner.predict(chain.particle.text, rows)
    return _scored(chain.particle, predictions, _event(chain, rows, predictions, role=role))


def _scored(particle: Particle, predictions: tuple[Prediction, ...], event: Scored) -> Outcome:
    scored = replace(particle, predictions=predictions, log_likelihood=event.log_likelihood)
    return Outcome(slot=event.particle, particle=scored, events=(event,))


async def score_while(chain: Chain, rows: tuple[Row, ...], *, is_open: Callable[[float], bool]) -> Outcome | Partial:
    """Score a proposal row by row, as `score` does, until its rejection is certain; cancel the calls that remain.

    is_open: whether a log-likelihood of all rows can still be accepted; given the largest that is possible.
    """
    async with aclosing(_answers(chain.problem, chain.particle.text, rows)) as answers:
        async for said in answers:
            answered = tuple(row for row in rows if row.id in said)
            is_whole = len(answered) == len(rows)
            bound = largest_log_likelihood(chain.likelihood, said, rows)
            if is_whole or not is_open(bound):
                break
    predictions = tuple(said[row.id] for row in answered)
    event = _event(chain, answered, predictions, role="proposal")
    if is_whole:
        return _scored(chain.particle, predictions, event)
    return Partial(event=event, unanswered=len(rows) - len(answered), bound=bound)


async def _answers(
    problem: Problem, hypothesis: str, rows: tuple[Row, ...]
) -> AsyncGenerator[Mapping[int, Prediction], None]:
    """Yield all predictions so far, by row id, each time there are more. Closing the generator cancels the rest."""
    said: dict[int, Prediction] = {}
    distinct = {row.id: row for row in rows}.values()
    asked = [asyncio.ensure_future(problem.learner.predict(hypothesis, (row,))) for row in distinct]
    waiting = set(asked)
    try:
        while waiting:
            done, waiting = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
            said.update((prediction.row, prediction) for task in done for prediction in task.result())
            yield said
    finally:
        await cancel(asked)


def _event(chain: Chain, rows: tuple[Row, ...], predictions: tuple[Prediction, ...], *, role: Role) -> Scored:
    return Scored(
        step=chain.step,
        particle=chain.slot,
        hypothesis=chain.particle.id,
        role=role,
        rows=tuple(row.id for row in rows),
        predictions=tuple(p.value for p in predictions),
        log_likelihood=log_likelihood(chain.likelihood, predictions, rows),
        shares=graded_of(predictions),
    )


def log_likelihood(likelihood: Likelihood, predictions: tuple[Prediction, ...], rows: tuple[Row, ...]) -> float:
    """log p(rows | theta), the sum of one term a row (Eq. 5 or 6).

    Equal terms in another order give the same bits, so that hypotheses that explain the rows equally well tie at the
    median and in a ratio. predictions, rows: (M,) in one order.
    """
    return _summed(likelihood.terms([p.answer for p in predictions], [row.target for row in rows]))


def largest_log_likelihood(likelihood: Likelihood, said: Mapping[int, Prediction], rows: tuple[Row, ...]) -> float:
    """The largest value that `log_likelihood` can have once all rows are answered; never below it by a bit.

    said: predictions so far, by row id. Sorted terms rise with each term, and a sum of floats in one order rises with
    each of them.
    """
    answered = [row for row in rows if row.id in said]
    terms = likelihood.terms([said[row.id].answer for row in answered], [row.target for row in answered])
    best = np.full(len(rows) - len(answered), likelihood.largest_term)
    return _summed(np.concatenate((terms, best)))


def _summed(terms: Floats) -> float:
    with np.errstate(over="ignore"):
        return float(np.sort(terms).sum())
