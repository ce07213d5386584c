"""A run verified: what follows from the rest of its journal, derived once more, and the exports beside it."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise

from vpp.events import Event, RunFailed, RunFinished, RunPaused, RunResumed, StepFinished
from vpp.runs.answers import AnswerReader
from vpp.runs.directory import RunDirectory
from vpp.usage import Usage
from vpp.verification.answers import Memory
from vpp.verification.beginning import FILES, Known, check_data, check_first, check_started, check_tau
from vpp.verification.chapters import Chapter, Story, story_of
from vpp.verification.decisions import check_proposals
from vpp.verification.evaluations import check_end, check_looks
from vpp.verification.exports import Ways, check_exports
from vpp.verification.ground import Ground, ground_of
from vpp.verification.journal import Journalled, Numbered, read_journal
from vpp.verification.ledger import At, Claim, Fault, Ledger
from vpp.verification.populations import check_first_population, check_population
from vpp.verification.scores import check_final_scores, check_scores
from vpp.verification.size import check_size
from vpp.verification.slots import after_moves
from vpp.verification.weighing import check_final_weights, check_weights

BEYOND = (
    "that models gave these answers, and that they were read rightly: nobody is asked again",
    "how high counts are and when lines were written: only that counts do not fall",
    "the order of slots within a phase: calls finish in any order",
)
"""What no journal can show."""
KEPT = (
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
"""A resume goes back to what they were."""
SPENT = ("sent", "cost")
"""What was sent and paid is never taken back."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    """What came of it."""

    counts: dict[Claim, tuple[int, int]]
    """(Places that hold, places looked at) a claim."""
    faults: tuple[Fault, ...]
    """In the order of the journal."""
    unchecked: tuple[tuple[str, int], ...]
    """(Why something could not be checked, how often)."""
    lines: int
    steps: int
    """Whole steps that count, the first population left out."""
    has_ended: bool
    void_lines: int
    """Lines that a resume took back; they are checked as far as they went."""
    times_back: int
    is_torn: bool
    report_line: int | None
    """First line of report.md that this version would write in another way; None where there is none, or no report."""

    @property
    def holds(self) -> bool:
        """Whether all that was looked at holds."""
        return not self.faults


def verify(directory: RunDirectory, exports: Ways | None = None) -> Verification:
    """Reads the run's files and asks nobody. Raises RunError where there is no run, or no rows.

    exports: how the files of the run's results are written anew; without it they are not compared.
    """
    ground, lines, ledger = ground_of(directory), read_journal(directory.journal), Ledger()
    check_data(ground, ledger)
    for lost in lines.damaged:
        written = f"cannot be read ({lost.reason})"
        ledger.compare("lines", At(line=lost.line), "record", written=written, follows="a record")
    story = story_of(lines.whole, ledger, steps=ground.problem.steps)
    known = _check_answers(directory, ground, lines, ledger)
    _check_bounds(directory, ground, story, lines, ledger)
    for chapter in story.chapters:
        _check_chapter(ground, chapter, known, ledger)
    _check_counts(lines.whole, ledger, answers=_answer_lines(directory))
    report_line = check_exports(directory, (exports or {}) if _ending(lines) else {}, ledger)
    return Verification(
        counts=ledger.counts(),
        faults=tuple(sorted(ledger.faults, key=lambda fault: fault.at.line)),
        unchecked=tuple(_unchecked(ground, ledger)),
        lines=len({*(line.number for line in lines.whole), *(lost.line for lost in lines.damaged)}),
        steps=1 + (-1 if story.last_step is None else story.last_step),
        has_ended=story.outcome is not None,
        void_lines=story.void_lines,
        times_back=_times_back(lines.whole),
        is_torn=lines.is_torn,
        report_line=report_line,
    )


def _check_answers(directory: RunDirectory, ground: Ground, lines: Journalled, ledger: Ledger) -> Known:
    """And every answer that is known, by the journal or by answers.jsonl."""
    memory = Memory(ledger, steps=ground.problem.steps)
    memory.go_through(lines.whole)
    if not directory.answers.exists():
        ledger.skip("answers.jsonl is not there")
        return memory.known
    reader = AnswerReader(directory.answers)
    reader.refresh()
    said = {pair: prediction.value for pair, prediction in reader.by_pair.items()}
    memory.compare_with(said)
    return said | memory.known


def _answer_lines(directory: RunDirectory) -> int | None:
    if not directory.answers.exists():
        return None
    with directory.answers.open("rb") as file:
        return sum(1 for _ in file)


def _check_bounds(directory: RunDirectory, ground: Ground, story: Story, lines: Journalled, ledger: Ledger) -> None:
    """How the run began, and that what is said to be finished is."""
    if story.started:
        check_started(ground, story.started, ledger)
    elif lines.whole:
        ledger.compare("lines", At(line=lines.whole[0].number), "run_started", written=None, follows="first of all")
    is_finished = story.outcome is not None and story.outcome.event.outcome == "finished"
    last = At(line=lines.whole[-1].number if lines.whole else 0)
    if directory.status() == "finished":
        ledger.compare("lines", last, "run_finished", written=is_finished, follows=True)
    if is_finished or directory.status() == "finished":
        ledger.compare("lines", last, "last whole step", written=story.last_step, follows=ground.problem.steps - 1)
    if (ending := _ending(lines)) and directory.status() in ("finished", "stopped", "failed"):
        ledger.compare("data", FILES, "status", written=directory.status(), follows=ending)
    elif ending:
        ledger.skip("the status in run.json: the run's worker ended before it wrote the last one")
    if not is_finished:
        return
    end = story.chapters[-1] if story.chapters and story.chapters[-1].kind == "end" else None
    splits = [told.event.split for told in end.evaluated] if end else []
    ledger.compare("lines", last, "evaluated", written=splits, follows=["test", "train"])


def _ending(lines: Journalled) -> str:
    """How the run has ended, by the last line; empty while it may go on."""
    last = lines.whole[-1].record.event if lines.whole else None
    return last.outcome if isinstance(last, RunFinished) else "failed" if isinstance(last, RunFailed) else ""


def _check_chapter(ground: Ground, chapter: Chapter, known: Known, ledger: Ledger) -> None:
    if chapter.kind == "first":
        check_first(ground, chapter, ledger)
        check_tau(ground, chapter, known, ledger)
        check_first_population(ground, chapter, ledger)
    elif chapter.kind == "end":
        check_final_scores(ground, chapter, ledger)
        check_final_weights(ground, chapter, ledger)
        check_end(ground, chapter, ledger)
    else:
        _check_step(ground, chapter, ledger)


def _check_step(ground: Ground, chapter: Chapter, ledger: Ledger) -> None:
    check_scores(ground, chapter, ledger)
    check_weights(ground, chapter, ledger)
    check_proposals(ground, chapter, ledger)
    slots = after_moves(ground, chapter)
    if slots:
        check_size(ground, chapter, slots, ledger)
    check_looks(ground, chapter, slots, ledger)
    check_population(ground, chapter, slots, ledger)


def _check_counts(lines: Iterable[Numbered], ledger: Ledger, *, answers: int | None) -> None:
    """What a run has asked and heard never falls, but to the last whole step where it is resumed.

    answers: lines of answers.jsonl; None where it is not there.
    """
    floor = kept = _fields(Usage(), 0)
    for line in lines:
        record, at = line.record, At(line=line.number, step=getattr(line.record.event, "step", None))
        now = _fields(record.usage, record.answers)
        if _may_go_back(record.event):
            floor = {name: floor[name] if name in SPENT else kept[name] for name in now}
        fallen = {name: value for name, value in now.items() if value < floor[name]}
        ledger.compare("counts", at, "counts that fall", written=fallen, follows={})
        floor = {name: max(value, floor[name]) if name in SPENT else value for name, value in now.items()}
        if isinstance(record.event, StepFinished):
            kept = now
        if isinstance(record.event, StepFinished | RunFinished) and answers is not None:
            at_most = min(record.answers, answers)
            ledger.compare("counts", at, "lines of answers.jsonl", written=record.answers, follows=at_most)


def _fields(usage: Usage, answers: int) -> dict[str, float]:
    return {name: getattr(usage, name) for name in (*KEPT, *SPENT)} | {"answers": answers}


def _may_go_back(event: Event) -> bool:
    """A worker that takes a run up again begins with the last whole step's counts, whatever it tells first."""
    return isinstance(event, RunResumed | RunPaused | RunFailed | RunFinished)


def _times_back(lines: Iterable[Numbered]) -> int:
    """Records that are older than the one before them: a clock was set back, or lines stand in another order."""
    times = [line.record.at for line in lines]
    return sum(later < earlier for earlier, later in pairwise(times))


def _unchecked(ground: Ground, ledger: Ledger) -> Iterator[tuple[str, int]]:
    yield from sorted(ledger.unchecked.items())
    if any(text is None for text in ground.spec.templates.values()):
        yield "the product's own templates: they may have changed since", 1
    for what in BEYOND:
        yield what, 1
