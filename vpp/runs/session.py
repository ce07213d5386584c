"""A session: a run's dataset, endpoints and roles, put together from its directory and open while they are used."""

import asyncio
import importlib.metadata
import os
import platform
import re
import sys
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import vpp
from vpp import __version__
from vpp.data.dataset import Dataset
from vpp.data.record import dataset_from_csv
from vpp.demo import VERSION as DEMO_VERSION
from vpp.environment import Environment
from vpp.errors import EndpointError, EndpointUnreachable, InputError, RunError
from vpp.events import RunStarted
from vpp.gguf.server import LIBRARY
from vpp.llm.budget import NO_CAP, Allowance, Budget, Cap, Price
from vpp.llm.cache import ResponseCache
from vpp.llm.context import ModelLimits, check_fit
from vpp.llm.counters import Counters
from vpp.llm.endpoint import Endpoint, Limits, Server
from vpp.llm.gate import Gate
from vpp.llm.learner import LearnerOptions, LlmLearner, OnAnswer
from vpp.llm.optimizer import LlmOptimizer
from vpp.llm.prompts import LearnerPrompts, OptimizerPrompts, seed_sentence
from vpp.llm.retries import MAX_ATTEMPTS
from vpp.llm.templates import template_of
from vpp.llm.transport import warm_up
from vpp.problem import Problem
from vpp.runs.directory import RunDirectory
from vpp.runs.model_file import OnLoading, model_server
from vpp.runs.prefetching import room_for_guesses
from vpp.runs.spec import NO_PRICES, EndpointSpec, Prices, RunSpec
from vpp.runs.structuring import answers_of, with_carrier

DEMO_READY_S = 20.0
MODEL_FILES = "model-servers"
"""Folder in the cache folder where runs on one model file find their server."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Keys:
    """API keys a role, never written anywhere; and which servers may be asked with or without them."""

    learner: str | None = None
    optimizer: str | None = None
    gate: Gate = Gate()
    allowance: Allowance | None = None
    """How much may be sent, where a user of a shared app asks."""
    model_files: Path | None = None
    """Folder of the servers of model files; None if model files may not be used."""

    @classmethod
    def read(cls, environment: Mapping[str, str]) -> "Keys":
        """OPENAI_API_KEY, and VPP_OPTIMIZER_API_KEY where the optimizer has its own."""
        owners = Environment.of(environment)
        return cls(
            learner=environment.get("OPENAI_API_KEY") or None,
            optimizer=environment.get("VPP_OPTIMIZER_API_KEY") or None,
            gate=Gate.of(owners),
            allowance=_allowance(environment),
            model_files=owners.cache_dir / MODEL_FILES if owners.may_use_model_files else None,
        )

    def variables(self) -> dict[str, str]:
        """What a process that is to ask in somebody's name is told: these keys, and none that lie about."""
        told = {"OPENAI_API_KEY": self.learner or "", "VPP_OPTIMIZER_API_KEY": self.optimizer or ""}
        told["VPP_CALLS_FILE"] = str(self.allowance.file) if self.allowance else ""
        return {**told, "VPP_SHARED": "1"} if self.gate.is_shared else told

    def __repr__(self) -> str:
        return "Keys(…)"


def _allowance(environment: Mapping[str, str]) -> Allowance | None:
    """Of the user in whose name the app started this process; a command at the terminal is the owner's."""
    file, per_day = environment.get("VPP_CALLS_FILE"), Environment.of(environment).max_calls_per_user
    return Allowance(file=Path(file), per_day=per_day) if file and per_day else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """What a sampler needs, and what can be held or counted from outside."""

    problem: Problem
    learner: LlmLearner
    endpoints: tuple[Endpoint, ...]
    budget: Budget
    """What the endpoints may still send."""
    templates: Mapping[str, str]
    """SHA-256 by role."""

    def pause(self) -> None:
        """Sends no new call; those in flight finish."""
        for endpoint in self.endpoints:
            endpoint.pause()

    def go_on(self) -> None:
        """Sends calls again."""
        for endpoint in self.endpoints:
            endpoint.go_on()


def load_dataset(directory: RunDirectory, spec: RunSpec) -> Dataset:
    """The rows as used, with the split.

    Raises RunError without data.csv or where run.json does not describe it, DataError where it has changed.
    """
    try:
        content = directory.data.read_bytes()
    except OSError as error:
        raise RunError(f"{directory.data} cannot be read ({error.strerror}): restore it from a copy") from None
    try:
        return dataset_from_csv(content, header=spec.dataset)
    except (LookupError, ValueError, TypeError):
        raise RunError(f"{directory.data} is not as run.json describes it: restore both from a copy") from None


@asynccontextmanager
async def open_session(
    directory: RunDirectory,
    *,
    keys: Keys,
    cache_dir: Path,
    counters: Counters,
    on_answer: OnAnswer | None = None,
    cap: Cap | None = None,
    max_wait_s: float | None = None,
    on_loading: OnLoading = lambda _: None,
) -> AsyncIterator[Session]:
    """Opens cache, endpoints and, where the spec asks for it, the demo model; closes them all.

    cap: None where nobody waits for a higher one. max_wait_s: how long a server may have its callers wait without an
    answer; None: as the spec says. on_loading: called while a model file is loaded.
    """
    spec = directory.spec()
    budget = Budget(counters, cap or NO_CAP, allowance=keys.allowance, waits=cap is not None)
    warming = asyncio.create_task(asyncio.to_thread(warm_up))
    dataset = load_dataset(directory, spec)
    async with AsyncExitStack() as stack:
        stack.callback(budget.close)
        cache = await open_cache(stack, cache_dir, counters) if spec.endpoint.cache else None
        max_wait_s = spec.endpoint.max_wait_s if max_wait_s is None else max_wait_s
        served = replace(spec.endpoint, concurrency=spec.ceiling, max_wait_s=max_wait_s)
        ends = await open_endpoints(
            stack, served, keys, cache, counters, budget=budget, prices=spec.prices, on_loading=on_loading
        )
        limits = await _limits(spec.endpoint, *ends)
        spec = await with_carrier(directory, spec, ends[0], budget)
        check_prompts_fit(spec, dataset, limits)
        learner = _learner(spec, dataset, ends[0], limits[0].max_tokens, counters, on_answer)
        prompts = optimizer_prompts(spec, dataset)
        optimizer = LlmOptimizer(ends[1], prompts, limits[1], counters=counters)
        has_room = room_for_guesses(spec, dataset, ends[0], budget, counters)
        problem = _problem(spec, dataset, learner, optimizer, seed_text=prompts.seed_text, has_room=has_room)
        await warming
        templates = _templates(spec, prompts)
        yield Session(problem=problem, learner=learner, endpoints=ends, budget=budget, templates=templates)


def _learner(
    spec: RunSpec, dataset: Dataset, endpoint: Endpoint, max_tokens: int, counters: Counters, on_answer: OnAnswer | None
) -> LlmLearner:
    options = LearnerOptions(
        seed=spec.config.seed,
        max_tokens=max_tokens,
        points_per_call=spec.config.points_per_call,
        temperature=spec.config.learner_temperature,
        warm_prefix=spec.endpoint.warm_prefix,
    )
    return LlmLearner(endpoint, learner_prompts(spec, dataset), options, counters=counters, on_answer=on_answer)


def _problem(
    spec: RunSpec,
    dataset: Dataset,
    learner: LlmLearner,
    optimizer: LlmOptimizer,
    *,
    seed_text: str,
    has_room: Callable[[], bool],
) -> Problem:
    return Problem(
        dataset=dataset,
        learner=learner,
        optimizer=optimizer,
        seed_text=seed_text,
        start_texts=spec.start,
        batch_size=spec.config.batch_size,
        epochs=spec.config.epochs,
        seed=spec.config.seed,
        batch_order=spec.config.batch_order,
        deduplicate_buffer=spec.config.deduplicate_buffer,
        error_mass=spec.config.error_mass,
        has_room=has_room,
    )


def _templates(spec: RunSpec, prompts: OptimizerPrompts) -> dict[str, str]:
    """SHA-256 by role."""
    learner = template_of(spec.learner_template, role="learner")
    return {"learner": learner.sha256, "optimizer": prompts.refining.sha256, "prior": prompts.drawing.sha256}


async def _limits(spec: EndpointSpec, learner: Endpoint, optimizer: Endpoint) -> tuple[ModelLimits, ModelLimits]:
    """Return the limits of the two models, as the user or else their servers state them."""
    if spec.context_length:
        return limits_of(spec, spec.context_length, spec.context_length)
    asked = dict.fromkeys((learner, optimizer))
    lengths = dict(zip(asked, await asyncio.gather(*map(_context_length, asked)), strict=True))
    return limits_of(spec, lengths[learner], lengths[optimizer])


def limits_of(spec: EndpointSpec, learner: int, optimizer: int) -> tuple[ModelLimits, ModelLimits]:
    """Return the limits of learner and optimizer, given their context lengths in tokens; 0 if unknown."""
    return (
        ModelLimits(context_length=learner, max_tokens=spec.learner_max_tokens).bounded(),
        ModelLimits(context_length=optimizer, max_tokens=spec.optimizer_max_tokens).bounded(),
    )


def check_prompts_fit(spec: RunSpec, dataset: Dataset, limits: tuple[ModelLimits, ModelLimits]) -> None:
    """Raise InputError if the run's prompts cannot fit the models' contexts."""
    check_fit(
        learner_prompts(spec, dataset),
        optimizer_prompts(spec, dataset),
        learner_limits=limits[0],
        optimizer_limits=limits[1],
        points_per_call=spec.config.points_per_call,
    )


async def _context_length(endpoint: Endpoint) -> int:
    """As the server lists it; 0 where it does not."""
    with suppress(EndpointError):
        listed = await endpoint.models()
        return next((model.max_model_len or 0 for model in listed if model.id == endpoint.model), 0)
    return 0


def learner_prompts(spec: RunSpec, dataset: Dataset) -> LearnerPrompts:
    """Return the questions of the run's learner."""
    template = template_of(spec.learner_template, role="learner")
    return LearnerPrompts(dataset=dataset, template=template, structured=answers_of(spec))


def optimizer_prompts(spec: RunSpec, dataset: Dataset) -> OptimizerPrompts:
    """What the run's optimizer is asked."""
    return OptimizerPrompts(
        dataset=dataset,
        refining=template_of(spec.optimizer_template, role="optimizer"),
        drawing=template_of(spec.prior_template, role="prior"),
        seed_text=seed_sentence(dataset, spec.config.prior),
    )


async def open_cache(stack: AsyncExitStack, folder: Path, counters: Counters) -> ResponseCache | None:
    """None where it cannot be used, which is counted and told: a run goes on without it."""
    try:
        cache = ResponseCache(folder, on_fault=counters.cannot_keep)
    except InputError as error:
        counters.cannot_keep(str(error))
        return None
    stack.push_async_callback(cache.aclose)
    return cache


async def open_endpoints(
    stack: AsyncExitStack,
    spec: EndpointSpec,
    keys: Keys,
    cache: ResponseCache | None,
    counters: Counters,
    *,
    max_attempts: int = MAX_ATTEMPTS,
    budget: Budget | None = None,
    prices: Prices = NO_PRICES,
    on_loading: OnLoading = lambda _: None,
) -> tuple[Endpoint, Endpoint]:
    """The learner's and the optimizer's: one where both ask the same model. The demo model is started for it."""
    base_url, address, own_key = await _address(stack, spec, keys, on_loading)
    gate = Gate(named=(base_url,)) if spec.is_started_here else keys.gate
    if budget is None:
        budget = Budget(counters, allowance=keys.allowance)
        stack.callback(budget.close)
    limits = Limits(
        concurrency=spec.in_flight, timeout_s=spec.timeout_s, max_attempts=max_attempts, max_wait_s=spec.max_wait_s
    )

    async def opened(url: str, model: str, key: str | None, price: Price) -> Endpoint:
        server = Server(
            base_url=url,
            model=model,
            api_key=key or "",
            gate=gate,
            effort=spec.reasoning_effort,
            cache_address=address or "",
        )
        endpoint = Endpoint(server, limits=limits, cache=cache, counters=counters, budget=budget, price=price)
        stack.push_async_callback(endpoint.aclose)
        return endpoint

    model = "demo" if spec.demo else spec.model
    learner = await opened(base_url, model, own_key or keys.learner, prices.learner)
    if spec.is_started_here or not (spec.optimizer_base_url or spec.optimizer_model):
        return learner, learner
    elsewhere = spec.optimizer_base_url not in ("", base_url)
    key = keys.optimizer or (None if elsewhere else keys.learner)  # a key goes to no server but its own
    url = spec.optimizer_base_url or base_url
    optimizer = await opened(url, spec.optimizer_model or model, key, prices.of_optimizer)
    return learner, optimizer


async def _address(
    stack: AsyncExitStack, spec: EndpointSpec, keys: Keys, on_loading: OnLoading
) -> tuple[str, str | None, str | None]:
    """The learner's base URL, what stands for it in the cache, and its key; a server of ours is started for it."""
    if spec.gguf:
        serving = model_server(spec, keys.model_files, environment=_bare_environment(), on_loading=on_loading)
        served = await stack.enter_async_context(serving)
        return served.base_url, served.address, served.key
    if spec.demo:
        return await stack.enter_async_context(demo_server(spec.demo_latency_ms)), f"demo:{DEMO_VERSION}", None
    return spec.base_url, None, None


def _bare_environment() -> dict[str, str]:
    """The environment of a server of ours: it needs no secret."""
    return {name: value for name, value in child_environment(os.environ).items() if not is_secret(name)}


def child_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """The environment of a Python process of ours, which finds `vpp` whatever folder it is started from."""
    paths = [str(Path(vpp.__file__).parents[1]), environment.get("PYTHONPATH", "")]
    return {**environment, "PYTHONPATH": os.pathsep.join(filter(None, paths))}


def is_secret(name: str) -> bool:
    """Whether a variable may hold what a process that asks nobody has no need of."""
    return re.search(r"KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL", name.upper()) is not None


@asynccontextmanager
async def demo_server(latency_ms: int) -> AsyncIterator[str]:
    """The built-in demo model as a process of its own, which ends with this one; yields its base URL."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *("-m", "vpp.demo", "--port", "0", "--latency-ms", str(latency_ms), "--exit-with-parent"),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        env=_bare_environment(),
        start_new_session=True,  # an interrupt at the terminal is for the worker, which has test rows left to ask about
    )
    if process.stdout is None or process.stdin is None:
        raise EndpointUnreachable("the demo model could not be started: its output is not connected")
    try:
        yield await _first_line(process.stdout)
    finally:
        process.stdin.close()
        if process.returncode is None:
            process.terminate()
        await process.wait()


async def _first_line(output: asyncio.StreamReader) -> str:
    try:
        line = await asyncio.wait_for(output.readline(), DEMO_READY_S)
    except TimeoutError:
        raise EndpointUnreachable(f"the demo model was not ready within {DEMO_READY_S:g} s: try again") from None
    if not line:
        raise EndpointUnreachable("the demo model ended as it started: what it printed says why")
    return line.decode().strip()


def started(spec: RunSpec, session: Session) -> RunStarted:
    """The event that opens the journal."""
    return RunStarted(
        config=asdict(spec.config),
        dataset=spec.dataset,
        seed_text=session.problem.seed_text,
        steps=session.problem.steps,
        templates=dict(session.templates),
        versions=versions() | _server_version(spec.endpoint),
        models=spec.endpoint.models,
    )


def _server_version(endpoint: EndpointSpec) -> dict[str, str]:
    return {LIBRARY: importlib.metadata.version(LIBRARY)} if endpoint.gguf else {}


def versions() -> dict[str, str]:
    """Of vpp, Python and the libraries that decide a result."""
    libraries = {name: importlib.metadata.version(name) for name in ("numpy", "pandas", "openai")}
    return {"vpp": __version__, "python": platform.python_version(), "demo": DEMO_VERSION, **libraries}
