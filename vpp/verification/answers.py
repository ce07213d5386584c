"""Checks of answers against answers.jsonl, and of evaluations (Eq. 7 and 8)."""

from collections.abc import Iterator, Sequence

from vpp.events import Evaluated, Scored, Votes
from vpp.problem import averages_of, metric_of
from vpp.verification.inputs import Run, ids

Answered = tuple[str, Sequence[int], Votes]
"""Hypothesis id, row ids, and the answers."""


def check_stored(run: Run) -> None:
    """Check recorded answers of finished steps, and of the end of a run that has ended, against answers.jsonl."""
    if run.answers is None:
        run.ledger.skip("answers.jsonl is missing")
        return
    for event in _settled(run):
        for hypothesis, rows, votes in _answered(event):
            follows = [run.answers.get((hypothesis, row), "not in answers.jsonl") for row in rows]
            run.compare(event, "answers", "predictions", written=votes, follows=follows)


def _settled(run: Run) -> Iterator[Scored | Evaluated]:
    """Yield events with answers that no resume can discard."""
    view = run.view
    for at in view.finished_steps:
        yield from (*at.scored.values(), *at.proposals_scored.values())
    is_over = view.phase in ("finished", "stopped")
    if is_over:
        yield from view.final_scored.values()
    last = -1 if view.last_step is None else view.last_step
    yield from (event for after, event in view.evaluations if is_over or after < last)


def _answered(event: Scored | Evaluated) -> Iterator[Answered]:
    if isinstance(event, Scored):
        yield event.hypothesis, event.rows, event.predictions
    else:
        for hypothesis, votes in zip(event.hypotheses, event.predictions, strict=True):
            yield hypothesis, event.rows, votes


def check_evaluations(run: Run) -> None:
    """Check every evaluation against the population and the weights of its moment."""
    view = run.view
    for after, event in view.evaluations:
        at = view.steps.get(event.step)
        if at is None or not at.finished:
            continue  # the step that it belongs to is under way
        weights = view.weights if event.step == after else at.weights
        _check_evaluation(run, event, [state.hypothesis for state in at.population], weights)


def _check_evaluation(run: Run, event: Evaluated, hypotheses: Sequence[str], weights: Sequence[float]) -> None:
    """Check one evaluation. hypotheses: (K,) ids. weights: (K,) normalised."""
    rows = run.dataset.test if event.split == "test" else run.dataset.train
    run.compare(event, "rows", f"{event.split} rows", written=event.rows, follows=ids(rows))
    run.compare(event, "texts", "hypotheses", written=event.hypotheses, follows=hypotheses)
    run.compare(event, "weights", "weights", written=event.weights, follows=weights)
    averaged = averages_of(run.dataset.task, run.config, event.rows, event.predictions, event.weights)
    if event.averaged:
        run.compare(event, "predictions", "averaged", written=event.averaged, follows=averaged)
    else:
        run.ledger.skip("averaged predictions: an older version did not record them")
    metric, value = metric_of(run.dataset, averaged, [row.target for row in run.rows_of(event.rows)])
    run.compare(event, "predictions", "metric", written=event.metric, follows=metric)
    run.compare(event, "predictions", "value", written=event.value, follows=value)
