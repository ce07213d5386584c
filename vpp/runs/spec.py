"""The spec of a run: the content of run.json, which is all that a worker needs but the keys, which are secret."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Annotated, Any, Literal

from annotated_types import Ge
from pydantic import TypeAdapter, ValidationError
from pydantic_core import PydanticSerializationError

from vpp.environment import Environment
from vpp.errors import InputError
from vpp.llm.gate import Gate, Headers, canonical, headers_of
from vpp.llm.limits import DEFAULT_CONCURRENCY, FREE, NO_CAP, Cap, Price
from vpp.llm.templates import Role
from vpp.settings import Config

Count = Annotated[int, Ge(0)]
MOST_AT_ONCE = 4_096  # upper limit of calls in flight if the user gave no number


def row_counts(dataset: Mapping[str, Any]) -> dict[str, int]:
    """Return n_train, n_test and n_calibration of the dataset's part of run.json, as `plan` takes them."""
    return {name: dataset.get(name, 0) for name in ("n_train", "n_test", "n_calibration")}


def first_fault(error: Exception) -> str:
    """Return the first line of an error; of a validation, where it fails and why."""
    if not isinstance(error, ValidationError):
        return str(error).partition("\n")[0]
    fault = error.errors()[0]
    return ": ".join(filter(None, (".".join(map(str, fault["loc"])), fault["msg"].removeprefix("Value error, "))))


@dataclass(frozen=True, slots=True, kw_only=True)
class EndpointSpec:
    """The server of each role, and how it is called."""

    demo: bool = False
    """True if the worker starts the built-in demo model."""
    demo_latency_ms: Count = 0
    gguf: str = ""
    """Path of a model file that the worker serves itself; empty for a running server."""
    base_url: str = ""
    model: str = ""
    optimizer_base_url: str = ""
    """Empty: the learner's."""
    optimizer_model: str = ""
    """Empty: the learner's."""
    concurrency: Count = 0
    """Calls in flight at most; 0: as many as one round needs (`RunSpec.ceiling`)."""
    timeout_s: Annotated[float, Ge(0.1)] = 120
    max_wait_s: Annotated[float, Ge(0)] = 3600
    """Seconds a run waits for an endpoint that does not answer, before it fails."""
    cache: bool = True
    learner_max_tokens: Annotated[int, Ge(1)] = 512
    optimizer_max_tokens: Annotated[int, Ge(1)] = 1536
    context_length: Count = 0
    """Tokens of prompt and answer together; 0 asks the servers, which may not know."""
    structured: Literal["auto", "off"] = "off"
    """Whether the server enforces the form of the learner's answers: off, or auto, if it honours a field for that."""
    body: str = ""
    """Further fields of each request, as a JSON object."""
    reasoning_effort: Literal["", "none", "minimal", "low", "medium", "high", "xhigh"] = ""
    """Effort of a thinking model; empty leaves it to the model."""

    @property
    def in_flight(self) -> int:
        return self.concurrency or DEFAULT_CONCURRENCY

    @property
    def is_demo(self) -> bool:
        """True if the demo model answers, started by the worker or elsewhere."""
        return self.demo or (self.model == "demo" and not self.gguf)

    @property
    def is_started_here(self) -> bool:
        """True if the worker starts the model's server itself, on this machine."""
        return self.demo or bool(self.gguf)

    @property
    def models(self) -> dict[str, str]:
        learner = "demo" if self.demo else self.model
        return {"learner": learner, "optimizer": self.optimizer_model or learner}


@dataclass(frozen=True, slots=True, kw_only=True)
class Prices:
    learner: Price = FREE
    optimizer: Price | None = None

    @property
    def of_optimizer(self) -> Price:
        return self.learner if self.optimizer is None else self.optimizer

    @property
    def are_given(self) -> bool:
        return self.learner != FREE or self.of_optimizer != FREE


NO_PRICES = Prices()


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSpec:
    """Everything about a run except its rows, which are in data.csv."""

    name: str
    config: Config
    endpoint: EndpointSpec
    dataset: dict[str, Any] = field(default_factory=dict)
    """Name, target, task, columns, labels, row counts and provenance, as in `RunStarted`."""
    templates: dict[Role, str | None] = field(default_factory=dict)
    """Text of each role's template; None for the default."""
    command: tuple[str, ...] = ()
    """Arguments of `python -m vpp` that repeat the run."""
    start: tuple[str, ...] = ()
    """First hypotheses of an earlier run, or a person's own; the optimizer is asked for the others of the K."""
    start_prior: tuple[float, ...] = ()
    """Prior probability of each hypothesis, in a run that only weighs; empty if all are equal."""
    started_from: str = ""
    """Id of the run that these come from; empty if they are a person's own."""
    group: str = ""
    """Name that runs of one setting with different seeds share (vpp/runs/group.py); empty for a run alone."""
    pooled: tuple[str, ...] = ()
    """Ids of the group's runs whose sentences this run weighs together; empty in any other run."""
    n_written: int = 0
    """Distinct sentences that the pooled runs wrote, which share the prior."""
    structured_as: str = ""
    """`json_schema` if the server holds answers to a schema, `off` if not; empty until it has been tested."""
    cell_limit: Count = 0
    """Characters that prompts show of a cell; 0: all that the models' contexts hold."""
    prices: Prices = NO_PRICES
    cap: Cap = NO_CAP

    @property
    def ceiling(self) -> int:
        """Calls in flight at most: as given, or those of the largest round, the evaluation, between 1,024 and 4,096."""
        if self.endpoint.concurrency:
            return self.endpoint.concurrency
        rows = sum(row_counts(self.dataset).values())
        return max(DEFAULT_CONCURRENCY, min(MOST_AT_ONCE, self.config.size * self.config.learner_samples * rows))

    @property
    def is_continued(self) -> bool:
        return bool(self.started_from or self.pooled)


adapter: Callable[[Any], TypeAdapter[Any]] = cache(TypeAdapter)
"""What reads and writes JSON of a kind, made at first use: a new run's first call does not wait for it."""


def to_json(spec: RunSpec | EndpointSpec) -> bytes:
    """Return the JSON of a spec. Raises InputError for a value that is no text or out of its range."""
    try:
        content = bytes(adapter(type(spec)).dump_json(spec, indent=2, warnings="none"))
        adapter(type(spec)).validate_json(content)
    except PydanticSerializationError as error:
        raise InputError(f"run.json cannot hold this run ({error}): remove what is no text from it") from None
    except ValidationError as error:
        raise InputError(first_fault(error)) from None
    return content


# Keys, and which of them goes to which address

OPENAI = "https://api.openai.com/v1"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Keys:
    """API keys by role and headers, never written to disk, and the servers and model files that may be used."""

    learner: str | None = None
    optimizer: str | None = None
    headers: Headers = ()
    """Sent to the learner's server with every request."""
    gate: Gate = Gate()
    model_files: bool = False

    @classmethod
    def read(cls, environment: Mapping[str, str]) -> "Keys":
        """Read OPENAI_API_KEY, VPP_OPTIMIZER_API_KEY, VPP_HEADERS and the owner's limits."""
        owners = Environment.of(environment)
        return cls(
            learner=environment.get("OPENAI_API_KEY") or None,
            optimizer=environment.get("VPP_OPTIMIZER_API_KEY") or None,
            headers=headers_of(environment.get("VPP_HEADERS", "")),
            gate=Gate.of(owners),
            model_files=owners.may_use_model_files,
        )

    def variables(self) -> dict[str, str]:
        """Return the variables that give a process these keys, and no others from this environment."""
        variables = {
            "OPENAI_API_KEY": self.learner or "",
            "VPP_OPTIMIZER_API_KEY": self.optimizer or "",
            "VPP_HEADERS": "\n".join(map("=".join, self.headers)),
        }
        return variables if self.gate.servers is None else {**variables, "VPP_SHARED": "1"}


def keys_for(endpoint: EndpointSpec, *, typed: Mapping[str, str], own: Keys, environment: Environment) -> Keys:
    """Return the keys for an endpoint's addresses: those typed with them, else the owner's for the owner's addresses.

    typed: by `exact` address. own: the owner's, from the environment, with the gate.
    """
    if endpoint.is_started_here:
        return replace(own, learner=None, optimizer=None, headers=())
    home = canonical(environment.base_url or OPENAI)
    keys = {address: key for address, key in typed.items() if key}
    learners = {home: own.learner, **keys}
    second = {canonical(environment.optimizer_base_url or home): own.optimizer} if own.optimizer else {}
    optimizers = {home: own.learner, **second, **keys}
    return replace(
        own,
        learner=learners.get(canonical(endpoint.base_url)),
        headers=own.headers if canonical(endpoint.base_url) == home else (),
        optimizer=optimizers.get(canonical(endpoint.optimizer_base_url or endpoint.base_url)),
    )
