"""Questions to a run's models after it: new rows, and prompted baselines.

Nothing here changes the run itself. Logarithms are natural.
"""

import asyncio
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent import futures
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Generic, Literal, Protocol, TypeVar

import numpy as np
from pydantic import TypeAdapter

from vpp.data.dataset import Dataset, Row
from vpp.errors import InputError, RunError, VppError
from vpp.events import Constant, Votes, hypothesis_id, mixture_of
from vpp.inference.ahead import together
from vpp.llm.limits import Counters
from vpp.llm.prompts import prompt_tokens, tokens_at_most
from vpp.llm.rendering import render_input, render_rows
from vpp.posterior.prediction import Mixture
from vpp.problem import Prediction, Translation, averages_of
from vpp.runs.directory import RunDirectory, load_dataset
from vpp.runs.disk import write_atomically
from vpp.runs.journal import AnswerReader, JournalReader
from vpp.runs.keys import Keys
from vpp.runs.prompts import learner_prompts, problem_of
from vpp.runs.session import Access, Session, open_learner, open_session, unless_at_cap
from vpp.runs.view import RunView

IN_FLIGHT = 2048
"""Questions begun at a time: well above the calls in flight, well below the rows of a large table."""
OnProgress = Callable[[int, int], None]
"""Called with the number of answered questions and of all questions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answers:
    rows: tuple[Row, ...]
    texts: tuple[str, ...]
    """(K,) hypotheses."""
    weights: tuple[float, ...]
    """(K,) normalised."""
    predictions: tuple[tuple[Prediction, ...], ...]
    """(K, N)."""
    task: str
    target: str
    classes: tuple[str, ...] = ()
    step: int | None = None
    """The last complete step when the particles were read."""
    noise: tuple[float, ...] = ()
    """Mass of each particle's wrong labels, as at the run's evaluation; empty for votes."""
    constant: Constant | None = None
    """The constant answer, as at the run's evaluation."""

    @property
    def mixture(self) -> Mixture:
        return mixture_of(self.weights, self.noise, self.constant, self.classes)


class Asking:
    """Rows asked of every particle. Another thread may read the counts and the complete answers meanwhile.

    A question is a row put to a hypothesis; particles with the same hypothesis share its questions.
    """

    def __init__(
        self,
        directory: RunDirectory,
        rows: Sequence[Row],
        *,
        view: RunView | None = None,
        texts: Sequence[str] = (),
        known: Mapping[tuple[str, int], Prediction] | None = None,
        programs: Sequence[Translation] | None = (),
    ) -> None:
        """view: the folded journal, read here if not given. texts: hypotheses to ask in the place of the particles.

        known: predictions that are not asked for, by hypothesis id and row id. programs: of texts that the run does not
        have; None to have the learner read each row itself. Raises RunError without particles.
        """
        view = view or JournalReader(directory.journal).read()
        if not view.population:
            raise RunError(f"{directory.path} has no particles yet: wait for its first step")
        self.rows = tuple(rows)
        self._directory, self._spec, self._programs = directory, directory.spec(), programs
        self._texts = tuple(texts) or tuple(view.texts[particle.hypothesis] for particle in view.population)
        self._weights = (1 / len(texts),) * len(texts) if texts else view.weights
        self._evaluated = None if texts else view.evaluated.get("train")
        self._step = view.last_step
        pairs = {(hypothesis_id(text), row.id) for text in self._texts for row in self.rows}
        self._known = {pair: answer for pair, answer in (known or {}).items() if pair in pairs}
        self._answered: dict[tuple[str, int], Prediction] = {}
        self.total = len(pairs) - len(self._known)
        """Questions. Unreadable answers need more calls."""
        by_program: set[str] = set()
        if programs is not None and self._spec.config.has_programs:
            recorded = AnswerReader(directory.journal).refresh().translations.values()
            by_program = {each.hypothesis for each in (*recorded, *programs) if each.code is not None}
        n_free = sum(hypothesis in by_program for hypothesis, _ in pairs)
        self.calls = self._spec.config.learner_samples * max(0, self.total - n_free)
        """Calls needed if every answer can be read, and no program asks about a text."""

    @property
    def done(self) -> int:
        return len(self._answered)

    @property
    def by_pair(self) -> dict[tuple[str, int], Prediction]:
        """Answers so far, by hypothesis id and row id."""
        return self._known | dict(self._answered)

    async def go(self, *, keys: Keys, cache_dir: Path, on_progress: OnProgress | None = None) -> Answers:
        """Ask all questions. Raises EndpointError; earlier answers stay, also if this is cancelled."""

        def keep(hypothesis: str, prediction: Prediction, _attempts: int) -> None:
            self._answered[hypothesis, prediction.row] = prediction
            if on_progress:
                on_progress(self.done, self.total)

        texts = list(dict.fromkeys(self._texts))
        size = -(-IN_FLIGHT // len(texts))
        access = Access(keys=keys, cache_dir=cache_dir, on_answer=keep)
        async with open_learner(self._directory, access, texts, self._programs) as learner:
            learner.preload((hypothesis, prediction) for (hypothesis, _), prediction in self._known.items())
            for first in range(0, len(self.rows), size):  # in blocks, so that the first rows are complete early
                await together(learner.predict(text, self.rows[first : first + size]) for text in texts)
        return self.whole()

    def whole(self) -> Answers:
        """Return the rows that every hypothesis has answered."""
        answered, identities = self.by_pair, tuple(map(hypothesis_id, self._texts))
        rows = tuple(row for row in self.rows if all((identity, row.id) in answered for identity in identities))
        dataset, evaluated = self._spec.dataset, self._evaluated
        return Answers(
            rows=rows,
            texts=self._texts,
            weights=self._weights,
            predictions=tuple(tuple(answered[identity, row.id] for row in rows) for identity in identities),
            task=dataset["task"],
            target=dataset["target"],
            classes=tuple(dataset["classes"]),
            step=self._step,
            noise=evaluated.noise if evaluated else (),
            constant=evaluated.constant if evaluated else None,
        )


def averages_asked(answers: Answers) -> Votes:
    said = [[prediction.answer for prediction in particle] for particle in answers.predictions]
    return averages_of(answers.mixture, said)


# Models asked in a background thread, which a page can look at, leave and return to

Outcome = Literal["running", "finished", "stopped", "failed"]


class Questions(Protocol):
    """Questions to a run's models, counted while they are asked."""

    total: int

    @property
    def done(self) -> int: ...

    async def go(self, *, keys: Keys, cache_dir: Path) -> object: ...


Q = TypeVar("Q", bound=Questions)


@cache
def asking_loop() -> asyncio.AbstractEventLoop:
    """Return the event loop of a thread that lives as long as this process."""
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="vpp-asking", daemon=True).start()
    return loop


class Background(Generic[Q]):
    """Questions asked in another thread; `asking` holds the answers so far."""

    def __init__(self, asking: Q, *, keys: Keys, cache_dir: Path) -> None:
        self.asking = asking
        self._began_at, self._ended_at = time.monotonic(), 0.0

        async def go() -> None:
            try:
                await asking.go(keys=keys, cache_dir=cache_dir)
            finally:
                self._ended_at = time.monotonic()

        self._future = asyncio.run_coroutine_threadsafe(go(), asking_loop())

    @property
    def is_running(self) -> bool:
        return not self._future.done()

    @property
    def outcome(self) -> Outcome:
        if self.is_running:
            return "running"
        return "stopped" if self._future.cancelled() else "failed" if self._future.exception() else "finished"

    @property
    def failure(self) -> str:
        """Message of the error that ended it, that of a programming error too; empty without one."""
        error = self._future.exception() if self.outcome == "failed" else None
        return str(error or "") if isinstance(error, VppError | None) else f"{type(error).__name__}: {error}"

    @property
    def seconds(self) -> float:
        return (self._ended_at or time.monotonic()) - self._began_at

    def seconds_left(self) -> float | None:
        """Estimate the seconds left at the pace so far; None before the first answer."""
        done = self.asking.done
        return self.seconds / done * (self.asking.total - done) if done else None

    def stop(self) -> None:
        """Cancel the calls in flight and keep the answers; no effect once it has ended."""
        self._future.cancel()

    def wait(self, timeout_s: float) -> bool:
        futures.wait([self._future], timeout_s)
        return not self.is_running


# Prompted baselines

FILE = "prompted.json"
EXAMPLES = 105
"""Purpose number of a draw of examples: SeedSequence(seed, spawn_key=(EXAMPLES, draw))."""
ASSUMED_CONTEXT = 8192
WITHOUT = "No rule is known: give the output that you expect for this input."
WITH = "No rule is known: answer as in these examples, each an input and its correct output."
Name = Literal["zero-shot", "few-shot", "few-shot vote"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompted:
    name: Name
    calls: int
    """Learner calls needed, repetitions after unreadable answers included."""
    examples: int = 0
    """Training rows in a prompt, at least."""
    answers: Votes


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptedBaselines:
    rows: tuple[int, ...]
    run_calls: int
    models: tuple[Prompted, ...]


_CONTENT: TypeAdapter[PromptedBaselines] = TypeAdapter(PromptedBaselines)


def read_prompted(directory: RunDirectory) -> PromptedBaselines | None:
    try:
        return _CONTENT.validate_json((directory.path / FILE).read_bytes())
    except (OSError, ValueError):
        return None


class PromptedAsking:
    """The prompted baselines of a run being asked. Another thread may read the count meanwhile."""

    def __init__(self, directory: RunDirectory, *, calls: int | None = None) -> None:
        """calls: learner calls of the vote; as many as the run's if not given.

        Raises InputError for a run without calls or test rows.
        """
        if calls is not None and calls < 1:
            raise InputError(f"calls is {calls}: give at least 1")
        self._directory, self._spec = directory, directory.spec()
        self._run_calls = JournalReader(directory.journal).read().usage.learner
        n_rows = self._spec.dataset["n_test"]
        if not self._run_calls:
            raise InputError(f"{directory.path} has asked its learner nothing yet: wait for its first step")
        if not n_rows:
            raise InputError(f"{directory.path} has no test rows: it used every row to weigh hypotheses")
        n_draws = max(1, (calls or self._run_calls) // (self._spec.config.learner_samples * n_rows))
        self._draws, self._counters = range(n_draws), Counters()
        self.total = (n_draws + 1) * n_rows
        self.done = 0

    async def go(self, *, keys: Keys, cache_dir: Path, on_progress: OnProgress | None = None) -> PromptedBaselines:
        """Ask the run's learner and keep the answers in the run's directory.

        Raises RunError at the run's cap, EndpointError.
        """

        def count(*_: object) -> None:
            self.done += 1
            if on_progress:
                on_progress(self.done, self.total)

        dataset = load_dataset(self._directory, self._spec)
        access = Access(keys=keys, cache_dir=cache_dir, counters=self._counters, on_answer=count, cap=self._spec.cap)
        async with open_session(self._directory, access) as session:
            models = await unless_at_cap(self._ask_all(session, dataset), session.budget)
        if models is None:
            raise RunError("the run's cap leaves no call for the baselines: give fewer --calls, or raise the cap")
        rows = tuple(row.id for row in dataset.test)
        found = PromptedBaselines(rows=rows, run_calls=self._run_calls, models=models)
        write_atomically(self._directory.path / FILE, _CONTENT.dump_json(found))
        return found

    async def _ask_all(self, session: Session, dataset: Dataset) -> tuple[Prompted, ...]:
        """Ask without examples, with one draw of them, then with the other draws."""
        seed_text, prompts = problem_of(self._spec, dataset).seed_text, learner_prompts(self._spec, dataset)
        draws = [self._examples(draw, session, dataset, f"{seed_text} {WITH}") for draw in self._draws]
        texts = [f"{seed_text} {WITH}\n{render_rows(rows, prompts.units, prompts.cell_limit)}" for rows in draws]
        zero = await self._ask(session, dataset, "zero-shot", [f"{seed_text} {WITHOUT}"])
        first = await self._ask(session, dataset, "few-shot", texts[:1])
        vote = await self._ask(session, dataset, "few-shot vote", texts)
        return (
            zero,
            replace(first, examples=len(draws[0])),
            replace(vote, examples=min(map(len, draws)), calls=vote.calls + first.calls),
        )

    async def _ask(self, session: Session, dataset: Dataset, name: Name, texts: Sequence[str]) -> Prompted:
        before = self._counters.snapshot().learner
        predictions = await together(session.by_row.predict(text, dataset.test) for text in texts)
        votes = [[prediction.answer for prediction in each] for each in predictions]
        equal = Mixture(weights=(1 / len(votes),) * len(votes), classes=dataset.classes)
        calls = self._counters.snapshot().learner - before
        return Prompted(name=name, calls=calls, answers=averages_of(equal, votes))

    def _examples(self, draw: int, session: Session, dataset: Dataset, text: str) -> list[Row]:
        """Draw training rows in random order, as many as fit beside the longest test row and the answer."""
        prompts, limits = learner_prompts(self._spec, dataset), session.learner_limits
        sequence = np.random.SeedSequence(self._spec.config.seed, spawn_key=(EXAMPLES, draw))
        order = np.random.default_rng(sequence).permutation(len(dataset.train)).tolist()
        longest = max(dataset.test, key=lambda row: len(render_input(row)))
        room = (limits.context_length or ASSUMED_CONTEXT) - limits.max_tokens
        room -= prompt_tokens(prompts.messages(text, longest))
        chosen: list[Row] = []
        for place in order:
            row = dataset.train[place]
            room -= 1 + tokens_at_most(render_rows([row], prompts.units, prompts.cell_limit))
            if room < 0:
                break
            chosen.append(row)
        return chosen
