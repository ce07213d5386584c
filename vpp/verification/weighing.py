"""Weights, ESS, exponents and evidence from the scores that are told; resampling from the weights (Eq. 10)."""

import numpy as np

from vpp.events import Resampled, Reweighted, StepFinished
from vpp.posterior.resampling import systematic_resample
from vpp.posterior.tempering import carried_log_weights, log_mean_weight, next_exponent
from vpp.posterior.weights import Floats, ess, normalise, tempered_log_weights
from vpp.randomness import rng
from vpp.verification.chapters import Chapter, Told
from vpp.verification.ground import Ground
from vpp.verification.ledger import At, Ledger


def check_weights(ground: Ground, chapter: Chapter, ledger: Ledger) -> None:
    """A step's weights, and whether it resamples."""
    told, config = chapter.reweighted, ground.config
    if told is None or not config.is_weighted:
        if chapter.is_whole or told:
            written = "once" if told else "none"
            follows = "once" if config.is_weighted else "none"
            ledger.compare("lines", chapter.at(), "reweighted", written=written, follows=follows)
        return
    before = chapter.before
    log_lik = log_likelihoods(chapter)
    if before is None or log_lik is None:
        ledger.skip("weights of a step: not all that they are made of is told")
    elif config.is_telescoping:
        _check_carried(ground, told, before, log_lik, ledger)
    else:
        _check_anew(ground, told, log_lik, ledger, step=chapter.step)
    _check_normalised(told, ledger)
    _check_resampling(ground, chapter, told, ledger)


def check_final_weights(ground: Ground, chapter: Chapter, ledger: Ledger) -> None:
    """The weights that predictions use, where they are made anew after the last step."""
    told, before = chapter.reweighted, chapter.before
    if before is None:
        return
    is_due = ground.config.is_rescored and before.step >= 0
    if told is None or not is_due:
        is_told = told is not None
        if is_told != (is_due and bool(chapter.evaluated)):
            written, follows = ("once", "none") if is_told else ("none", "once")
            ledger.compare("lines", chapter.at(), "reweighted (final)", written=written, follows=follows)
        return
    log_lik = log_likelihoods(chapter)
    if log_lik is None:
        ledger.skip("final weights: not all that they are made of is told")
    else:
        _check_anew(ground, told, log_lik, ledger, step=before.step)
    _check_normalised(told, ledger)


def log_likelihoods(chapter: Chapter) -> Floats | None:
    """(K,) as told; None where one is missing."""
    size = len(chapter.before.population) if chapter.before else 0
    if not size or any(k not in chapter.scored for k in range(size)):
        return None
    return np.array([chapter.scored[k].event.log_likelihood for k in range(size)], dtype=np.float64)


def _at(told: Told[Reweighted]) -> At:
    return At(line=told.line, step=told.event.step)


def _check_anew(ground: Ground, told: Told[Reweighted], log_lik: Floats, ledger: Ledger, *, step: int) -> None:
    event, at = told.event, _at(told)
    beta = ground.config.beta(step, steps=ground.problem.steps)
    ledger.compare("tempering", at, "beta", written=event.beta, follows=beta)
    log_w = tempered_log_weights(log_lik, beta=beta).tolist()
    ledger.compare("weights", at, "log_weights", written=event.log_weights, follows=log_w)
    ledger.compare("evidence", at, "log_evidence", written=event.log_evidence, follows=None, is_told=False)


def _check_carried(
    ground: Ground, told: Told[Reweighted], before: StepFinished, log_lik: Floats, ledger: Ledger
) -> None:
    event, at = told.event, _at(told)
    carried, exponent = _carried(before), exponent_of(ground, before, log_lik, step=event.step)
    ledger.compare("tempering", at, "beta", written=event.beta, follows=1 / exponent)
    log_w = carried_log_weights(carried, log_lik, exponent=exponent, previous=before.exponent)
    ledger.compare("weights", at, "log_weights", written=event.log_weights, follows=log_w.tolist())
    follows = before.log_evidence + log_mean_weight(log_w)
    ledger.compare("evidence", at, "log_evidence", written=event.log_evidence, follows=follows)


def _carried(before: StepFinished) -> Floats:
    return np.array([state.log_weight for state in before.population], dtype=np.float64)


def exponent_of(ground: Ground, before: StepFinished, log_lik: Floats, *, step: int) -> float:
    """phi_t: of the schedule, or the largest that keeps the ESS; the last step reaches the schedule's end."""
    config, steps = ground.config, ground.problem.steps
    if config.tempering == "incremental":
        return 1 / config.beta(step, steps=steps)
    ceiling = 1 / config.beta_end
    if step == steps - 1:
        return ceiling
    target = config.ess_threshold * len(log_lik)
    return next_exponent(_carried(before), log_lik, previous=before.exponent, ceiling=ceiling, target=target)


def _check_normalised(told: Told[Reweighted], ledger: Ledger) -> None:
    """Weights from the log-weights that are told, the ESS from the weights that are told."""
    event, at = told.event, _at(told)
    ledger.compare("weights", at, "weights", written=event.weights, follows=_normalised(event.log_weights))
    ledger.compare("ess", at, "ess", written=event.ess, follows=_ess(event.weights))


def _normalised(log_weights: tuple[float, ...]) -> list[float] | None:
    try:
        return list(normalise(log_weights).tolist())
    except ValueError:
        return None


def _ess(weights: tuple[float, ...]) -> float | None:
    return ess(weights) if weights and max(weights) > 0 else None


def _check_resampling(ground: Ground, chapter: Chapter, told: Told[Reweighted], ledger: Ledger) -> None:
    """Exactly where ESS is below its threshold, or an exponent was found short of the end."""
    event, config = told.event, ground.config
    size = len(event.weights)
    found_short = config.tempering == "adaptive" and config.is_telescoping and _is_short(event.beta, config.beta_end)
    is_due = size > 1 and (found_short or event.ess < config.ess_threshold * size)
    resampled = chapter.resampled
    if resampled is None and not (chapter.is_whole or chapter.proposed or chapter.judged):
        return  # the journal ends between the two
    at = At(line=resampled.line if resampled else told.line, step=chapter.step)
    follows = "resampled" if is_due else "not resampled"
    written = "resampled" if resampled else "not resampled"
    ledger.compare("resampling", at, f"ESS {event.ess:.6g} of {size}", written=written, follows=follows)
    if resampled:
        u = float(rng(config.seed, "resample", chapter.step, 0).random())
        check_resampled(resampled, event.weights, u=u, size=size, ledger=ledger)


def _is_short(beta: float, beta_end: float) -> bool:
    return 1 / beta < 1 / beta_end and not np.isclose(beta, beta_end, rtol=1e-12, atol=0)


def check_resampled(told: Told[Resampled], weights: tuple[float, ...], *, u: float, size: int, ledger: Ledger) -> None:
    """Its number from the addressed stream, and the ancestors that it points at. size: of the new population."""
    event, at = told.event, At(line=told.line, step=told.event.step)
    ledger.compare("resampling", at, "u", written=event.u, follows=u)
    try:
        ancestors = systematic_resample(weights, u=event.u, size=size).tolist()
    except ValueError:
        ancestors = None
    ledger.compare("resampling", at, "ancestors", written=event.ancestors, follows=ancestors)
