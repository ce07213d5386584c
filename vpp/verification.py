"""Verification of a run: replay its sampler on the recorded answers, without a model, and compare the events.

Learner and optimizer of the replay repeat what the run recorded. Everything else in the journal follows from data.csv,
run.json and the seed, and has to come out again: floats to `TOLERANCE`, events of different particles in any order.
"""

import asyncio
import math
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, aclosing
from dataclasses import asdict, dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any, cast

from vpp import events
from vpp.inference import sample
from vpp.inference.sampling import PRIOR_DRAWS, conclude
from vpp.llm.learner import LearnerOptions
from vpp.llm.protocol import Completion
from vpp.problem import Problem, Proposal
from vpp.randomness import call_seed
from vpp.runs.asking import Access, program_learner
from vpp.runs.directory import JournalReader, Record, RunDirectory, valid_lines
from vpp.runs.group import ReplayLearner
from vpp.runs.preparation import problem_of, start_of
from vpp.runs.spec import Keys, RunSpec
from vpp.runs.view import fold, population_of

TOLERANCE = 1e-9  # relative tolerance of floats; the absolute tolerance is a thousandth of it
BEYOND = (
    "whether models gave these answers; counts, times and templates; lines that a resume discarded, and those of an "
    "unfinished step; posterior.json and predictions.csv, which `vpp report` writes again"
)
"""Facts that no replay derives."""
ENDED = ("finished", "stopped")  # phases in which the run has a conclusion
NOTHING = "nothing"  # stands for a value that one side lacks


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
    """Verify a run from its files. Raises RunError and JournalDamaged."""
    spec = directory.spec()
    dataset, reader = directory.dataset(), JournalReader(directory.journal)
    complete, later = valid_lines(reader)
    valid = complete + later if reader.view.phase in ENDED else complete
    derived = events.RunStarted | events.SamplerEvent
    lines = [(n, line.event) for n, line in valid if isinstance(line, Record) and isinstance(line.event, derived)]
    faults: list[Fault] = []
    for line, first in lines[:1]:
        # Versions and templates do not follow from the files: they are taken as written.
        written: dict[str, Any] = {name: getattr(first, name, {}) for name in ("versions", "templates")}
        faults += _faults(line, first, replace(start_of(spec, dataset, versions={}), **written))
    if lines and not faults:
        faults += sorted(_check(lines[1:], reader, problem_of(spec, dataset), spec), key=lambda each: each.line)
    return Verification(n_compared=len(lines), faults=tuple(faults), has_ended=reader.view.phase in ENDED)


# The replay


@dataclass(frozen=True, slots=True)
class _Replay(ReplayLearner):
    """The run's learner and optimizer, as recorded; what was asked ahead in vain, and no line needs, is unreadable."""

    proposals: Mapping[int, Proposal]
    """By the seed of their call."""

    async def propose(self, *_: Any, temperature: float, seed: int) -> Proposal:
        return await self.draw(temperature=temperature, seed=seed)

    async def draw(self, *, temperature: float, seed: int) -> Proposal:
        unreadable = Proposal(text=None, raw="", temperature=temperature, seed=seed)
        return replace(self.proposals.get(seed, unreadable), temperature=temperature)

    async def complete(self, *_: Any, **__: Any) -> Completion:
        """Refuse a translation that was asked for ahead, and never recorded."""
        return Completion(text="no program", prompt_tokens=0, completion_tokens=0)


def _proposals_in(event: events.Event, seed: int) -> Iterator[tuple[int, Proposal]]:
    """Yield an event's proposal by the seeds that the sampler asks for it with."""
    match event:
        case events.ParticleDrawn(particle=slot):
            first = call_seed(seed, "draw", 0, slot)
            seeds = [first, *(call_seed(first, "draw", again) for again in range(PRIOR_DRAWS))]
            text = event.text if event.reason is None else None
        case events.Proposed(step=step, particle=slot):
            seeds, text = [call_seed(seed, "propose", step, slot)], event.text
        case _:
            return
    yield from ((each, Proposal(text=text, seed=each, **events.writing_fields(event))) for each in seeds)


async def _replay(
    problem: Problem, spec: RunSpec, reader: JournalReader, recorded: _Replay, replay: list[events.Event]
) -> None:
    """Add the sampler's events: all of a finished run, else up to the last finished step; and those of the end."""
    view, config = reader.view, spec.config
    problem = replace(problem, learner=recorded, optimizer=recorded)
    async with AsyncExitStack() as stack:
        if config.has_programs:
            access = Access(keys=Keys(), cache_dir=Path(), answers=reader.answers.programs)
            models = cast(Any, recorded), cast(Any, recorded), LearnerOptions(seed=problem.seed, max_tokens=1)
            learner = await program_learner(stack, spec, problem.dataset, access, models)
            problem = replace(problem, learner=learner, reader=recorded)
        sampler = cast(AsyncGenerator[events.Event, None], sample(problem, config))
        await stack.enter_async_context(aclosing(sampler))
        left = math.inf if view.phase == "finished" else len(view.complete_steps)
        while left and (event := await anext(sampler, None)):
            replay.append(event)
            left -= isinstance(event, events.StepFinished)
        if view.phase in ENDED and (population := population_of(fold(replay))):
            replay += [event async for event in conclude(problem, config, population)]


def _check(
    lines: Sequence[tuple[int, events.Event]], reader: JournalReader, problem: Problem, spec: RunSpec
) -> Iterator[Fault]:
    """Compare the sampler's lines with a replay in which its models give what they gave."""
    proposals = dict(each for _, event in lines for each in _proposals_in(event, problem.seed))
    recorded = _Replay(reader.answers.by_pair | reader.answers.readings, proposals)
    replay: list[events.Event] = []
    end = NOTHING
    try:
        asyncio.run(_replay(problem, spec, reader, recorded, replay))
    except (ArithmeticError, LookupError, TypeError, ValueError) as error:
        end = f"nothing: the sampler fails ({error})"
    expected = {_name(event): event for event in replay}
    for line, event in lines:
        if follows := expected.pop(_name(event), None):
            yield from _faults(line, event, follows)
        else:
            yield Fault(line=line, what="record", written=_name(event), follows=end)
    if expected and reader.view.phase == "finished":
        yield Fault(line=reader.n_lines, what="missing records", written=[], follows=list(expected))


def _faults(line: int, written: events.Event, follows: events.Event) -> list[Fault]:
    """Return the first difference, if there is one."""
    every = _differences(written.type, asdict(written), asdict(follows))
    return [Fault(line=line, what=what, written=one, follows=other) for what, one, other in islice(every, 1)]


def _differences(what: str, written: Any, follows: Any) -> Iterator[tuple[str, Any, Any]]:
    """Yield (name, written, follows) of each value that differs, floats beyond the tolerance."""
    if isinstance(written, list | tuple) and isinstance(follows, list | tuple):
        written, follows = dict(enumerate(written)), dict(enumerate(follows))
    if isinstance(written, dict) and isinstance(follows, dict):
        for key in dict.fromkeys((*written, *follows)):
            yield from _differences(f"{what} {key}", written.get(key, NOTHING), follows.get(key, NOTHING))
    elif not (written == follows or _is_close(written, follows)):
        yield what, written, follows


def _is_close(written: Any, follows: Any) -> bool:
    are_numbers = isinstance(written, int | float) and isinstance(follows, int | float)
    return are_numbers and math.isclose(written, follows, rel_tol=TOLERANCE, abs_tol=TOLERANCE / 1000)


def _name(event: events.Event) -> str:
    """`scored, step 3, particle 2, role buffer`, with steps as the journal counts them: no other event has it."""
    names = ("step", "particle", "role", "split", *(["hypothesis"] if isinstance(event, events.Certified) else []))
    parts = ((name, getattr(event, name, None)) for name in names)
    return ", ".join([event.type, *(f"{name} {value}" for name, value in parts if value is not None)])
