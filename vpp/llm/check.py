"""Test a server the way a run would use it; report one finding a line.

Nothing of a user's table is sent: the prompts are the shipped templates over a tiny made-up table.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal

from vpp.data.build import build_dataset
from vpp.data.split import SplitPlan
from vpp.data.table import ColumnChoice, Table
from vpp.errors import EndpointError, EndpointRefused
from vpp.llm.choices import AUTO, chosen_templates
from vpp.llm.endpoint import PROMPT_CUT, Endpoint
from vpp.llm.learner import LearnerOptions, LlmLearner
from vpp.llm.limits import DEFAULT_CONCURRENCY, Counters
from vpp.llm.optimizer import LlmOptimizer
from vpp.llm.prompts import LearnerPrompts, ModelLimits, OptimizerPrompts, ProgramPrompts, question, seed_sentence
from vpp.llm.protocol import (
    FIELD,
    FIX_THOUGHTS,
    KEY_REFUSED,
    NO_API,
    SCHEMA,
    UNKNOWN_MODEL,
    Completion,
    is_kept,
    printable,
    structure_of,
)
from vpp.llm.templates import shipped
from vpp.llm.translator import ProgramLearner
from vpp.problem import Prediction, TextAnswer, Translation
from vpp.programs.columns import Columns
from vpp.programs.sandbox import Sandbox
from vpp.runtime import cancel

Mark = Literal["works", "note", "fails"]
Role = Literal["learner", "optimizer"]
CHECK_S = 60.0
"""Seconds after which no further part is tried."""
BURST_LIMIT, BURST_S = 64, 10.0
"""Most calls of the burst, and the seconds that it may take, if that is more than two answers."""
SHORT = 128
"""Tokens of answers that only show whether something works."""
DEMO_MODEL = "demo"
"""Name under which the demo model is served."""
QUOTE_LIMIT = 160
"""Characters shown of an answer."""
NAMED = 12
"""Models named of a server's list."""
RULE = 'If "length" is above 50, output wug. Otherwise, output dax.'
TOY = b"""\
length,colour,animal
12,red,dax
18,blue,dax
25,red,dax
31,blue,dax
61,red,wug
72,blue,wug
88,red,wug
64,blue,wug
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """Result of one part of the check."""

    name: str
    mark: Mark
    """works: as it should. note: a run works with a limitation. fails: no run works."""
    words: str
    """One line."""
    values: dict[str, Any] = field(default_factory=dict)
    """The same as numbers and names, for programs."""


def _finding(mark: Mark, name: str, words: str, **values: Any) -> Finding:
    return Finding(name=name, mark=mark, words=words, values=values)


_works, _note, _fails = partial(_finding, "works"), partial(_finding, "note"), partial(_finding, "fails")


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """Options of a check."""

    roles: tuple[Role, ...] = ("learner", "optimizer")
    concurrency: int = DEFAULT_CONCURRENCY
    """Calls that a run has in flight."""
    learner_max_tokens: int = 512
    optimizer_max_tokens: int = 1536
    structured: str = "off"
    """How the learner's answers are structured (`choices.STRUCTURED`)."""


async def check(endpoint: Endpoint, trial: Trial) -> AsyncIterator[Finding]:
    """Yield the findings about one server. Ends after a finding that fails.

    endpoint: attempts each call once, without a cache.
    """
    ends_at, one_s = time.monotonic() + CHECK_S, 0.0
    async for finding in _served(endpoint, trial.learner_max_tokens):
        yield finding
        one_s = finding.values.get("latency_s", one_s)
    if not one_s:
        return
    for name, part in _Parts(endpoint, trial, one_s).all():
        left_s = ends_at - time.monotonic()
        try:
            async with asyncio.timeout(left_s + one_s if left_s > 0 else 0):
                yield await part()
        except TimeoutError:
            yield _note(name, f"not tried: the server is slow, and a check ends after {CHECK_S:g} s")
        except EndpointError as error:
            yield _note(name, f"not answered: {error}")
    if PROMPT_CUT in endpoint.counters.snapshot().faults:
        words = "it counts fewer tokens than it was sent words, so it cuts prompts: serve a longer context"
        yield _note("whole prompts", words)


# --- reachable, key, model, context length, answers -----------------------------------------------------------------


async def _served(endpoint: Endpoint, max_tokens: int) -> AsyncIterator[Finding]:
    """Yield what the server lists, and whether the model answers; of a server without a list, its answer decides."""
    model, models, why_not = endpoint.model, dict[str, int](), ""
    try:
        models = await endpoint.models()
    except EndpointError as error:
        why_not = str(error)
        await endpoint.aclose()  # after a 500, transformers serve cuts the connection under the next call
    listed = {"models": list(models)}
    if KEY_REFUSED in why_not:
        yield _fails("key", why_not)
        return
    if not why_not:
        yield _works("reachable", f"a server answers at {endpoint.base_url}, and takes the key or wants none")
    if not model:
        unnamed = _note("models", f"none is named; the server has {_names(models)}", **listed)
        yield _fails("API" if NO_API in why_not else "reachable", why_not) if why_not else unnamed
        return
    if model in models:
        yield _works("models", f"{model} is served", **listed)
        length = models[model]
        words = f"{length:,} tokens, prompt and answer together" if length else "the server does not say"
        yield _finding("works" if length else "note", "context length", words, tokens=length or None)
    answered = await _answer(endpoint, max_tokens, is_reached=not why_not)
    if models and model not in models:
        if UNKNOWN_MODEL in answered.words:
            yield _fails("models", f"{UNKNOWN_MODEL} {model}: name one of {_names(models)}", **listed)
            return
        yield _note("models", f"{model} is not in the server's list: {_names(models)}", **listed)
    elif not models and answered.mark == "works":
        yield _note("models", f"the server lists none: {why_not or 'its list is empty'}", **listed)
    yield answered


def _names(models: Iterable[str]) -> str:
    names = list(models)
    return ", ".join(names[:NAMED]) + (f" and {len(names) - NAMED} more" if len(names) > NAMED else "")


async def _ask(endpoint: Endpoint, text: str, **options: Any) -> Completion:
    return await endpoint.complete([question(text)], **{"temperature": 0.0, "seed": 0, "max_tokens": SHORT, **options})


async def _answer(endpoint: Endpoint, max_tokens: int, *, is_reached: bool) -> Finding:
    started = time.perf_counter()
    try:
        completion = await _ask(endpoint, "Answer with the word OK.", max_tokens=max_tokens)
    except EndpointError as error:
        is_answered = is_reached or isinstance(error, EndpointRefused)
        return _fails("API" if NO_API in str(error) else "answers" if is_answered else "reachable", str(error))
    latency_s = time.perf_counter() - started
    if not completion.text.strip():
        return _fails("answers", f"the answer is empty: {FIX_THOUGHTS}")
    words = f"{quoted(completion.text)} in {latency_s:.2f} s, alone"
    if completion.reasoning:
        words += "; it thinks before it answers, which --reasoning-effort none may switch off"
    if not completion.prompt_tokens:
        words += "; it does not count tokens"
    return _works("answers", words, latency_s=max(0.0001, round(latency_s, 4)))


def quoted(text: str) -> str:
    """Return the beginning of an answer in quotes, in one line."""
    line = printable(text[: 4 * QUOTE_LIMIT])
    return f"'{line}'" if len(line) <= QUOTE_LIMIT else f"'{line[:QUOTE_LIMIT]}…'"


# --- structured output, a prompt of each role, programs, throughput -------------------------------------------------


class _Parts:
    """Parts of a check that a run can do without."""

    def __init__(self, endpoint: Endpoint, trial: Trial, one_s: float) -> None:
        """one_s: seconds of an answer alone."""
        self._endpoint, self._trial, self._one_s = endpoint, trial, one_s
        split, columns = SplitPlan(seed=0, train_size=6, test_size=2), ColumnChoice(task="classification")
        table = Table.read(TOY, name="made up")
        self._dataset = build_dataset(table, target="animal", columns=columns, split=split)
        self._templates = chosen_templates(AUTO, is_demo=endpoint.model == DEMO_MODEL, preset="recommended")
        self._is_structured = False

    def all(self) -> list[tuple[str, Callable[[], Awaitable[Finding]]]]:
        """Return the parts by name, the most important first; the first decides the form of the learner's prompt."""
        is_learner, is_optimizer = (role in self._trial.roles for role in ("learner", "optimizer"))
        return [
            ("structured output", self._structured),
            *([("learner prompt", self._learner_prompt)] if is_learner else []),
            *([("optimizer prompt", self._optimizer_prompt)] if is_optimizer else []),
            *([("writes programs", self._program)] if is_learner else []),
            ("throughput", self._burst),
        ]

    async def _structured(self) -> Finding:
        """Test whether the server enforces a choice that the prompt does not mention."""
        name, test = "structured output", await try_schema(self._endpoint)
        self._is_structured = self._trial.structured == "auto" and test.outcome == "honoured"
        if test.outcome == "honoured":
            words = f"{FIELD} is honoured: --structured auto uses it"
            return _works(name, words, structured="honoured", carrier=SCHEMA)
        said = f"ignored in silence: asked for one of two words, it said {quoted(test.answer)}"
        words = f"refused: {quoted(test.answer)}" if test.outcome == "refused" else said
        return _note(name, f"answers are free text: {FIELD} is {words}", structured=test.outcome)

    def _learner(self, attempts: list[int]) -> LlmLearner:
        template = shipped("learner", self._templates)
        return LlmLearner(
            self._endpoint,
            LearnerPrompts(dataset=self._dataset, template=template, is_structured=self._is_structured),
            LearnerOptions(seed=0, max_tokens=self._trial.learner_max_tokens),
            counters=Counters(),
            on_answer=lambda _, __, n: attempts.append(n),
        )

    async def _learner_prompt(self) -> Finding:
        """Ask about one row, as a run does."""
        attempts, row, name = list[int](), self._dataset.train[0], "learner prompt"
        (prediction,) = await self._learner(attempts).predict(RULE, [row])
        if prediction.value is None:
            return _unread(name, prediction.reason, prediction.raw or "")
        verdict = "as the rule says" if prediction.value == row.target else "against the rule"
        again = f", at answer {attempts[0]}" if attempts[0] > 1 else ""
        said = quoted(prediction.explanation or str(prediction.value))
        words = f"read{again}: {prediction.value}, {verdict}; it said {said}"
        return _works(name, words, parsed=True, answers=attempts[0])

    async def _optimizer_prompt(self) -> Finding:
        """Ask about one batch that a wrong rule answered, as a run does."""
        text, rows, name = seed_sentence(self._dataset), self._dataset.train, "optimizer prompt"
        refining, drawing = (shipped(role, self._templates) for role in ("optimizer", "prior"))
        prompts = OptimizerPrompts(dataset=self._dataset, refining=refining, drawing=drawing, seed_text=text)
        limits = ModelLimits(max_tokens=self._trial.optimizer_max_tokens)
        optimizer = LlmOptimizer(self._endpoint, prompts, limits, counters=Counters())
        wrong = [Prediction(row=row.id, value="dax", explanation="") for row in rows]
        proposal = await optimizer.propose(f"{text} Every animal is a dax.", rows, wrong, temperature=0.7, seed=0)
        if proposal.text is None:
            return _unread(name, proposal.reason, proposal.raw)
        return _works(name, f"read: {quoted(proposal.text.removeprefix(text).strip())}", parsed=True)

    async def _program(self) -> Finding:
        """Ask for a rule as a program, as a run does, and run it on every row."""
        rows, made, name = self._dataset.labelled, list[Translation | TextAnswer](), "writes programs"
        async with Sandbox() as sandbox:
            learner = ProgramLearner(
                self._learner([]),
                self._endpoint,
                ProgramPrompts(dataset=self._dataset, columns=Columns(self._dataset)),
                LearnerOptions(seed=0, max_tokens=self._trial.learner_max_tokens),
                sandbox,
                counters=Counters(),
                falls_back=False,
                on_program=made.append,
            )
            predictions = await learner.predict(RULE, rows)
        (written,) = (each for each in made if isinstance(each, Translation))
        if written.code is None:
            words = f"no: {printable(written.reason or '')}; --reading auto reads such sentences row by row"
            return _note(name, words, programs=False, answers=written.attempts)
        right = sum(each.value == row.target for each, row in zip(predictions, rows, strict=True))
        words = f"yes: right on {right} of {len(rows)} rows, at answer {written.attempts}"
        mark: Mark = "works" if right == len(rows) else "note"
        return _finding(mark, name, words, programs=True, right=right, answers=written.attempts)

    async def _burst(self) -> Finding:
        """Send many short calls at a time, and cancel those that are late."""
        started, calls = time.perf_counter(), min(self._trial.concurrency, BURST_LIMIT)
        texts = [f"Answer with the number {number}." for number in range(calls)]
        tasks = [asyncio.create_task(_ask(self._endpoint, text, max_tokens=16)) for text in texts]
        try:
            await asyncio.wait(tasks, timeout=max(BURST_S, 2 * self._one_s))
        finally:
            wall_s = time.perf_counter() - started
            outcomes = await cancel(tasks)
        n = sum(isinstance(outcome, Completion) for outcome in outcomes)
        words = f"{n} of {calls} short calls at once answered within {wall_s:.1f} s, {n / wall_s:.1f} a second"
        mark: Mark = "works" if n == calls else "note"
        return _finding(mark, "throughput", words, calls=calls, answered=n, calls_per_s=round(n / wall_s, 2))


def _unread(name: str, reason: str | None, raw: str) -> Finding:
    is_cut = "cut off at its limit" in (reason or "")
    fix = FIX_THOUGHTS if is_cut else "take another of the gallery's prompts, or a model that follows instructions"
    words = f"answered three times, and could not be read ({printable(reason or '')}); it said {quoted(raw)}"
    return _note(name, words, parsed=False, mend=fix)


# Whether a server honours a schema: it must answer with a word that does not fit the question

SCHEMA_QUESTION = "Answer with the word hello."
SCHEMA_TOKENS = 32
"""Tokens of an answer, enough for a JSON object with one of the words, spaces and line breaks."""


@dataclass(frozen=True, slots=True)
class SchemaTest:
    """A server's reaction to a JSON schema."""

    outcome: Literal["honoured", "ignored", "refused"]
    answer: str
    """The model's answer, or the server's reason."""
    is_answered: bool = True
    """True if the server answered, with or without the schema."""


async def try_schema(endpoint: Endpoint) -> SchemaTest:
    """Ask for one of two words by a schema alone. Raises EndpointUnreachable."""
    words = structure_of(output=Literal["KALUMI", "TORVEN"])
    try:
        answer = (await _ask(endpoint, SCHEMA_QUESTION, max_tokens=SCHEMA_TOKENS, structured=words)).text
    except EndpointRefused as error:
        return SchemaTest("refused", str(error), is_answered=False)
    if FIELD in endpoint.refused:
        return SchemaTest("refused", f"{FIELD} is not accepted")
    return SchemaTest("honoured" if is_kept(words, answer) else "ignored", answer, is_answered=bool(answer))
