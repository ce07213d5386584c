"""What a run was asked to do: run.json's content, and all that a worker needs to begin or go on. It holds no secret."""

from dataclasses import dataclass, field
from math import ceil
from typing import Annotated, Any

from pydantic import AfterValidator

from vpp.llm.budget import FREE, NO_CAP, Cap, Price
from vpp.llm.choices import Role
from vpp.llm.limits import DEFAULT_CONCURRENCY
from vpp.runs.dataset_fields import checked_fields
from vpp.settings import Config

MOST_AT_ONCE = 4_096
"""Calls in flight where no number was given: as many as a round needs, between these."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EndpointSpec:
    """Which server answers, for each role."""

    demo: bool = False
    """Whether the worker starts the built-in demo model."""
    demo_latency_ms: int = 0
    """How long the demo model waits before each answer."""
    gguf: str = ""
    """Path of a model file that the worker serves itself; empty for a server that is there."""
    slots: int = 0
    """Answers at a time of a model file's server; 0 for any other."""
    base_url: str = ""
    model: str = ""
    optimizer_base_url: str = ""
    """Empty: the learner's."""
    optimizer_model: str = ""
    """Empty: the learner's."""
    concurrency: int = 0
    """Calls in flight at most; 0: as many as a round of the run needs (`RunSpec.ceiling`)."""
    timeout_s: float = 120
    """Seconds a whole call may take."""
    max_wait_s: float = 3600
    """Seconds a run waits for an endpoint that does not answer, before it fails."""
    cache: bool = True
    """Whether answers come from and go to the response cache."""
    learner_max_tokens: int = 512
    optimizer_max_tokens: int = 1536
    context_length: int = 0
    """Tokens of prompt and answer together that the models take; 0 asks the servers, which may not say."""
    structured: str = "off"
    """What the server holds the learner's answers to: auto, off, choice or regex; it may ignore it.

    auto: the whole answer form, if the server honours a field for it. The default is off because older records lack
    this field and had free text; the command line, the app and `vpp.fit` with an address use auto."""
    reasoning_effort: str = ""
    """How much a thinking model thinks: none, low, medium or high; empty leaves it to the model."""
    prefetch: str = "auto"
    """Whether mh asks about a chain's next rows before it is known which hypothesis goes on: auto, on or off.

    It changes no result; auto asks while the server has room."""
    warm_prefix: bool = False
    """Whether the first of several calls about a hypothesis goes alone, so that a server has their common beginning."""

    @property
    def in_flight(self) -> int:
        """Calls in flight at most where no run tells what a round needs."""
        return self.concurrency or DEFAULT_CONCURRENCY

    @property
    def is_demo(self) -> bool:
        """Whether the demo model answers, started by the worker or elsewhere."""
        return self.demo or (self.model == "demo" and not self.gguf)

    @property
    def is_started_here(self) -> bool:
        """Whether the worker starts the model's server itself, on this machine."""
        return self.demo or bool(self.gguf)

    @property
    def models(self) -> dict[str, str]:
        """By role, as the journal's first record tells them."""
        learner = "demo" if self.demo else self.model
        return {"learner": learner, "optimizer": self.optimizer_model or learner}


@dataclass(frozen=True, slots=True, kw_only=True)
class Prices:
    """What the models of a run charge."""

    learner: Price = FREE
    optimizer: Price | None = None
    """None: the learner's."""
    currency: str = ""
    """What the user calls it; may be empty."""

    @property
    def of_optimizer(self) -> Price:
        """The optimizer's, its own or the learner's."""
        return self.learner if self.optimizer is None else self.optimizer

    @property
    def are_given(self) -> bool:
        """Whether anything is charged."""
        return self.learner.is_given or self.of_optimizer.is_given


NO_PRICES = Prices()


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSpec:
    """Everything a run is made of but its rows, which are in data.csv."""

    name: str
    """What a person calls the run."""
    config: Config
    endpoint: EndpointSpec
    dataset: Annotated[dict[str, Any], AfterValidator(checked_fields)] = field(default_factory=dict)
    """The dataset without its rows."""
    learner_template: str | None = None
    """The text of the user's own template; None for the product's."""
    optimizer_template: str | None = None
    prior_template: str | None = None
    command: tuple[str, ...] = ()
    """Arguments of `python -m vpp` that repeat the run."""
    start: tuple[str, ...] = ()
    """(K,) hypotheses that the run begins with instead of asking for some; empty for a run of its own."""
    started_from: str = ""
    """Id of the run whose last population they are."""

    structured_as: str = "structured_outputs"
    """How the request carries the structure (`vpp.llm.structure.CARRIERS`), or off: the server honours no carrier.

    Empty until the server was tested. The default stays what older programs sent."""

    @property
    def templates(self) -> dict[Role, str | None]:
        """The text of each role's template; None for the product's."""
        return {
            "learner": self.learner_template,
            "optimizer": self.optimizer_template,
            "prior": self.prior_template,
        }

    prices: Prices = NO_PRICES
    cap: Cap = NO_CAP
    """At which the run pauses."""

    @property
    def ceiling(self) -> int:
        """Calls in flight at most: as told, or what a step's largest round needs, 1,024 to 4,096."""
        if self.endpoint.concurrency:
            return self.endpoint.concurrency
        config = self.config
        rows = max(config.batch_size, config.buffer_size)
        if config.is_on_fixed_rows:
            rows = max(rows, self.dataset.get("n_train", 0))
        return max(DEFAULT_CONCURRENCY, min(MOST_AT_ONCE, config.largest_size * ceil(rows / config.points_per_call)))

    @property
    def is_continued(self) -> bool:
        """Whether it goes on from an earlier run's particles."""
        return bool(self.start)
