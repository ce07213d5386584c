"""Checks of scores (Eq. 5 and 6), weights, ESS, exponents, evidence and resampling (Eq. 10)."""

from collections.abc import Mapping, Sequence

import numpy as np

from vpp.data.dataset import Row
from vpp.events import Resampled, Reweighted, Scored, StepFinished
from vpp.posterior.tempering import carried_log_weights, log_mean_weight, next_exponent
from vpp.posterior.weights import Floats, ess, normalise, systematic_resample, tempered_log_weights
from vpp.randomness import rng
from vpp.runs.view import StepView
from vpp.settings import ESS_SHARE
from vpp.verification.inputs import Run, ids


def check_score(run: Run, event: Scored, *, hypothesis: str | None, rows: Sequence[Row], tau: float | None) -> None:
    """Check one score: whose it is, on which rows, and its log-likelihood."""
    run.check(event, "texts", hypothesis=hypothesis)
    run.check(event, "rows", rows=ids(rows))
    run.check(event, "likelihoods", log_likelihood=_log_likelihood(run, event, tau))


def check_particle_scores(
    run: Run, scores: Mapping[int, Scored], before: StepFinished, *, rows: Sequence[Row], role: str
) -> None:
    """Check the scores of a population's particles, by slot."""
    for slot, event in scores.items():
        run.check(event, "lines", role=role)
        check_score(run, event, hypothesis=before.population[slot].hypothesis, rows=rows, tau=before.tau)


def _log_likelihood(run: Run, event: Scored, tau: float | None) -> float | None:
    """Return the log-likelihood of the recorded answers; None if tau is unusable."""
    targets = [row.target for row in run.rows_of(event.rows)]
    try:
        terms = run.likelihood(tau).terms(event.answers, targets)
    except ValueError:
        return None
    with np.errstate(over="ignore"):
        return float(np.sort(terms).sum())


def check_step_weights(run: Run, before: StepFinished, at: StepView) -> None:
    """Check a step's weights and its resampling."""
    event, config = at.reweighted, run.config
    if event is None:
        return
    if config.is_telescoping:
        _check_carried(run, event, before, at.scored)
    else:
        _check_weights(run, event, at.scored)
    if at.resampled or at.finished or at.proposed:
        _check_resampling(run, event, at)


def check_final_weights(run: Run, before: StepFinished) -> None:
    """Check the scores and weights made after the last step, if the method has them."""
    view, rows = run.view, run.problem.final_rows(run.config, before.step)
    check_particle_scores(run, view.final_scored, before, rows=rows, role="final")
    if view.final is not None:
        _check_weights(run, view.final, view.final_scored)


def _check_weights(run: Run, event: Reweighted, scores: Mapping[int, Scored]) -> None:
    """Check weights that are computed from one step's log-likelihoods alone."""
    beta = run.config.beta(event.step, steps=run.problem.steps)
    run.check(event, "tempering", beta=beta)
    if (log_lik := _log_likelihoods(run, event, scores)) is not None:
        run.check(event, "weights", log_weights=tempered_log_weights(log_lik, beta=beta).tolist())
    _check_normalised(run, event)


def _check_carried(run: Run, event: Reweighted, before: StepFinished, scores: Mapping[int, Scored]) -> None:
    """Check weights that are carried from step to step."""
    if (log_lik := _log_likelihoods(run, event, scores)) is not None:
        carried = np.array([state.log_weight for state in before.population], dtype=np.float64)
        exponent = _exponent(run, before, log_lik, carried, step=event.step)
        log_w = carried_log_weights(carried, log_lik, exponent=exponent, previous=before.exponent)
        run.check(event, "tempering", beta=1 / exponent)
        run.check(event, "weights", log_weights=log_w.tolist())
        run.check(event, "evidence", log_evidence=before.log_evidence + log_mean_weight(log_w))
    _check_normalised(run, event)


def _log_likelihoods(run: Run, event: Reweighted, scores: Mapping[int, Scored]) -> Floats | None:
    """(K,) log-likelihoods that weights are made of; a fault and None if a score is missing."""
    due = list(range(len(event.weights)))
    scored = sorted(slot for slot, score in scores.items() if run.line(score) < run.line(event))
    run.compare(event, "lines", "particles scored before", written=scored, follows=due)
    return np.array([scores[k].log_likelihood for k in due], dtype=np.float64) if scored == due else None


def _exponent(run: Run, before: StepFinished, log_lik: Floats, carried: Floats, *, step: int) -> float:
    """Exponent phi_t: from the schedule, or the largest that keeps the ESS; the last step reaches the end."""
    config, steps = run.config, run.problem.steps
    if config.tempering == "incremental":
        return 1 / config.beta(step, steps=steps)
    if step == steps - 1:
        return 1.0
    target = ESS_SHARE * len(log_lik)
    return next_exponent(carried, log_lik, previous=before.exponent, ceiling=1.0, target=target)


def _check_normalised(run: Run, event: Reweighted) -> None:
    """Check the weights against the recorded log-weights, and the ESS against the recorded weights."""
    run.check(event, "weights", weights=normalise(event.log_weights).tolist())
    run.check(event, "ess", ess=ess(event.weights))


def _check_resampling(run: Run, event: Reweighted, at: StepView) -> None:
    """Check that a step with K > 1 resampled if and only if its ESS was low; and the ancestors, if it did.

    Adaptive tempering puts the ESS at the threshold, on either side by rounding: it resamples until the last exponent.
    """
    config, size = run.config, len(event.weights)
    is_adaptive = config.tempering == "adaptive" and config.is_telescoping
    is_last = event.beta <= 1 or np.isclose(event.beta, 1, rtol=1e-12, atol=0)
    is_due = size > 1 and not config.is_weighing and (event.ess < ESS_SHARE * size or (is_adaptive and not is_last))
    is_written, what = at.resampled is not None, f"ESS {event.ess:.6g} of {size}: resampled"
    run.compare(at.resampled or event, "resampling", what, written=is_written, follows=is_due)
    if at.resampled:
        check_ancestors(run, at.resampled, event.weights, u=float(rng(config.seed, "resample", at.step, 0).random()))


def check_ancestors(run: Run, event: Resampled, weights: Sequence[float], *, u: float) -> None:
    """Check the uniform number and the ancestors of a resampling."""
    run.check(event, "resampling", u=u)
    run.check(event, "resampling", ancestors=systematic_resample(weights, u=u, size=len(event.ancestors)).tolist())
