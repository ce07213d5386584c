"""Counts what a run asks of its models, while it asks."""

import time
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from vpp.usage import Narrowing, Usage, open_account

MOST_KINDS = 20
"""Kinds of fault that are told apart, and refused fields that are named."""
OTHER = "something else"
NEEDED = frozenset(
    {"learner", "optimizer", "cached", "unparsable", "inferred", "refused", "prompt_tokens", "completion_tokens"}
)
"""Counts of calls needed: where a call is made ahead of its turn, they wait for it."""
GUESSED = NEEDED | {"failed"}
"""The same of a guess."""


class Counters:
    """A mutable `Usage`, shared by one run's endpoints and roles (one event loop, so no lock).

    A call is counted when its answer arrives: one that is given up counts as failed, and asked again
    after an outage it counts once.
    """

    def __init__(self) -> None:
        self._counts: dict[str, Any] = asdict(Usage())
        self._narrowed: dict[object, tuple[int, Narrowing]] = {}
        self._held: dict[object, float] = {}

    def restore(self, usage: Usage) -> None:
        """Goes on from `usage`, as a resumed run does; what was sent and paid stays so."""
        sent, cost = self.sent, self.cost
        self._counts = asdict(usage)
        self.keep_spent(sent=sent, cost=cost)

    def keep_spent(self, *, sent: int, cost: float) -> None:
        """Knows of so much sent and paid at the least."""
        self._counts |= {"sent": max(self.sent, sent), "cost": max(self.cost, cost)}

    @property
    def sent(self) -> int:
        """Requests sent."""
        return int(self._counts["sent"])

    @property
    def calls(self) -> int:
        """Calls needed of both roles."""
        return int(self._counts["learner"] + self._counts["optimizer"])

    @property
    def planned(self) -> int:
        """Of these, those that a plan foresees, at least: an answer unreadable or refused is asked for once more."""
        return max(0, self.calls - int(self._counts["unparsable"] + self._counts["refused"]))

    @property
    def cost(self) -> float:
        """Money paid."""
        return float(self._counts["cost"])

    def pay(self, cost: float) -> None:
        """Adds what an answer cost."""
        self._counts["cost"] += cost

    def add(self, **counts: int) -> None:
        """Adds to the named counts, those of needed calls once they are needed, as with the failures of guesses.

        Raises KeyError on a name that `Usage` does not have.
        """
        account = open_account()
        if account is not None and not (GUESSED if account.is_guess else NEEDED).isdisjoint(counts):
            account.owe(lambda: self._add(counts))
        else:
            self._add(counts)

    def _add(self, counts: Mapping[str, int]) -> None:
        for name, count in counts.items():
            self._counts[name] += count

    def fault(self, kind: str) -> None:
        """Counts an attempt that gave no answer as asked for."""
        faults = self._counts["faults"]
        name = kind if kind in faults or len(faults) < MOST_KINDS - 1 else OTHER
        faults[name] = faults.get(name, 0) + 1

    def cannot_keep(self, reason: str, unkept: int = 0) -> None:
        """Counts answers that the cache could not keep, and notes why."""
        self._counts["unkept"] += unkept
        self._counts["cache_fault"] = reason

    def refuse(self, field: str) -> None:
        """Notes, once, an optional field that a server would not take."""
        noted = tuple(self._counts["refused_fields"])
        if field not in noted and len(noted) < MOST_KINDS:
            self._counts["refused_fields"] = (*noted, field)

    def narrow(self, server: object, window: int, why: Narrowing) -> None:
        """Notes how many calls a server is sent at a time, and why those are fewer than may be; empty: they are not."""
        self._narrowed.pop(server, None)
        if why:
            self._narrowed[server] = window, why

    def hold(self, server: object, seconds: float) -> None:
        """Notes for how long a server is sent nothing new, as it asked; 0.0: it does not ask."""
        self._held.pop(server, None)
        if seconds:
            self._held[server] = time.time() + seconds

    def forget(self, server: object) -> None:
        """Takes back what was noted of a server that is asked no more."""
        self._narrowed.pop(server, None)
        self._held.pop(server, None)

    def snapshot(self) -> Usage:
        """The counts so far."""
        window, why = min(self._narrowed.values(), default=(0, ""))
        now = {"window": window, "narrowed_by": why, "held_until": max(self._held.values(), default=0.0)}
        return Usage(**{**self._counts, "faults": dict(self._counts["faults"]), **now})
