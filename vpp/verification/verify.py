"""Verify a run: derive its journal's values again without a model, and compare its exports."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise

from vpp.events import Event, RunFailed, RunFinished, RunPaused, RunResumed, StepFinished
from vpp.runs.answers import AnswerReader
from vpp.runs.directory import RunDirectory
from vpp.usage import Usage
from vpp.verification.answers import Memory, check_end, check_interim
from vpp.verification.decisions import check_proposals
from vpp.verification.exports import Ways, check_exports
from vpp.verification.inputs import (
    FILES,
    Known,
    RunInputs,
    check_data,
    check_first,
    check_started,
    check_tau,
    read_inputs,
)
from vpp.verification.ledger import At, Claim, Fault, Ledger
from vpp.verification.populations import check_first_population, check_population, check_size, derived_slots
from vpp.verification.segments import Journal, Numbered, Segment, Timeline, read_journal, split_journal
from vpp.verification.weights import check_final_scores, check_final_weights, check_scores, check_weights

BEYOND = (
    "whether models gave these answers, and whether they were parsed correctly: no model is called again",
    "the counts and the times of the lines: only that counts never fall",
    "the order of slots within a phase: calls finish in any order",
)
"""Facts that a journal cannot prove."""
RESTORED = (
    "learner",
    "optimizer",
    "cached",
    "failed",
    "retried",
    "unparsable",
    "inferred",
    "refused",
    "prompt_tokens",
    "completion_tokens",
)
"""Counts that a resume resets to those of the last finished step."""
CUMULATIVE = ("sent", "cost")
"""Counts that a resume does not reset."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    """Result of a verification."""

    counts: dict[Claim, tuple[int, int]]
    """(places that hold, places checked) by claim."""
    faults: tuple[Fault, ...]
    """Faults in the order of the journal."""
    unchecked: tuple[tuple[str, int], ...]
    """(reason why something was not checked, count)."""
    lines: int
    steps: int
    """Finished steps, without the initial population."""
    has_ended: bool
    void_lines: int
    """Lines discarded by a resume; they are checked too."""
    times_back: int
    """Records older than the record before them."""
    is_torn: bool
    report_line: int | None
    """First line of report.md that this version would write differently; None if there is none, or no report."""

    @property
    def holds(self) -> bool:
        """True if there are no faults."""
        return not self.faults


def verify(directory: RunDirectory, exports: Ways | None = None) -> Verification:
    """Verify a run from its files, without a model. Raises RunError if there is no run, or if its rows are unreadable.

    exports: functions that write the run's exports again; without them exports are not compared.
    """
    inputs, lines, ledger = read_inputs(directory), read_journal(directory.journal), Ledger()
    check_data(inputs, ledger)
    for lost in lines.damaged:
        written = f"cannot be read ({lost.reason})"
        ledger.compare("lines", At(line=lost.line), "record", written=written, follows="a record")
    timeline = split_journal(lines.records, ledger, steps=inputs.problem.steps)
    known = _check_answers(directory, inputs, lines, ledger)
    _check_bounds(directory, inputs, timeline, lines, ledger)
    for segment in timeline.segments:
        _check_segment(inputs, segment, known, ledger)
    _check_counts(lines.records, ledger, answers=_answer_lines(directory))
    report_line = check_exports(directory, (exports or {}) if _ending(lines) else {}, ledger)
    return Verification(
        counts=ledger.counts(),
        faults=tuple(sorted(ledger.faults, key=lambda fault: fault.at.line)),
        unchecked=tuple(_unchecked(inputs, ledger)),
        lines=len({*(line.number for line in lines.records), *(lost.line for lost in lines.damaged)}),
        steps=1 + (-1 if timeline.last_step is None else timeline.last_step),
        has_ended=timeline.outcome is not None,
        void_lines=timeline.void_lines,
        times_back=_times_back(lines.records),
        is_torn=lines.is_torn,
        report_line=report_line,
    )


def _check_answers(directory: RunDirectory, inputs: RunInputs, lines: Journal, ledger: Ledger) -> Known:
    """Check the answers; return every answer in the journal or in answers.jsonl."""
    memory = Memory(ledger, steps=inputs.problem.steps)
    memory.go_through(lines.records)
    if not directory.answers.exists():
        ledger.skip("answers.jsonl is missing")
        return memory.known
    reader = AnswerReader(directory.answers)
    reader.refresh()
    stored = {pair: prediction.value for pair, prediction in reader.by_pair.items()}
    memory.compare_with(stored)
    return stored | memory.known


def _answer_lines(directory: RunDirectory) -> int | None:
    if not directory.answers.exists():
        return None
    with directory.answers.open("rb") as file:
        return sum(1 for _ in file)


def _check_bounds(
    directory: RunDirectory, inputs: RunInputs, timeline: Timeline, lines: Journal, ledger: Ledger
) -> None:
    """Check the beginning of the run, and that a finished run is complete."""
    if timeline.started:
        check_started(inputs, timeline.started, ledger)
    elif lines.records:
        ledger.compare("lines", At(line=lines.records[0].number), "run_started", written=None, follows="first of all")
    is_finished = timeline.outcome is not None and timeline.outcome.event.outcome == "finished"
    last = At(line=lines.records[-1].number if lines.records else 0)
    if directory.status() == "finished":
        ledger.compare("lines", last, "run_finished", written=is_finished, follows=True)
    if is_finished or directory.status() == "finished":
        ledger.compare(
            "lines", last, "last finished step", written=timeline.last_step, follows=inputs.problem.steps - 1
        )
    if (ending := _ending(lines)) and directory.status() in ("finished", "stopped", "failed"):
        ledger.compare("data", FILES, "status", written=directory.status(), follows=ending)
    elif ending:
        ledger.skip("the status in run.json: the run's worker ended before it wrote the final status")
    if not is_finished:
        return
    end = timeline.segments[-1] if timeline.segments and timeline.segments[-1].kind == "end" else None
    splits = [recorded.event.split for recorded in end.evaluated] if end else []
    ledger.compare("lines", last, "evaluated", written=splits, follows=["test", "train"])


def _ending(lines: Journal) -> str:
    """Outcome of the run by its last line; empty while it may continue."""
    last = lines.records[-1].record.event if lines.records else None
    return last.outcome if isinstance(last, RunFinished) else "failed" if isinstance(last, RunFailed) else ""


def _check_segment(inputs: RunInputs, segment: Segment, known: Known, ledger: Ledger) -> None:
    if segment.kind == "first":
        check_first(inputs, segment, ledger)
        check_tau(inputs, segment, known, ledger)
        check_first_population(inputs, segment, ledger)
    elif segment.kind == "end":
        check_final_scores(inputs, segment, ledger)
        check_final_weights(inputs, segment, ledger)
        check_end(inputs, segment, ledger)
    else:
        _check_step(inputs, segment, ledger)


def _check_step(inputs: RunInputs, segment: Segment, ledger: Ledger) -> None:
    check_scores(inputs, segment, ledger)
    check_weights(inputs, segment, ledger)
    check_proposals(inputs, segment, ledger)
    slots = derived_slots(inputs, segment)
    if slots:
        check_size(inputs, segment, slots, ledger)
    check_interim(inputs, segment, slots, ledger)
    check_population(inputs, segment, slots, ledger)


def _check_counts(lines: Iterable[Numbered], ledger: Ledger, *, answers: int | None) -> None:
    """Check that counts never fall, except to those of the last finished step on a resume.

    answers: number of lines of answers.jsonl; None if it is missing.
    """
    floor = saved = _fields(Usage(), 0)
    for line in lines:
        record, at = line.record, At(line=line.number, step=getattr(line.record.event, "step", None))
        now = _fields(record.usage, record.answers)
        if _may_go_back(record.event):
            floor = {name: floor[name] if name in CUMULATIVE else saved[name] for name in now}
        fallen = {name: value for name, value in now.items() if value < floor[name]}
        ledger.compare("counts", at, "counts that fall", written=fallen, follows={})
        floor = {name: max(value, floor[name]) if name in CUMULATIVE else value for name, value in now.items()}
        if isinstance(record.event, StepFinished):
            saved = now
        if isinstance(record.event, StepFinished | RunFinished) and answers is not None:
            at_most = min(record.answers, answers)
            ledger.compare("counts", at, "lines of answers.jsonl", written=record.answers, follows=at_most)


def _fields(usage: Usage, answers: int) -> dict[str, float]:
    return {name: getattr(usage, name) for name in (*RESTORED, *CUMULATIVE)} | {"answers": answers}


def _may_go_back(event: Event) -> bool:
    """True for the first event of a worker that resumes a run: its counts are those of the last finished step."""
    return isinstance(event, RunResumed | RunPaused | RunFailed | RunFinished)


def _times_back(lines: Iterable[Numbered]) -> int:
    """Count the records older than the one before them: a clock was set back, or lines were reordered."""
    times = [line.record.at for line in lines]
    return sum(later < earlier for earlier, later in pairwise(times))


def _unchecked(inputs: RunInputs, ledger: Ledger) -> Iterator[tuple[str, int]]:
    yield from sorted(ledger.unchecked.items())
    if any(text is None for text in inputs.spec.templates.values()):
        yield "the built-in templates: they may have changed since", 1
    for fact in BEYOND:
        yield fact, 1
