"""VPP-MH (Section 3.2, Algorithm 1): K chains, each proposal filtered by the batch's likelihood ratio."""

from collections.abc import AsyncIterator
from contextlib import aclosing

from vpp.data.dataset import Row
from vpp.events import Event
from vpp.inference.drawing import draw_initial, first_population
from vpp.inference.evaluation import evaluate_now
from vpp.inference.population import Outcome, Particle, Population, in_order
from vpp.inference.proposing import propose
from vpp.inference.rounds import completed
from vpp.inference.scoring import score
from vpp.posterior.acceptance import accepts, log_acceptance
from vpp.posterior.likelihood import Likelihood
from vpp.problem import Problem
from vpp.randomness import rng
from vpp.settings import Config


async def sample(problem: Problem, config: Config, *, resume_from: Population | None = None) -> AsyncIterator[Event]:
    """Yields every event of the run in order; goes on after `resume_from.step`."""
    population = resume_from
    if population is None:
        drawn: dict[int, Outcome] = {}
        async with aclosing(draw_initial(problem, config)) as outcomes:
            async for outcome in outcomes:
                drawn[outcome.slot] = outcome
                for event in outcome.events:
                    yield event
        population = await first_population(problem, config, in_order(drawn))
        yield population.finished(batch=())
    likelihood = problem.likelihood(epsilon=config.epsilon, tau=population.tau)
    for step in range(population.step + 1, problem.steps):
        batch = problem.batch(step)
        moves = (move(problem, config, likelihood, k, p, batch, step=step) for k, p in enumerate(population.particles))
        moved: dict[int, Outcome] = {}
        async with aclosing(completed(moves)) as outcomes:
            async for outcome in outcomes:
                moved[outcome.slot] = outcome
                for event in outcome.events:
                    yield event
        population = Population(step=step, particles=in_order(moved), tau=population.tau)
        async for event in evaluate_now(problem, config, population):
            yield event
        yield population.finished(batch=tuple(row.id for row in batch))


async def move(
    problem: Problem,
    config: Config,
    likelihood: Likelihood,
    slot: int,
    particle: Particle,
    batch: tuple[Row, ...],
    *,
    step: int,
) -> Outcome:
    """Forward pass, proposal, accept or reject: one chain's step."""
    # y^_m <- f(x_m; theta_{t-1})
    current = await score(problem, likelihood, slot, particle, batch, step=step, role="forward")
    # theta~ <- f_opt(theta_{t-1}, {x_m, y^_m, y_m})
    candidate = await propose(
        problem,
        slot,
        particle,
        batch,
        current.particle.predictions,
        step=step,
        temperature=config.optimizer_temperature,
    )
    if candidate.text is None:
        return Outcome(slot=slot, particle=_settled(particle, slot), events=(*current.events, candidate.kept()))
    u = float(rng(config.seed, "accept", step, slot).random())
    # y^'_m <- f(x_m; theta~)
    rewritten = Particle(text=candidate.text, parent=slot)
    new = await score(problem, likelihood, slot, rewritten, batch, step=step, role="proposal")
    log_lik, log_lik_new = _known(current.particle), _known(new.particle)
    # theta_t <- theta~ with probability alpha                                      (Eq. 9)
    log_alpha = log_acceptance(log_lik_new, log_lik)
    accepted = accepts(log_alpha, u=u)
    decision = candidate.event(
        accepted=accepted,
        why="likelihood",
        log_likelihood=log_lik,
        log_likelihood_proposal=log_lik_new,
        log_alpha=log_alpha,
        u=u,
    )
    kept = rewritten if accepted else _settled(particle, slot)
    return Outcome(slot=slot, particle=kept, events=(*current.events, *new.events, decision))


def _settled(particle: Particle, slot: int) -> Particle:
    """A chain carries its text alone from step to step."""
    return Particle(text=particle.text, parent=slot)


def _known(particle: Particle) -> float:
    if particle.log_likelihood is None:
        raise ValueError("the particle was not scored")
    return particle.log_likelihood
