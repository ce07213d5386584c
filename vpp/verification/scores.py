"""Scores: whose, on which rows, and log p(rows | theta) from the answers and the targets (Eq. 5 and 6)."""

from collections.abc import Sequence

import numpy as np

from vpp.data.dataset import Row
from vpp.events import Scored
from vpp.posterior.likelihood import Floats
from vpp.verification.chapters import Chapter, Told
from vpp.verification.ground import Ground, ids
from vpp.verification.ledger import At, Ledger


def check_scores(ground: Ground, chapter: Chapter, ledger: Ledger) -> None:
    """Every score of a step; and that no particle is without, once weights or the step's end are told."""
    if chapter.before is None:
        ledger.skip("whose scores these are: the population before the step is not told")
        return
    config = ground.config
    rows = ground.scored_rows(chapter.step)
    role = "buffer" if config.is_weighted else "forward"
    tau = chapter.before.tau
    for k, state in enumerate(chapter.before.population):
        if told := chapter.scored.get(k):
            _check(ground, told, rows, ledger, hypothesis=state.hypothesis, role=role, tau=tau)
        elif chapter.is_whole or chapter.reweighted:
            ledger.compare("lines", chapter.at(k), f"scored ({role})", written=None, follows="once a particle")
    _check_nobody_else(chapter, len(chapter.before.population), ledger)
    for k, told in chapter.judged.items():
        proposed = chapter.proposed.get(k)
        whose = proposed.event.proposal if proposed else told.event.hypothesis
        on = _answered(rows, told.event) if config.early_rejection else rows
        _check(ground, told, on, ledger, hypothesis=whose, role="proposal", tau=tau)


def _answered(rows: tuple[Row, ...], event: Scored) -> tuple[Row, ...]:
    """Those that were answered when a rejection was certain: any of them, in their order, and all of one id or none."""
    return tuple(row for row in rows if row.id in event.rows)


def check_final_scores(ground: Ground, chapter: Chapter, ledger: Ledger) -> None:
    """The scores behind the final weights, where they are made."""
    before = chapter.before
    if before is None:
        return
    rows = ground.final_rows(before.step)
    for k, state in enumerate(before.population):
        if told := chapter.scored.get(k):
            _check(ground, told, rows, ledger, hypothesis=state.hypothesis, role="final", tau=before.tau)
        elif chapter.reweighted:
            ledger.compare("lines", chapter.at(k), "scored (final)", written=None, follows="once a particle")
    _check_nobody_else(chapter, len(before.population), ledger)


def _check_nobody_else(chapter: Chapter, size: int, ledger: Ledger) -> None:
    for k, told in chapter.scored.items():
        if not 0 <= k < size:
            at = At(line=told.line, step=told.event.step, slot=k)
            ledger.compare("lines", at, "slot", written=k, follows=f"below {size}")


def _check(
    ground: Ground,
    told: Told[Scored],
    rows: tuple[Row, ...],
    ledger: Ledger,
    *,
    hypothesis: str | None,
    role: str,
    tau: float | None,
) -> None:
    event = told.event
    at = At(line=told.line, step=event.step, slot=event.particle)
    ledger.compare("texts", at, "hypothesis", written=event.hypothesis, follows=hypothesis)
    ledger.compare("lines", at, "role", written=event.role, follows=role)
    ledger.compare("rows", at, "rows", written=event.rows, follows=ids(rows))
    follows = log_likelihood(ground, event, tau)
    ledger.compare("likelihoods", at, "log_likelihood", written=event.log_likelihood, follows=follows)


def log_likelihood(ground: Ground, event: Scored, tau: float | None) -> float | None:
    """Of the answers that are told, on the rows that are told; None where they do not fit each other."""
    return largest_log_likelihood(ground, event, tau, unanswered=0)


def largest_log_likelihood(ground: Ground, event: Scored, tau: float | None, *, unanswered: int) -> float | None:
    """The most that so many more rows can make of it: each as likely as an answer can make it."""
    rows = ground.rows_of(event.rows)
    if rows is None or len(rows) != len(event.predictions):
        return None
    terms = _terms(ground, rows, event.predictions, tau)
    if terms is None:
        return None
    best = [ground.likelihood(tau).largest_term] * unanswered
    with np.errstate(over="ignore"):
        return float(np.sort([*terms, *best]).sum())


def _terms(
    ground: Ground, rows: Sequence[Row], predictions: Sequence[str | float | None], tau: float | None
) -> Floats | None:
    try:
        return ground.likelihood(tau).terms(predictions, [row.target for row in rows])
    except ValueError:
        return None
