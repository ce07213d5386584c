"""What a run has asked of its models so far, and when what was asked ahead of its turn begins to count."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import Context, ContextVar, copy_context
from dataclasses import dataclass, field
from typing import Literal

Narrowing = Literal["", "files", "full", "pace"]
"""Why a server is sent fewer calls at a time than may be: this process may open no more files, the server refused some

of late or left them without an answer, or its answers take longer with more.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Counts of calls needed, whether a server or the cache answered them, so equal runs have equal counts.

    Only `cached`, `retried`, `faults`, `refused_fields`, `unkept`, `cache_fault`, `sent`, `cost`, `ahead`,
    `ahead_unused`, `window`, `narrowed_by` and `held_until` depend on what the cache held and how the server behaved.
    A call that was made ahead of its turn counts when its turn comes; what was sent and paid counts at once.
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
    """Optimizer answers refused as no rule for this table; a proposal may take up to three."""
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
    ahead: int = field(default=0, compare=False)
    """Learner calls begun on a guess, before it was known whether they are needed."""
    ahead_unused: int = field(default=0, compare=False)
    """Of these, not needed so far: answered, cancelled, or still under way."""
    window: int = field(default=0, compare=False)
    """Calls that a server is sent at a time just now, where those are fewer than may be; else 0."""
    narrowed_by: str = field(default="", compare=False)
    """Why they are fewer: `files`, `full` or `pace` (of `Narrowing`)."""
    held_until: float = field(default=0.0, compare=False)
    """Unix time to which a server asked to be let be, or did last; 0.0 where none did."""

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
