"""Read a journal and split it into segments: the initial population, one a step, and the end.

Calls finish in any order, so the slots of a phase may be recorded in any order; phases, and the events of one slot,
have a fixed order. A segment that a resume discarded is kept as void.
"""

import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Generic, Literal, TypeVar

from vpp.errors import RunError
from vpp.events import (
    INITIAL_STEP,
    Evaluated,
    Event,
    ParticleDrawn,
    Proposed,
    Resampled,
    Reweighted,
    RunFailed,
    RunFinished,
    RunPaused,
    RunResumed,
    RunStarted,
    Scored,
    StepFinished,
)
from vpp.runs.journal import Record, decoded
from vpp.runs.lines import Lines, Lost
from vpp.runs.soundness import undefined
from vpp.verification.ledger import At, Ledger


@dataclass(frozen=True, slots=True, kw_only=True)
class Numbered:
    """A record and its line number."""

    number: int
    """Line number, from 1."""
    record: Record


@dataclass(frozen=True, slots=True, kw_only=True)
class Journal:
    """All lines of a journal."""

    records: tuple[Numbered, ...]
    damaged: tuple[Lost, ...]
    """Unreadable lines."""
    is_torn: bool
    """True if the last line has no end: its writer was interrupted, or is still writing."""


def read_journal(path: Path) -> Journal:
    """Read every record; empty if there is no file. Raises RunError if a newer version of the program wrote it."""
    records: list[Numbered] = []
    damaged: list[Lost] = []
    for line in Lines(path).new():
        for record in decoded(line):
            if isinstance(record, Lost) and record.is_newer:
                raise RunError(f"{path}: line {record.line} is {record.reason}: verify it with that version")
            if isinstance(record, Lost):
                damaged.append(record)
            elif why := undefined(record.event):
                damaged.append(Lost(line=line.number, start=line.start, reason=why))
            else:
                records.append(Numbered(number=line.number, record=record))
    return Journal(records=tuple(records), damaged=tuple(damaged), is_torn=_is_torn(path))


def _is_torn(path: Path) -> bool:
    if not path.exists() or not path.stat().st_size:
        return False
    with path.open("rb") as file:
        file.seek(-1, os.SEEK_END)
        return file.read() != b"\n"


E = TypeVar("E")
Kind = Literal["first", "step", "end"]


@dataclass(frozen=True, slots=True)
class Recorded(Generic[E]):
    """An event and its line number."""

    line: int
    event: E


@dataclass(slots=True, kw_only=True)
class Segment:
    """Events of one step, of the initial population, or after the last step."""

    step: int
    """Its step; at the end one more than the last finished step."""
    before: StepFinished | None
    """Population at its beginning; None for the initial population, and if it is not recorded."""
    kind: Kind = "step"
    is_void: bool = False
    """True if a resume discarded it."""
    lines: int = 0
    drawn: dict[int, Recorded[ParticleDrawn]] = field(default_factory=dict)
    """First hypotheses or newcomers, by slot."""
    scored: dict[int, Recorded[Scored]] = field(default_factory=dict)
    """Scores of the particles by slot, for the step's weights or decisions; at the end for the final weights."""
    proposal_scores: dict[int, Recorded[Scored]] = field(default_factory=dict)
    """Scores of the proposals, by slot."""
    reweighted: Recorded[Reweighted] | None = None
    resampled: Recorded[Resampled] | None = None
    shrunk: Recorded[Resampled] | None = None
    proposed: dict[int, Recorded[Proposed]] = field(default_factory=dict)
    evaluated: list[Recorded[Evaluated]] = field(default_factory=list)
    finished: Recorded[StepFinished] | None = None
    last_line: int = 0

    @property
    def is_finished(self) -> bool:
        """True if its step finished."""
        return self.finished is not None

    def at(self, slot: int | None = None) -> At:
        """Its last line, which stands for the place of a missing event."""
        return At(line=self.last_line, step=self.step, slot=slot)


@dataclass(slots=True)
class Timeline:
    """Segments of a journal in order, its start and its outcome."""

    segments: list[Segment] = field(default_factory=list)
    started: Recorded[RunStarted] | None = None
    outcome: Recorded[RunFinished] | None = None
    """The last run_finished, unless the run continued after it."""
    void_lines: int = 0

    @property
    def last_step(self) -> int | None:
        """Last finished step that no resume discarded."""
        finished = [each.step for each in self.segments if each.is_finished and not each.is_void]
        return finished[-1] if finished else None


def split_journal(lines: Iterable[Numbered], ledger: Ledger, *, steps: int) -> Timeline:
    """Split the journal into segments, and check that each line may be where it is. steps: T."""
    splitter = _Splitter(ledger, steps)
    for line in lines:
        splitter.take(line)
    splitter.close()
    return splitter.timeline


class _Splitter:
    """Assigns each event to its segment, and checks the order of the phases."""

    def __init__(self, ledger: Ledger, steps: int) -> None:
        self.timeline = Timeline()
        self._ledger = ledger
        self._steps = steps
        self._population: StepFinished | None = None
        self._segment = Segment(step=INITIAL_STEP, before=None, kind="first")
        self._phase = 0
        self._by_slot: dict[int, int] = {}
        self._is_recording = False
        """True while a sampler may record events."""

    def take(self, line: Numbered) -> None:
        """Add a line."""
        event, at = line.record.event, At(line=line.number, step=getattr(line.record.event, "step", None))
        match event:
            case RunStarted():
                self._expect(self.timeline.started is None, at, "run_started", "once, first of all")
                self.timeline.started, self._is_recording = Recorded(line.number, event), True
            case RunResumed():
                self._resume(event, at)
            case RunPaused() | RunFailed() | RunFinished():
                self._expect(not self._is_over(), at, event.type, "nothing after run_finished")
                self._is_recording = False
                self.timeline.outcome = Recorded(line.number, event) if isinstance(event, RunFinished) else None
            case _:
                self._expect(self._is_recording, at, event.type, "run_started or run_resumed first")
                self._add(line.number, event, at)

    def close(self) -> None:
        """Keep the segment that is still open."""
        if self._segment.lines:
            self.timeline.segments.append(self._segment)

    def _is_over(self) -> bool:
        outcome = self.timeline.outcome
        return outcome is not None and outcome.event.outcome == "finished"

    def _expect(self, holds: bool, at: At, what: str, follows: str) -> None:
        self._ledger.compare("lines", at, what, written=follows if holds else "here", follows=follows)

    def _resume(self, event: RunResumed, at: At) -> None:
        last = None if self._population is None else self._population.step
        is_held = event.step is not None and event.step >= self._steps
        self._expect(self.timeline.started is not None and not self._is_over(), at, event.type, "a run that can go on")
        self._is_recording, self.timeline.outcome = True, None
        if is_held:
            return
        self._ledger.compare("lines", at, "last finished step", written=event.step, follows=last)
        self._segment.is_void = True
        self.timeline.void_lines += self._segment.lines
        self._next_segment()

    def _next_segment(self) -> None:
        """Begin the segment after the last recorded population."""
        self.close()
        step = INITIAL_STEP if self._population is None else self._population.step + 1
        self._segment = Segment(step=step, before=self._population, kind="step" if self._population else "first")
        self._phase, self._by_slot = 0, {}

    def _add(self, number: int, event: Event, at: At) -> None:
        if not self._is_of_this_segment(event, at):
            return
        segment = self._segment
        is_in_order = self._advances(event) and _place_event(segment, Recorded(number, event))
        self._expect(is_in_order, at, event.type, f"its place in {_place(segment)}, once")
        segment.lines += 1
        segment.last_line = number
        if isinstance(event, StepFinished):
            self._population = event
            self._next_segment()

    def _is_of_this_segment(self, event: Event, at: At) -> bool:
        """True unless the event belongs to an earlier step; opens a new segment for a later step."""
        step = getattr(event, "step", self._segment.step)
        if _is_of_the_end(event) or (isinstance(event, Evaluated) and step == self._segment.step - 1):
            if not self._segment.lines and self._segment.step > INITIAL_STEP:
                self._segment.kind = "end"
            step += 1
        if step > self._segment.step:
            self._ledger.compare("lines", at, "finished steps before", written=step - 1, follows=self._segment.step - 1)
            self.close()
            self._segment = Segment(step=step, before=None, kind="end" if _is_of_the_end(event) else "step")
            self._phase, self._by_slot = 0, {}
        elif step < self._segment.step:
            self._ledger.compare("lines", at, "step", written=step, follows=self._segment.step)
        return step >= self._segment.step

    def _advances(self, event: Event) -> bool:
        """True if the event's phase is not earlier than that of the event before it."""
        phase, slot_phase = _phase(event, self._segment)
        slot = getattr(event, "particle", None)
        if phase < self._phase or (slot is not None and slot_phase < self._by_slot.get(slot, 0)):
            return False
        self._phase = phase
        if slot is not None:
            self._by_slot[slot] = slot_phase
        return True


def _is_of_the_end(event: Event) -> bool:
    return isinstance(event, Scored | Reweighted) and event.role == "final"


def _place(segment: Segment) -> str:
    return {"first": "the first population", "end": "the end"}.get(segment.kind, f"step {segment.step}")


def _phase(event: Event, segment: Segment) -> tuple[int, int]:
    """Phase of the event within the segment, and among the events of one slot."""
    match event:
        case Scored():
            return {"buffer": (1, 1), "forward": (4, 4), "proposal": (4, 5), "final": (1, 1)}[event.role]
        case Reweighted():
            return (2, 0)
        case Resampled():
            return (3, 0) if event.why == "ess" else (7, 0)
        case Proposed():
            return (4, 6)
        case ParticleDrawn():
            return (7, 7)
        case Evaluated():
            is_last = segment.kind == "end" and event.split == "train"
            return (9 if is_last else 8, 0)
        case _:
            return (10, 0)


def _place_event(segment: Segment, recorded: Recorded[Event]) -> bool:
    """Put the event in its place; False if the place is taken or does not exist in such a segment."""
    event, line = recorded.event, recorded.line
    match event:
        case ParticleDrawn():
            return _put(segment.drawn, event.particle, Recorded(line, event)) and segment.kind != "end"
        case Scored(role="proposal"):
            return _put(segment.proposal_scores, event.particle, Recorded(line, event)) and segment.kind == "step"
        case Scored():
            is_fitting = segment.kind == ("end" if event.role == "final" else "step")
            return _put(segment.scored, event.particle, Recorded(line, event)) and is_fitting
        case Proposed():
            return _put(segment.proposed, event.particle, Recorded(line, event)) and segment.kind == "step"
        case Evaluated():
            is_new = all(each.event.split != event.split for each in segment.evaluated)
            segment.evaluated.append(Recorded(line, event))
            return is_new and segment.kind != "first"
        case _:
            return _place_single(segment, line, event)


def _place_single(segment: Segment, line: int, event: Event) -> bool:
    """Put an event that a segment has at most once; returns as `_place_event` does."""
    match event:
        case Reweighted():
            is_new, segment.reweighted = segment.reweighted is None, Recorded(line, event)
            return is_new and segment.kind == ("end" if event.role == "final" else "step")
        case Resampled(why="ess"):
            is_new, segment.resampled = segment.resampled is None, Recorded(line, event)
            return is_new and segment.kind == "step"
        case Resampled():
            is_new, segment.shrunk = segment.shrunk is None, Recorded(line, event)
            return is_new and segment.kind == "step"
        case StepFinished():
            segment.finished = Recorded(line, event)
            return segment.kind != "end"
    return False


def _put(places: dict[int, Recorded[E]], slot: int, recorded: Recorded[E]) -> bool:
    is_new = slot not in places
    places[slot] = recorded
    return is_new
