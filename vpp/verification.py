"""Verification of a run: replay its sampler on the recorded answers, without a model, and compare the events.

Learner and optimizer of the replay repeat what the run recorded. Everything else in the journal follows from data.csv,
run.json and the seed, and has to come out again: floats to `TOLERANCE`, events of different particles in any order.
"""

import asyncio
import math
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, aclosing, suppress
from dataclasses import asdict, dataclass, field, is_dataclass, replace
from typing import Any, cast

from pydantic import ValidationError

from vpp.data.dataset import Row
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
    Usage,
    hypothesis_id,
)
from vpp.inference import sample
from vpp.inference.sampling import PRIOR_DRAWS, conclude
from vpp.llm.learner import LearnerOptions
from vpp.llm.limits import Counters
from vpp.llm.prompts import ProgramPrompts
from vpp.llm.protocol import Completion
from vpp.llm.translator import ProgramLearner
from vpp.problem import Prediction, Problem, Proposal
from vpp.programs.columns import Columns
from vpp.programs.sandbox import Sandbox
from vpp.randomness import call_seed
from vpp.runs.directory import RunDirectory, load_dataset
from vpp.runs.journal import Answer, AnswerReader, Record, decode, read_answers
from vpp.runs.prompts import problem_of, start_of
from vpp.runs.spec import first_fault
from vpp.runs.view import fold, population_of
from vpp.settings import Config

TOLERANCE = 1e-9
"""Relative tolerance of floats; the absolute tolerance is a thousandth of it."""
BEYOND = (
    "whether models gave these answers, and whether they were parsed correctly: no model is called again",
    "counts, times, and templates",
    "lines that a resume discarded, and those of an unfinished step",
    "posterior.json and predictions.csv, which `vpp report` writes again from the journal",
)
"""Facts that no replay derives."""
NOTHING = "nothing"
"""Stands for a value that one side lacks."""
LISTS = (list, tuple)
Difference = tuple[str, Any, Any]
"""Name of a value, as written, and as derived."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """The first difference in a line."""

    what: str
    """Name of the value: a field, then the keys and the place in it."""
    written: Any
    follows: Any
    """Derived value."""
    line: int
    """Line of events.jsonl, from 1."""
    step: int | None = None
    slot: int | None = None


@dataclass(slots=True)
class _Ledger:
    faults: list[Fault] = field(default_factory=list)
    n_compared: int = 0

    def compare(self, what: str, written: object, follows: object, **place: Any) -> None:
        """Add a comparison, with the first difference."""
        self.n_compared += 1
        if difference := next(differences(what, written, follows), None):
            name, value, due = difference
            self.faults.append(Fault(what=name, written=value, follows=due, **place))


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    n_compared: int
    faults: tuple[Fault, ...]
    """Faults in the order of the journal."""
    lines: int
    """Lines read."""
    steps: int
    """Finished steps, without the initial population."""
    has_ended: bool

    @property
    def holds(self) -> bool:
        return not self.faults


def verify(directory: RunDirectory) -> Verification:
    """Verify a run from its files. Raises RunError if there is no run, or its rows are not those that it had."""
    spec, ledger = directory.spec(), _Ledger()
    dataset = load_dataset(directory, spec)
    problem = problem_of(spec, dataset)
    journal = _read_journal(directory, problem.steps, ledger)
    if started := journal.started:
        due = replace(start_of(spec, dataset, versions=started.versions), templates=started.templates)
        ledger.compare(started.type, started, due, line=1)
    if not any(fault.line == 1 for fault in ledger.faults):
        _check_lines(journal, _with_answers(problem, directory, journal), spec.config, directory, ledger)
    return Verification(
        n_compared=ledger.n_compared,
        faults=tuple(sorted(ledger.faults, key=lambda fault: fault.line)),
        lines=journal.n_lines,
        steps=max(0, journal.n_finished - 1),
        has_ended=journal.has_ended,
    )


# The journal


@dataclass(slots=True)
class _Journal:
    """The lines of events.jsonl that count."""

    started: RunStarted | None = None
    phase: str = ""
    events: list[tuple[int, Event]] = field(default_factory=list)
    """Lines of the sampler's events, without those that a resume discarded."""
    n_settled: int = 0
    """Number of them up to the last finished step."""
    n_finished: int = 0
    """Finished steps, the initial population included."""
    n_lines: int = 0

    @property
    def has_ended(self) -> bool:
        return self.phase in ("finished", "stopped")

    def add(self, line: int, event: Event, *, steps: int) -> bool:
        """Add an event; False if it cannot come next. steps: T."""
        match event:
            case _ if self.phase == "finished":
                return False
            case RunStarted() if not self.started:
                self.started, self.phase = event, "running"
            case RunResumed() if event.step in (steps, self.n_finished - 2 if self.n_finished else None):
                if event.step != steps:
                    del self.events[self.n_settled :]
                self.phase = "running"
            case RunPaused() | RunFailed():
                self.phase = event.type
            case RunFinished():
                self.phase = event.outcome
            case _ if self.phase == "running" and not isinstance(event, RunStarted | RunResumed):
                self.events.append((line, event))
                if isinstance(event, StepFinished):
                    self.n_settled, self.n_finished = len(self.events), self.n_finished + 1
            case _:
                return False
        return True


def _read_journal(directory: RunDirectory, steps: int, ledger: _Ledger) -> _Journal:
    """Read events.jsonl up to the first line that is torn, cannot be read, or cannot come after those before it."""
    journal = _Journal()
    with suppress(FileNotFoundError), directory.journal.open("rb") as lines:
        for line, content in enumerate(lines, 1):
            if not content.endswith(b"\n"):  # its writer was interrupted, or is still writing
                break
            try:
                event = decode(content[:-1]).event
            except ValueError as error:
                reason = first_fault(error) if isinstance(error, ValidationError) else str(error)
                ledger.compare("record", f"it cannot be read ({reason})", "a record", line=line)
                break
            if not journal.add(line, event, steps=steps):
                ledger.compare("record", _named(event), "none of its kind", line=line)
                break
            journal.n_lines = line
    return journal


# The replay


@dataclass(frozen=True, slots=True)
class _Recorded:
    """The run's learner and optimizer, as recorded. What was never answered is an abstention, or unreadable.

    The sampler asks ahead for more than was recorded: no line of the journal needs it.
    """

    answers: Mapping[tuple[str, int], Prediction]
    """By hypothesis id and row id."""
    proposals: Mapping[int, Proposal]
    """By the seed of their call."""

    async def predict(self, hypothesis: str, rows: Sequence[Row]) -> tuple[Prediction, ...]:
        identity = hypothesis_id(hypothesis)
        return tuple(self.answers.get((identity, row.id), Prediction(row=row.id, value=None)) for row in rows)

    async def propose(self, *_: Any, temperature: float, seed: int, **__: Any) -> Proposal:
        return await self.draw(temperature=temperature, seed=seed)

    async def complete(self, *_: Any, **__: Any) -> Completion:
        """Refuse a translation that was asked for ahead, and never recorded."""
        return Completion(text="no program", finish_reason="stop", prompt_tokens=0, completion_tokens=0)

    async def draw(self, *, temperature: float, seed: int) -> Proposal:
        unreadable = Proposal(text=None, raw="", temperature=temperature, seed=seed)
        return replace(self.proposals.get(seed, unreadable), temperature=temperature)


def _with_answers(problem: Problem, directory: RunDirectory, journal: _Journal) -> Problem:
    """Return the problem with what was recorded in the place of its models."""
    reader = AnswerReader(directory.answers)
    reader.refresh()
    proposals = dict(each for _, event in journal.events for each in _proposals_in(event, problem.seed))
    recorded = _Recorded(reader.by_pair | reader.readings, proposals)
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


def _with_programs(problem: Problem, config: Config, directory: RunDirectory, sandbox: Sandbox) -> Problem:
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
    learner.preload_programs(each for each in read_answers(directory.answers) if not isinstance(each, Answer))
    return replace(problem, learner=learner, reader=recorded)


async def _replay(
    problem: Problem, config: Config, directory: RunDirectory, journal: _Journal, events: list[Event]
) -> None:
    """Add the sampler's events up to the last finished step, and those of the end of a run that has ended."""
    async with AsyncExitStack() as stack:
        if config.has_programs:
            sandbox = await stack.enter_async_context(Sandbox())
            problem = _with_programs(problem, config, directory, sandbox)
        sampled = await stack.enter_async_context(aclosing(cast(AsyncGenerator[Event, None], sample(problem, config))))
        n_steps = journal.n_finished
        while n_steps and (event := await anext(sampled, None)):
            events.append(event)
            n_steps -= isinstance(event, StepFinished)
        view = fold(Record(at=0.0, usage=Usage(), answers=0, event=event) for event in events)
        if journal.has_ended and (population := population_of(view)):
            async for event in conclude(problem, config, population):
                events.append(event)


def _check_lines(journal: _Journal, problem: Problem, config: Config, directory: RunDirectory, ledger: _Ledger) -> None:
    """Compare the sampler's lines with the replay."""
    events: list[Event] = []
    end = NOTHING
    try:
        asyncio.run(_replay(problem, config, directory, journal, events))
    except (ArithmeticError, LookupError, TypeError, ValueError) as error:
        end = f"nothing: the sampler fails ({error})"
    due = {_address(event): event for event in events}
    for line, event in journal.events if journal.has_ended else journal.events[: journal.n_settled]:
        place = {"line": line, "step": getattr(event, "step", None), "slot": getattr(event, "particle", None)}
        follows = due.pop(_address(event), None)
        if follows is None:
            ledger.compare("record", _named(event), end, **place)
        else:
            ledger.compare(event.type, event, follows, **place)
    if journal.phase == "finished":
        missing, line = [_named(event) for event in due.values()], journal.n_lines
        ledger.compare("last finished step", journal.n_finished - 2, problem.steps - 1, line=line)
        ledger.compare("missing records", [], missing, line=line)


def _address(event: Event) -> tuple[object, ...]:
    """Return what distinguishes an event from all others: particles are in any order."""
    names = ("type", "step", "particle", "role", "split")
    text = getattr(event, "hypothesis", None) if isinstance(event, Certified) else None
    return (*(getattr(event, name, None) for name in names), text)


def _named(event: Event) -> str:
    """`scored, step 3, particle 2, role buffer`, with steps as the journal counts them."""
    parts = ((name, getattr(event, name, None)) for name in ("step", "particle", "role", "split"))
    return ", ".join([event.type, *(f"{name} {value}" for name, value in parts if value is not None)])


def differences(what: str, written: Any, follows: Any) -> Iterator[Difference]:
    """Yield the values that differ, in order: of records and mappings by key, of sequences of equal length by place.

    Floats differ beyond the tolerance. A list equals a tuple of the same items.
    """
    if is_dataclass(written) and written != follows:
        written, follows = asdict(cast(Any, written)), asdict(follows)
    if isinstance(written, Mapping) and isinstance(follows, Mapping):
        for key in dict.fromkeys([*written, *follows]):
            name = f"{what} {key}".lstrip()
            yield from differences(name, written.get(key, NOTHING), follows.get(key, NOTHING))
    elif isinstance(written, LISTS) and isinstance(follows, LISTS) and len(written) == len(follows):
        if tuple(written) != tuple(follows):
            for place, (one, other) in enumerate(zip(written, follows, strict=True)):
                yield from differences(f"{what}[{place}]", one, other)
    elif not _is_same(written, follows):
        yield what or "content", written, follows


def _is_same(written: Any, follows: Any) -> bool:
    """True for equal values, floats to the tolerance."""
    if isinstance(written, bool) or isinstance(follows, bool):
        return written is follows
    if isinstance(written, int | float) and isinstance(follows, int | float):
        both_undefined = math.isnan(written) and math.isnan(follows)
        return both_undefined or math.isclose(written, follows, rel_tol=TOLERANCE, abs_tol=TOLERANCE / 1000)
    return bool(written == follows)
