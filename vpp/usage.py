"""Counts of a run's calls, and the deferred counting of calls made ahead of their step."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import Context, ContextVar, copy_context
from dataclasses import dataclass, field
from typing import Literal

Narrowing = Literal["", "files", "full"]
"""Reason for fewer calls in flight than allowed.

files: this process may open no more; full: the server refused calls or left them unanswered.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Counts of calls needed, cached or sent, so equal runs have equal counts.

    Only `cached`, `retried` and the fields from `faults` on depend on the cache and the server. An early call counts in
    the step that needs it; `sent` and `cost` count immediately.
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
    inferred: int = 0
    """Labels read from an explanation because the answer had no `Output:` line."""
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
    ahead: int = field(default=0, compare=False)
    """Learner calls started on a guess."""
    ahead_unused: int = field(default=0, compare=False)
    """Guesses not needed so far: answered, cancelled, or in flight."""
    window: int = field(default=0, compare=False)
    """Current limit of calls in flight, if below the ceiling; else 0."""
    narrowed_by: str = field(default="", compare=False)
    """Reason for that limit: `files` or `full` (of `Narrowing`)."""
    held_until: float = field(default=0.0, compare=False)
    """Unix time at which the last `Retry-After` ends; 0.0 without one."""

    @property
    def calls(self) -> int:
        """Calls needed of both roles."""
        return self.learner + self.optimizer


class Transaction:
    """Calls made ahead of their step, whose counts and answers are recorded once they are needed."""

    __slots__ = ("_on_commit", "_on_rollback", "is_committed", "is_guess")

    def __init__(self, *, is_guess: bool = False) -> None:
        """is_guess: whether the calls may turn out to be unnecessary."""
        self._on_commit: list[Callable[[], object]] = []
        self._on_rollback: list[Callable[[], object]] = []
        self.is_guess = is_guess
        self.is_committed = False

    def on_commit(self, callback: Callable[[], object], *, on_rollback: Callable[[], object] | None = None) -> None:
        """Call `callback` when the calls turn out to be needed, `on_rollback` when they do not."""
        if self.is_committed:
            callback()
            return
        self._on_commit.append(callback)
        if on_rollback is not None:
            self._on_rollback.append(on_rollback)

    def commit(self) -> None:
        """Record the calls, as they are needed now."""
        self.is_committed = True
        self._end(self._on_commit)

    def rollback(self) -> None:
        """Record nothing of the calls, as they are not needed."""
        self._end(self._on_rollback)

    def _end(self, callbacks: list[Callable[[], object]]) -> None:
        self._on_commit, self._on_rollback = [], []
        for callback in callbacks:
            callback()

    def context(self) -> Context:
        """Return a copy of the caller's context in which this transaction is open."""
        context = copy_context()
        context.run(_OPEN.set, self)
        return context

    @contextmanager
    def opened(self) -> Iterator[None]:
        """Make the calls of this block part of the transaction, those of tasks that it starts too."""
        token = _OPEN.set(self)
        try:
            yield
        finally:
            _OPEN.reset(token)


_OPEN: ContextVar[Transaction | None] = ContextVar("transaction", default=None)


def on_commit(callback: Callable[[], object]) -> None:
    """Call `callback` when the caller's open transaction commits; now if there is none."""
    transaction = open_transaction()
    if transaction is None:
        callback()
    else:
        transaction.on_commit(callback)


def open_transaction() -> Transaction | None:
    """Return the transaction of the caller's calls; None if they are needed now."""
    transaction = _OPEN.get()
    return None if transaction is None or transaction.is_committed else transaction
