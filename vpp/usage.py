"""Counts of a run's calls, and the deferred counting of calls made ahead of their step."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import Context, ContextVar, copy_context
from dataclasses import dataclass, field
from typing import Literal

Narrowing = Literal["", "files", "full", "pace"]
"""Reason for fewer calls in flight than allowed.

files: this process may open no more; full: the server refused calls or left them unanswered; pace: answers slow down.
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
    """Their cost in the user's currency; 0 without prices; never reduced by a resume."""
    ahead: int = field(default=0, compare=False)
    """Learner calls started on a guess."""
    ahead_unused: int = field(default=0, compare=False)
    """Guesses not needed so far: answered, cancelled, or in flight."""
    window: int = field(default=0, compare=False)
    """Current limit of calls in flight, if below the ceiling; else 0."""
    narrowed_by: str = field(default="", compare=False)
    """Reason for that limit: `files`, `full` or `pace` (of `Narrowing`)."""
    held_until: float = field(default=0.0, compare=False)
    """Unix time at which the last `Retry-After` ends; 0.0 without one."""

    @property
    def calls(self) -> int:
        """Calls needed of both roles."""
        return self.learner + self.optimizer


class Account:
    """What is asked ahead of its turn: told and counted once it is settled, and at once from then on."""

    __slots__ = ("_due", "_lost", "is_guess", "is_settled")

    def __init__(self, *, is_guess: bool = False) -> None:
        """is_guess: whether it may turn out that nothing of it was needed."""
        self._due: list[Callable[[], object]] = []
        self._lost: list[Callable[[], object]] = []
        self.is_guess = is_guess
        self.is_settled = False

    def owe(self, telling: Callable[[], object], *, otherwise: Callable[[], object] | None = None) -> None:
        """Calls it when the account is settled; `otherwise` when it is dropped."""
        if self.is_settled:
            telling()
            return
        self._due.append(telling)
        if otherwise is not None:
            self._lost.append(otherwise)

    def settle(self) -> None:
        """What was asked is needed."""
        self.is_settled = True
        self._close(self._due)

    def drop(self) -> None:
        """What was asked will not be needed: nothing of it is kept."""
        self._close(self._lost)

    def _close(self, calls: list[Callable[[], object]]) -> None:
        self._due, self._lost = [], []
        for call in calls:
            call()

    def context(self) -> Context:
        """A copy of the caller's, in which this account is open."""
        context = copy_context()
        context.run(_OPEN.set, self)
        return context

    @contextmanager
    def opened(self) -> Iterator[None]:
        """Whatever is asked within, also by tasks begun there, goes on this account."""
        token = _OPEN.set(self)
        try:
            yield
        finally:
            _OPEN.reset(token)


_OPEN: ContextVar[Account | None] = ContextVar("account", default=None)


def tell(telling: Callable[[], object]) -> None:
    """Calls it now; where the caller asks ahead of his turn, once that has come."""
    account = open_account()
    if account is None:
        telling()
    else:
        account.owe(telling)


def open_account() -> Account | None:
    """That on which the caller's questions go; None where they are needed now."""
    account = _OPEN.get()
    return None if account is None or account.is_settled else account
