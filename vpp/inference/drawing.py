"""The initial population: the optimizer on the seed sentence and the first batch (Section 3.1; choice 9)."""

from collections.abc import AsyncGenerator
from contextlib import aclosing

import numpy as np

from vpp.data.dataset import Row
from vpp.events import INITIAL_STEP, ParticleDrawn
from vpp.hypothesis import hypothesis_id
from vpp.inference.population import Outcome, Particle, Population
from vpp.inference.rounds import completed, together
from vpp.posterior.likelihood import auto_tau, regression_errors
from vpp.problem import Prediction, Problem
from vpp.randomness import call_seed
from vpp.settings import Config


async def draw_initial(problem: Problem, config: Config) -> AsyncGenerator[Outcome, None]:
    """theta_0^(k) <- f_opt(theta_init, seed batch), each at its own temperature; outcomes as they come."""
    batch = problem.batch(0)
    predictions = await problem.learner.predict(problem.seed_text, batch)
    temperatures = np.linspace(config.initial_temperature_low, config.initial_temperature_high, config.size)
    draws = (_draw(problem, batch, predictions, k, round(float(t), 6)) for k, t in enumerate(temperatures))
    async with aclosing(completed(draws)) as outcomes:
        async for outcome in outcomes:
            yield outcome


async def _draw(
    problem: Problem, batch: tuple[Row, ...], predictions: tuple[Prediction, ...], slot: int, temperature: float
) -> Outcome:
    proposal = await problem.optimizer.propose(
        problem.seed_text, batch, predictions, temperature=temperature, seed=call_seed(problem.seed, "draw", 0, slot)
    )
    text = problem.seed_text if proposal.text is None else proposal.text
    event = ParticleDrawn(
        particle=slot,
        hypothesis=hypothesis_id(text),
        text=text,
        temperature=temperature,
        raw=proposal.raw,
        reason=proposal.reason,
    )
    return Outcome(slot=slot, particle=Particle(text=text, parent=slot), events=(event,))


async def first_population(problem: Problem, config: Config, particles: tuple[Particle, ...]) -> Population:
    """The population before step 0, with the run's tau."""
    return Population(step=INITIAL_STEP, particles=particles, tau=await _tau(problem, config, particles))


async def _tau(problem: Problem, config: Config, particles: tuple[Particle, ...]) -> float | None:
    """Given, or from the residuals of the best initial particle on the first batch (choice 16)."""
    if problem.dataset.task == "classification":
        return None
    if config.fixed_tau is not None:
        return config.fixed_tau
    batch = problem.batch(0)
    answers = await together(problem.learner.predict(p.text, batch) for p in particles)
    errors = [
        regression_errors(
            [a.value for a in answer], [row.target for row in batch], abstention_error=problem.target_range
        )
        for answer in answers
    ]
    with np.errstate(over="ignore"):
        best = min(errors, key=lambda e: float(np.square(e).sum()))
    return auto_tau(best, [float(row.target) for row in problem.dataset.train if row.target is not None])
