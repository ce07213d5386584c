"""Test a server the way a run would use it; report one finding a line.

Nothing of a user's table is sent: the prompts are the shipped templates over a tiny made-up table.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from vpp.answers import printable, quotation, shortened
from vpp.data.build import ColumnChoice, build_dataset
from vpp.data.split import SplitPlan
from vpp.data.table import Table
from vpp.errors import EndpointError, EndpointRefused
from vpp.events import Counters
from vpp.llm import protocol
from vpp.llm.endpoint import PROMPT_CUT, Endpoint
from vpp.llm.learner import LearnerOptions, LlmLearner
from vpp.llm.optimizer import LlmOptimizer
from vpp.llm.prompts import LearnerPrompts, ModelLimits, OptimizerPrompts, ProgramPrompts, question, seed_sentence
from vpp.llm.protocol import FIX_THOUGHTS, KEY_REFUSED, NO_API, UNKNOWN_MODEL, Completion
from vpp.llm.templates import AUTO, ROLES, chosen_templates, shipped
from vpp.llm.translator import ProgramLearner
from vpp.problem import Prediction, TextAnswer, Translation
from vpp.programs.columns import Columns
from vpp.programs.sandbox import Sandbox
from vpp.runtime import cancel

Mark = Literal["works", "note", "fails"]
Role = Literal["learner", "optimizer"]
CHECK_S = 60.0
"""Seconds after which no further part is tried."""
WRONG_RULE = "Every animal is a dax."
RULE = 'If "length" is above 50, output wug. Otherwise, output dax.'
TOY = Path(__file__).with_name("templates") / "made_up.csv"


@dataclass(frozen=True, slots=True)
class Finding:
    name: str
    mark: Mark
    """works: as it should. note: a run works with a limitation. fails: no run works."""
    words: str
    value: Any = None
    """What a program needs of it: models by name, tokens, seconds an answer, calls a second, how to fix it."""
    roles: tuple[Role, ...] = ()
    base_url: str = ""
    model: str = ""


Result = tuple[Mark, str, Any]


async def check(endpoint: Endpoint, max_tokens: Mapping[Role, int]) -> AsyncIterator[Finding]:
    """Yield the findings about one server. Ends after a finding that fails.

    endpoint: attempts each call once, without a cache. max_tokens: of an answer of each role that the server has.
    """
    ends_at, one_s = time.monotonic() + CHECK_S, 0.0
    async for finding in _served(endpoint, max(max_tokens.values())):
        yield finding
        one_s = finding.value if finding.name == "answers" and finding.mark == "works" else 0.0
    if not one_s:
        return
    probes = _Probes(endpoint, max_tokens, one_s)
    parts: list[tuple[str, Callable[[], Awaitable[Result]]]] = [("structured output", probes.structured)]
    if "learner" in max_tokens:
        parts += [("learner prompt", probes.learner_prompt), ("writes programs", probes.program)]
    if "optimizer" in max_tokens:
        parts.append(("optimizer prompt", probes.optimizer_prompt))
    for name, part in (*parts, ("throughput", probes.burst)):
        left_s = ends_at - time.monotonic()
        try:
            async with asyncio.timeout(left_s + one_s if left_s > 0 else 0):
                result = await part()
        except TimeoutError:
            result = "note", f"not tried: the server is slow, and a check ends after {CHECK_S:g} s", None
        except EndpointError as error:
            result = "note", f"not answered: {error}", None
        yield Finding(name, *result)
    if PROMPT_CUT in endpoint.counters.snapshot().faults:
        words = "it counts fewer tokens than the prompts have, so it cuts them: serve a longer context"
        yield Finding("whole prompts", "note", words)


async def _served(endpoint: Endpoint, max_tokens: int) -> AsyncIterator[Finding]:
    """Yield what the server lists, and last whether the model answers; without a list, that answer decides."""
    model, models, no_list = endpoint.model, dict[str, int](), None
    try:
        models = await endpoint.models()
        words = f"a server answers at {endpoint.server.base_url}, and takes the key or wants none"
        yield Finding("reachable", "works", words)
    except EndpointError as error:
        no_list = error
        if KEY_REFUSED in str(error) or not model:
            yield _failure(error, is_reached=False)
            return
        await endpoint.aclose()  # after a 500, transformers serve cuts the connection under the next call
    names, listed = shortened(", ".join(models), 300), list(models)
    if not model:
        yield Finding("models", "note", f"none is named; the server has {names}", listed)
        return
    if model in models:
        yield Finding("models", "works", f"{model} is served", listed)
        length = models[model]
        words = f"{length:,} tokens, prompt and answer together" if length else "the server does not say"
        yield Finding("context length", "works" if length else "note", words, length or None)
    elif models:
        yield Finding("models", "note", f"{model} is not in the server's list: {names}", listed)
    started = time.perf_counter()
    try:
        completion = await _ask(endpoint, "Answer with the word OK.", max_tokens=max_tokens)
    except EndpointError as error:
        yield _failure(error, is_reached=not no_list or isinstance(error, EndpointRefused))
        return
    latency_s = time.perf_counter() - started
    if not models:
        yield Finding("models", "note", f"the server lists none: {no_list or 'its list is empty'}")
    if not completion.text.strip():
        yield Finding("answers", "fails", f"the answer is empty: {FIX_THOUGHTS}")
        return
    words = f"{quotation(completion.text)} in {latency_s:.2f} s, alone"
    if completion.reasoning:
        words += "; it thinks before it answers, which --reasoning-effort none may switch off"
    if not completion.prompt_tokens:
        words += "; it does not count tokens"
    yield Finding("answers", "works", words, max(0.0001, round(latency_s, 4)))


def _failure(error: EndpointError, *, is_reached: bool) -> Finding:
    names = {KEY_REFUSED: "key", NO_API: "API", UNKNOWN_MODEL: "models"}
    name = next(
        (name for words, name in names.items() if words in str(error)), "answers" if is_reached else "reachable"
    )
    return Finding(name, "fails", str(error))


async def _ask(endpoint: Endpoint, text: str, **options: Any) -> Completion:
    return await endpoint.complete([question(text)], **{"temperature": 0.0, "seed": 0, "max_tokens": 128, **options})


class _Probes:
    """Parts of a check that a run can do without, asked as a run asks, about a made-up table."""

    def __init__(self, endpoint: Endpoint, max_tokens: Mapping[Role, int], one_s: float) -> None:
        """one_s: seconds of an answer alone."""
        self._endpoint, self._max_tokens, self._one_s = endpoint, max_tokens, one_s
        split, columns = SplitPlan(seed=0, train_size=6, test_size=2), ColumnChoice(task="classification")
        table = Table.read(TOY.read_bytes(), name="made up")
        self._dataset = build_dataset(table, target="animal", columns=columns, split=split)
        name = chosen_templates(AUTO, is_demo=endpoint.model == "demo", preset="recommended")
        by_row, *self._writing = (shipped(role, name) for role in ROLES)
        self._options = LearnerOptions(seed=0, max_tokens=max_tokens.get("learner", 0))
        prompts = LearnerPrompts(dataset=self._dataset, template=by_row)
        self._learner = LlmLearner(endpoint, prompts, self._options, counters=Counters())

    async def structured(self) -> Result:
        """Test whether the server enforces a choice that the prompt does not mention."""
        try:
            outcome, said = await try_schema(self._endpoint)
        except EndpointRefused as error:
            outcome, said = "refused", str(error)
        if outcome == "honoured":
            return "works", f"{protocol.FIELD} is honoured: --structured auto uses it", protocol.SCHEMA
        reaction = "ignored in silence: asked for one of two words, it said" if outcome == "ignored" else "refused:"
        return "note", f"answers are free text: {protocol.FIELD} is {reaction} {quotation(said)}", None

    async def learner_prompt(self) -> Result:
        row = self._dataset.train[0]
        (prediction,) = await self._learner.predict(RULE, [row])
        if prediction.value is None:
            return _unread(prediction.reason, prediction.raw)
        verdict = "as the rule says" if prediction.value == row.target else "against the rule"
        said = quotation(prediction.explanation or str(prediction.value))
        return "works", f"read: {prediction.value}, {verdict}; it said {said}", None

    async def optimizer_prompt(self) -> Result:
        """Ask the optimizer to improve a wrong rule, and show it the rule's answers to the training rows."""
        text, rows = seed_sentence(self._dataset), self._dataset.train
        refining, drawing = self._writing
        prompts = OptimizerPrompts(dataset=self._dataset, refining=refining, drawing=drawing, seed_text=text)
        limits = ModelLimits(max_tokens=self._max_tokens["optimizer"])
        optimizer = LlmOptimizer(self._endpoint, prompts, limits, counters=Counters())
        answers = [Prediction(row=row.id, value="dax") for row in rows]
        proposal = await optimizer.propose(f"{text} {WRONG_RULE}", rows, answers, temperature=0.7, seed=0)
        if proposal.text is None:
            return _unread(proposal.reason, proposal.raw)
        return "works", f"read: {quotation(proposal.text.removeprefix(text).strip())}", None

    async def program(self) -> Result:
        rows, written = self._dataset.labelled, list[Translation | TextAnswer]()
        prompts = ProgramPrompts(dataset=self._dataset, columns=Columns(self._dataset))
        async with Sandbox() as sandbox:
            parts = (self._learner, self._endpoint, prompts, self._options, sandbox)
            learner = ProgramLearner(*parts, counters=Counters(), falls_back=False, on_program=written.append)
            predictions = await learner.predict(RULE, rows)
        if reason := next((each.reason for each in written if isinstance(each, Translation)), None):
            return "note", f"no: {printable(reason)}; --reading auto reads such sentences row by row", None
        right = sum(each.value == row.target for each, row in zip(predictions, rows, strict=True))
        words = f"yes: right on {right} of {len(rows)} rows, at answer {written[-1].attempts}"
        return "works" if right == len(rows) else "note", words, None

    async def burst(self) -> Result:
        """Send many short calls at a time, and cancel those that are late."""
        started, calls = time.perf_counter(), min(self._endpoint.concurrency, 64)
        texts = [f"Answer with the number {number}." for number in range(calls)]
        tasks = [asyncio.create_task(_ask(self._endpoint, text, max_tokens=16)) for text in texts]
        try:
            await asyncio.wait(tasks, timeout=max(10.0, 2 * self._one_s))
        finally:
            wall_s = time.perf_counter() - started
            outcomes = await cancel(tasks)
        n = sum(isinstance(outcome, Completion) for outcome in outcomes)
        words = f"{n} of {calls} short calls at once answered within {wall_s:.1f} s, {n / wall_s:.1f} a second"
        return "works" if n == calls else "note", words, round(n / wall_s, 2)


def _unread(reason: str | None, raw: str | None) -> Result:
    is_cut = "cut off at its limit" in (reason or "")
    fix = FIX_THOUGHTS if is_cut else "take another of the gallery's prompts, or a model that follows instructions"
    words = f"answered three times, and could not be read ({printable(reason or '')}); it said {quotation(raw or '')}"
    return "note", words, fix


SCHEMA_QUESTION = "Answer with the word hello."


async def try_schema(endpoint: Endpoint) -> tuple[Literal["honoured", "ignored", "refused"], str]:
    """Ask for one of two words by a schema alone; return the reaction and the answer. Raises EndpointError.

    The words do not fit the question, so that only a schema can bring them about.
    """
    words = protocol.structure_of(output=Literal["KALUMI", "TORVEN"])
    answer = (await _ask(endpoint, SCHEMA_QUESTION, max_tokens=32, structured=words)).text
    if protocol.FIELD in endpoint.refused:
        return "refused", answer
    return "honoured" if protocol.is_kept(words, answer) else "ignored", answer
