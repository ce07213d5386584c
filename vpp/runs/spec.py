"""What a run was asked to do: run.json's content, and all that a worker needs to begin or go on. It holds no secret."""

from dataclasses import dataclass, field
from typing import Any

from vpp.settings import Config


@dataclass(frozen=True, slots=True, kw_only=True)
class EndpointSpec:
    """Which server answers, for each role."""

    demo: bool = False
    """Whether the worker starts the built-in demo model."""
    demo_latency_ms: int = 0
    """How long the demo model waits before each answer."""
    base_url: str = ""
    model: str = ""
    optimizer_base_url: str = ""
    """Empty: the learner's."""
    optimizer_model: str = ""
    """Empty: the learner's."""
    concurrency: int = 512
    """Calls in flight at most."""
    timeout_s: float = 120
    """Seconds a whole call may take."""
    max_wait_s: float = 3600
    """Seconds a run waits for an endpoint that does not answer, before it fails."""
    cache: bool = True
    """Whether answers come from and go to the response cache."""
    learner_max_tokens: int = 512
    optimizer_max_tokens: int = 1536

    @property
    def is_demo(self) -> bool:
        """Whether the demo model answers, started by the worker or elsewhere."""
        return self.demo or self.model == "demo"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSpec:
    """Everything a run is made of but its rows, which are in data.csv."""

    name: str
    """What a person calls the run."""
    config: Config
    endpoint: EndpointSpec
    dataset: dict[str, Any] = field(default_factory=dict)
    """The dataset without its rows."""
    learner_template: str | None = None
    """The text of the user's own template; None for the product's."""
    optimizer_template: str | None = None
    command: tuple[str, ...] = ()
    """Arguments of `python -m vpp` that repeat the run."""
    start: tuple[str, ...] = ()
    """(K,) hypotheses that the run begins with instead of asking for some; empty for a run of its own."""
    started_from: str = ""
    """Id of the run whose last population they are."""

    @property
    def is_continued(self) -> bool:
        """Whether it goes on from an earlier run's particles."""
        return bool(self.start)
