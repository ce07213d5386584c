"""VPP-MH (Section 3.2, Algorithm 1): K chains, each proposal filtered by a likelihood ratio."""

from vpp.data.dataset import Row
from vpp.inference.deciding import decide
from vpp.inference.guesses import Guesses
from vpp.inference.plan import may_be_prefetched
from vpp.inference.population import Outcome, Particle
from vpp.inference.proposing import propose
from vpp.inference.scoring import score
from vpp.posterior.likelihood import Likelihood
from vpp.problem import Problem
from vpp.settings import Config


def next_rows(problem: Problem, config: Config, step: int) -> tuple[Row, ...]:
    """Those of the next step's ratio, where asking ahead is worth it: not of rows that stay or share requests."""
    if step + 1 == problem.steps or not may_be_prefetched(config):
        return ()
    return problem.scored_rows(config, step + 1)


async def move(
    problem: Problem,
    config: Config,
    likelihood: Likelihood,
    slot: int,
    particle: Particle,
    guesses: Guesses,
    *,
    step: int,
) -> Outcome:
    """Forward pass, proposal, accept or reject: one chain's step. Meanwhile its next forward pass is asked for:

    theta's while the proposal is written, the proposal's while it is judged.
    """
    batch, rows, following = problem.batch(step), problem.scored_rows(config, step), next_rows(problem, config, step)
    # y^_m <- f(x_m; theta_{t-1})
    current = await score(problem, likelihood, slot, particle, rows, step=step, role="forward")
    guesses.forget()
    guesses.ask(particle.text, following)
    # theta~ <- f_opt(theta_{t-1}, {x_m, y^_m, y_m})
    candidate = await propose(
        problem, config, slot, current.particle, batch, step=step, temperature=config.optimizer_temperature
    )
    guesses.ask(candidate.text or particle.text, following)
    # theta_t <- theta~ with probability alpha                                      (Eq. 9)
    decided = await decide(problem, config, likelihood, candidate, rows)
    guesses.keep(decided.particle.text)
    return Outcome(slot=slot, particle=decided.particle.settled(slot), events=(*current.events, *decided.events))
