"""Evaluations: whose answers, their weights, the averaged prediction and its error (Eq. 7 and 8)."""

from collections.abc import Sequence

from vpp.data.dataset import Row, Value
from vpp.events import Evaluated, Votes
from vpp.posterior.metric import accuracy, mean_squared_error
from vpp.posterior.prediction import average
from vpp.posterior.weights import normalise
from vpp.randomness import tie_draw
from vpp.verification.chapters import Chapter, Told
from vpp.verification.ground import Ground, ids
from vpp.verification.ledger import At, Ledger
from vpp.verification.size import resized
from vpp.verification.slots import Slots


def check_looks(ground: Ground, chapter: Chapter, slots: Slots | None, ledger: Ledger) -> None:
    """The test rows at the steps that the options name, and at no others. slots: before K changes."""
    every, step = ground.config.evaluate_every, chapter.step
    is_due = bool(every) and (step + 1) % (every or 1) == 0 and step + 1 < ground.problem.steps
    if chapter.is_whole and (is_due or chapter.evaluated):
        follows = ["test"] if is_due else []
        written = [told.event.split for told in chapter.evaluated]
        ledger.compare("lines", chapter.at(), "evaluated", written=written, follows=follows)
    if not chapter.evaluated or chapter.before is None or slots is None:
        return
    after = resized(ground, chapter, slots, chapter.before).slots
    weights = normalise([p.log_weight for p in after]).tolist()
    for told in chapter.evaluated:
        check_evaluated(ground, told, [p.hypothesis for p in after], weights, ledger)


def check_end(ground: Ground, chapter: Chapter, ledger: Ledger) -> None:
    """Test and training rows after the last step, under the final weights."""
    before = chapter.before
    if before is None:
        return
    hypotheses = [state.hypothesis for state in before.population]
    is_made = ground.config.is_rescored and chapter.reweighted is not None
    log_w = chapter.reweighted.event.log_weights if is_made and chapter.reweighted else None
    weights = normalise(log_w or [state.log_weight for state in before.population]).tolist()
    for told in chapter.evaluated:
        at = At(line=told.line, step=told.event.step)
        ledger.compare("lines", at, "step", written=told.event.step, follows=before.step)
        check_evaluated(ground, told, hypotheses, weights, ledger)


def check_evaluated(
    ground: Ground, told: Told[Evaluated], hypotheses: Sequence[str], weights: Sequence[float], ledger: Ledger
) -> None:
    """hypotheses: (K,) ids. weights: (K,) normalised."""
    event, at = told.event, At(line=told.line, step=told.event.step)
    rows = ground.dataset.test if event.split == "test" else ground.dataset.train
    ledger.compare("rows", at, f"{event.split} rows", written=event.rows, follows=ids(rows))
    ledger.compare("texts", at, "hypotheses", written=event.hypotheses, follows=tuple(hypotheses))
    ledger.compare("weights", at, "weights", written=event.weights, follows=tuple(weights))
    shape = [len(votes) for votes in event.predictions]
    is_whole = ledger.compare(
        "predictions", at, "answers a particle", written=shape, follows=[len(event.rows)] * len(event.weights)
    )
    known = ground.rows_of(event.rows)
    if not is_whole or known is None:
        return
    averaged = _averaged(ground, known, event)
    if event.averaged or not event.rows:
        ledger.compare("predictions", at, "averaged", written=event.averaged, follows=averaged)
    else:
        ledger.skip("averaged predictions: the journal is older than their field")
    _check_metric(ground, event, known, event.averaged or averaged, at, ledger)


def _averaged(ground: Ground, rows: Sequence[Row], event: Evaluated) -> Votes:
    config, is_label = ground.config, ground.dataset.task == "classification"
    return tuple(
        average(votes, event.weights, is_label=is_label, draw=tie_draw(config.seed, row.id, ties=config.ties))
        for row, votes in zip(rows, zip(*event.predictions, strict=True), strict=True)
    )


def _check_metric(
    ground: Ground, event: Evaluated, rows: Sequence[Row], averaged: Votes, at: At, ledger: Ledger
) -> None:
    is_label = ground.dataset.task == "classification"
    ledger.compare("metrics", at, "metric", written=event.metric, follows="accuracy" if is_label else "mse")
    targets: list[Value | None] = [row.target for row in rows]
    if not targets or len(averaged) != len(targets):
        return
    value = (
        accuracy(averaged, targets)
        if is_label
        else mean_squared_error(averaged, targets, abstention_error=ground.dataset.target_range)
    )
    ledger.compare("metrics", at, "value", written=event.value, follows=value)
