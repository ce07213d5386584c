"""A session: a run's rows, endpoints and roles, opened from its directory while they are used or tested."""

import asyncio
import importlib.metadata
import platform
from collections.abc import AsyncGenerator, AsyncIterator, Coroutine, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar, cast

from vpp import __version__
from vpp.demo import VERSION as DEMO_VERSION
from vpp.errors import EndpointError, EndpointRefused, InputError
from vpp.llm.cache import ResponseCache
from vpp.llm.check import Finding, Role, Trial, check, try_schema
from vpp.llm.endpoint import MAX_ATTEMPTS, Endpoint, Limits, Server
from vpp.llm.learner import LearnerOptions, LlmLearner, OnAnswer
from vpp.llm.limits import NO_CAP, Budget, Cap, Counters, Price
from vpp.llm.optimizer import LlmOptimizer
from vpp.llm.prompts import ModelLimits
from vpp.llm.protocol import SCHEMA
from vpp.llm.translator import OnProgram, ProgramLearner
from vpp.problem import Problem, Translation
from vpp.programs.sandbox import Sandbox
from vpp.runs.directory import RunDirectory, load_dataset
from vpp.runs.journal import Answer, AnswerReader, Entry
from vpp.runs.keys import Keys
from vpp.runs.model_file import LIBRARY, OnLoading, endpoint_for, model_server
from vpp.runs.process import demo_server
from vpp.runs.prompts import (
    check_prompts_fit,
    fitted,
    learner_prompts,
    limits_of,
    optimizer_prompts,
    problem_of,
    program_prompts,
)
from vpp.runs.spec import NO_PRICES, EndpointSpec, Prices, RunSpec
from vpp.runtime import cancel
from vpp.settings import SAMPLES_TEMPERATURE

TEST_ATTEMPTS = 2
T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """Everything besides the run itself that is needed to ask its models."""

    keys: Keys
    cache_dir: Path
    counters: Counters = field(default_factory=Counters)
    on_answer: OnAnswer = lambda *_: None
    on_program: OnProgram = lambda _: None
    answers: Sequence[Entry] | None = None
    """Answers of an earlier worker, which need no call; None: programs alone, all that were recorded."""
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

    @property
    def learner(self) -> LlmLearner | ProgramLearner:
        return cast(LlmLearner | ProgramLearner, self.problem.learner)


@asynccontextmanager
async def open_session(directory: RunDirectory, access: Access) -> AsyncIterator[Session]:
    """Open the cache, the endpoints and, if the spec names one, a server started here; close them all."""
    spec, counters = directory.spec(), access.counters
    budget = Budget(counters, access.cap)
    dataset = load_dataset(directory, spec)
    async with AsyncExitStack() as stack:
        cache = open_cache(stack, access.cache_dir, counters) if spec.endpoint.cache else None
        served = replace(spec.endpoint, concurrency=spec.ceiling)
        ends = await open_endpoints(stack, served, access, budget, cache=cache, prices=spec.prices)
        limits = await _limits(spec.endpoint, *ends)
        spec = await with_carrier(directory, spec, ends[0], budget)
        cell_limit, spec = spec.cell_limit, fitted(spec, dataset, limits)
        if spec.cell_limit != cell_limit:
            directory.amend(cell_limit=spec.cell_limit)
        check_prompts_fit(spec, dataset, limits)
        options = LearnerOptions(
            seed=spec.config.seed,
            max_tokens=limits[0].max_tokens,
            temperature=SAMPLES_TEMPERATURE if spec.config.learner_samples > 1 else 0.0,
            samples=spec.config.learner_samples,
        )
        prompts = learner_prompts(spec, dataset)
        by_row = LlmLearner(ends[0], prompts, options, counters=counters, on_answer=access.on_answer)
        by_row.preload((e.hypothesis, e.prediction) for e in access.answers or () if isinstance(e, Answer))
        optimizer = LlmOptimizer(ends[1], optimizer_prompts(spec, dataset), limits[1], counters=counters)
        problem = replace(problem_of(spec, dataset), learner=by_row, optimizer=optimizer)
        if spec.config.has_programs:
            learner = await _programs(stack, directory, spec, (ends[0], by_row, options), access)
            problem = replace(problem, learner=learner, reader=by_row)
        yield Session(problem=problem, by_row=by_row, budget=budget, learner_limits=limits[0])


@asynccontextmanager
async def open_learner(
    directory: RunDirectory, access: Access, texts: Sequence[str], programs: Sequence[Translation] | None = ()
) -> AsyncIterator[LlmLearner | ProgramLearner]:
    """Open what predicts for these texts: the run's programs alone if they need no model, else a session.

    programs: of texts that the run does not have; None for the learner that reads each row itself.
    """
    spec, nobody = directory.spec(), cast(Any, None)
    async with AsyncExitStack() as stack:
        if spec.config.has_programs and programs is not None:
            options = LearnerOptions(seed=spec.config.seed, max_tokens=spec.endpoint.learner_max_tokens)
            learner = await _programs(stack, directory, spec, (nobody, nobody, options), access)
            learner.preload_programs(programs)
            if not any(map(learner.needs_model, texts)):
                yield learner
                return
        session = await stack.enter_async_context(open_session(directory, access))
        if isinstance(session.learner, ProgramLearner):
            session.learner.preload_programs(programs or ())
        yield session.by_row if programs is None else session.learner


async def _programs(
    stack: AsyncExitStack,
    directory: RunDirectory,
    spec: RunSpec,
    asked: tuple[Endpoint, LlmLearner, LearnerOptions],
    access: Access,
) -> ProgramLearner:
    """Return the learner that translates hypotheses, with the programs that the run has. asked: the model's."""
    endpoint, by_row, options = asked
    learner = ProgramLearner(
        by_row,
        endpoint,
        program_prompts(spec, load_dataset(directory, spec)),
        options,
        await stack.enter_async_context(Sandbox()),
        counters=access.counters,
        falls_back=spec.config.reading == "auto",
        on_program=access.on_program,
        on_answer=access.on_answer,
    )
    entries = AnswerReader(directory.journal).refresh().programs if access.answers is None else access.answers
    learner.preload_programs(each for each in entries if not isinstance(each, Answer))
    return learner


async def _limits(spec: EndpointSpec, learner: Endpoint, optimizer: Endpoint) -> tuple[ModelLimits, ModelLimits]:
    """Return the limits of the two models, as the user or else their servers state them."""
    if spec.context_length:
        return limits_of(spec, spec.context_length, spec.context_length)
    asked = dict.fromkeys((learner, optimizer))
    lengths = dict(zip(asked, await asyncio.gather(*map(_context_length, asked)), strict=True))
    return limits_of(spec, lengths[learner], lengths[optimizer])


async def _context_length(endpoint: Endpoint) -> int:
    with suppress(EndpointError):
        if length := (await endpoint.models()).get(endpoint.model, 0):
            await endpoint.keep_to_slots()
        return length
    return 0


async def with_carrier(directory: RunDirectory, spec: RunSpec, learner: Endpoint, budget: Budget) -> RunSpec:
    """Test whether the learner's server honours a schema and record it in run.json; return the spec with it.

    Nothing is recorded if the run's cap ends the test or the server answers no test call: the next worker tests again.
    Raises EndpointUnreachable.
    """
    is_needed = spec.endpoint.structured != "off" and not spec.endpoint.is_demo and spec.config.likelihood == "labels"
    if not is_needed or spec.structured_as:
        return spec
    endpoint = learner.copy(counters=Counters(), max_attempts=TEST_ATTEMPTS)  # of these calls, `sent` and `cost` count
    try:
        outcome, answer = await unless_at_cap(try_schema(endpoint), budget) or ("", "")
    except EndpointRefused:
        return spec
    finally:
        await endpoint.aclose()
    if not answer:
        return spec
    carrier = SCHEMA if outcome == "honoured" else "off"
    directory.amend(structured_as=carrier)
    return replace(spec, structured_as=carrier)


async def unless_at_cap(work: Coroutine[Any, Any, T], budget: Budget) -> T | None:
    """Return the result, or None once the budget allows no further call."""
    task, at_cap = asyncio.ensure_future(work), asyncio.ensure_future(budget.exhausted.wait())
    try:
        await asyncio.wait((task, at_cap), return_when=asyncio.FIRST_COMPLETED)
        return task.result() if task.done() else None
    finally:
        await cancel((task, at_cap))


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
    limits = Limits(concurrency=spec.in_flight, timeout_s=spec.timeout_s, max_attempts=access.max_attempts)

    def opened(server: Server, price: Price) -> Endpoint:
        endpoint = Endpoint(server, limits=limits, cache=cache, counters=access.counters, budget=budget, price=price)
        stack.push_async_callback(endpoint.aclose)
        return endpoint

    server = await _server(stack, spec, access)
    learner = opened(server, prices.learner)
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
    return learner, opened(other, prices.of_optimizer)


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


LONGEST_S = 60.0
LONGEST_OF_FILE_S = 600.0
"""Seconds a call may take for a model file, which a laptop's processor may serve."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    roles: tuple[Role, ...]
    base_url: str
    model: str
    finding: Finding


async def check_servers(spec: EndpointSpec, keys: Keys) -> AsyncGenerator[Checked, None]:
    """Yield each finding as it is made. Raises InputError for an address or a key that no request can carry."""
    async with AsyncExitStack() as stack:
        longest_s = LONGEST_OF_FILE_S if spec.gguf else LONGEST_S
        quick = replace(spec, timeout_s=min(spec.timeout_s, longest_s))
        access = Access(keys=keys, cache_dir=Path(), max_attempts=1)
        learner, optimizer = await open_endpoints(stack, quick, access, Budget(access.counters))
        servers: dict[Endpoint, tuple[Role, ...]] = {learner: ("learner",)}
        servers[optimizer] = (*servers.get(optimizer, ()), "optimizer")
        for endpoint, roles in servers.items():
            trial = Trial(
                roles=roles,
                concurrency=spec.in_flight,
                learner_max_tokens=spec.learner_max_tokens,
                optimizer_max_tokens=spec.optimizer_max_tokens,
            )
            async for finding in check(endpoint, trial):
                yield Checked(roles=roles, base_url=endpoint.base_url, model=endpoint.model, finding=finding)


def checking(spec: EndpointSpec, keys: Keys) -> Iterator[Checked]:
    """Yield the findings to a caller without an event loop; closing it early closes its connections."""
    with asyncio.Runner() as runner:
        findings = check_servers(spec, keys)
        try:
            while (one := runner.run(_next(findings))) is not None:
                yield one
        finally:
            runner.run(findings.aclose())


async def _next(findings: AsyncGenerator[Checked, None]) -> Checked | None:
    return await anext(findings, None)
