"""Proposals and decisions: parent, temperature, and the accept step (Eq. 9)."""

import math

import numpy as np

from vpp.events import Proposed, Scored
from vpp.hypothesis import hypothesis_id
from vpp.posterior.acceptance import accepts, log_acceptance
from vpp.randomness import rng
from vpp.settings import Config
from vpp.verification.inputs import RunInputs
from vpp.verification.ledger import At, Ledger
from vpp.verification.populations import Slot, Slots, initial_slots, scored, selected
from vpp.verification.segments import Recorded, Segment
from vpp.verification.weights import largest_log_likelihood


def check_proposals(inputs: RunInputs, segment: Segment, ledger: Ledger) -> None:
    """Check every proposal of a step, and that none is missing from a finished one."""
    for recorded in segment.proposed.values():
        _check_text(recorded, ledger)
    if segment.before is None:
        ledger.skip("proposals of a step: the population before it is not recorded")
        return
    config = inputs.config
    particles = selected(scored(initial_slots(segment.before.population), segment), segment, config)
    due = rewritten(segment, config, len(particles))
    for k in sorted({*due, *segment.proposed}):
        recorded_of = segment.proposed.get(k)
        if recorded_of is None:
            if segment.is_finished:
                ledger.compare("lines", segment.at(k), "proposed", written=None, follows="once a particle")
        elif k not in due:
            at = _at(recorded_of)
            ledger.compare("proposals", at, "rewritten", written=True, follows=False)
        else:
            _check(inputs, segment, recorded_of, particles, ledger)


def rewritten(segment: Segment, config: Config, size: int) -> set[int]:
    """Slots to mutate: all, or only further copies of an ancestor."""
    if config.method != "smc" or config.mutate != "duplicates":
        return set(range(size))
    ancestors = segment.resampled.event.ancestors if segment.resampled else ()
    return {k for k, a in enumerate(ancestors) if a in ancestors[:k]}


def _at(recorded: Recorded[Proposed]) -> At:
    return At(line=recorded.line, step=recorded.event.step, slot=recorded.event.particle)


def _check_text(recorded: Recorded[Proposed], ledger: Ledger) -> None:
    event = recorded.event
    follows = None if event.text is None else hypothesis_id(event.text)
    ledger.compare("texts", _at(recorded), "proposal", written=event.proposal, follows=follows)


def _check(inputs: RunInputs, segment: Segment, recorded: Recorded[Proposed], particles: Slots, ledger: Ledger) -> None:
    event, at, config = recorded.event, _at(recorded), inputs.config
    particle = particles[event.particle]
    ledger.compare("proposals", at, "parent", written=event.parent, follows=particle.hypothesis)
    origin = _origin(config, segment.step, event.particle)
    ledger.compare("proposals", at, "origin", written=event.origin, follows=origin)
    temperature = _temperature(config, particles, particle, origin)
    ledger.compare("proposals", at, "temperature", written=event.temperature, follows=temperature)
    why = _why(config, event, particle)
    ledger.compare("decisions", at, "why", written=event.why, follows=why)
    score = segment.proposal_scores.get(event.particle)
    if why == "likelihood":
        _check_decision(inputs, segment, recorded, particle, score, ledger)
    else:
        ledger.compare("decisions", at, "accepted", written=event.accepted, follows=why == "taken")
        arithmetic = (event.log_likelihood, event.log_likelihood_proposal, event.log_alpha, event.u)
        ledger.compare("decisions", at, "arithmetic", written=arithmetic, follows=(None,) * 4)
        cut = (event.unanswered, event.log_likelihood_bound)
        ledger.compare("decisions", at, "rows without an answer", written=cut, follows=(0, None))
        ledger.compare("lines", at, "scored (proposal)", written="once" if score else "none", follows="none")


def _origin(config: Config, step: int, slot: int) -> str:
    """Origin of a proposal, decided by seed, step and slot: a restart from the prior, or a refinement."""
    is_prior = config.is_filtered and float(rng(config.seed, "restart", step, slot).random()) < config.restart
    return "prior" if is_prior else "refined"


def _temperature(config: Config, particles: Slots, particle: Slot, origin: str) -> float | None:
    """Cautious temperature at or above the median score, bold below; None if scores are missing."""
    if origin == "prior":
        return config.prior_temperature
    if config.method != "smc":
        return config.optimizer_temperature
    log_lik = [each.log_likelihood for each in particles if each.log_likelihood is not None]
    if particle.log_likelihood is None or len(log_lik) != len(particles):
        return None
    is_cautious = particle.log_likelihood >= float(np.median(log_lik))
    return config.cautious_temperature if is_cautious else config.bold_temperature


def _why(config: Config, event: Proposed, particle: Slot) -> str:
    if event.text is None:
        return "unparsable"
    if hypothesis_id(event.text) == particle.hypothesis:
        return "unchanged"
    return "likelihood" if config.is_filtered else "taken"


def _check_decision(
    inputs: RunInputs,
    segment: Segment,
    recorded: Recorded[Proposed],
    particle: Slot,
    score: Recorded[Scored] | None,
    ledger: Ledger,
) -> None:
    event, at, config = recorded.event, _at(recorded), inputs.config
    ledger.compare("decisions", at, "log_likelihood", written=event.log_likelihood, follows=particle.log_likelihood)
    is_cut = event.unanswered != 0
    on_proposal = score.event.log_likelihood if score and not is_cut else None
    written = event.log_likelihood_proposal
    ledger.compare("decisions", at, "log_likelihood_proposal", written=written, follows=on_proposal)
    u = float(rng(config.seed, "accept", segment.step, event.particle).random())
    ledger.compare("decisions", at, "u", written=event.u, follows=u)
    of_all = _log_alpha(event, event.log_likelihood_proposal, _exponent(segment, config))
    ledger.compare("decisions", at, "log_alpha", written=event.log_alpha, follows=of_all)
    _check_cut(inputs, segment, recorded, score, ledger)
    decisive = _log_alpha(event, event.log_likelihood_bound, _exponent(segment, config)) if is_cut else event.log_alpha
    if decisive is not None and event.u is not None and 0 <= event.u < 1:
        follows = accepts(decisive, u=event.u)
        ledger.compare("decisions", at, "accepted", written=event.accepted, follows=follows)


def _check_cut(
    inputs: RunInputs, segment: Segment, recorded: Recorded[Proposed], score: Recorded[Scored] | None, ledger: Ledger
) -> None:
    """Check an early rejection: the number of unanswered rows, and the bound of the log-likelihood."""
    event, at, n = recorded.event, _at(recorded), len(inputs.scored_rows(segment.step))
    unanswered = n - len(score.event.rows) if score and inputs.config.early_rejection else 0
    ledger.compare("decisions", at, "rows without an answer", written=event.unanswered, follows=unanswered)
    tau = segment.before.tau if segment.before else None
    bound = largest_log_likelihood(inputs, score.event, tau, unanswered=unanswered) if score and unanswered else None
    ledger.compare("decisions", at, "log_likelihood_bound", written=event.log_likelihood_bound, follows=bound)


def _exponent(segment: Segment, config: Config) -> float:
    """Exponent of the target of the accept step."""
    if not config.is_telescoping or segment.reweighted is None:
        return 1.0
    return segment.finished.event.exponent if segment.finished else 1 / segment.reweighted.event.beta


def _log_alpha(event: Proposed, new: float | None, exponent: float) -> float | None:
    """Log acceptance probability from the recorded log-likelihoods; new: the proposal's, or its bound."""
    log_lik = event.log_likelihood
    if log_lik is None or new is None or math.isnan(log_lik) or math.isnan(new):
        return None
    # alpha = min(1, (p(rows | theta~) / p(rows | theta))^exponent)                 (Eq. 9)
    return log_acceptance(exponent * new, exponent * log_lik)
