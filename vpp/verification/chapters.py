"""The journal in chapters: what stands between two whole steps, or after the last, in an order that a run can tell.

Calls finish in any order, so slots may be told in any order within a phase; phases, and what is told of one slot, have
one order. A run that was resumed tells a chapter anew: what a resume takes back stays, as void.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Generic, Literal, TypeVar

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
from vpp.verification.journal import Numbered
from vpp.verification.ledger import At, Ledger

E = TypeVar("E")
Kind = Literal["first", "step", "end"]


@dataclass(frozen=True, slots=True)
class Told(Generic[E]):
    """An event and the line it stands in."""

    line: int
    event: E


@dataclass(slots=True, kw_only=True)
class Chapter:
    """What is told from one population to the next, or after the last."""

    step: int
    """The step that it tells; of an end, one more than the last whole step."""
    before: StepFinished | None
    """The population it begins with; None before the first, and where that is not told."""
    kind: Kind = "step"
    is_void: bool = False
    """Whether a resume took it back."""
    lines: int = 0
    drawn: dict[int, Told[ParticleDrawn]] = field(default_factory=dict)
    """By slot, as all below: first hypotheses, or newcomers."""
    scored: dict[int, Told[Scored]] = field(default_factory=dict)
    """On the rows of the step's weights or decisions; at the end, of the final weights."""
    judged: dict[int, Told[Scored]] = field(default_factory=dict)
    """Proposals."""
    reweighted: Told[Reweighted] | None = None
    resampled: Told[Resampled] | None = None
    shrunk: Told[Resampled] | None = None
    proposed: dict[int, Told[Proposed]] = field(default_factory=dict)
    evaluated: list[Told[Evaluated]] = field(default_factory=list)
    finished: Told[StepFinished] | None = None
    last_line: int = 0

    @property
    def is_whole(self) -> bool:
        """Whether its step came to its end."""
        return self.finished is not None

    def at(self, slot: int | None = None) -> At:
        """Its last line: where something that is missing would have stood."""
        return At(line=self.last_line, step=self.step, slot=slot)


@dataclass(slots=True)
class Story:
    """A journal's chapters in order, and how it ends."""

    chapters: list[Chapter] = field(default_factory=list)
    started: Told[RunStarted] | None = None
    outcome: Told[RunFinished] | None = None
    """Where the last word is that the run has ended."""
    void_lines: int = 0

    @property
    def last_step(self) -> int | None:
        """The last whole step that counts."""
        whole = [c.step for c in self.chapters if c.is_whole and not c.is_void]
        return whole[-1] if whole else None


def story_of(lines: Iterable[Numbered], ledger: Ledger, *, steps: int) -> Story:
    """Parts the lines into chapters, and tells the ledger of each line whether it may stand where it does.

    steps: T.
    """
    telling = _Telling(ledger, steps)
    for line in lines:
        telling.take(line)
    telling.close()
    return telling.story


class _Telling:
    def __init__(self, ledger: Ledger, steps: int) -> None:
        self.story = Story()
        self._ledger = ledger
        self._steps = steps
        self._standing: StepFinished | None = None
        self._chapter = Chapter(step=INITIAL_STEP, before=None, kind="first")
        self._phase = 0
        self._by_slot: dict[int, int] = {}
        self._going = False
        """Whether a sampler may tell something now."""

    def take(self, line: Numbered) -> None:
        """One more line."""
        event, at = line.record.event, At(line=line.number, step=getattr(line.record.event, "step", None))
        match event:
            case RunStarted():
                self._expect(self.story.started is None, at, "run_started", "once, first of all")
                self.story.started, self._going = Told(line.number, event), True
            case RunResumed():
                self._resume(event, at)
            case RunPaused() | RunFailed() | RunFinished():
                self._expect(not self._is_over(), at, event.type, "nothing after run_finished")
                self._going = False
                self.story.outcome = Told(line.number, event) if isinstance(event, RunFinished) else None
            case _:
                self._expect(self._going, at, event.type, "run_started or run_resumed first")
                self._tell(line.number, event, at)

    def close(self) -> None:
        """Keeps the chapter that is still open."""
        if self._chapter.lines:
            self.story.chapters.append(self._chapter)

    def _is_over(self) -> bool:
        outcome = self.story.outcome
        return outcome is not None and outcome.event.outcome == "finished"

    def _expect(self, holds: bool, at: At, what: str, follows: str) -> None:
        self._ledger.compare("lines", at, what, written=follows if holds else "here", follows=follows)

    def _resume(self, event: RunResumed, at: At) -> None:
        last = None if self._standing is None else self._standing.step
        is_held = event.step is not None and event.step >= self._steps
        self._expect(self.story.started is not None and not self._is_over(), at, event.type, "a run that can go on")
        self._going, self.story.outcome = True, None
        if is_held:
            return
        self._ledger.compare("lines", at, "last whole step", written=event.step, follows=last)
        self._chapter.is_void = True
        self.story.void_lines += self._chapter.lines
        self._turn()

    def _turn(self) -> None:
        """Begins the chapter after the population that stands."""
        self.close()
        step = INITIAL_STEP if self._standing is None else self._standing.step + 1
        self._chapter = Chapter(step=step, before=self._standing, kind="step" if self._standing else "first")
        self._phase, self._by_slot = 0, {}

    def _tell(self, number: int, event: Event, at: At) -> None:
        if not self._is_of_this_chapter(event, at):
            return
        chapter = self._chapter
        is_in_order = self._advances(event) and _enter(chapter, Told(number, event))
        self._expect(is_in_order, at, event.type, f"its place in {_place(chapter)}, once")
        chapter.lines += 1
        chapter.last_line = number
        if isinstance(event, StepFinished):
            self._standing = event
            self._turn()

    def _is_of_this_chapter(self, event: Event, at: At) -> bool:
        """Opens another where a step is told whose population is not; leaves out what is told too late."""
        step = getattr(event, "step", self._chapter.step)
        if _is_of_the_end(event) or (isinstance(event, Evaluated) and step == self._chapter.step - 1):
            if not self._chapter.lines and self._chapter.step > INITIAL_STEP:
                self._chapter.kind = "end"
            step += 1
        if step > self._chapter.step:
            self._ledger.compare("lines", at, "whole steps before", written=step - 1, follows=self._chapter.step - 1)
            self.close()
            self._chapter = Chapter(step=step, before=None, kind="end" if _is_of_the_end(event) else "step")
            self._phase, self._by_slot = 0, {}
        elif step < self._chapter.step:
            self._ledger.compare("lines", at, "step", written=step, follows=self._chapter.step)
        return step >= self._chapter.step

    def _advances(self, event: Event) -> bool:
        """Whether the event's phase is that of the one before it, or a later one."""
        phase, slot_phase = _phase(event, self._chapter)
        slot = getattr(event, "particle", None)
        if phase < self._phase or (slot is not None and slot_phase < self._by_slot.get(slot, 0)):
            return False
        self._phase = phase
        if slot is not None:
            self._by_slot[slot] = slot_phase
        return True


def _is_of_the_end(event: Event) -> bool:
    return isinstance(event, Scored | Reweighted) and event.role == "final"


def _place(chapter: Chapter) -> str:
    return {"first": "the first population", "end": "the end"}.get(chapter.kind, f"step {chapter.step}")


def _phase(event: Event, chapter: Chapter) -> tuple[int, int]:
    """Its phase within the chapter, and within the phase's tale of one slot."""
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
            is_last = chapter.kind == "end" and event.split == "train"
            return (9 if is_last else 8, 0)
        case _:
            return (10, 0)


def _enter(chapter: Chapter, told: Told[Event]) -> bool:
    """Puts the event in its place; whether the place was free and is one of such a chapter."""
    event, line = told.event, told.line
    match event:
        case ParticleDrawn():
            return _put(chapter.drawn, event.particle, Told(line, event)) and chapter.kind != "end"
        case Scored(role="proposal"):
            return _put(chapter.judged, event.particle, Told(line, event)) and chapter.kind == "step"
        case Scored():
            is_fitting = chapter.kind == ("end" if event.role == "final" else "step")
            return _put(chapter.scored, event.particle, Told(line, event)) and is_fitting
        case Proposed():
            return _put(chapter.proposed, event.particle, Told(line, event)) and chapter.kind == "step"
        case Evaluated():
            is_new = all(each.event.split != event.split for each in chapter.evaluated)
            chapter.evaluated.append(Told(line, event))
            return is_new and chapter.kind != "first"
        case _:
            return _enter_once(chapter, line, event)


def _enter_once(chapter: Chapter, line: int, event: Event) -> bool:
    """As `_enter`, of what a chapter tells once at most."""
    match event:
        case Reweighted():
            is_new, chapter.reweighted = chapter.reweighted is None, Told(line, event)
            return is_new and chapter.kind == ("end" if event.role == "final" else "step")
        case Resampled(why="ess"):
            is_new, chapter.resampled = chapter.resampled is None, Told(line, event)
            return is_new and chapter.kind == "step"
        case Resampled():
            is_new, chapter.shrunk = chapter.shrunk is None, Told(line, event)
            return is_new and chapter.kind == "step"
        case StepFinished():
            chapter.finished = Told(line, event)
            return chapter.kind != "end"
    return False


def _put(places: dict[int, Told[E]], slot: int, told: Told[E]) -> bool:
    is_new = slot not in places
    places[slot] = told
    return is_new
