"""The end of a run: final weights (choice 3), and all particles on all rows of a split (Eq. 7 and 8)."""

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from dataclasses import replace
from typing import Literal

import numpy as np

from vpp.data.dataset import Row
from vpp.events import Evaluated, Event, Reweighted, Votes
from vpp.inference.population import Outcome, Population, in_order, log_likelihoods
from vpp.inference.rounds import completed, together
from vpp.inference.scoring import score
from vpp.posterior.likelihood import regression_errors
from vpp.posterior.prediction import Value, vote_shares, weighted_mean, winner
from vpp.posterior.weights import ess, normalise, tempered_log_weights
from vpp.problem import Problem
from vpp.settings import Config

Split = Literal["train", "test"]


async def conclude(problem: Problem, config: Config, population: Population) -> AsyncIterator[Event]:
    """The final weights, then the training and the test rows."""
    if config.method == "smc" and config.final_weights != "paper" and population.step >= 0:
        scored: dict[int, Outcome] = {}
        async with aclosing(_score_finally(problem, config, population)) as outcomes:
            async for outcome in outcomes:
                scored[outcome.slot] = outcome
                yield outcome.events[0]
        reweighted = _final_weights(scored, config, step=population.step, steps=problem.steps)
        yield reweighted
        particles = in_order(scored)
        population = replace(
            population,
            particles=tuple(replace(p, log_weight=lw) for p, lw in zip(particles, reweighted.log_weights, strict=True)),
        )
    for split in ("test", "train"):
        yield await evaluate(problem, population, split)


def _score_finally(problem: Problem, config: Config, population: Population) -> AsyncGenerator[Outcome, None]:
    """log p(rows | theta_T) on the buffer, or on all training rows."""
    on_train = config.final_weights == "train"
    rows = problem.dataset.train if on_train else problem.buffer(population.step, size=config.buffer_size)
    likelihood = problem.likelihood(epsilon=config.epsilon, tau=population.tau)
    scores = (
        score(problem, likelihood, k, p, rows, step=population.step, role="final")
        for k, p in enumerate(population.particles)
    )
    return completed(scores)


def _final_weights(scored: dict[int, Outcome], config: Config, *, step: int, steps: int) -> Reweighted:
    beta = config.beta(step, steps=steps)
    log_w = tempered_log_weights(log_likelihoods(in_order(scored)), beta=beta)
    w = normalise(log_w)
    return Reweighted(
        step=step, beta=beta, log_weights=tuple(log_w.tolist()), weights=tuple(w.tolist()), ess=ess(w), role="final"
    )


async def evaluate_now(problem: Problem, config: Config, population: Population) -> AsyncIterator[Event]:
    """The test rows, at the steps that `evaluate_every` names; the last step is left to the end of the run."""
    due = config.evaluate_every and (population.step + 1) % config.evaluate_every == 0
    if due and population.step + 1 < problem.steps:
        yield await evaluate(problem, population, "test")


async def evaluate(problem: Problem, population: Population, split: Split) -> Evaluated:
    """Every particle on every row of the split, and the averaged prediction's error."""
    rows = problem.dataset.test if split == "test" else problem.dataset.train
    answers = await together(problem.learner.predict(p.text, rows) for p in population.particles)
    predictions = tuple(tuple(a.value for a in answer) for answer in answers)
    weights = population.weights
    metric, value = _metric(problem, rows, predictions, weights.tolist())
    return Evaluated(
        step=population.step,
        split=split,
        rows=tuple(row.id for row in rows),
        hypotheses=tuple(p.id for p in population.particles),
        predictions=predictions,
        weights=tuple(weights.tolist()),
        metric=metric,
        value=value,
    )


def _metric(
    problem: Problem, rows: tuple[Row, ...], predictions: tuple[Votes, ...], weights: list[float]
) -> tuple[Literal["accuracy", "mse"], float]:
    """Accuracy of the weighted vote, or mean squared error of the weighted mean, over every row."""
    by_row: list[Votes] = list(zip(*predictions, strict=True))
    targets = [row.target for row in rows]
    if problem.dataset.task == "classification":
        votes = [winner(vote_shares(row_votes, weights)) for row_votes in by_row]
        return "accuracy", float(np.mean([v is not None and v == y for v, y in zip(votes, targets, strict=True)]))
    means: list[Value | None] = [weighted_mean(row_votes, weights) for row_votes in by_row]
    errors = regression_errors(means, targets, abstention_error=problem.target_range)
    with np.errstate(over="ignore"):
        return "mse", float(np.mean(np.square(errors)))
