"""The accept step: a proposal against its parent, on the same rows (Eq. 9; choices 7 and 18)."""

from dataclasses import replace

from vpp.data.dataset import Row
from vpp.inference.population import Outcome, Particle
from vpp.inference.proposing import Candidate
from vpp.inference.scoring import score
from vpp.posterior.acceptance import accepts, log_acceptance
from vpp.posterior.likelihood import Likelihood
from vpp.problem import Problem
from vpp.randomness import rng
from vpp.settings import Config


async def decide(
    problem: Problem,
    config: Config,
    likelihood: Likelihood,
    candidate: Candidate,
    rows: tuple[Row, ...],
    *,
    exponent: float = 1.0,
) -> Outcome:
    """theta <- theta~ with probability alpha. The parent was scored on `rows`; `exponent` tempers the likelihood."""
    parent, slot, step = candidate.parent, candidate.slot, candidate.step
    if candidate.text is None:
        return Outcome(slot=slot, particle=_kept(candidate), events=(candidate.kept(),))
    u = float(rng(config.seed, "accept", step, slot).random())
    # y^'_m <- f(x_m; theta~)
    rewritten = replace(parent, text=candidate.text)
    new = await score(problem, likelihood, slot, rewritten, rows, step=step, role="proposal")
    log_lik, log_lik_new = _known(parent), _known(new.particle)
    # alpha = min(1, (p(rows | theta~) / p(rows | theta))^exponent)
    log_alpha = log_acceptance(exponent * log_lik_new, exponent * log_lik)
    accepted = accepts(log_alpha, u=u)
    decision = candidate.event(
        accepted=accepted,
        why="likelihood",
        log_likelihood=log_lik,
        log_likelihood_proposal=log_lik_new,
        log_alpha=log_alpha,
        u=u,
    )
    kept = replace(new.particle, exchange=candidate.exchange) if accepted else _kept(candidate)
    return Outcome(slot=slot, particle=kept, events=(*new.events, decision))


def _kept(candidate: Candidate) -> Particle:
    """The parent; the optimizer is reminded of what it last said of it."""
    return replace(candidate.parent, exchange=candidate.exchange or candidate.parent.exchange)


def _known(particle: Particle) -> float:
    if particle.log_likelihood is None:
        raise ValueError("the particle was not scored")
    return particle.log_likelihood
