"""A run's models, opened from its directory, and questions to them about rows, which change nothing of the run."""

import asyncio
import importlib.metadata
import platform
import threading
import time
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from concurrent import futures
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any, Generic, Literal, Protocol, TypeVar, cast

from vpp import __version__
from vpp.data.dataset import Dataset, Row
from vpp.demo import VERSION as DEMO_VERSION
from vpp.errors import EndpointError, EndpointRefused, InputError, RunError, VppError
from vpp.events import Counters, Votes, hypothesis_id, mixture_of
from vpp.inference.ahead import together
from vpp.llm.cache import ResponseCache
from vpp.llm.check import Finding, Role, check, try_schema
from vpp.llm.endpoint import MAX_ATTEMPTS, Endpoint, Server
from vpp.llm.learner import LearnerOptions, LlmLearner, OnAnswer
from vpp.llm.limits import NO_CAP, Budget, Cap
from vpp.llm.optimizer import LlmOptimizer
from vpp.llm.prompts import ModelLimits, check_fit
from vpp.llm.protocol import SCHEMA
from vpp.llm.translator import OnProgram, ProgramLearner
from vpp.posterior.prediction import Mixture
from vpp.problem import Learner, Prediction, Problem, Translation, averages_of
from vpp.programs.sandbox import Sandbox
from vpp.runs import preparation
from vpp.runs.directory import Answer, Entry, RunDirectory, RunReader
from vpp.runs.process import LIBRARY, OnLoading, demo_server, endpoint_for, model_server
from vpp.runs.spec import NO_PRICES, EndpointSpec, Keys, Prices, RunSpec
from vpp.settings import SAMPLES_TEMPERATURE


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """Everything besides the run itself that is needed to ask its models."""

    keys: Keys
    cache_dir: Path
    counters: Counters = field(default_factory=Counters)
    on_answer: OnAnswer = lambda *_: None
    on_program: OnProgram = lambda _: None
    answers: Sequence[Entry] = ()
    """Recorded answers, which need no call."""
    cap: Cap = NO_CAP
    max_attempts: int = MAX_ATTEMPTS
    on_loading: OnLoading = lambda _: None


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """An open run: its problem for the sampler, and the budget of its calls, which can be paused."""

    problem: Problem
    by_row: LlmLearner
    """The learner that reads each row itself."""
    budget: Budget
    learner_limits: ModelLimits


@asynccontextmanager
async def open_session(directory: RunDirectory, access: Access) -> AsyncIterator[Session]:
    """Open the cache, the endpoints and, if the spec names one, a server started here; close them all."""
    spec, counters = directory.spec(), access.counters
    budget = Budget(counters, access.cap)
    dataset = directory.dataset()
    async with AsyncExitStack() as stack:
        cache = open_cache(stack, access.cache_dir, counters) if spec.endpoint.cache else None
        endpoint = replace(spec.endpoint, concurrency=spec.ceiling)
        ends = await open_endpoints(stack, endpoint, access, budget, cache=cache, prices=spec.prices)
        limits = await _limits(spec.endpoint, *ends)
        before = spec
        spec = replace(spec, structured_as=spec.structured_as or await schema_test(spec, ends[0], access))
        spec = preparation.fit_cells(spec, dataset, limits)
        if spec != before:
            directory.amend(structured_as=spec.structured_as, cell_limit=spec.cell_limit)
        prompts, refining = preparation.learner_prompts(spec, dataset), preparation.optimizer_prompts(spec, dataset)
        check_fit(prompts, refining, limits)
        options = LearnerOptions(
            seed=spec.config.seed,
            max_tokens=limits[0].max_tokens,
            temperature=SAMPLES_TEMPERATURE if spec.config.learner_samples > 1 else 0.0,
            samples=spec.config.learner_samples,
        )
        by_row = LlmLearner(ends[0], prompts, options, counters=counters, on_answer=access.on_answer)
        by_row.preload((e.hypothesis, e.prediction) for e in access.answers if isinstance(e, Answer))
        optimizer = LlmOptimizer(ends[1], refining, limits[1], counters=counters)
        problem = replace(preparation.problem_of(spec, dataset), learner=by_row, optimizer=optimizer)
        if spec.config.has_programs:
            learner = await program_learner(stack, spec, dataset, access, (ends[0], by_row, options))
            problem = replace(problem, learner=learner, reader=by_row)
        yield Session(problem=problem, by_row=by_row, budget=budget, learner_limits=limits[0])


@asynccontextmanager
async def open_learner(
    directory: RunDirectory, access: Access, texts: Sequence[str], *, reads_rows: bool
) -> AsyncIterator[Learner]:
    """Open what predicts for these texts: their programs alone if these need no model, else a session."""
    spec = directory.spec()
    async with AsyncExitStack() as stack:
        if spec.config.has_programs and not reads_rows:
            options = LearnerOptions(seed=spec.config.seed, max_tokens=spec.endpoint.learner_max_tokens)
            nobody, dataset = cast(Any, None), directory.dataset()
            programs = await program_learner(stack, spec, dataset, access, (nobody, nobody, options))
            if not any(map(programs.needs_model, texts)):
                yield programs
                return
        session = await stack.enter_async_context(open_session(directory, access))
        yield session.by_row if reads_rows else session.problem.learner


Models = tuple[Endpoint, LlmLearner, LearnerOptions]


async def program_learner(
    stack: AsyncExitStack, spec: RunSpec, dataset: Dataset, access: Access, models: Models
) -> ProgramLearner:
    """Return the learner that translates hypotheses, with the programs that are recorded."""
    endpoint, by_row, options = models
    learner = ProgramLearner(
        by_row,
        endpoint,
        preparation.program_prompts(spec, dataset),
        options,
        await stack.enter_async_context(Sandbox()),
        counters=access.counters,
        falls_back=spec.config.reading == "auto",
        on_program=access.on_program,
        on_answer=access.on_answer,
    )
    learner.preload_programs(each for each in access.answers if not isinstance(each, Answer))
    return learner


async def _limits(spec: EndpointSpec, learner: Endpoint, optimizer: Endpoint) -> preparation.Limits:
    """Return the limits of the two models, as the user or else their servers state them."""
    lengths = {learner: spec.context_length, optimizer: spec.context_length}
    for endpoint in lengths if not spec.context_length else ():
        with suppress(EndpointError):
            lengths[endpoint] = (await endpoint.models()).get(endpoint.model, 0)
            if lengths[endpoint]:
                await endpoint.keep_to_slots()
    return preparation.limits_of(spec, lengths[learner], lengths[optimizer])


async def schema_test(spec: RunSpec, learner: Endpoint, access: Access) -> str:
    """Test the server: SCHEMA if it honours one, else `off`; empty if not needed, at the cap or unanswered."""
    is_needed = spec.endpoint.structured != "off" and not spec.endpoint.is_demo and spec.config.likelihood != "logprobs"
    if not is_needed or access.cap.is_reached(access.counters):
        return ""
    budget = Budget(access.counters)  # the test counts in `sent` and `cost` alone
    endpoint = replace(learner, cache=None, counters=Counters(), budget=budget, max_attempts=2, refused={})
    try:
        outcome, answer = await try_schema(endpoint)
    except EndpointRefused:
        return ""
    finally:
        await endpoint.aclose()
    return "" if not answer else SCHEMA if outcome == "honoured" else "off"


def open_cache(stack: AsyncExitStack, folder: Path, counters: Counters) -> ResponseCache | None:
    """Open the response cache; None if it cannot be used, which is counted and reported: a run works without it."""
    try:
        cache = ResponseCache(folder, on_fault=counters.cannot_keep)
    except InputError as error:
        counters.cannot_keep(str(error))
        return None
    stack.callback(cache.close)
    return cache


async def open_endpoints(
    stack: AsyncExitStack,
    spec: EndpointSpec,
    access: Access,
    budget: Budget,
    *,
    cache: ResponseCache | None = None,
    prices: Prices = NO_PRICES,
) -> tuple[Endpoint, Endpoint]:
    """Open the learner's and the optimizer's endpoint, one and the same if both ask one model."""
    server = await _server(stack, spec, access)
    learner = Endpoint(
        server,
        concurrency=spec.in_flight,
        timeout_s=spec.timeout_s,
        max_attempts=access.max_attempts,
        cache=cache,
        counters=access.counters,
        budget=budget,
        price=prices.learner,
    )
    stack.push_async_callback(learner.aclose)
    if spec.is_started_here or not (spec.optimizer_base_url or spec.optimizer_model):
        return learner, learner
    elsewhere = spec.optimizer_base_url not in ("", spec.base_url)
    key = access.keys.optimizer or (None if elsewhere else access.keys.learner)  # secrets go to no other server
    other = replace(
        server,
        base_url=spec.optimizer_base_url or spec.base_url,
        model=spec.optimizer_model or spec.model,
        api_key=key or "",
        headers=() if elsewhere else server.headers,
    )
    optimizer = replace(learner, server=other, price=prices.of_optimizer, refused={})
    stack.push_async_callback(optimizer.aclose)
    return learner, optimizer


async def _server(stack: AsyncExitStack, spec: EndpointSpec, access: Access) -> Server:
    """Return the learner's server, after starting one of ours."""
    effort, keys = spec.reasoning_effort, access.keys
    if spec.gguf:
        spec = endpoint_for(spec.gguf, spec, may_use=keys.model_files)
        url, address, key = await stack.enter_async_context(model_server(spec, access.on_loading))
        return Server(base_url=url, model=spec.model, api_key=key, body=spec.body, effort=effort, cache_address=address)
    if spec.demo:
        url = await stack.enter_async_context(demo_server(spec.demo_latency_ms))
        return Server(base_url=url, model="demo", effort=effort, cache_address=f"demo:{DEMO_VERSION}")
    return Server(
        base_url=spec.base_url,
        model=spec.model,
        api_key=keys.learner or "",
        headers=keys.headers,
        body=spec.body,
        gate=keys.gate,
        effort=effort,
    )


def versions(*, gguf: bool = False) -> dict[str, str]:
    """Return the versions of vpp, Python and the libraries that influence a result, by name."""
    names = ("numpy", "pandas", "openai", *([LIBRARY] if gguf else []))
    libraries = {name: importlib.metadata.version(name) for name in names}
    return {"vpp": __version__, "python": platform.python_version(), "demo": DEMO_VERSION, **libraries}


LONGEST_S, LONGEST_OF_FILE_S = 60.0, 600.0
"""Seconds a call may take, and for a model file, which a laptop's processor may serve."""


def check_servers(spec: EndpointSpec, keys: Keys) -> Iterator[Finding]:
    """Yield each finding as it is made. Raises InputError for an address or a key that no request can carry."""
    findings = _check(spec, keys)

    async def following() -> Finding | None:
        return await anext(findings, None)

    with asyncio.Runner() as runner:  # whose end closes the findings
        while one := runner.run(following()):
            yield one


async def _check(spec: EndpointSpec, keys: Keys) -> AsyncIterator[Finding]:
    async with AsyncExitStack() as stack:
        quick = replace(spec, timeout_s=min(spec.timeout_s, LONGEST_OF_FILE_S if spec.gguf else LONGEST_S))
        access = Access(keys=keys, cache_dir=Path(), max_attempts=1)
        learner, optimizer = await open_endpoints(stack, quick, access, Budget(access.counters))
        servers: dict[Endpoint, tuple[Role, ...]] = {learner: ("learner",)}
        servers[optimizer] = (*servers.get(optimizer, ()), "optimizer")
        tokens: dict[Role, int] = {"learner": spec.learner_max_tokens, "optimizer": spec.optimizer_max_tokens}
        for endpoint, roles in servers.items():
            async for finding in check(endpoint, {role: tokens[role] for role in roles}):
                yield replace(finding, roles=roles, base_url=endpoint.server.base_url, model=endpoint.model)


# Questions after the run

IN_FLIGHT = 2048
"""Questions begun at a time: well above the calls in flight, well below the rows of a large table."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answers:
    rows: tuple[Row, ...]
    texts: tuple[str, ...]
    """(K,) hypotheses."""
    weights: tuple[float, ...]
    """(K,) normalised."""
    predictions: tuple[tuple[Prediction, ...], ...]
    """(K, N)."""
    mixture: Mixture
    """Their predictive law, with noise and constant answer as at the run's evaluation."""
    step: int | None = None
    """The last complete step when the particles were read."""


class Asking:
    """Rows put to every text, once each. Another thread may read the counts and the complete answers meanwhile."""

    def __init__(
        self,
        reader: RunReader,
        rows: Sequence[Row],
        *,
        texts: Sequence[str] = (),
        answers: Mapping[tuple[str, int], Prediction] | None = None,
        programs: Sequence[Translation] | None = (),
    ) -> None:
        """texts: hypotheses to ask in the place of the particles, which only `by_pair` answers.

        answers: predictions that are not asked for, by hypothesis id and row id. programs: of texts that the run does
        not have; None to have the learner read each row itself. Raises RunError without particles.
        """
        snapshot, recorded = reader.refresh(), reader.read_answers()
        self._directory, self._spec, self._view = reader.directory, snapshot.spec, snapshot.view
        if not self._view.population:
            raise RunError(f"{self._directory.path} has no particles yet: wait for its first step")
        self.rows = tuple(rows)
        self._texts = tuple(texts) or tuple(self._view.texts[each.hypothesis] for each in self._view.population)
        pairs = {(hypothesis_id(text), row.id) for text in self._texts for row in self.rows}
        self._before = {pair: answer for pair, answer in (answers or {}).items() if pair in pairs}
        self._answers: dict[tuple[str, int], Prediction] = {}
        self._reads_rows = programs is None
        self._programs = [*recorded.programs, *(programs or ())]
        self.total = len(pairs) - len(self._before)
        """Questions. Unreadable answers need more calls."""
        has_programs = self._spec.config.has_programs and not self._reads_rows
        translated = {each.hypothesis for each in self._programs if isinstance(each, Translation) and each.code}
        n_free = sum(hypothesis in translated for hypothesis, _ in pairs) if has_programs else 0
        self.calls = self._spec.config.learner_samples * max(0, self.total - n_free)
        """Calls needed if every answer can be read, and no program asks about a text."""

    @property
    def done(self) -> int:
        return len(self._answers)

    @property
    def by_pair(self) -> dict[tuple[str, int], Prediction]:
        """Answers so far, by hypothesis id and row id."""
        return self._before | dict(self._answers)

    async def go(self, *, keys: Keys, cache_dir: Path) -> Answers:
        """Ask all questions. Raises EndpointError; earlier answers stay, also if this is cancelled."""

        def keep(hypothesis: str, prediction: Prediction, _attempts: int) -> None:
            self._answers[hypothesis, prediction.row] = prediction

        texts = list(dict.fromkeys(self._texts))
        size = -(-IN_FLIGHT // len(texts))
        before = [Answer(hypothesis=id_, prediction=each, attempts=1) for (id_, _), each in self._before.items()]
        access = Access(keys=keys, cache_dir=cache_dir, on_answer=keep, answers=[*self._programs, *before])
        async with open_learner(self._directory, access, texts, reads_rows=self._reads_rows) as learner:
            for first in range(0, len(self.rows), size):  # in blocks, so that the first rows are complete early
                await together(learner.predict(text, self.rows[first : first + size]) for text in texts)
        return self.complete_rows()

    def complete_rows(self) -> Answers:
        """Return the rows that every hypothesis has answered."""
        answers, identities = self.by_pair, tuple(map(hypothesis_id, self._texts))
        rows = tuple(row for row in self.rows if all((identity, row.id) in answers for identity in identities))
        weights, evaluated = self._view.weights, self._view.evaluations.get("train")
        noise, constant = (evaluated.noise, evaluated.constant) if evaluated else ((), None)
        return Answers(
            rows=rows,
            texts=self._texts,
            weights=weights,
            predictions=tuple(tuple(answers[identity, row.id] for row in rows) for identity in identities),
            mixture=mixture_of(weights, noise, constant, tuple(self._spec.dataset["classes"])),
            step=self._view.last_step,
        )


def average_answers(answers: Answers) -> Votes:
    votes = [[prediction.answer for prediction in particle] for particle in answers.predictions]
    return averages_of(answers.mixture, votes)


# Models asked in a background thread, which a command can wait for, and a page can look at, leave and return to

T = TypeVar("T", covariant=True)


class Questions(Protocol[T]):
    """Questions to a run's models, counted while they are asked."""

    total: int

    @property
    def done(self) -> int: ...

    async def go(self, *, keys: Keys, cache_dir: Path) -> T: ...


Q = TypeVar("Q", bound=Questions[object])


@cache
def background_loop() -> asyncio.AbstractEventLoop:
    """Return the event loop of a thread that lives as long as this process."""
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="vpp-asking", daemon=True).start()
    return loop


class Background(Generic[Q]):
    """Questions asked in another thread; `asking` holds the answers so far."""

    def __init__(self, asking: Q, *, keys: Keys, cache_dir: Path) -> None:
        self.asking, self._began_at, self._end = asking, time.monotonic(), threading.Event()
        self._future = asyncio.run_coroutine_threadsafe(self._go(keys, cache_dir), background_loop())

    async def _go(self, keys: Keys, cache_dir: Path) -> Any:
        try:
            return await self.asking.go(keys=keys, cache_dir=cache_dir)
        finally:
            self._end.set()

    @property
    def is_running(self) -> bool:
        return not self._future.done()

    @property
    def outcome(self) -> Literal["running", "finished", "stopped", "failed"]:
        if self.is_running:
            return "running"
        return "stopped" if self._future.cancelled() else "failed" if self._future.exception() else "finished"

    @property
    def failure(self) -> str:
        """Message of the error that ended it, that of a programming error too; empty without one."""
        error = self._future.exception() if self.outcome == "failed" else None
        return str(error or "") if isinstance(error, VppError | None) else f"{type(error).__name__}: {error}"

    def seconds_left(self) -> float | None:
        """Estimate the seconds left at the pace so far; None before the first answer."""
        done = self.asking.done
        return (time.monotonic() - self._began_at) / done * (self.asking.total - done) if done else None

    def result(self) -> Any:
        """Return what the questions gave. Raises the error that ended them."""
        return self._future.result()

    def stop(self, *, wait_s: float = 0) -> None:
        """Cancel the calls in flight, wait for their ends and keep the answers; no effect once it has ended."""
        self._future.cancel()
        self._end.wait(wait_s)

    def wait(self, timeout_s: float) -> bool:
        futures.wait([self._future], timeout_s)
        return not self.is_running
