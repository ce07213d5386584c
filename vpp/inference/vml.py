"""VML (Eq. 1): one hypothesis, which starts as the seed sentence; every proposal is taken."""

from collections.abc import AsyncIterator

from vpp.events import Event, ParticleDrawn
from vpp.inference.drawing import first_population
from vpp.inference.evaluation import evaluate_now
from vpp.inference.population import Particle, Population
from vpp.inference.proposing import propose
from vpp.inference.scoring import score
from vpp.problem import Problem
from vpp.settings import Config


async def sample(problem: Problem, config: Config, *, resume_from: Population | None = None) -> AsyncIterator[Event]:
    """Yields every event of the run in order; goes on after `resume_from.step`."""
    population = resume_from
    if population is None:
        particle = Particle(text=problem.seed_text, parent=0)
        yield ParticleDrawn(particle=0, hypothesis=particle.id, text=particle.text, temperature=0.0, raw="")
        population = await first_population(problem, config, (particle,))
        yield population.finished(batch=())
    likelihood = problem.likelihood(epsilon=config.epsilon, tau=population.tau)
    for step in range(population.step + 1, problem.steps):
        batch = problem.batch(step)
        particle = population.particles[0]
        scored = await score(problem, likelihood, 0, particle, batch, step=step, role="forward")
        yield scored.events[0]
        candidate = await propose(
            problem,
            0,
            particle,
            batch,
            scored.particle.predictions,
            step=step,
            temperature=config.optimizer_temperature,
        )
        taken = candidate.text is not None
        yield candidate.event(accepted=True, why="taken") if taken else candidate.kept()
        particle = Particle(text=candidate.text or particle.text, parent=0)
        population = Population(step=step, particles=(particle,), tau=population.tau)
        async for event in evaluate_now(problem, config, population):
            yield event
        yield population.finished(batch=tuple(row.id for row in batch))
