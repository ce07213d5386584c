"""A run from its first population to its last: a loop of steps, each a few phases; then the evaluation."""

from collections.abc import AsyncGenerator, AsyncIterator, Coroutine, Sequence
from contextlib import aclosing
from dataclasses import replace
from functools import partial
from itertools import islice, zip_longest
from typing import Any, Protocol

import numpy as np

from vpp.data.dataset import Part, Row
from vpp.events import (
    INITIAL_STEP,
    Certified,
    Constant,
    Evaluated,
    Event,
    ParticleDrawn,
    hypothesis_id,
    mixture_of,
    writing_fields,
)
from vpp.inference import metropolis_hastings, sequential_monte_carlo, tempered
from vpp.inference.ahead import Ahead, Chains, Round, completed, together
from vpp.inference.population import (
    NOBODY,
    UNSETTLED,
    Outcome,
    Particle,
    Population,
    Settling,
    Yielded,
    chains,
    in_order,
)
from vpp.inference.proposing import score
from vpp.inference.sequential_monte_carlo import weigh_once
from vpp.posterior.prediction import Mixture
from vpp.problem import Learner, Prediction, Problem, Proposal, averages_of, branches_of, metric_of, noise_of, shares_of
from vpp.randomness import call_seed, rng
from vpp.settings import INITIAL_TEMPERATURES, PRIOR_TEMPERATURE, Config


class Phase(Protocol):
    """A part of a step. Yields each event as it happens and, if it changes the population, the new one last."""

    def __call__(
        self, problem: Problem, config: Config, population: Population, *, step: int
    ) -> AsyncGenerator[Yielded, None]: ...


async def sample(
    problem: Problem, config: Config, *, resume_from: Population | None = None, settling: Settling = UNSETTLED
) -> AsyncIterator[Event]:
    """Yield every event of the run in order, to the last step's population; resume after `resume_from.step`.

    The last step is the last one planned, or that with which the run is settled. settling: after `resume_from.step`.
    """
    population = resume_from or NOBODY
    async with Ahead() as ahead:
        move = _move(config, ahead)
        for step in range(population.step + 1, problem.steps):
            if 0 < config.patience <= settling.n:
                return
            events: list[Event] = []
            for phase in phases(step, move):
                async with aclosing(ahead.guard(phase(problem, config, population, step=step))) as yielded:
                    async for each in yielded:
                        if isinstance(each, Population):
                            population = each
                        else:
                            events.append(each)
                            yield each
            settling = settling.after(events, problem.dataset) if config.can_settle else settling


def phases(step: int, move: Phase) -> Sequence[Phase]:
    """Phases of a step, in order; the step before the first draws the population."""
    return (first_population if step == INITIAL_STEP else move, finish)


def _move(config: Config, ahead: Ahead) -> Phase:
    """The phase that is the method's own: Eq. 1, Algorithm 1, Algorithm 2 or tempered SMC."""
    if config.is_telescoping:
        return tempered.step
    if config.method == "smc":
        return partial(sequential_monte_carlo.step, ahead=ahead)
    move = partial(metropolis_hastings.move, ahead=ahead) if config.method == "mh" else metropolis_hastings.revise
    return Chains(ahead, move).step


async def finish(
    problem: Problem, config: Config, population: Population, *, step: int
) -> AsyncGenerator[Yielded, None]:
    batch = () if step == INITIAL_STEP else problem.batch(step)
    yield population.finished(batch=tuple(row.id for row in batch))


_Answers = tuple[Part, int, tuple[Prediction, ...]]
SPLITS: tuple[Part, ...] = ("test", "calibration", "train")


async def conclude(problem: Problem, config: Config, population: Population) -> AsyncIterator[Event]:
    """Yield the final weights, then the evaluations on test, calibration and training rows, all in one round."""
    is_rescored = (config.is_rescored or config.is_weighing) and population.step >= 0
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
    weights, constant = tuple(population.weights.tolist()), None
    if is_rescored:
        final = weigh_once(problem, config, replace(population, particles=in_order(scored)))
        weights, constant = final.weights, final.constant
        yield final
    slots = range(population.size)
    noise = noise_of(problem.dataset, config, [said["train", k] for k in slots], constant)
    mixture = mixture_of(weights, noise, constant, problem.dataset.classes)
    for split in splits:
        yield _evaluated(problem, population, mixture, constant, split, tuple(said[split, k] for k in slots))
    heavy = _to_certify(population, weights, [said["train", k] for k in slots])
    certifying = [
        _certified(problem, problem.reader, population.step, text, rows)
        for text, predictions in heavy.items()
        if problem.reader and (rows := _certified_rows(problem, config, predictions))
    ]
    for certified in await together(certifying):
        yield certified


HEAVY, MOST_CERTIFIED = 0.05, 5
"""Least weight of a sentence, its copies together, whose program is certified, and the most such sentences."""


def _to_certify(
    population: Population, weights: Sequence[float], said: Sequence[tuple[Prediction, ...]]
) -> dict[str, tuple[Prediction, ...]]:
    """Training predictions of the texts to certify, by text: at most MOST_CERTIFIED, of HEAVY weight with their copies.

    said: (K, N).
    """
    shares: dict[str, float] = {}
    for particle, weight in zip(population.particles, weights, strict=True):
        shares[particle.text] = shares.get(particle.text, 0.0) + weight
    by_text = dict(zip((p.text for p in population.particles), said, strict=True))
    heaviest = sorted(shares, key=lambda text: -shares[text])[:MOST_CERTIFIED]
    return {text: by_text[text] for text in heaviest if shares[text] >= HEAVY}


def _certified_rows(
    problem: Problem, config: Config, predictions: Sequence[Prediction]
) -> list[tuple[Row, Prediction]]:
    """Training rows that a program answered, from each of its branches in turn, at random within one."""
    order = rng(problem.seed, "certify").permutation(len(predictions)).tolist()
    branches: dict[int, list[int]] = {}
    for at in order:
        if (branch := predictions[at].branch) is not None:
            branches.setdefault(branch, []).append(at)
    turns = (at for turn in zip_longest(*(branches[b] for b in sorted(branches))) for at in turn if at is not None)
    return [(problem.dataset.train[at], predictions[at]) for at in islice(turns, config.certify)]


async def _certified(
    problem: Problem, reader: Learner, step: int, text: str, rows: Sequence[tuple[Row, Prediction]]
) -> Certified:
    reading = await reader.predict(text, [row for row, _ in rows])
    return Certified(
        step=step,
        hypothesis=hypothesis_id(text),
        rows=tuple(row.id for row, _ in rows),
        program=tuple(prediction.value for _, prediction in rows),
        reading=tuple(prediction.value for prediction in reading),
    )


async def _answered(problem: Problem, slot: int, particle: Particle, split: Part) -> _Answers:
    return split, slot, await problem.learner.predict(particle.text, problem.dataset.part(split))


def _evaluated(
    problem: Problem,
    population: Population,
    mixture: Mixture,
    constant: Constant | None,
    split: Part,
    predictions: tuple[tuple[Prediction, ...], ...],
) -> Evaluated:
    """The event of an evaluation. predictions: (K, N), in the order of the split's rows."""
    rows = problem.dataset.part(split)
    ids = tuple(row.id for row in rows)
    averaged = averages_of(mixture, [[p.answer for p in each] for each in predictions])
    metric, value = metric_of(problem.dataset, averaged, [row.target for row in rows])
    is_graded, branches = any(map(shares_of, predictions)), tuple(map(branches_of, predictions))
    return Evaluated(
        step=population.step,
        split=split,
        rows=ids,
        hypotheses=tuple(p.id for p in population.particles),
        predictions=tuple(tuple(p.value for p in each) for each in predictions),
        weights=mixture.weights[: population.size],
        metric=metric,
        value=value,
        averaged=averaged,
        shares=tuple(tuple(p.shares for p in each) for each in predictions) if is_graded else (),
        branches=branches if any(branches) else (),
        noise=mixture.noise,
        constant=constant,
    )


PRIOR_DRAWS = 8
"""Most draws from the prior for one hypothesis; the first that can be read is taken."""


async def first_population(
    problem: Problem, config: Config, population: Population, *, step: int
) -> AsyncGenerator[Yielded, None]:
    """theta_0^(k) <- f_opt(theta_init, seed batch), each at its own temperature. Yield events, then the particles.

    Given hypotheses come first, and the rest are drawn. VML begins with theta_init itself.
    """
    given = problem.start_texts
    bare = () if config.draws_initial else (problem.seed_text,) * (config.size - len(given))
    log_w = (*problem.start_log_weights, *(0.0 for _ in bare))
    particles = tuple(Particle(text=text, parent=k, log_weight=log_w[k]) for k, text in enumerate((*given, *bare)))
    for k, p in enumerate(particles):
        yield ParticleDrawn(particle=k, hypothesis=p.id, text=p.text, temperature=0.0, raw="", origin=problem.origin(k))
    if slots := range(len(particles), config.size):
        async with Round(await _draws(problem, config, slots)) as drawing:
            async for event in drawing:
                yield event
        particles += drawing.particles
    yield replace(population, step=step, particles=particles)


async def _draws(problem: Problem, config: Config, slots: Sequence[int]) -> list[Coroutine[Any, Any, Outcome]]:
    """One draw for each slot: from the batch, at temperatures spread over the slots, or from the prior, all at one."""
    seeds = [call_seed(problem.seed, "draw", 0, k) for k in slots]
    if config.starts_from_prior:
        return [_drawn(problem, k, _from_prior(problem, seed)) for k, seed in zip(slots, seeds, strict=True)]
    batch, propose = problem.batch(0), problem.optimizer.propose
    predictions = await problem.learner.predict(problem.seed_text, batch) if problem.shows_predictions else ()
    evenly = np.linspace(*INITIAL_TEMPERATURES, len(slots))
    temperatures = [round(float(t), 6) for t in evenly]
    return [
        _drawn(problem, k, propose(problem.seed_text, batch, predictions, temperature=t, seed=seed))
        for k, t, seed in zip(slots, temperatures, seeds, strict=True)
    ]


async def _from_prior(problem: Problem, seed: int) -> Proposal:
    """A draw from the prior, defined as the law of readable draws: an unreadable one is repeated."""
    for again in range(PRIOR_DRAWS):
        proposal = await problem.optimizer.draw(temperature=PRIOR_TEMPERATURE, seed=call_seed(seed, "draw", again))
        if proposal.text is not None:
            break
    return proposal


async def _drawn(problem: Problem, slot: int, asking: Coroutine[Any, Any, Proposal]) -> Outcome:
    proposal = await asking
    text = problem.seed_text if proposal.text is None else proposal.text
    event = ParticleDrawn(particle=slot, hypothesis=hypothesis_id(text), text=text, **writing_fields(proposal))
    return Outcome(slot=slot, particle=Particle(text=text, parent=slot), events=(event,))
