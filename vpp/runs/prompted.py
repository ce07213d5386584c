"""Prompted baselines: a run's learner asked about the test rows without a hypothesis, and with examples in its place.

They show what the hypotheses add to the model itself. `few-shot vote` asks about each row several times, each time with
another draw of training rows, until it has used as many calls as the run's learner, and takes the majority or the mean.
"""

import asyncio
import json
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
from pydantic import TypeAdapter, ValidationError

from vpp import files
from vpp.cancellation import cancel
from vpp.data.dataset import Dataset, Row
from vpp.errors import InputError, RunError
from vpp.events import Votes
from vpp.inference.rounds import together
from vpp.llm.context import ModelLimits, prompt_tokens, tokens_at_most
from vpp.llm.counters import Counters
from vpp.llm.prompts import LearnerPrompts
from vpp.llm.rendering import render_input, render_rows
from vpp.problem import averages_of
from vpp.runs.directory import RunDirectory, load_dataset, write_or_refuse
from vpp.runs.journal import JournalReader
from vpp.runs.keys import Keys
from vpp.runs.run_prompts import learner_prompts, problem_of
from vpp.runs.session import Access, Session, open_session
from vpp.runs.spec import RunSpec
from vpp.runs.view import RunView

FILE = "prompted.json"
EXAMPLES = 105
"""Purpose number of a draw of examples: SeedSequence(seed, spawn_key=(EXAMPLES, draw))."""
ASSUMED_CONTEXT = 8192
"""Tokens of a context whose length is unknown."""
WITHOUT = "No rule is known: give the output that you expect for this input."
WITH = "No rule is known: answer as in these examples, each an input and its correct output."
Name = Literal["zero-shot", "few-shot", "few-shot vote"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompted:
    """Answers of one prompted baseline."""

    name: Name
    calls: int
    """Learner calls needed, repetitions after unreadable answers included."""
    questions: int
    """Questions a row."""
    examples: int
    """Training rows in a prompt, at least."""
    answers: Votes
    """(N,) in the order of the test rows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptedBaselines:
    """Content of prompted.json."""

    rows: tuple[int, ...]
    """(N,) ids of the test rows."""
    run_calls: int
    """Learner calls of the run."""
    models: tuple[Prompted, ...]


_CONTENT: TypeAdapter[PromptedBaselines] = TypeAdapter(PromptedBaselines)


def read_prompted(directory: RunDirectory) -> PromptedBaselines | None:
    """Read the results of an earlier command; None if there are none."""
    try:
        return _CONTENT.validate_python(files.read_json(directory.path / FILE))
    except (OSError, ValueError, ValidationError):
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """Settings of the prompted baselines."""

    calls: int | None = None
    """Learner calls of the vote; None: as many as the run's."""
    examples: int | None = None
    """Most examples in a prompt; None: as many as fit the context."""

    def __post_init__(self) -> None:
        for name in ("calls", "examples"):
            if (value := getattr(self, name)) is not None and value < 1:
                raise InputError(f"{name} is {value}: give at least 1")


class PromptedAsking:
    """The prompted baselines of a run being asked. Another thread may read the count meanwhile."""

    def __init__(self, directory: RunDirectory, asked: Asked, *, view: RunView | None = None) -> None:
        """view: the folded journal, read here if not given. Raises InputError for a run without calls or test rows."""
        usage, self._spec = (view or JournalReader(directory.journal).read()).usage, directory.spec()
        n_rows = self._spec.dataset["n_test"]
        if not usage.learner:
            raise InputError(f"{directory.path} has asked its learner nothing yet: wait for its first step")
        if not n_rows:
            raise InputError(f"{directory.path} has no test rows: it used every row to weigh hypotheses")
        a_draw = self._spec.config.learner_calls(n_rows)
        self._directory, self._asked, self._run_calls = directory, asked, usage.learner
        self._draws = max(1, (asked.calls or usage.learner) // a_draw)
        self.calls = (self._draws + 1) * a_draw
        """Calls needed if every answer can be read."""
        self.total = (self._draws + 1) * n_rows
        """Questions."""
        self.done = 0
        """Answered questions."""

    async def go(
        self, *, keys: Keys, cache_dir: Path, on_progress: Callable[[int, int], None] | None = None
    ) -> PromptedBaselines:
        """Ask the run's learner and keep the answers in the run's directory.

        Raises RunError at the run's cap, EndpointError. on_progress: called with the answered questions and all.
        """

        def count(*_: object) -> None:
            self.done += 1
            if on_progress:
                on_progress(self.done, self.total)

        dataset, counters = load_dataset(self._directory, self._spec), Counters()
        access = Access(keys=keys, cache_dir=cache_dir, counters=counters, on_answer=count, cap=self._spec.cap)
        async with open_session(self._directory, access) as session:
            asking = _Asking(self._spec, dataset, session, counters)
            most = self._asked.examples or len(dataset.train)
            models = await _within_cap(asking.all(self._draws, most=most), session)
        rows = tuple(row.id for row in dataset.test)
        found = PromptedBaselines(rows=rows, run_calls=self._run_calls, models=models)
        write_or_refuse(self._directory.path / FILE, json.dumps(asdict(found), ensure_ascii=False).encode())
        return found


async def _within_cap(asking: Coroutine[Any, Any, tuple[Prompted, ...]], session: Session) -> tuple[Prompted, ...]:
    """Return the answers, or raise RunError once the budget allows no further call."""
    task, at_cap = asyncio.ensure_future(asking), asyncio.ensure_future(session.budget.exhausted.wait())
    try:
        await asyncio.wait((task, at_cap), return_when=asyncio.FIRST_COMPLETED)
        if not task.done():
            raise RunError("the run's cap leaves no call for the baselines: give fewer --calls, or raise the cap")
        return task.result()
    finally:
        await cancel((task, at_cap))


class _Asking:
    """The questions of one command."""

    def __init__(self, spec: RunSpec, dataset: Dataset, session: Session, counters: Counters) -> None:
        self._spec, self._dataset, self._session, self._counters = spec, dataset, session, counters
        self._seed_text = problem_of(spec, dataset).seed_text
        self._prompts = learner_prompts(spec, dataset)

    async def all(self, draws: int, *, most: int) -> tuple[Prompted, ...]:
        """Ask without examples, with one draw of them, then with the other draws."""
        shown = [self._examples(draw, most) for draw in range(draws)]
        texts = [
            f"{self._seed_text} {WITH}\n{render_rows(rows, self._prompts.units, self._prompts.cell_limit)}"
            for rows in shown
        ]
        zero = await self._asked("zero-shot", [f"{self._seed_text} {WITHOUT}"])
        first = await self._asked("few-shot", texts[:1], examples=len(shown[0]))
        vote = await self._asked("few-shot vote", texts, examples=min(map(len, shown)))
        return zero, first, replace(vote, calls=vote.calls + first.calls)

    async def _asked(self, name: Name, texts: Sequence[str], *, examples: int = 0) -> Prompted:
        before = self._counters.snapshot().learner
        rows = self._dataset.test
        predictions = await together(self._session.learner.predict(text, rows) for text in texts)
        votes = [[prediction.answer for prediction in each] for each in predictions]
        equal = [1 / len(votes)] * len(votes)
        answers = averages_of(self._dataset.task, votes, equal)
        calls = self._counters.snapshot().learner - before
        return Prompted(name=name, calls=calls, questions=len(texts), examples=examples, answers=answers)

    def _examples(self, draw: int, most: int) -> list[Row]:
        """Draw training rows in random order, as many as fit the context."""
        sequence = np.random.SeedSequence(self._spec.config.seed, spawn_key=(EXAMPLES, draw))
        order = np.random.default_rng(sequence).permutation(len(self._dataset.train)).tolist()
        room = _room(self._prompts, self._dataset, f"{self._seed_text} {WITH}", self._session.learner_limits)
        chosen: list[Row] = []
        for place in order[:most]:
            row = self._dataset.train[place]
            room -= 1 + tokens_at_most(render_rows([row], self._prompts.units, self._prompts.cell_limit))
            if room < 0:
                break
            chosen.append(row)
        return chosen


def _room(prompts: LearnerPrompts, dataset: Dataset, text: str, limits: ModelLimits) -> int:
    """Return the tokens left for examples beside the longest test row and the answer."""
    longest = max(dataset.test, key=lambda row: len(render_input(row)))
    context = limits.context_length or ASSUMED_CONTEXT
    return context - limits.max_tokens - prompt_tokens(prompts.messages(text, longest))
