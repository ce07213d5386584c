"""VML (Eq. 1): hypotheses that go their own ways, every proposal taken.

One is `vml`, five are `vml5`; K of them that begin like Algorithm 1's are its ablation `always-accept` (Section 5.4).
"""

from dataclasses import replace

from vpp.inference.guesses import Guesses
from vpp.inference.population import Outcome, Particle
from vpp.inference.proposing import propose
from vpp.inference.scoring import score
from vpp.posterior.likelihood import Likelihood
from vpp.problem import Problem
from vpp.settings import Config


async def revise(
    problem: Problem,
    config: Config,
    likelihood: Likelihood,
    slot: int,
    particle: Particle,
    guesses: Guesses,
    *,
    step: int,
) -> Outcome:
    """Forward pass and a proposal that is taken as it is: nothing is left to guess."""
    batch = problem.batch(step)
    scored = await score(problem, likelihood, slot, particle, batch, step=step, role="forward")
    candidate = await propose(
        problem, config, slot, scored.particle, batch, step=step, temperature=config.optimizer_temperature
    )
    decision = candidate.kept() if candidate.text is None else candidate.event(accepted=True, why="taken")
    revised = replace(scored.particle, text=candidate.text or particle.text, exchange=candidate.exchange)
    return Outcome(slot=slot, particle=revised.settled(slot), events=(*scored.events, decision))
