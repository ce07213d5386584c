"""The population that ends a step, as it follows from what the step tells."""

from vpp.events import StepFinished
from vpp.posterior.tempering import log_mean_weight
from vpp.verification.beginning import first_slots
from vpp.verification.chapters import Chapter
from vpp.verification.ground import Ground, ids
from vpp.verification.ledger import At, Ledger
from vpp.verification.size import resized
from vpp.verification.slots import Slots
from vpp.verification.weighing import exponent_of, log_likelihoods


def check_first_population(ground: Ground, chapter: Chapter, ledger: Ledger) -> None:
    """Each slot holds what was drawn for it; nothing is weighed yet."""
    told = chapter.finished
    if told is None:
        return
    at = At(line=told.line, step=chapter.step)
    _check_slots(told.event, first_slots(chapter), told.line, ledger)
    ledger.compare("rows", at, "batch", written=told.event.batch, follows=())
    _check_carried(ground, told.event, ledger, at, exponent=0.0, log_evidence=0.0)
    _check_signs(ground, told.event, ledger, at, few_for=0, agreed_for=0)


def check_population(ground: Ground, chapter: Chapter, slots: Slots | None, ledger: Ledger) -> None:
    """slots: the particles before K changes; None where they cannot be derived."""
    told, before = chapter.finished, chapter.before
    if told is None:
        return
    at = At(line=told.line, step=chapter.step)
    ledger.compare("rows", at, "batch", written=told.event.batch, follows=ids(ground.problem.batch(chapter.step)))
    if before is None or slots is None:
        ledger.skip("the population of a step: the one before it is not told")
        return
    after = resized(ground, chapter, slots, before)
    _check_slots(told.event, after.slots, told.line, ledger)
    is_told = before.tau is not None
    ledger.compare("tau", at, "tau", written=told.event.tau, follows=before.tau, is_told=is_told)
    exponent, log_evidence = _carried(ground, chapter, before)
    _check_carried(ground, told.event, ledger, at, exponent=exponent, log_evidence=log_evidence)
    _check_signs(ground, told.event, ledger, at, few_for=after.few_for, agreed_for=after.agreed_for)


def _check_slots(event: StepFinished, slots: Slots, line: int, ledger: Ledger) -> None:
    at = At(line=line, step=event.step)
    ledger.compare("populations", at, "K", written=len(event.population), follows=len(slots))
    for k, (state, slot) in enumerate(zip(event.population, slots, strict=False)):
        follows, here = slot.state, At(line=line, step=event.step, slot=k)
        for name in ("hypothesis", "parent", "log_likelihood", "log_weight", "exchange"):
            written = getattr(state, name)
            ledger.compare("populations", here, name, written=written, follows=getattr(follows, name))


def _carried(ground: Ground, chapter: Chapter, before: StepFinished) -> tuple[float, float]:
    """(Exponent, log evidence up to the last time that weights were made equal)."""
    reweighted = chapter.reweighted
    if not ground.config.is_telescoping or reweighted is None:
        return before.exponent, before.log_evidence
    log_lik = log_likelihoods(chapter)
    exponent = 1 / reweighted.event.beta if log_lik is None else exponent_of(ground, before, log_lik, step=chapter.step)
    gained = log_mean_weight(reweighted.event.log_weights) if chapter.resampled else 0.0
    return exponent, before.log_evidence + gained


def _check_carried(
    ground: Ground, event: StepFinished, ledger: Ledger, at: At, *, exponent: float, log_evidence: float
) -> None:
    is_told = ground.config.is_telescoping
    ledger.compare("tempering", at, "exponent", written=event.exponent, follows=exponent, is_told=is_told)
    written = event.log_evidence
    ledger.compare("evidence", at, "log_evidence", written=written, follows=log_evidence, is_told=is_told)


def _check_signs(ground: Ground, event: StepFinished, ledger: Ledger, at: At, *, few_for: int, agreed_for: int) -> None:
    is_told = ground.config.particles_max > 0
    ledger.compare("size", at, "few_for", written=event.few_for, follows=few_for, is_told=is_told)
    ledger.compare("size", at, "agreed_for", written=event.agreed_for, follows=agreed_for, is_told=is_told)
