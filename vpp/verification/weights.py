"""Checks of scores (Eq. 5 and 6), weights, ESS, exponents, evidence and resampling (Eq. 10)."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from vpp.data.dataset import Row
from vpp.events import Resampled, Reweighted, Scored, StepFinished
from vpp.posterior.resampling import systematic_resample
from vpp.posterior.tempering import carried_log_weights, log_mean_weight, next_exponent
from vpp.posterior.weights import Floats, ess, normalise, tempered_log_weights
from vpp.randomness import rng
from vpp.verification.inputs import RunInputs, ids
from vpp.verification.ledger import At, Ledger
from vpp.verification.segments import Recorded, Segment


def check_scores(inputs: RunInputs, segment: Segment, ledger: Ledger) -> None:
    """Check every score of a step, and that none is missing once weights or the step's end are recorded."""
    if segment.before is None:
        ledger.skip("the texts of scores: the population before the step is not recorded")
        return
    config, tau = inputs.config, segment.before.tau
    rows = inputs.scored_rows(segment.step)
    _check_particles(inputs, segment, rows, "buffer" if config.is_weighted else "forward", ledger)
    for k, recorded in segment.proposal_scores.items():
        proposed = segment.proposed.get(k)
        whose = proposed.event.proposal if proposed else recorded.event.hypothesis
        on = _answered(rows, recorded.event) if config.early_rejection else rows
        _check(inputs, recorded, _Due(hypothesis=whose, role="proposal", rows=on, tau=tau), ledger)


def check_final_scores(inputs: RunInputs, segment: Segment, ledger: Ledger) -> None:
    """Check the scores for the final weights, if the method has them."""
    if segment.before is not None:
        _check_particles(inputs, segment, inputs.final_rows(segment.before.step), "final", ledger)


def _check_particles(inputs: RunInputs, segment: Segment, rows: tuple[Row, ...], role: str, ledger: Ledger) -> None:
    """Check the particles' scores on `rows`, and that no other slot has any."""
    population, tau = (segment.before.population, segment.before.tau) if segment.before else ((), None)
    for k, state in enumerate(population):
        if recorded := segment.scored.get(k):
            _check(inputs, recorded, _Due(hypothesis=state.hypothesis, role=role, rows=rows, tau=tau), ledger)
        elif segment.is_finished or segment.reweighted:
            ledger.compare("lines", segment.at(k), f"scored ({role})", written=None, follows="once a particle")
    for k, recorded in segment.scored.items():
        if not 0 <= k < len(population):
            at = At(line=recorded.line, step=recorded.event.step, slot=k)
            ledger.compare("lines", at, "slot", written=k, follows=f"below {len(population)}")


def _answered(rows: tuple[Row, ...], event: Scored) -> tuple[Row, ...]:
    """Rows answered before an early rejection: a subset in order; repeated rows are all in it or all out."""
    return tuple(row for row in rows if row.id in event.rows)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Due:
    """Derived contents of a scored event."""

    hypothesis: str | None
    role: str
    rows: tuple[Row, ...]
    tau: float | None


def _check(inputs: RunInputs, recorded: Recorded[Scored], due: _Due, ledger: Ledger) -> None:
    event = recorded.event
    at = At(line=recorded.line, step=event.step, slot=event.particle)
    ledger.compare("texts", at, "hypothesis", written=event.hypothesis, follows=due.hypothesis)
    ledger.compare("lines", at, "role", written=event.role, follows=due.role)
    ledger.compare("rows", at, "rows", written=event.rows, follows=ids(due.rows))
    follows = largest_log_likelihood(inputs, event, due.tau, unanswered=0)
    ledger.compare("likelihoods", at, "log_likelihood", written=event.log_likelihood, follows=follows)


def largest_log_likelihood(inputs: RunInputs, event: Scored, tau: float | None, *, unanswered: int) -> float | None:
    """Upper bound of the log-likelihood with `unanswered` more rows, each with the best possible answer."""
    rows = inputs.rows_of(event.rows)
    if rows is None or len(rows) != len(event.predictions):
        return None
    terms = _terms(inputs, rows, event.predictions, tau)
    if terms is None:
        return None
    best = [inputs.likelihood(tau).largest_term] * unanswered
    with np.errstate(over="ignore"):
        return float(np.sort([*terms, *best]).sum())


def _terms(
    inputs: RunInputs, rows: Sequence[Row], predictions: Sequence[str | float | None], tau: float | None
) -> Floats | None:
    try:
        return inputs.likelihood(tau).terms(predictions, [row.target for row in rows])
    except ValueError:
        return None


def check_weights(inputs: RunInputs, segment: Segment, ledger: Ledger) -> None:
    """Check a step's weights and its resampling."""
    recorded, config = segment.reweighted, inputs.config
    if recorded is None or not config.is_weighted:
        if segment.is_finished or recorded:
            written = "once" if recorded else "none"
            follows = "once" if config.is_weighted else "none"
            ledger.compare("lines", segment.at(), "reweighted", written=written, follows=follows)
        return
    before = segment.before
    log_lik = log_likelihoods(segment)
    if before is None or log_lik is None:
        ledger.skip("weights of a step: some of their scores are not recorded")
    elif config.is_telescoping:
        _check_carried(inputs, recorded, before, log_lik, ledger)
    else:
        _check_anew(inputs, recorded, log_lik, ledger, step=segment.step)
    _check_normalised(recorded, ledger)
    _check_resampling(inputs, segment, recorded, ledger)


def check_final_weights(inputs: RunInputs, segment: Segment, ledger: Ledger) -> None:
    """Check the final weights, if the method computes them after the last step."""
    recorded, before = segment.reweighted, segment.before
    if before is None:
        return
    is_due = inputs.config.is_rescored and before.step >= 0
    if recorded is None or not is_due:
        is_counted = recorded is not None
        if is_counted != (is_due and bool(segment.evaluated)):
            written, follows = ("once", "none") if is_counted else ("none", "once")
            ledger.compare("lines", segment.at(), "reweighted (final)", written=written, follows=follows)
        return
    log_lik = log_likelihoods(segment)
    if log_lik is None:
        ledger.skip("final weights: some of their scores are not recorded")
    else:
        _check_anew(inputs, recorded, log_lik, ledger, step=before.step)
    _check_normalised(recorded, ledger)


def log_likelihoods(segment: Segment) -> Floats | None:
    """(K,) recorded log-likelihoods; None if any is missing."""
    size = len(segment.before.population) if segment.before else 0
    if not size or any(k not in segment.scored for k in range(size)):
        return None
    return np.array([segment.scored[k].event.log_likelihood for k in range(size)], dtype=np.float64)


def _at(recorded: Recorded[Reweighted]) -> At:
    return At(line=recorded.line, step=recorded.event.step)


def _check_anew(
    inputs: RunInputs, recorded: Recorded[Reweighted], log_lik: Floats, ledger: Ledger, *, step: int
) -> None:
    event, at = recorded.event, _at(recorded)
    beta = inputs.config.beta(step, steps=inputs.problem.steps)
    ledger.compare("tempering", at, "beta", written=event.beta, follows=beta)
    log_w = tempered_log_weights(log_lik, beta=beta).tolist()
    ledger.compare("weights", at, "log_weights", written=event.log_weights, follows=log_w)
    ledger.compare("evidence", at, "log_evidence", written=event.log_evidence, follows=None, is_counted=False)


def _check_carried(
    inputs: RunInputs, recorded: Recorded[Reweighted], before: StepFinished, log_lik: Floats, ledger: Ledger
) -> None:
    event, at = recorded.event, _at(recorded)
    carried, exponent = _carried(before), exponent_of(inputs, before, log_lik, step=event.step)
    ledger.compare("tempering", at, "beta", written=event.beta, follows=1 / exponent)
    log_w = carried_log_weights(carried, log_lik, exponent=exponent, previous=before.exponent)
    ledger.compare("weights", at, "log_weights", written=event.log_weights, follows=log_w.tolist())
    follows = before.log_evidence + log_mean_weight(log_w)
    ledger.compare("evidence", at, "log_evidence", written=event.log_evidence, follows=follows)


def _carried(before: StepFinished) -> Floats:
    return np.array([state.log_weight for state in before.population], dtype=np.float64)


def exponent_of(inputs: RunInputs, before: StepFinished, log_lik: Floats, *, step: int) -> float:
    """Exponent phi_t: from the schedule, or the largest that keeps the ESS; the last step reaches the end."""
    config, steps = inputs.config, inputs.problem.steps
    if config.tempering == "incremental":
        return 1 / config.beta(step, steps=steps)
    ceiling = 1 / config.beta_end
    if step == steps - 1:
        return ceiling
    target = config.ess_threshold * len(log_lik)
    return next_exponent(_carried(before), log_lik, previous=before.exponent, ceiling=ceiling, target=target)


def _check_normalised(recorded: Recorded[Reweighted], ledger: Ledger) -> None:
    """Check the weights against the recorded log-weights, and the ESS against the recorded weights."""
    event, at = recorded.event, _at(recorded)
    ledger.compare("weights", at, "weights", written=event.weights, follows=_normalised(event.log_weights))
    ledger.compare("ess", at, "ess", written=event.ess, follows=_ess(event.weights))


def _normalised(log_weights: tuple[float, ...]) -> list[float] | None:
    try:
        return list(normalise(log_weights).tolist())
    except ValueError:
        return None


def _ess(weights: tuple[float, ...]) -> float | None:
    return ess(weights) if weights and max(weights) > 0 else None


def _check_resampling(inputs: RunInputs, segment: Segment, recorded: Recorded[Reweighted], ledger: Ledger) -> None:
    """Check that the step resampled exactly if the ESS was low, or the adaptive exponent short of the end."""
    event, config = recorded.event, inputs.config
    size = len(event.weights)
    short = config.tempering == "adaptive" and config.is_telescoping and _is_short(event.beta, config.beta_end)
    is_due = size > 1 and (short or event.ess < config.ess_threshold * size)
    resampled = segment.resampled
    if resampled is None and not (segment.is_finished or segment.proposed or segment.proposal_scores):
        return  # the journal ends between the two
    at = At(line=resampled.line if resampled else recorded.line, step=segment.step)
    follows = "resampled" if is_due else "not resampled"
    written = "resampled" if resampled else "not resampled"
    ledger.compare("resampling", at, f"ESS {event.ess:.6g} of {size}", written=written, follows=follows)
    if resampled:
        u = float(rng(config.seed, "resample", segment.step, 0).random())
        check_resampled(resampled, event.weights, u=u, size=size, ledger=ledger)


def _is_short(beta: float, beta_end: float) -> bool:
    return 1 / beta < 1 / beta_end and not np.isclose(beta, beta_end, rtol=1e-12, atol=0)


def check_resampled(
    recorded: Recorded[Resampled], weights: tuple[float, ...], *, u: float, size: int, ledger: Ledger
) -> None:
    """Check the uniform number and the ancestors of a resampling. size: new population size."""
    event, at = recorded.event, At(line=recorded.line, step=recorded.event.step)
    ledger.compare("resampling", at, "u", written=event.u, follows=u)
    try:
        ancestors = systematic_resample(weights, u=event.u, size=size).tolist()
    except ValueError:
        ancestors = None
    ledger.compare("resampling", at, "ancestors", written=event.ancestors, follows=ancestors)
