"""What a run has asked of its models so far."""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Counts of calls needed, whether a server or the cache answered them, so equal runs have equal counts.

    Only `cached`, `retried`, `faults`, `refused_fields`, `unkept`, `cache_fault`, `sent` and `cost` depend on what the
    cache held and how the server behaved.
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
    prompt_tokens: int = 0
    completion_tokens: int = 0
    faults: dict[str, int] = field(default_factory=dict, compare=False)
    """Attempts that gave no answer as asked for, by what went wrong; at most 20 kinds."""
    refused_fields: tuple[str, ...] = field(default=(), compare=False)
    """Optional fields of a request that a server would not take, each with its model: left out or renamed since."""
    unkept: int = field(default=0, compare=False)
    """Answers that the cache could not keep."""
    cache_fault: str = field(default="", compare=False)
    """Why it could not, or cannot be used at all, in a few words."""

    sent: int = field(default=0, compare=False)
    """Requests that really went to a server, retries and refusals included; a resume takes none back."""
    cost: float = field(default=0.0, compare=False)
    """What their answers cost, in the user's own currency; a resume takes nothing back, and no price is no cost."""

    @property
    def calls(self) -> int:
        """Calls needed of both roles."""
        return self.learner + self.optimizer
