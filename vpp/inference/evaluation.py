"""The end of a run: final weights (choice 3), and all particles on all rows of a split (Eq. 7 and 8)."""

from collections.abc import AsyncGenerator, AsyncIterator, Coroutine, Iterator
from dataclasses import replace
from typing import Any, Literal

from vpp.data.dataset import Row
from vpp.events import Evaluated, Event, Reweighted, Votes
from vpp.inference.population import Outcome, Particle, Population, log_likelihoods
from vpp.inference.rounds import Round, together
from vpp.inference.scoring import score
from vpp.posterior.metric import accuracy, mean_squared_error
from vpp.posterior.prediction import average
from vpp.posterior.weights import ess, normalise, tempered_log_weights
from vpp.problem import Problem
from vpp.randomness import tie_draw
from vpp.settings import Config

Split = Literal["train", "test"]


async def conclude(problem: Problem, config: Config, population: Population) -> AsyncIterator[Event]:
    """The final weights, then the training and the test rows."""
    if config.is_rescored and population.step >= 0:
        async with Round(_final_scores(problem, config, population)) as scoring:
            async for event in scoring:
                yield event
        reweighted = _final_weights(scoring.particles, config, step=population.step, steps=problem.steps)
        yield reweighted
        weighed = zip(scoring.particles, reweighted.log_weights, strict=True)
        population = replace(population, particles=tuple(replace(p, log_weight=lw) for p, lw in weighed))
    for split in ("test", "train"):
        yield await evaluate(problem, config, population, split)


def _final_scores(problem: Problem, config: Config, population: Population) -> Iterator[Coroutine[Any, Any, Outcome]]:
    """log p(rows | theta_T) on the buffer, or on all training rows."""
    on_train = config.final_weights == "train"
    rows = problem.dataset.train if on_train else problem.buffer(population.step, size=config.buffer_size)
    likelihood = problem.likelihood(epsilon=config.epsilon, tau=population.tau)
    for k, p in enumerate(population.particles):
        yield score(problem, likelihood, k, p, rows, step=population.step, role="final")


def _final_weights(particles: tuple[Particle, ...], config: Config, *, step: int, steps: int) -> Reweighted:
    beta = config.beta(step, steps=steps)
    log_w = tempered_log_weights(log_likelihoods(particles), beta=beta)
    w = normalise(log_w)
    return Reweighted(
        step=step, beta=beta, log_weights=tuple(log_w.tolist()), weights=tuple(w.tolist()), ess=ess(w), role="final"
    )


async def evaluate_now(
    problem: Problem, config: Config, population: Population, *, step: int
) -> AsyncGenerator[Event, None]:
    """The test rows, at the steps that `evaluate_every` names; the last step is left to the end of the run."""
    due = config.evaluate_every and (step + 1) % config.evaluate_every == 0
    if due and step + 1 < problem.steps:
        yield await evaluate(problem, config, population, "test")


async def evaluate(problem: Problem, config: Config, population: Population, split: Split) -> Evaluated:
    """Every particle on every row of the split, and the averaged prediction's error."""
    rows = problem.dataset.test if split == "test" else problem.dataset.train
    answers = await together(problem.learner.predict(p.text, rows) for p in population.particles)
    predictions = tuple(tuple(a.value for a in answer) for answer in answers)
    weights = population.weights.tolist()
    averaged = averages(problem, config, rows, predictions, weights)
    metric, value = _metric(problem, rows, averaged)
    return Evaluated(
        step=population.step,
        split=split,
        rows=tuple(row.id for row in rows),
        hypotheses=tuple(p.id for p in population.particles),
        predictions=predictions,
        weights=tuple(weights),
        metric=metric,
        value=value,
        averaged=averaged,
    )


def averages(
    problem: Problem, config: Config, rows: tuple[Row, ...], predictions: tuple[Votes, ...], weights: list[float]
) -> Votes:
    """(N,) the weighted vote, or the weighted mean, for every row (Eq. 7 and 8). predictions: (K, N)."""
    is_label = problem.dataset.task == "classification"
    return tuple(
        average(votes, weights, is_label=is_label, draw=tie_draw(config.seed, row.id, ties=config.ties))
        for row, votes in zip(rows, zip(*predictions, strict=True), strict=True)
    )


def _metric(problem: Problem, rows: tuple[Row, ...], averaged: Votes) -> tuple[Literal["accuracy", "mse"], float]:
    """Accuracy, or mean squared error, over every row."""
    targets = [row.target for row in rows]
    if problem.dataset.task == "classification":
        return "accuracy", accuracy(averaged, targets)
    return "mse", mean_squared_error(averaged, targets, abstention_error=problem.dataset.target_range)
