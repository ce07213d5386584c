"""The accept step: a proposal against its parent, on the same rows (Eq. 9; choices 7 and 18)."""

from collections.abc import Callable
from dataclasses import replace

from vpp.data.dataset import Row
from vpp.inference.population import Outcome, Particle
from vpp.inference.proposing import Candidate
from vpp.inference.scoring import Partial, score, score_while
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
    log_lik = _known(parent)

    def log_alpha(log_lik_new: float) -> float:
        # alpha = min(1, (p(rows | theta~) / p(rows | theta))^exponent)
        return log_acceptance(exponent * log_lik_new, exponent * log_lik)

    # y^'_m <- f(x_m; theta~)
    new = await _scored(problem, config, likelihood, candidate, rows, lambda most: accepts(log_alpha(most), u=u))
    if isinstance(new, Partial):
        return _rejected(candidate, new, log_likelihood=log_lik, u=u)
    log_lik_new = _known(new.particle)
    accepted = accepts(log_alpha(log_lik_new), u=u)
    decision = candidate.event(
        accepted=accepted,
        why="likelihood",
        log_likelihood=log_lik,
        log_likelihood_proposal=log_lik_new,
        log_alpha=log_alpha(log_lik_new),
        u=u,
    )
    kept = replace(new.particle, exchange=candidate.exchange) if accepted else _kept(candidate)
    return Outcome(slot=slot, particle=kept, events=(*new.events, decision))


async def _scored(
    problem: Problem,
    config: Config,
    likelihood: Likelihood,
    candidate: Candidate,
    rows: tuple[Row, ...],
    is_open: Callable[[float], bool],
) -> Outcome | Partial:
    """The proposal's score on all rows; with early rejection, on as many as decide."""
    slot, step = candidate.slot, candidate.step
    rewritten = replace(candidate.parent, text=candidate.text or candidate.parent.text)
    if config.early_rejection:
        return await score_while(problem, likelihood, slot, rewritten, rows, step=step, is_open=is_open)
    return await score(problem, likelihood, slot, rewritten, rows, step=step, role="proposal")


def _rejected(candidate: Candidate, scored: Partial, *, log_likelihood: float, u: float) -> Outcome:
    """With certainty, before all rows were answered."""
    decision = candidate.event(
        accepted=False,
        why="likelihood",
        log_likelihood=log_likelihood,
        u=u,
        unanswered=scored.unanswered,
        log_likelihood_bound=scored.bound,
    )
    return Outcome(slot=candidate.slot, particle=_kept(candidate), events=(scored.event, decision))


def _kept(candidate: Candidate) -> Particle:
    """The parent; the optimizer is reminded of what it last said of it."""
    return replace(candidate.parent, exchange=candidate.exchange or candidate.parent.exchange)


def _known(particle: Particle) -> float:
    if particle.log_likelihood is None:
        raise ValueError("the particle was not scored")
    return particle.log_likelihood
