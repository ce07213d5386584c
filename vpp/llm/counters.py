"""Running counts of a run's calls to its models."""

from dataclasses import asdict
from typing import Any

from vpp.events import Usage
from vpp.llm.limits import Throttle

MOST_KINDS = 20
"""Kinds of fault, and refused fields, that are counted by name."""
OTHER = "something else"


class Counters:
    """A mutable `Usage`, shared by one run's endpoints and roles (one event loop, so no lock).

    A call is counted when its answer arrives, so a call repeated after an outage counts once. A call that is given up
    counts as failed.
    """

    def __init__(self) -> None:
        self._counts: dict[str, Any] = asdict(Usage())
        self._throttles: set[Throttle] = set()

    def restore(self, usage: Usage) -> None:
        """Continue from `usage`, as a resumed run does; calls sent and money paid are never reduced."""
        sent, cost = self.sent, self.cost
        self._counts = asdict(usage)
        self.keep_spent(sent=sent, cost=cost)

    def keep_spent(self, *, sent: int, cost: float) -> None:
        """Raise the calls sent and the money paid to at least these."""
        self._counts |= {"sent": max(self.sent, sent), "cost": max(self.cost, cost)}

    @property
    def sent(self) -> int:
        """Requests sent."""
        return int(self._counts["sent"])

    @property
    def cost(self) -> float:
        """Money paid."""
        return float(self._counts["cost"])

    def add(self, **counts: float) -> None:
        """Add to the named counts. Raises KeyError for a name that `Usage` does not have."""
        for name, count in counts.items():
            self._counts[name] += count

    def fault(self, kind: str) -> None:
        """Count an attempt that failed, or whose answer has another form than asked for."""
        faults = self._counts["faults"]
        name = kind if kind in faults or len(faults) < MOST_KINDS - 1 else OTHER
        faults[name] = faults.get(name, 0) + 1

    def cannot_keep(self, reason: str, unkept: int = 0) -> None:
        """Count answers that the cache could not store, with the latest reason."""
        self._counts["unkept"] += unkept
        self._counts["cache_fault"] = reason

    def refuse(self, field: str) -> None:
        """Record an optional field that a server refused."""
        recorded = tuple(self._counts["refused_fields"])
        if field not in recorded and len(recorded) < MOST_KINDS:
            self._counts["refused_fields"] = (*recorded, field)

    def watch(self, throttle: Throttle) -> None:
        """Report a server's limit of calls in flight from now on."""
        self._throttles.add(throttle)

    def unwatch(self, throttle: Throttle) -> None:
        """Stop reporting it: the server is asked no more."""
        self._throttles.discard(throttle)

    def snapshot(self) -> Usage:
        """Return the counts so far."""
        narrowed = [(one.limit, one.narrowed_by) for one in self._throttles if one.narrowed_by]
        window, reason = min(narrowed, default=(0, ""))
        held_until = max((one.semaphore.held_until for one in self._throttles), default=0.0)
        now = {"window": window, "narrowed_by": reason, "held_until": held_until}
        return Usage(**{**self._counts, "faults": dict(self._counts["faults"]), **now})
