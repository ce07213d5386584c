"""Checks of answers against answers.jsonl, and of evaluations (Eq. 7 and 8)."""

from collections.abc import Iterator

from vpp.events import Evaluated, Scored, Votes
from vpp.problem import averages_of, metric_of
from vpp.verification.inputs import Run, ids


def check_stored(run: Run) -> None:
    """Check recorded answers of finished steps, and of the end of a run that has ended, against answers.jsonl."""
    if run.answers is None:
        run.ledger.skip("answers.jsonl is missing")
        return
    for event in _settled(run):
        if isinstance(event, Scored):
            run.check(event, "answers", predictions=_stored(run, event.hypothesis, event.rows))
        else:
            run.check(event, "answers", predictions=[_stored(run, each, event.rows) for each in event.hypotheses])


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


def _stored(run: Run, hypothesis: str, rows: tuple[int, ...]) -> Votes:
    """Return the hypothesis' answers in answers.jsonl."""
    answers = run.answers or {}
    return tuple(answers.get((hypothesis, row), "not in answers.jsonl") for row in rows)


def check_evaluations(run: Run) -> None:
    """Check every evaluation against the population and the weights of its moment."""
    view, dataset = run.view, run.dataset
    for after, event in view.evaluations:
        at = view.steps.get(event.step)
        if at is None or not at.finished:
            continue  # the step that it belongs to is under way
        run.check(event, "rows", rows=ids(dataset.test if event.split == "test" else dataset.train))
        run.check(event, "texts", hypotheses=[state.hypothesis for state in at.population])
        run.check(event, "weights", weights=view.weights if event.step == after else at.weights)
        averaged = averages_of(dataset.task, run.config, event.rows, event.predictions, event.weights)
        if event.averaged:
            run.check(event, "predictions", averaged=averaged)
        else:
            run.ledger.skip("averaged predictions: an older version did not record them")
        metric, value = metric_of(dataset, averaged, [row.target for row in run.rows_of(event.rows)])
        run.check(event, "predictions", metric=metric, value=value)
