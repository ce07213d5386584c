"""Test a server the way a run would use it; report one finding a line.

Nothing of a user's table is sent: the prompts are the shipped templates over a tiny made-up table.
"""

import asyncio
import math
import statistics
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import partial
from typing import Any, Literal

from vpp.data.build import build_dataset
from vpp.data.dataset import Dataset
from vpp.data.split import SplitPlan
from vpp.data.table import ColumnChoice, Table
from vpp.errors import EndpointError, EndpointRefused
from vpp.llm.answers import FIELDS, LETTERS, SOUND, STABLE, letter_shares
from vpp.llm.choices import AUTO, chosen_templates
from vpp.llm.context import ModelLimits
from vpp.llm.conversation import question
from vpp.llm.endpoint import Endpoint
from vpp.llm.errors import KEY_REFUSED, UNKNOWN_MODEL
from vpp.llm.forms import FIELD, SCHEMA, is_kept, one_of_words
from vpp.llm.learner import LearnerOptions, LlmLearner
from vpp.llm.limits import DEFAULT_CONCURRENCY, Counters
from vpp.llm.optimizer import LlmOptimizer
from vpp.llm.prompts import LearnerPrompts, OptimizerPrompts, ProgramPrompts, seed_sentence
from vpp.llm.protocol import FIX_THOUGHTS, NO_API, Completion, ServedModel, printable
from vpp.llm.templates import shipped
from vpp.llm.translator import ProgramLearner
from vpp.problem import Prediction, TextAnswer, Translation
from vpp.programs.columns import Columns
from vpp.programs.sandbox import Sandbox
from vpp.runtime import cancel

# --- findings -------------------------------------------------------------------------------------------------------

Mark = Literal["works", "note", "fails"]
Role = Literal["learner", "optimizer"]
CHECK_S = 60.0
"""Seconds after which no further part begins; the current one may take one answer longer."""
DEMO_MODEL = "demo"
"""Name under which the demo model is served."""
QUOTE_LIMIT = 160
"""Characters shown of an answer."""
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


# --- the check ------------------------------------------------------------------------------------------------------

BURST_LIMIT = 64
"""Most calls of the burst, however many a run may have in flight."""
BURST_S = 10.0
"""Seconds that the burst may take, if that is more than two answers; calls still open then are cancelled."""
SHORT = 128
"""Tokens of answers that only show whether something works."""
LOGPROBS, PROGRAMS = "log-probabilities", "writes programs"
NAMED = 12
"""Models named of a server's list."""
Part = Callable[[], Awaitable[Finding]]


async def check(endpoint: Endpoint, trial: Trial) -> AsyncIterator[Finding]:
    """Yield the findings about one server. Ends after a finding that fails; the last one names parts left out.

    endpoint: attempts each call once, without a cache.
    """
    ends_at = time.monotonic() + CHECK_S
    models, why_not = await _list(endpoint)
    listed = _listed(endpoint, models, why_not)
    for finding in listed:
        yield finding
    if not endpoint.model or any(finding.mark == "fails" for finding in listed):
        return
    answered = await _answer(endpoint, trial.learner_max_tokens, is_new=models is None)
    if models and endpoint.model not in _names(models):
        unlisted = _unlisted(endpoint.model, _names(models), answered)
        yield unlisted
        if unlisted.mark == "fails":
            return
    yield answered
    if answered.mark == "fails":
        return
    if models is None:
        no_list = "the server has no list of its models" if NO_API in why_not else f"cannot be listed: {why_not}"
        yield _note("models", no_list, models=[])
    one_s: float = answered.values["latency_s"]
    untried, carrier = [], ""
    prompts: dict[Role, Part] = {
        "learner": lambda: _learner_prompt(endpoint, trial, carrier),
        "optimizer": lambda: _optimizer_prompt(endpoint, trial),
    }
    parts: dict[str, Part] = {  # the most important first; the first decides the form of the learner's prompt
        "structured output": lambda: _structured(endpoint),
        **{f"{role} prompt": prompts[role] for role in trial.roles},
        **({PROGRAMS: lambda: _program(endpoint, trial)} if "learner" in trial.roles else {}),
        "throughput": lambda: _burst(endpoint, min(trial.concurrency, BURST_LIMIT), max(BURST_S, 2 * one_s)),
        LOGPROBS: lambda: _letters(endpoint),
    }
    for name, part in parts.items():
        left_s = ends_at - time.monotonic()
        try:
            async with asyncio.timeout(left_s + one_s if left_s > 0 else 0):
                finding = await part()
        except TimeoutError:
            untried.append(name)
            continue
        except EndpointError as error:
            finding = _note(name, f"not answered: {error}")
        carrier = finding.values.get("carrier", carrier)
        yield finding
    if untried:
        words = f"{', '.join(untried)}: the server is slow, and a check ends after {CHECK_S:g} s"
        yield _note("not tried", words, untried=untried)


# --- reachable, key, model, context length --------------------------------------------------------------------------


async def _list(endpoint: Endpoint) -> tuple[list[ServedModel] | None, str]:
    """Return the listed models, None for a server that cannot be reached, and the reason why there is no list."""
    try:
        return await endpoint.models(), "its list is empty"
    except EndpointError as error:
        if isinstance(error, EndpointRefused) and NO_API not in str(error):
            return [], str(error)
        await endpoint.aclose()  # after a 500, transformers serve cuts the connection under the next call
        return None, str(error)


def _listed(endpoint: Endpoint, models: Sequence[ServedModel] | None, why_not: str) -> list[Finding]:
    """Return the findings; none if only an answer of the model can show whether the server is reachable."""
    if models is None:
        return [] if endpoint.model else [_unreached(why_not)]
    reached = _works("reachable", f"a server answers at {endpoint.base_url}")
    if KEY_REFUSED in why_not:
        return [reached, _fails("key", why_not)]
    if not models:
        return [reached, _note("models", f"the server lists none: {why_not}", models=[])]
    key = _works("key", "accepted, or not asked for")
    names, model = _names(models), endpoint.model
    if model and model not in names:
        return [reached, key]  # what it answers decides
    served = _works("models", f"{model} is served", models=names)
    nameless = _note("models", f"none is named; the server has {_shown(names)}", models=names)
    length = next((one.max_model_len for one in models if one.id == model), None)
    context = _note("context length", "the server does not say", tokens=None)
    if length:
        context = _works("context length", f"{length:,} tokens, prompt and answer together", tokens=length)
    return [reached, key, served if model else nameless, context]


def _names(models: Sequence[ServedModel]) -> list[str]:
    return [one.id for one in models]


def _shown(names: Sequence[str]) -> str:
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return ", ".join(names[:NAMED]) + more


def _unlisted(model: str, names: Sequence[str], answered: Finding) -> Finding:
    """Judge a model that the server does not list, by what it answered under this name."""
    near = get_close_matches(model, names, n=3, cutoff=0.4)
    if answered.mark == "fails" and UNKNOWN_MODEL in answered.words:
        fix = f"Did you mean {' or '.join(near)}?" if near else "Name one of them"
        words = f"{UNKNOWN_MODEL} {model}: the server has {_shown(names)}. {fix}"
        return _fails("models", words, models=names)
    return _note("models", f"{model} is not in the server's list: {_shown(names)}", models=names)


def _unreached(why: str) -> Finding:
    return _fails("API" if NO_API in why else "reachable", why)


# --- answers --------------------------------------------------------------------------------------------------------


async def _ask(endpoint: Endpoint, text: str, **options: Any) -> Completion:
    return await endpoint.complete([question(text)], **{"temperature": 0.0, "seed": 0, "max_tokens": SHORT, **options})


async def _answer(endpoint: Endpoint, max_tokens: int, *, is_new: bool) -> Finding:
    started = time.perf_counter()
    try:
        completion = await _ask(endpoint, "Answer with the word OK.", max_tokens=max_tokens)
    except EndpointError as error:
        return _unreached(str(error)) if is_new or NO_API in str(error) else _fails("answers", str(error))
    latency_s = time.perf_counter() - started
    words = f"{quoted(completion.text)} in {latency_s:.2f} s, alone"
    if completion.reasoning:
        words += "; it thinks before it answers, which --reasoning-effort none may switch off"
    if not completion.prompt_tokens:
        words += "; it does not count tokens"
    return _works("answers", words, latency_s=round(latency_s, 4))


# --- the parts: structured output, a prompt of each role, throughput, log-probabilities -----------------------


def _toy() -> Dataset:
    split = SplitPlan(seed=0, train_size=6, test_size=2)
    columns = ColumnChoice(task="classification")
    return build_dataset(Table.read(TOY, name="made up"), target="animal", columns=columns, split=split)


def _templates(endpoint: Endpoint) -> str:
    return chosen_templates(AUTO, is_demo=endpoint.model == DEMO_MODEL, preset="recommended")


def _learner(endpoint: Endpoint, trial: Trial, carrier: str = "", attempts: list[int] | None = None) -> LlmLearner:
    template, is_structured = shipped("learner", _templates(endpoint)), trial.structured == "auto" and carrier == SCHEMA
    return LlmLearner(
        endpoint,
        LearnerPrompts(dataset=_toy(), template=template, is_structured=is_structured),
        LearnerOptions(seed=0, max_tokens=trial.learner_max_tokens),
        counters=Counters(),
        on_answer=lambda _, __, n: None if attempts is None else attempts.append(n),
    )


async def _program(endpoint: Endpoint, trial: Trial) -> Finding:
    """Ask for a rule as a program, as a run does, and run it on every row."""
    dataset, made = _toy(), list[Translation | TextAnswer]()
    async with Sandbox() as sandbox:
        learner = ProgramLearner(
            _learner(endpoint, trial),
            endpoint,
            ProgramPrompts(dataset=dataset, columns=Columns(dataset)),
            LearnerOptions(seed=0, max_tokens=trial.learner_max_tokens),
            sandbox,
            counters=Counters(),
            falls_back=False,
            on_program=made.append,
        )
        predictions = await learner.predict(RULE, dataset.labelled)
    (written,) = (each for each in made if isinstance(each, Translation))
    if written.code is None:
        words = f"no: {printable(written.reason or '')}; --reading auto reads such sentences row by row"
        return _note(PROGRAMS, words, programs=False, answers=written.attempts)
    right = sum(each.value == row.target for each, row in zip(predictions, dataset.labelled, strict=True))
    finding = _works if right == len(predictions) else _note
    words = f"yes: right on {right} of {len(predictions)} rows, at answer {written.attempts}"
    return finding(PROGRAMS, words, programs=True, right=right, answers=written.attempts)


async def _learner_prompt(endpoint: Endpoint, trial: Trial, carrier: str) -> Finding:
    """Ask about one row, as a run does. carrier: `SCHEMA` if the server honours it."""
    attempts: list[int] = []
    dataset, name = _toy(), "learner prompt"
    learner = _learner(endpoint, trial, carrier, attempts)
    (prediction,) = await learner.predict(RULE, dataset.train[:1])
    if prediction.value is None:
        return _unread(name, prediction.reason, prediction.raw or "")
    verdict = "as the rule says" if prediction.value == dataset.train[0].target else "against the rule"
    again = f", at answer {attempts[0]}" if attempts[:1] > [1] else ""
    quote = quoted(prediction.explanation or str(prediction.value))
    words = f"read{again}: {prediction.value}, {verdict}; it said {quote}"
    return _works(name, words, parsed=True, answers=attempts[0])


async def _optimizer_prompt(endpoint: Endpoint, trial: Trial) -> Finding:
    """Ask about one batch that a wrong rule answered, as a run does."""
    dataset, name = _toy(), "optimizer prompt"
    text = seed_sentence(dataset)
    prompts = OptimizerPrompts(
        dataset=dataset,
        refining=shipped("optimizer", _templates(endpoint)),
        drawing=shipped("prior", _templates(endpoint)),
        seed_text=text,
    )
    limits = ModelLimits(max_tokens=trial.optimizer_max_tokens)
    optimizer = LlmOptimizer(endpoint, prompts, limits, counters=Counters())
    wrong = [Prediction(row=row.id, value="dax", explanation="") for row in dataset.train]
    rule = f"{text} Every animal is a dax."
    proposal = await optimizer.propose(rule, dataset.train, wrong, temperature=0.7, seed=0)
    if proposal.text is None:
        return _unread(name, proposal.reason, proposal.raw)
    return _works(name, f"read: {quoted(proposal.text.removeprefix(text).strip())}", parsed=True)


def _unread(name: str, reason: str | None, raw: str) -> Finding:
    is_cut = "cut off at its limit" in (reason or "")
    fix = FIX_THOUGHTS if is_cut else "take another of the gallery's prompts, or a model that follows instructions"
    words = f"answered three times, and could not be read ({printable(reason or '')}); it said {quoted(raw)}"
    return _note(name, words, parsed=False, mend=fix)


def quoted(text: str) -> str:
    """Return the beginning of an answer in quotes, in one line."""
    line = printable(text[: 4 * QUOTE_LIMIT])
    return f"'{line}'" if len(line) <= QUOTE_LIMIT else f"'{line[:QUOTE_LIMIT]}…'"


async def _structured(endpoint: Endpoint) -> Finding:
    """Test whether the server enforces a choice that the prompt does not mention."""
    name, test = "structured output", await try_schema(endpoint)
    if test.outcome == "honoured":
        words = f"{FIELD} is honoured: --structured auto uses it"
        return _works(name, words, structured="honoured", carrier=SCHEMA)
    said = f"ignored in silence: asked for one of two words, it said {quoted(test.answer)}"
    words = f"refused: {quoted(test.answer)}" if test.outcome == "refused" else said
    return _note(name, f"answers are free text: {FIELD} is {words}", structured=test.outcome)


async def _letters(endpoint: Endpoint) -> Finding:
    """Ask for a letter twice: are there log-probabilities, are they on the letters, and are they the same again."""
    text, n = "Which number is larger?\nA = 3\nB = 8\nAnswer with the letter A or B and nothing else.", 2
    n_asked = len(LETTERS)
    one, other = [(await _ask(endpoint, text, max_tokens=1, top_logprobs=n_asked)).first_tokens for _ in range(2)]
    if set(FIELDS) & set(endpoint.dropped_fields):
        return _note(LOGPROBS, "refused: answers are labels alone", logprobs="refused")
    if not one or not other:
        return _note(LOGPROBS, "none: the server does not send them", logprobs="none")
    shares, again = (letter_shares(each, n) for each in (one, other))
    mass, apart = math.fsum(shares), max(abs(a - b) for a, b in zip(shares, again, strict=True))
    if apart > STABLE:
        words = f"unstable: asked twice, a letter's probability differs by {apart:.3f}"
        return _note(LOGPROBS, words, logprobs="unstable", apart=round(apart, 4))
    if mass < SOUND:
        words = f"unsound: asked for A or B, the model gives them only {100 * mass:.0f} % of the probability"
        return _note(LOGPROBS, words, logprobs="unsound", mass=round(mass, 4))
    words = f"sound: the letters asked for have {100 * mass:.1f} % of the probability, and the same when asked again"
    return _works(LOGPROBS, words, logprobs="sound", mass=round(mass, 4))


async def _burst(endpoint: Endpoint, calls: int, longest_s: float) -> Finding:
    """Send this many calls at a time, and wait at most `longest_s`."""
    started = time.perf_counter()

    async def one(number: int) -> float:
        began = time.perf_counter()
        await _ask(endpoint, f"Answer with the number {number}.", max_tokens=16, seed=number)
        return time.perf_counter() - began

    tasks = [asyncio.create_task(one(number)) for number in range(calls)]
    try:
        done, late = await asyncio.wait(tasks, timeout=longest_s)
    finally:
        wall_s = time.perf_counter() - started
        outcomes = await cancel(tasks)
    times = sorted(outcome for outcome in outcomes if isinstance(outcome, float))
    pace, failed = len(times) / wall_s, len(done) - len(times)
    counts = {"calls": calls, "answered": len(times), "failed": failed, "late": len(late)}
    words = f"{len(times)} of {calls} short calls at once answered within {wall_s:.1f} s"
    if not times:
        return _note("throughput", words, **counts, calls_per_s=0.0)
    words += f", {pace:.1f} a second; half of them within {statistics.median(times):.2f} s"
    finding = _note if failed or late else _works
    median_s = round(statistics.median(times), 4)
    return finding("throughput", words, **counts, calls_per_s=round(pace, 2), median_s=median_s)


# Whether a server honours a schema: it must answer with a word that does not fit the question

SCHEMA_QUESTION = "Answer with the word hello."
SCHEMA_WORDS = ("KALUMI", "TORVEN")
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
    asked = one_of_words(SCHEMA_WORDS)
    try:
        answer = (await _ask(endpoint, SCHEMA_QUESTION, max_tokens=SCHEMA_TOKENS, structured=asked)).text
    except EndpointRefused as error:
        return SchemaTest("refused", str(error), is_answered=False)
    if FIELD in endpoint.dropped_fields:
        return SchemaTest("refused", f"{FIELD} is not accepted")
    return SchemaTest("honoured" if is_kept(asked, answer) else "ignored", answer)
