"""Proposals: of whom, how they were asked for, and what was decided on them (Eq. 9)."""

import math

import numpy as np

from vpp.events import Proposed, Scored
from vpp.hypothesis import hypothesis_id
from vpp.posterior.acceptance import accepts, log_acceptance
from vpp.randomness import rng
from vpp.settings import Config
from vpp.verification.chapters import Chapter, Told
from vpp.verification.ground import Ground
from vpp.verification.ledger import At, Ledger
from vpp.verification.scores import largest_log_likelihood
from vpp.verification.slots import Slot, Slots, scored, selected, standing


def check_proposals(ground: Ground, chapter: Chapter, ledger: Ledger) -> None:
    """Every proposal of a step; and that none is missing from a whole one."""
    for told in chapter.proposed.values():
        _check_text(told, ledger)
    if chapter.before is None:
        ledger.skip("proposals of a step: the population before it is not told")
        return
    config = ground.config
    particles = selected(scored(standing(chapter.before.population), chapter), chapter, config)
    due = rewritten(chapter, config, len(particles))
    for k in sorted({*due, *chapter.proposed}):
        told_of = chapter.proposed.get(k)
        if told_of is None:
            if chapter.is_whole:
                ledger.compare("lines", chapter.at(k), "proposed", written=None, follows="once a particle")
        elif k not in due:
            at = _at(told_of)
            ledger.compare("proposals", at, "rewritten", written=True, follows=False)
        else:
            _check(ground, chapter, told_of, particles, ledger)


def rewritten(chapter: Chapter, config: Config, size: int) -> set[int]:
    """Slots that the optimizer is asked about: all, or those whose ancestor stands in an earlier slot too."""
    if config.method != "smc" or config.mutate != "duplicates":
        return set(range(size))
    ancestors = chapter.resampled.event.ancestors if chapter.resampled else ()
    return {k for k, a in enumerate(ancestors) if a in ancestors[:k]}


def _at(told: Told[Proposed]) -> At:
    return At(line=told.line, step=told.event.step, slot=told.event.particle)


def _check_text(told: Told[Proposed], ledger: Ledger) -> None:
    event = told.event
    follows = None if event.text is None else hypothesis_id(event.text)
    ledger.compare("texts", _at(told), "proposal", written=event.proposal, follows=follows)


def _check(ground: Ground, chapter: Chapter, told: Told[Proposed], particles: Slots, ledger: Ledger) -> None:
    event, at, config = told.event, _at(told), ground.config
    particle = particles[event.particle]
    ledger.compare("proposals", at, "parent", written=event.parent, follows=particle.hypothesis)
    origin = _origin(config, chapter.step, event.particle)
    ledger.compare("proposals", at, "origin", written=event.origin, follows=origin)
    temperature = _temperature(config, particles, particle, origin)
    ledger.compare("proposals", at, "temperature", written=event.temperature, follows=temperature)
    why = _why(config, event, particle)
    ledger.compare("decisions", at, "why", written=event.why, follows=why)
    judged = chapter.judged.get(event.particle)
    if why == "likelihood":
        _check_decision(ground, chapter, told, particle, judged, ledger)
    else:
        ledger.compare("decisions", at, "accepted", written=event.accepted, follows=why == "taken")
        arithmetic = (event.log_likelihood, event.log_likelihood_proposal, event.log_alpha, event.u)
        ledger.compare("decisions", at, "arithmetic", written=arithmetic, follows=(None,) * 4)
        cut = (event.unanswered, event.log_likelihood_bound)
        ledger.compare("decisions", at, "rows without an answer", written=cut, follows=(0, None))
        ledger.compare("lines", at, "scored (proposal)", written="once" if judged else "none", follows="none")


def _origin(config: Config, step: int, slot: int) -> str:
    """By the address alone."""
    is_prior = config.is_filtered and float(rng(config.seed, "restart", step, slot).random()) < config.restart
    return "prior" if is_prior else "refined"


def _temperature(config: Config, particles: Slots, particle: Slot, origin: str) -> float | None:
    """Cautious at or above the median of the scores, bold below; None where scores are missing."""
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
    ground: Ground,
    chapter: Chapter,
    told: Told[Proposed],
    particle: Slot,
    judged: Told[Scored] | None,
    ledger: Ledger,
) -> None:
    event, at, config = told.event, _at(told), ground.config
    ledger.compare("decisions", at, "log_likelihood", written=event.log_likelihood, follows=particle.log_likelihood)
    is_cut = event.unanswered != 0
    on_proposal = judged.event.log_likelihood if judged and not is_cut else None
    written = event.log_likelihood_proposal
    ledger.compare("decisions", at, "log_likelihood_proposal", written=written, follows=on_proposal)
    u = float(rng(config.seed, "accept", chapter.step, event.particle).random())
    ledger.compare("decisions", at, "u", written=event.u, follows=u)
    of_all = _log_alpha(event, event.log_likelihood_proposal, _exponent(chapter, config))
    ledger.compare("decisions", at, "log_alpha", written=event.log_alpha, follows=of_all)
    _check_cut(ground, chapter, told, judged, ledger)
    decisive = _log_alpha(event, event.log_likelihood_bound, _exponent(chapter, config)) if is_cut else event.log_alpha
    if decisive is not None and event.u is not None and 0 <= event.u < 1:
        follows = accepts(decisive, u=event.u)
        ledger.compare("decisions", at, "accepted", written=event.accepted, follows=follows)


def _check_cut(
    ground: Ground, chapter: Chapter, told: Told[Proposed], judged: Told[Scored] | None, ledger: Ledger
) -> None:
    """Which rows were not waited for, and the most that the proposal could still come to with them."""
    event, at, n = told.event, _at(told), len(ground.scored_rows(chapter.step))
    unanswered = n - len(judged.event.rows) if judged and ground.config.early_rejection else 0
    ledger.compare("decisions", at, "rows without an answer", written=event.unanswered, follows=unanswered)
    tau = chapter.before.tau if chapter.before else None
    bound = largest_log_likelihood(ground, judged.event, tau, unanswered=unanswered) if judged and unanswered else None
    ledger.compare("decisions", at, "log_likelihood_bound", written=event.log_likelihood_bound, follows=bound)


def _exponent(chapter: Chapter, config: Config) -> float:
    """Of the target that a proposal is judged on."""
    if not config.is_telescoping or chapter.reweighted is None:
        return 1.0
    return chapter.finished.event.exponent if chapter.finished else 1 / chapter.reweighted.event.beta


def _log_alpha(event: Proposed, new: float | None, exponent: float) -> float | None:
    """From the log-likelihoods that are told; new: the proposal's, or the most that it could be."""
    log_lik = event.log_likelihood
    if log_lik is None or new is None or math.isnan(log_lik) or math.isnan(new):
        return None
    # alpha = min(1, (p(rows | theta~) / p(rows | theta))^exponent)                 (Eq. 9)
    return log_acceptance(exponent * new, exponent * log_lik)
