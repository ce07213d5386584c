"""Applying hypotheses to rows with known targets: log p(rows | theta) (Eq. 5 and 6)."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from vpp.cancellation import cancel
from vpp.data.dataset import Row
from vpp.events import Scored
from vpp.inference.population import Outcome, Particle
from vpp.posterior.likelihood import Floats, Likelihood
from vpp.problem import Prediction, Problem

Role = Literal["forward", "proposal", "buffer", "final"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Partial:
    """A proposal's score on the rows that were answered before the rest stopped mattering."""

    event: Scored
    unanswered: int
    """Rows that were not waited for."""
    bound: float
    """The most that the log-likelihood of all rows could still come to."""


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
    return _scored(particle, predictions, _event(likelihood, slot, particle, rows, predictions, step=step, role=role))


def _scored(particle: Particle, predictions: tuple[Prediction, ...], event: Scored) -> Outcome:
    scored = replace(particle, predictions=predictions, log_likelihood=event.log_likelihood)
    return Outcome(slot=event.particle, particle=scored, events=(event,))


async def score_while(
    problem: Problem,
    likelihood: Likelihood,
    slot: int,
    particle: Particle,
    rows: tuple[Row, ...],
    *,
    step: int,
    is_open: Callable[[float], bool],
) -> Outcome | Partial:
    """As `score`, of a proposal whose rows are asked about one by one: once even the most that is possible is not

    `is_open`, what is still unanswered is cancelled.
    """
    async with aclosing(_answers(problem, particle.text, rows)) as answers:
        async for said in answers:
            answered = tuple(row for row in rows if row.id in said)
            is_whole = len(answered) == len(rows)
            bound = largest_log_likelihood(likelihood, said, rows)
            if is_whole or not is_open(bound):
                break
    predictions = tuple(said[row.id] for row in answered)
    event = _event(likelihood, slot, particle, answered, predictions, step=step, role="proposal")
    if is_whole:
        return _scored(particle, predictions, event)
    return Partial(event=event, unanswered=len(rows) - len(answered), bound=bound)


async def _answers(
    problem: Problem, hypothesis: str, rows: tuple[Row, ...]
) -> AsyncGenerator[Mapping[int, Prediction], None]:
    """All that is answered so far, by row id, each time that more is. Closing it cancels the rest."""
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


def _event(
    likelihood: Likelihood,
    slot: int,
    particle: Particle,
    rows: tuple[Row, ...],
    predictions: tuple[Prediction, ...],
    *,
    step: int,
    role: Role,
) -> Scored:
    return Scored(
        step=step,
        particle=slot,
        hypothesis=particle.id,
        role=role,
        rows=tuple(row.id for row in rows),
        predictions=tuple(p.value for p in predictions),
        log_likelihood=log_likelihood(likelihood, predictions, rows),
    )


def log_likelihood(likelihood: Likelihood, predictions: tuple[Prediction, ...], rows: tuple[Row, ...]) -> float:
    """Natural log, summed over the rows. Rows in another order, or as many right answers elsewhere, give the same bits:

    a tie at the median or in a ratio must be one (choices 6 and 18).
    """
    return _summed(likelihood.terms([p.value for p in predictions], [row.target for row in rows]))


def largest_log_likelihood(likelihood: Likelihood, said: Mapping[int, Prediction], rows: tuple[Row, ...]) -> float:
    """The most that `log_likelihood` can give once all rows are answered; never less by a bit.

    said: by row id. Sorted terms rise with each term, and a sum of floats in one order rises with each of them.
    """
    answered = [row for row in rows if row.id in said]
    terms = likelihood.terms([said[row.id].value for row in answered], [row.target for row in answered])
    best = np.full(len(rows) - len(answered), likelihood.largest_term)
    return _summed(np.concatenate((terms, best)))


def _summed(terms: Floats) -> float:
    with np.errstate(over="ignore"):
        return float(np.sort(terms).sum())
