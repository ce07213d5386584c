"""Evaluation: final weights of the last texts, and the averaged predictions on a split (Eq. 7 and 8; "Predict")."""

from collections.abc import AsyncIterator, Coroutine
from contextlib import aclosing
from dataclasses import replace
from typing import Any

from vpp.data.dataset import Part
from vpp.events import Evaluated, Event
from vpp.inference.population import Outcome, Particle, Population, chains, in_order
from vpp.inference.rounds import completed
from vpp.inference.scoring import score
from vpp.inference.sequential_monte_carlo import reweight
from vpp.problem import Prediction, Problem, all_graded_of, averages_of, metric_of
from vpp.settings import Config

_Answers = tuple[Part, int, tuple[Prediction, ...]]
"""One slot's answers to the rows of a split."""
SPLITS: tuple[Part, ...] = ("test", "calibration", "train")


async def conclude(problem: Problem, config: Config, population: Population) -> AsyncIterator[Event]:
    """Yield the final weights, then the evaluations on test, calibration and training rows, all in one round."""
    is_rescored = config.is_rescored and population.step >= 0
    # log p(rows | theta_T^(k)) for all k, on the buffer or on all training rows
    last = chains(problem, config, population, step=population.step) if is_rescored else []
    work: list[Coroutine[Any, Any, Outcome | _Answers]]
    work = [score(chain, problem.final_rows(config, population.step), role="final") for chain in last]
    splits = [split for split in SPLITS if problem.dataset.part(split)]
    work += [_answered(problem, k, p, split) for split in splits for k, p in enumerate(population.particles)]
    scored: dict[int, Outcome] = {}
    said: dict[tuple[Part, int], tuple[Prediction, ...]] = {}
    async with aclosing(completed(work)) as outcomes:
        async for outcome in outcomes:
            if isinstance(outcome, Outcome):
                scored[outcome.slot] = outcome
                for event in outcome.events:
                    yield event
            else:
                at, slot, answers = outcome
                said[at, slot] = answers
    if is_rescored:
        final, particles = reweight(in_order(scored), config, step=population.step, steps=problem.steps)
        yield replace(final, role="final")
        population = replace(population, particles=particles)
    for split in splits:
        predictions = tuple(said[split, k] for k in range(population.size))
        yield _evaluated(problem, population, split, predictions)


async def _answered(problem: Problem, slot: int, particle: Particle, split: Part) -> _Answers:
    return split, slot, await problem.learner.predict(particle.text, problem.dataset.part(split))


def _evaluated(
    problem: Problem, population: Population, split: Part, predictions: tuple[tuple[Prediction, ...], ...]
) -> Evaluated:
    """The event of an evaluation. predictions: (K, N), in the order of the split's rows."""
    rows = problem.dataset.part(split)
    weights = population.weights.tolist()
    ids = tuple(row.id for row in rows)
    answers = [[p.answer for p in each] for each in predictions]
    averaged = averages_of(problem.dataset.task, answers, weights)
    metric, value = metric_of(problem.dataset, averaged, [row.target for row in rows])
    return Evaluated(
        step=population.step,
        split=split,
        rows=ids,
        hypotheses=tuple(p.id for p in population.particles),
        predictions=tuple(tuple(p.value for p in each) for each in predictions),
        weights=tuple(weights),
        metric=metric,
        value=value,
        averaged=averaged,
        shares=all_graded_of(predictions),
    )
