"""Limits on calls in flight: an adaptive window, a semaphore as wide as it, and the connections a process may open.

The window starts at its ceiling. It follows TCP's law of additive increase and multiplicative decrease (Chiu and Jain,
1989; RFC 5681): a call that the server had no room for (429, 503, no answer in time) halves it, at most once a round
trip. A round trip without one adds its square root.

Latencies decide only whether guesses would delay other calls. They are compared by the medians of cohorts: calls of one
kind that began one after another. Calls that end one after another would be a biased sample, as the short ones end
first.
"""

import asyncio
import math
import resource
import time
from collections import deque
from collections.abc import Callable, Hashable
from contextlib import suppress
from dataclasses import dataclass, field
from types import TracebackType

from vpp.usage import Narrowing

DEFAULT_CONCURRENCY = 1_024
"""Default ceiling of calls in flight: enough to send a step's calls, and usually all test rows, together."""
PRESSED = 1.8
"""Multiple of the best median latency above which no guesses are sent."""
COHORT = 32
"""Calls whose median is one measurement."""
REMEMBERED = 32
"""Measurements among which the lowest is the best seen."""
LATELY_S = 30.0
A_TURN = 16
"""Calls admitted in one turn of the event loop."""
OTHER_FILES = 200
"""Files and sockets that a process has open besides its connections."""


@dataclass(slots=True, eq=False)
class Cohort:
    """Calls of a kind that began one after another."""

    begun: int = 0
    latencies: list[float] = field(default_factory=list)
    """Seconds of the answered calls."""

    @property
    def has_median(self) -> bool:
        """Return whether three in four calls are answered, which fixes the median: the others take longer."""
        return self.begun == COHORT and 4 * len(self.latencies) >= 3 * COHORT

    @property
    def median_s(self) -> float:
        """Median over all calls of the cohort, including those still in flight."""
        return sorted(self.latencies)[COHORT // 2]


@dataclass(slots=True, eq=False)
class Kind:
    """Measurements of calls that take about as long as one another."""

    cohort: Cohort = field(default_factory=Cohort)
    """The cohort that new calls join."""
    medians: deque[float] = field(default_factory=lambda: deque(maxlen=REMEMBERED))
    measured_at: float = -math.inf

    def begin(self) -> Cohort:
        """Return the cohort of a call that begins."""
        if self.cohort.begun == COHORT:
            self.cohort = Cohort()
        self.cohort.begun += 1
        return self.cohort

    def answered(self, cohort: Cohort, latency_s: float, now: float) -> None:
        """Record how long a call of the cohort took."""
        had_median = cohort.has_median
        cohort.latencies.append(latency_s)
        if cohort.has_median and not had_median:
            self.medians.append(cohort.median_s)
            self.measured_at = now

    def is_pressed(self, now: float) -> bool:
        """Return whether calls waited for one another within the last 30 s."""
        is_recent = now - self.measured_at <= LATELY_S
        return is_recent and self.medians[-1] > PRESSED * min(self.medians)


@dataclass(slots=True, eq=False)
class Call:
    """One call in flight."""

    kind: Kind
    cohort: Cohort
    began: float
    load: int
    """Calls in flight when it began, itself included."""


class Semaphore:
    """A first-come semaphore whose width may change and that can be held shut for a while; one event loop.

    It admits a few callers in each turn of the loop. If hundreds entered together, all would be prepared before the
    first is sent, and all would be awaited before the first answer is read: client and server would take turns.
    """

    def __init__(self, width: Callable[[], int]) -> None:
        self._width = width
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._hold: asyncio.TimerHandle | None = None
        self.inside = 0
        self.held_until = 0.0
        """Unix time at which a hold ends; 0.0 if there is none."""
        self._admitted = 0
        """Callers admitted in this turn of the loop."""

    @property
    def load(self) -> int:
        """Callers inside or waiting."""
        return self.inside + len(self._waiting)

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

    async def __aexit__(
        self, _: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
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
        return self._hold is None and self._admitted < A_TURN and self.inside < self._width()

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


class Throttle:
    """Limits the calls in flight at one server: a semaphore as wide as an adaptive window."""

    def __init__(self, wanted: int, *, clock: Callable[[], float] = time.monotonic) -> None:
        """wanted: calls in flight at most; fewer if this process may not open as many files. clock: gives seconds."""
        self._wanted = wanted
        self._clock = clock
        self.ceiling = affordable(wanted)
        """Most calls in flight while the server keeps up."""
        self.semaphore = Semaphore(lambda: self.limit)
        self._limit = float(self.ceiling)
        self._cut_at = self._refused_at = -math.inf
        self._kinds: dict[Hashable, Kind] = {}

    @property
    def limit(self) -> int:
        """Most calls in flight now, at least 1."""
        return int(self._limit)

    @property
    def narrowed_by(self) -> Narrowing:
        """Reason why the limit is below the wanted one; empty if it is not."""
        if self.limit < self.ceiling:
            return "full" if self._is_refused() else "pace"
        return "files" if self.ceiling < self._wanted else ""

    @property
    def held_until(self) -> float:
        """Unix time before which no new call is sent, as the server asked; 0.0 if it did not ask."""
        return self.semaphore.held_until

    def has_room(self) -> bool:
        """Return whether guesses would delay nobody: the window is half empty, and the server was not full for 30 s."""
        is_pressed = any(kind.is_pressed(self._clock()) for kind in self._kinds.values())
        return 2 * self.semaphore.load <= self._limit and not self._is_refused() and not is_pressed

    def _is_refused(self) -> bool:
        """Return whether the server had no room for a call within the last 30 s."""
        return self._clock() - self._refused_at <= LATELY_S

    def begin(self, kind: Hashable) -> Call:
        """Record that a call inside the semaphore is sent. Calls of one kind take about as long as one another."""
        known = self._kinds.setdefault(kind, Kind())
        return Call(known, known.begin(), self._clock(), self.semaphore.inside)

    def answered(self, call: Call) -> None:
        """Record that a call got its answer, which ends a hold."""
        now = self._clock()
        call.kind.answered(call.cohort, now - call.began, now)
        if call.began > self._cut_at and 2 * call.load >= self._limit:
            self._limit = min(self.ceiling, self._limit + 1 / math.sqrt(self._limit))
        self.semaphore.release()

    def refused(self, call: Call, *, hold_s: float = 0.0) -> None:
        """Record that the server had no room for a call. hold_s: seconds in which it wants no other; 0: any time."""
        now = self._refused_at = self._clock()
        if call.began > self._cut_at:  # at most one halving a round trip
            self._limit = max(1.0, self._limit / 2)
            self._cut_at = now
        if hold_s:
            self.semaphore.hold(hold_s)


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
