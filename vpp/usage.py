"""Counts of a run's calls."""

from dataclasses import dataclass, field
from typing import Literal

Narrowing = Literal["", "files", "full"]
"""Reason for fewer calls in flight than allowed.

files: this process may open no more; full: the server refused calls or left them unanswered.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Counts of calls, cached or sent. A call counts when its answer arrives, and in `sent` and `cost` when it is sent.

    Only `cached`, `retried` and the fields from `faults` on depend on the cache and the server.
    """

    learner: int = 0
    """Learner calls, re-asks included."""
    optimizer: int = 0
    """Optimizer calls, re-asks included."""
    cached: int = 0
    """Of these, how many the cache answered."""
    failed: int = 0
    """Calls given up after every retry."""
    retried: int = 0
    """Extra attempts after a failed one; not in `learner` or `optimizer`."""
    unparsable: int = 0
    """Answers that could not be read."""
    refused: int = 0
    """Optimizer answers that are no rule for this table; up to three a proposal."""
    prompt_tokens: int = 0
    completion_tokens: int = 0
    faults: dict[str, int] = field(default_factory=dict, compare=False)
    """Failed attempts by kind of fault; at most 20 kinds."""
    refused_fields: tuple[str, ...] = field(default=(), compare=False)
    """Optional request fields that a server refused, with the model; left out or renamed since."""
    unkept: int = field(default=0, compare=False)
    """Answers that the cache could not keep."""
    cache_fault: str = field(default="", compare=False)
    """Why the cache failed."""

    sent: int = field(default=0, compare=False)
    """Requests sent to a server, retries and refusals included; never reduced by a resume."""
    cost: float = field(default=0.0, compare=False)
    """Their cost; 0 without prices; never reduced by a resume."""
    window: int = field(default=0, compare=False)
    """Current limit of calls in flight, if below the ceiling; else 0."""
    narrowed_by: str = field(default="", compare=False)
    """Reason for that limit: `files` or `full` (of `Narrowing`)."""
    held_until: float = field(default=0.0, compare=False)
    """Unix time at which the last `Retry-After` ends; 0.0 without one."""

    @property
    def calls(self) -> int:
        """Calls of both roles."""
        return self.learner + self.optimizer
