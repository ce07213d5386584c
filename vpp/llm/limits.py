"""Limits on calls in flight: an adaptive window, and open connections; and counts of calls.

The window starts at its ceiling. It follows TCP's law of additive increase and multiplicative decrease (Chiu and Jain,
1989; RFC 5681): a call that the server had no room for (429, 503, no answer in time) halves it, at most once a round
trip. A round trip without one adds its square root.
"""

import asyncio
import math
import resource
import time
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict
from typing import Any, NamedTuple

from vpp.events import Narrowing, Usage

DEFAULT_CONCURRENCY = 1_024
"""Default ceiling of calls in flight: enough to send a step's calls, and usually all test rows, together."""
A_TURN = 16
"""Calls admitted in one turn of the event loop."""
OTHER_FILES = 200
"""Files and sockets that a process has open besides its connections."""


class Call(NamedTuple):
    began: float
    load: int
    """Calls in flight when it began, itself included."""


class Semaphore(ABC):
    """Admits callers, first come first served, while fewer than `limit` are inside.

    It admits a few callers in each turn of the event loop. If hundreds entered together, all would be prepared before
    the first is sent, and all would be awaited before the first answer is read: client and server would take turns.
    """

    def __init__(self) -> None:
        self.inside = 0
        self.held_until = 0.0
        """Unix time at which a hold ends; 0.0 if there is none."""
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._hold: asyncio.TimerHandle | None = None
        self._admitted = 0
        """Callers admitted in this turn of the loop."""

    @property
    @abstractmethod
    def limit(self) -> int:
        """Most callers inside now, at least 1."""

    async def __aenter__(self) -> None:
        if not self._waiting and self._is_open():
            self._admit()
            return
        place = asyncio.get_running_loop().create_future()
        self._waiting.append(place)
        try:
            await place
        except asyncio.CancelledError:
            if place.done() and not place.cancelled():
                self._leave()
            elif place in self._waiting:
                self._waiting.remove(place)
            raise

    async def __aexit__(self, *_: object) -> None:
        self._leave()

    def hold(self, seconds: float) -> None:
        """Admit nobody for this long, or until `release`."""
        loop = asyncio.get_running_loop()
        if self._hold is None or self._hold.when() < loop.time() + seconds:
            self.release()
            self._hold = loop.call_later(seconds, self._end_hold)
            self.held_until = time.time() + seconds

    def release(self) -> None:
        """End a hold. Waiting callers enter when the next one leaves."""
        if self._hold is not None:
            self._hold.cancel()
            self._hold, self.held_until = None, 0.0

    def _end_hold(self) -> None:
        self.release()
        self._admit_waiting()

    def _is_open(self) -> bool:
        return self._hold is None and self._admitted < A_TURN and self.inside < self.limit

    def _admit(self) -> None:
        self.inside += 1
        self._admitted += 1
        if self._admitted == 1:
            asyncio.get_running_loop().call_soon(self._begin_turn)

    def _begin_turn(self) -> None:
        self._admitted = 0
        self._admit_waiting()

    def _leave(self) -> None:
        self.inside -= 1
        self._admit_waiting()

    def _admit_waiting(self) -> None:
        while self._waiting and self._is_open():
            place = self._waiting.popleft()
            if not place.done():
                self._admit()
                place.set_result(None)


class Throttle(Semaphore):
    """Limits the calls in flight at one server: a semaphore as wide as an adaptive window."""

    def __init__(self, wanted: int, *, clock: Callable[[], float] = time.monotonic) -> None:
        """wanted: calls in flight at most; fewer if this process may not open as many files. clock: gives seconds."""
        super().__init__()
        self._wanted = wanted
        self._clock = clock
        self.ceiling = affordable(wanted)
        """Most calls in flight while the server keeps up."""
        self.open: set[Call] = set()
        """Calls in flight."""
        self._limit = float(self.ceiling)
        self._cut_at = -math.inf

    @property
    def limit(self) -> int:
        """Most calls in flight now, at least 1."""
        return int(self._limit)

    @property
    def narrowed_by(self) -> Narrowing:
        """Reason why the limit is below the wanted one; empty if it is not."""
        if self.limit < self.ceiling:
            return "full"
        return "files" if self.ceiling < self._wanted else ""

    def begin(self) -> Call:
        call = Call(self._clock(), self.inside)
        self.open.add(call)
        return call

    def end(self, call: Call) -> None:
        """Record that a call is no longer in flight, whatever became of it."""
        self.open.discard(call)

    @property
    def oldest_s(self) -> float:
        """Seconds for which the oldest call has been in flight; 0 without one."""
        return self._clock() - min((call.began for call in self.open), default=self._clock())

    def answered(self, call: Call) -> None:
        """Record that a call got its answer, which ends a hold."""
        if call.began > self._cut_at and 2 * call.load >= self._limit:
            self._limit = min(self.ceiling, self._limit + 1 / math.sqrt(self._limit))
        self.release()

    def refused(self, call: Call, *, hold_s: float = 0.0) -> None:
        """Record that the server had no room for a call. hold_s: seconds in which it wants no other; 0: any time."""
        if call.began > self._cut_at:  # at most one halving a round trip
            self._limit = max(1.0, self._limit / 2)
            self._cut_at = self._clock()
        if hold_s:
            self.hold(hold_s)


def affordable(window: int) -> int:
    """Return how many of these connections the process can open, at least 1.

    Raises the process's soft limit of open files if that is too low.
    """
    wanted, (soft, hard) = window + OTHER_FILES, resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY or soft >= wanted:
        return window
    with suppress(OSError, ValueError):
        raised = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (raised, hard))
    return max(1, min(window, resource.getrlimit(resource.RLIMIT_NOFILE)[0] - OTHER_FILES))


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
        return int(self._counts["sent"])

    @property
    def cost(self) -> float:
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
        self._throttles.discard(throttle)

    def flight(self) -> tuple[int, float]:
        """Return the number of calls in flight, and for how many seconds the oldest of them has been."""
        return sum(len(one.open) for one in self._throttles), max((one.oldest_s for one in self._throttles), default=0)

    def snapshot(self) -> Usage:
        narrowed = [(one.limit, one.narrowed_by) for one in self._throttles if one.narrowed_by]
        window, reason = min(narrowed, default=(0, ""))
        held_until = max((one.held_until for one in self._throttles), default=0.0)
        now = {"window": window, "narrowed_by": reason, "held_until": held_until}
        return Usage(**{**self._counts, "faults": dict(self._counts["faults"]), **now})
