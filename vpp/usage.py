"""What a run has asked of its models so far."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Counts of calls needed, whether a server or the cache answered them, so equal runs have equal counts.

    Only `cached` and `retried` depend on what the cache held and on how the server behaved.
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

    @property
    def calls(self) -> int:
        """Calls needed of both roles."""
        return self.learner + self.optimizer
