"""Counts: what a run has asked and heard never falls, but to the last whole step where it is resumed."""

from collections.abc import Iterable
from itertools import pairwise

from vpp.events import Event, RunFailed, RunFinished, RunPaused, RunResumed, StepFinished
from vpp.usage import Usage
from vpp.verification.ledger import At, Ledger
from vpp.verification.lines import Line

KEPT = ("learner", "optimizer", "cached", "failed", "retried", "unparsable", "prompt_tokens", "completion_tokens")
"""A resume goes back to what they were."""
SPENT = ("sent", "cost")
"""What was sent and paid is never taken back."""


def check_counts(lines: Iterable[Line], ledger: Ledger, *, answers: int | None) -> None:
    """Of every record. answers: lines of answers.jsonl; None where it is not there."""
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


def times_back(lines: Iterable[Line]) -> int:
    """Records that are older than the one before them: a clock was set back, or lines stand in another order."""
    times = [line.record.at for line in lines]
    return sum(later < earlier for earlier, later in pairwise(times))
