"""Verification of a run: replay its sampler on the recorded answers, without a model, and compare the events.

Learner and optimizer of the replay repeat what the run recorded. Everything else in the journal follows from data.csv,
run.json and the seed, and has to come out again: floats to `TOLERANCE`, events of different particles in any order.
"""

import asyncio
import math
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, aclosing
from dataclasses import asdict, dataclass, replace
from typing import Any, cast

from vpp.events import (
    Certified,
    Event,
    ParticleDrawn,
    Proposed,
    RunFailed,
    RunFinished,
    RunPaused,
    RunResumed,
    RunStarted,
    StepFinished,
)
from vpp.inference import sample
from vpp.inference.sampling import PRIOR_DRAWS, conclude
from vpp.llm.learner import LearnerOptions
from vpp.llm.limits import Counters
from vpp.llm.prompts import ProgramPrompts
from vpp.llm.protocol import Completion
from vpp.llm.translator import ProgramLearner
from vpp.problem import Problem, Proposal
from vpp.programs.columns import Columns
from vpp.programs.sandbox import Sandbox
from vpp.randomness import call_seed
from vpp.runs.directory import RunDirectory, load_dataset
from vpp.runs.group import RecordedLearner
from vpp.runs.journal import JournalReader, RecordedAnswers
from vpp.runs.preparation import problem_of, start_of
from vpp.runs.view import fold, population_of
from vpp.settings import Config

TOLERANCE = 1e-9
"""Relative tolerance of floats; the absolute tolerance is a thousandth of it."""
BEYOND = (
    "whether models gave these answers; counts, times and templates; lines that a resume discarded, and those of an "
    "unfinished step; posterior.json and predictions.csv, which `vpp report` writes again"
)
"""Facts that no replay derives."""
NOTHING = "nothing"
"""Stands for a value that one side lacks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """The first difference in a line."""

    line: int
    """Of events.jsonl, from 1."""
    what: str
    """Name of the value: the event's type, a field, then the keys and places in it."""
    written: Any
    follows: Any
    """Derived value."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    n_compared: int
    """Lines compared."""
    faults: tuple[Fault, ...]
    """In the order of the journal."""
    has_ended: bool

    @property
    def holds(self) -> bool:
        return not self.faults


def verify(directory: RunDirectory) -> Verification:
    """Verify a run from its files.

    Raises RunError if there is no run, or its rows are not those that it had, and JournalDamaged.
    """
    spec = directory.spec()
    dataset = load_dataset(directory, spec)
    problem, reader = problem_of(spec, dataset), JournalReader(directory.journal)
    written = _written(reader)
    faults: list[Fault] = []
    if written:
        line, first = written[0]
        versions, templates = (first.versions, first.templates) if isinstance(first, RunStarted) else ({}, {})
        due = replace(start_of(spec, dataset, versions=versions), templates=templates)
        faults += _faults(line, first, due)
    if written and not faults:
        faults += _check(written[1:], reader, _with_answers(problem, reader.answers, written), spec.config)
    return Verification(
        n_compared=len(written),
        faults=tuple(sorted(faults, key=lambda fault: fault.line)),
        has_ended=_has_ended(reader),
    )


def _written(reader: JournalReader) -> list[tuple[int, Event]]:
    """Return the sampler's events with their lines, without those that a resume discarded or of an unfinished step.

    The first is the run's start.
    """
    events: list[tuple[int, Event]] = []
    n_settled = 1
    for record in reader.new_records():
        match record.event:
            case RunResumed(step=step) if step != reader.view.total_steps:
                del events[n_settled:]
            case RunResumed() | RunPaused() | RunFailed() | RunFinished():
                pass
            case event:
                events.append((reader.n_lines, event))
                n_settled = len(events) if isinstance(event, StepFinished) else n_settled
    return events if _has_ended(reader) else events[:n_settled]


def _has_ended(reader: JournalReader) -> bool:
    return reader.view.phase in ("finished", "stopped")


# The replay


@dataclass(frozen=True, slots=True)
class _Recorded(RecordedLearner):
    """The run's learner and optimizer, as recorded. A proposal that was never made is unreadable.

    The sampler asks ahead for more than was recorded: no line of the journal needs it.
    """

    proposals: Mapping[int, Proposal]
    """By the seed of their call."""

    async def propose(self, *_: Any, temperature: float, seed: int) -> Proposal:
        return await self.draw(temperature=temperature, seed=seed)

    async def draw(self, *, temperature: float, seed: int) -> Proposal:
        unreadable = Proposal(text=None, raw="", temperature=temperature, seed=seed)
        return replace(self.proposals.get(seed, unreadable), temperature=temperature)

    async def complete(self, *_: Any, **__: Any) -> Completion:
        """Refuse a translation that was asked for ahead, and never recorded."""
        return Completion(text="no program", finish_reason="stop", prompt_tokens=0, completion_tokens=0)


def _with_answers(problem: Problem, answers: RecordedAnswers, written: Sequence[tuple[int, Event]]) -> Problem:
    """Return the problem with what was recorded in the place of its models."""
    proposals = dict(each for _, event in written for each in _proposals_in(event, problem.seed))
    recorded = _Recorded(answers.by_pair | answers.readings, proposals)
    return replace(problem, learner=recorded, optimizer=recorded)


def _proposals_in(event: Event, seed: int) -> Iterator[tuple[int, Proposal]]:
    """Yield an event's proposal by the seeds that the sampler asks for it with."""
    match event:
        case ParticleDrawn(particle=slot):
            first = call_seed(seed, "draw", 0, slot)
            seeds = [first, *(call_seed(first, "draw", again) for again in range(PRIOR_DRAWS))]
            text = event.text if event.reason is None else None
        case Proposed(step=step, particle=slot):
            seeds, text = [call_seed(seed, "propose", step, slot)], event.text
        case _:
            return
    same = {name: getattr(event, name) for name in ("raw", "temperature", "reason", "refused", "shown", "thoughts")}
    yield from ((each, Proposal(text=text, seed=each, **same)) for each in seeds)


def _with_programs(problem: Problem, config: Config, answers: RecordedAnswers, sandbox: Sandbox) -> Problem:
    """Return the problem whose learner runs the recorded programs."""
    recorded = cast(Any, problem.learner)
    learner = ProgramLearner(
        recorded,
        recorded,
        ProgramPrompts(dataset=problem.dataset, columns=Columns(problem.dataset)),
        LearnerOptions(seed=problem.seed, max_tokens=1),
        sandbox,
        counters=Counters(),
        falls_back=config.reading == "auto",
    )
    learner.preload_programs(answers.programs)
    return replace(problem, learner=learner, reader=recorded)


async def _replay(problem: Problem, config: Config, reader: JournalReader, events: list[Event]) -> bool:
    """Add the sampler's events up to the last finished step, and those of the end of a run that has ended.

    Return True if the run is finished, and the sampler goes on after that step.
    """
    async with AsyncExitStack() as stack:
        if config.has_programs:
            sandbox = await stack.enter_async_context(Sandbox())
            problem = _with_programs(problem, config, reader.answers, sandbox)
        sampled = await stack.enter_async_context(aclosing(cast(AsyncGenerator[Event, None], sample(problem, config))))
        n_steps = len(reader.view.finished_steps)
        while n_steps and (event := await anext(sampled, None)):
            events.append(event)
            n_steps -= isinstance(event, StepFinished)
        goes_on = reader.view.phase == "finished" and await anext(sampled, None) is not None
        if _has_ended(reader) and (population := population_of(fold(events))):
            async for event in conclude(problem, config, population):
                events.append(event)
    return goes_on


def _check(
    written: Sequence[tuple[int, Event]], reader: JournalReader, problem: Problem, config: Config
) -> Iterator[Fault]:
    """Compare the sampler's lines with the replay."""
    events: list[Event] = []
    end, goes_on = NOTHING, False
    try:
        goes_on = asyncio.run(_replay(problem, config, reader, events))
    except (ArithmeticError, LookupError, TypeError, ValueError) as error:
        end = f"nothing: the sampler fails ({error})"
    due = {_address(event): event for event in events}
    for line, event in written:
        follows = due.pop(_address(event), None)
        if follows is None:
            yield Fault(line=line, what="record", written=_name(event), follows=end)
        else:
            yield from _faults(line, event, follows)
    if reader.view.phase == "finished":
        last, line = reader.view.last_step, reader.n_lines
        if goes_on:
            yield Fault(line=line, what="last finished step", written=last, follows=problem.steps - 1)
        if due:
            yield Fault(line=line, what="missing records", written=[], follows=list(map(_name, due.values())))


def _faults(line: int, written: Event, follows: Event) -> Iterator[Fault]:
    """Yield the first difference, if there is one."""
    if written == follows:
        return
    ours, theirs = (dict(_leaves(event.type, asdict(event))) for event in (written, follows))
    for what in dict.fromkeys([*ours, *theirs]):
        value, due = ours.get(what, NOTHING), theirs.get(what, NOTHING)
        if not _is_same(value, due):
            yield Fault(line=line, what=what, written=value, follows=due)
            return


def _leaves(what: str, value: Any) -> Iterator[tuple[str, Any]]:
    """Yield (name, value) of every value in mappings and sequences."""
    if isinstance(value, list | tuple):
        value = dict(enumerate(value))
    if not isinstance(value, dict):
        yield what, value
        return
    for key, each in value.items():
        yield from _leaves(f"{what} {key}", each)


def _is_same(written: Any, follows: Any) -> bool:
    """True for equal values, floats to the tolerance."""
    if isinstance(written, bool) or isinstance(follows, bool):
        return written is follows
    if isinstance(written, int | float) and isinstance(follows, int | float):
        both_undefined = math.isnan(written) and math.isnan(follows)
        return both_undefined or math.isclose(written, follows, rel_tol=TOLERANCE, abs_tol=TOLERANCE / 1000)
    return bool(written == follows)


def _address(event: Event) -> tuple[object, ...]:
    """Return what distinguishes an event from all others: particles are in any order."""
    names = ("type", "step", "particle", "role", "split")
    text = event.hypothesis if isinstance(event, Certified) else None
    return (*(getattr(event, name, None) for name in names), text)


def _name(event: Event) -> str:
    """`scored, step 3, particle 2, role buffer`, with steps as the journal counts them."""
    parts = ((name, getattr(event, name, None)) for name in ("step", "particle", "role", "split"))
    return ", ".join([event.type, *(f"{name} {value}" for name, value in parts if value is not None)])
