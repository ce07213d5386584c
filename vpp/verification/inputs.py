"""The run to verify: its options, rows, journal and answers, and how a value is compared with what it should be."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from vpp.data.dataset import PARTS, Dataset, Row
from vpp.data.record import dataset_from_csv
from vpp.errors import DataError, RunError
from vpp.events import Evaluated, Event, Scored, Votes
from vpp.posterior.likelihood import Likelihood
from vpp.problem import Prediction, Problem, all_graded_of, averages_of, graded_of, metric_of
from vpp.runs.answers import AnswerReader
from vpp.runs.directory import RunDirectory
from vpp.runs.journal import JournalReader
from vpp.runs.run_prompts import problem_of
from vpp.runs.spec import RunSpec
from vpp.runs.view import RunView
from vpp.settings import Config
from vpp.verification.ledger import At, Ledger

Answers = Mapping[tuple[str, int], Prediction]
"""Answers by hypothesis id and row id."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """A run to verify: its files as read, and the ledger of comparisons."""

    spec: RunSpec
    problem: Problem
    """Rows, and the order in which steps use them; no model is called."""
    fingerprint: str
    """SHA-256 of the current data.csv."""
    answers: Answers | None
    """Answers in answers.jsonl; None if it is missing."""
    journal: JournalReader
    """Has read the events."""
    lines: Mapping[int, tuple[int, Event]]
    """Line number and event by `id` of the event: equal events may be on several lines."""
    ledger: Ledger = field(default_factory=Ledger)

    @property
    def view(self) -> RunView:
        """The events read, without those that a resume discarded."""
        return self.journal.view

    @property
    def config(self) -> Config:
        return self.spec.config

    @property
    def dataset(self) -> Dataset:
        return self.problem.dataset

    def line(self, event: Event) -> int:
        return self.lines[id(event)][0]

    def compare(self, event: Event, claim: str, what: str, *, written: object, follows: object) -> None:
        """Compare a value that follows from events with the derived one. event: where a difference is reported."""
        at = At(line=self.line(event), step=getattr(event, "step", None), slot=getattr(event, "particle", None))
        self.ledger.compare(claim, at, what, written=written, follows=follows)

    def check(self, event: Event, claim: str, **follows: object) -> None:
        """Compare fields of an event with their derived values."""
        for name, value in follows.items():
            self.compare(event, claim, name, written=getattr(event, name), follows=value)

    def likelihood(self, tau: float | None) -> Likelihood:
        """Return the likelihood of Eq. 5 or 6 with the run's epsilon."""
        return self.problem.likelihood(epsilon=self.config.epsilon, tau=tau)

    def rows_of(self, ids: Sequence[int]) -> tuple[Row, ...]:
        """Return training or test rows by id."""
        by_id = {row.id: row for row in self.dataset.labelled}
        return tuple(by_id[row] for row in ids)


def read_run(directory: RunDirectory) -> Run:
    """Read a run. Raises RunError if there is none, its rows are unreadable too few, or a line cannot be read."""
    spec = directory.spec()
    dataset, fingerprint = _read_dataset(directory, spec)
    journal = JournalReader(directory.journal)
    lines = {id(record.event): (journal.line, record.event) for record in journal.new_records()}
    return Run(
        spec=spec,
        problem=problem_of(spec, dataset),
        fingerprint=fingerprint,
        answers=_read_answers(directory),
        journal=journal,
        lines=lines,
    )


def _read_dataset(directory: RunDirectory, spec: RunSpec) -> tuple[Dataset, str]:
    try:
        content = directory.data.read_bytes()
        fingerprint = hashlib.sha256(content).hexdigest()
        dataset = dataset_from_csv(content, header={**spec.dataset, "fingerprint": fingerprint})
    except (OSError, DataError, ValueError, KeyError, TypeError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise RunError(f"{directory.data} cannot be read ({reason}): restore it from a copy") from None
    for part in PARTS:
        name, n = f"n_{part}", len(dataset.part(part))
        if n != spec.dataset.get(name, n):
            raise RunError(f"{directory.data} has other rows than run.json says ({name}): restore it from a copy")
    return dataset, fingerprint


def _read_answers(directory: RunDirectory) -> Answers | None:
    if not directory.answers.exists():
        return None
    reader = AnswerReader(directory.answers)
    reader.refresh()
    return reader.by_pair


def ids(rows: Sequence[Row]) -> tuple[int, ...]:
    """Return the ids of the rows, in order."""
    return tuple(row.id for row in rows)


def check_stored(run: Run) -> None:
    """Check recorded answers of finished steps, and of the end of a run that has ended, against answers.jsonl."""
    if run.answers is None:
        run.ledger.skip("answers.jsonl is missing")
        return
    for event in _settled(run):
        if isinstance(event, Scored):
            said = _stored(run, event.hypothesis, event.rows)
            run.check(event, "answers", predictions=_values(said), shares=graded_of(said))
        else:
            each = [_stored(run, hypothesis, event.rows) for hypothesis in event.hypotheses]
            run.check(event, "answers", predictions=tuple(map(_values, each)), shares=all_graded_of(each))


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


def _stored(run: Run, hypothesis: str, rows: tuple[int, ...]) -> tuple[Prediction, ...]:
    """Return the hypothesis' answers in answers.jsonl."""
    answers = run.answers or {}
    return tuple(answers.get((hypothesis, row), Prediction(row=row, value="not in answers.jsonl")) for row in rows)


def _values(predictions: Sequence[Prediction]) -> Votes:
    return tuple(prediction.value for prediction in predictions)


def check_evaluations(run: Run) -> None:
    """Check every evaluation against the population and the weights of its moment."""
    view, dataset = run.view, run.dataset
    for after, event in view.evaluations:
        at = view.steps.get(event.step)
        if at is None or not at.finished:
            continue  # the step that it belongs to is under way
        run.check(event, "rows", rows=ids(dataset.part(event.split)))
        run.check(event, "texts", hypotheses=[state.hypothesis for state in at.population])
        run.check(event, "weights", weights=view.weights if event.step == after else at.weights)
        averaged = averages_of(dataset.task, event.answers, event.weights)
        run.check(event, "predictions", averaged=averaged)
        metric, value = metric_of(dataset, averaged, [row.target for row in run.rows_of(event.rows)])
        run.check(event, "predictions", metric=metric, value=value)
