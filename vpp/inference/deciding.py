"""The accept step: a proposal against its parent, on the same rows (Eq. 9; Algorithm 1, lines 7 to 9)."""

from collections.abc import Callable
from dataclasses import replace

from vpp.data.dataset import Row
from vpp.inference.population import Outcome, Particle
from vpp.inference.proposing import Candidate
from vpp.inference.scoring import Partial, score, score_while
from vpp.posterior.weights import accepts, log_acceptance
from vpp.randomness import rng


async def decide(candidate: Candidate, rows: tuple[Row, ...], *, exponent: float = 1.0) -> Outcome:
    """theta <- theta~ with probability alpha, else theta.

    rows: those on which the parent was scored, else the ratio compares two data sets. exponent: power of
    the likelihood, 1 in the paper; tempered SMC accepts on its tempered posterior.
    """
    chain = candidate.chain
    if candidate.text is None:
        return Outcome(slot=chain.slot, particle=_kept(candidate), events=(candidate.kept(),))
    # u ~ U[0, 1) is drawn before theta~ is evaluated: the evaluation may stop as soon as u is sure to reject
    u = float(rng(chain.config.seed, "accept", chain.step, chain.slot).random())
    log_lik = _known(chain.particle)

    def log_alpha(log_lik_new: float) -> float:
        # alpha = min(1, (p(rows | theta~) / p(rows | theta))^exponent)               (Eq. 9)
        return log_acceptance(exponent * log_lik_new, exponent * log_lik)

    # y^'_m <- f(x_m; theta~)                                                       evaluate the proposal
    new = await _scored(candidate, rows, lambda most: accepts(log_alpha(most), u=u))
    if isinstance(new, Partial):
        return _rejected(candidate, new, log_likelihood=log_lik, u=u)
    log_lik_new = _known(new.particle)
    # theta <- theta~ if log u < log alpha
    accepted = accepts(log_alpha(log_lik_new), u=u)
    decision = replace(
        candidate.event(accepted=accepted, why="likelihood"),
        log_likelihood=log_lik,
        log_likelihood_proposal=log_lik_new,
        log_alpha=log_alpha(log_lik_new),
        u=u,
    )
    kept = replace(new.particle, exchange=candidate.exchange) if accepted else _kept(candidate)
    return Outcome(slot=chain.slot, particle=kept, events=(*new.events, decision))


async def _scored(candidate: Candidate, rows: tuple[Row, ...], is_open: Callable[[float], bool]) -> Outcome | Partial:
    """The proposal's score on all rows; with early rejection, on as many as decide."""
    chain = candidate.chain
    proposed = chain.of(replace(chain.particle, text=candidate.text or chain.particle.text))
    if chain.config.early_rejection:
        return await score_while(proposed, rows, is_open=is_open)
    return await score(proposed, rows, role="proposal")


def _rejected(candidate: Candidate, scored: Partial, *, log_likelihood: float, u: float) -> Outcome:
    """A rejection that was certain before all rows were answered."""
    decision = replace(
        candidate.event(accepted=False, why="likelihood"),
        log_likelihood=log_likelihood,
        u=u,
        unanswered=scored.unanswered,
        log_likelihood_bound=scored.bound,
    )
    return Outcome(slot=candidate.chain.slot, particle=_kept(candidate), events=(scored.event, decision))


def _kept(candidate: Candidate) -> Particle:
    """The parent, with the latest exchange about it."""
    parent = candidate.chain.particle
    return replace(parent, exchange=candidate.exchange or parent.exchange)


def _known(particle: Particle) -> float:
    """The log-likelihood of a scored particle. Raises ValueError if it was not scored."""
    if particle.log_likelihood is None:
        raise ValueError("the particle was not scored: score it on the rows of the ratio first")
    return particle.log_likelihood
