"""How many calls a server is sent at once: a window that starts at its ceiling, backs off and grows again.

Two known laws, over one window:

- Additive increase, multiplicative decrease (Chiu and Jain, 1989; TCP's, RFC 5681): a call that the server has no room
  for (429, 503, no answer in time) halves the window, at most once a round trip; a round trip without one adds its
  square root.
- A latency knee, after Gradient2 of Netflix's concurrency-limits: calls that take `KNEE` times as long as the best
  seen shrink it by what they are above that. A model server that works on a batch is slower with each call that it
  takes in, long before it is full, so `KNEE` is 4 where Netflix has 1.5.

Latencies are compared by medians of cohorts, calls of one kind that began one after another: of calls that end one
after another the short ones come first. A server may also be slow whatever we do: a shrinking that does not help is
taken back, and what is slow becomes the measure.
"""

import math
from collections import deque
from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import NamedTuple

USUAL_AT_ONCE = 1_024
"""The ceiling where nothing asks for another: a step's round and most last ones go out at once."""
KNEE = 4.0
"""Times the best median latency beyond which a server counts as full."""
PRESSED = 1.8
"""The same beyond which it has no room for calls that may not be needed, and the window grows no more."""
KNEE_LEAST_S = 1.0
"""A median below it shrinks nothing: what is so fast is the client's own pace as well."""
KNEE_FLOOR = 16
"""Calls; latencies alone shrink the window no further."""
COHORT = 32
"""Calls whose median is one measurement."""
REMEMBERED = 32
"""Measurements of which the lowest is the best seen."""
LATELY_S = 30.0
MOST_KINDS = 8


@dataclass(slots=True, eq=False)
class Cohort:
    """Calls of a kind that began one after another."""

    began: float
    begun: int = 0
    load: int = 0
    """Calls under way at once, at most, as far as these calls saw."""
    latencies: list[float] = field(default_factory=list)
    """Seconds, of those that are answered."""

    @property
    def is_told(self) -> bool:
        """Whether three in four are answered, by which the median is known: the rest takes longer."""
        return self.begun == COHORT and 4 * len(self.latencies) >= 3 * COHORT

    @property
    def median_s(self) -> float:
        """Of all calls, of which some may be under way still."""
        return sorted(self.latencies)[COHORT // 2]


class Shrunk(NamedTuple):
    """As it was when latencies first shrank the window, in a row."""

    median_s: float
    load: int
    limit: float

    def is_in_vain(self, median_s: float, load: int) -> bool:
        """Whether fewer calls at once take nearly as long each: then they do not wait for one another."""
        return load < 0.7 * self.load and median_s > self.median_s * math.sqrt(load / self.load)


@dataclass(slots=True, eq=False)
class Kind:
    """What is known of calls that are alike."""

    cohort: Cohort
    """That calls join as they begin."""
    medians: deque[float] = field(default_factory=lambda: deque(maxlen=REMEMBERED))
    pressure: float = 1.0
    """The last median over the best."""
    measured_at: float = -math.inf
    shrunk: Shrunk | None = None
    """None where the last median was low."""

    def is_pressed(self, now: float) -> bool:
        """Whether the server was slow of late."""
        return self.pressure > PRESSED and now - self.measured_at <= LATELY_S


@dataclass(slots=True, eq=False)
class Call:
    """One that is under way."""

    began: float
    load: int
    cohort: Cohort | None


class Window:
    """Times are seconds of any one clock, `load` the calls under way, this one with them."""

    def __init__(self, ceiling: int) -> None:
        self.ceiling = ceiling
        self._limit = float(ceiling)
        self._cut_at = self._refused_at = -math.inf
        self._kinds: dict[Hashable, Kind] = {}

    @property
    def limit(self) -> int:
        """Calls that may be under way at once, at least 1."""
        return int(self._limit)

    def is_refused(self, now: float) -> bool:
        """Whether the server had no room for a call of late."""
        return now - self._refused_at <= LATELY_S

    def has_room(self, load: int, now: float) -> bool:
        """Whether calls that may not be needed do no harm: it is half empty and the server kept up of late."""
        is_pressed = any(kind.is_pressed(now) for kind in self._kinds.values())
        return 2 * load <= self._limit and now - self._cut_at > LATELY_S and not is_pressed

    def begin(self, kind: Hashable, load: int, now: float) -> Call:
        """A call leaves. Calls of a kind are those that take about as long."""
        known = self._kinds.get(kind)
        if known is None:
            if len(self._kinds) == MOST_KINDS:
                return Call(now, load, None)
            known = self._kinds[kind] = Kind(Cohort(now))
        if known.cohort.begun == COHORT or known.cohort.began <= self._cut_at:
            known.cohort = Cohort(now)
        known.cohort.begun += 1
        known.cohort.load = max(known.cohort.load, load)
        return Call(now, load, known.cohort)

    def answered(self, kind: Hashable, call: Call, load: int, now: float) -> None:
        """It got its answer."""
        if call.began <= self._cut_at:
            return
        known, cohort = self._kinds.get(kind), call.cohort
        if 2 * call.load >= self._limit and (known is None or not known.is_pressed(now)):
            self._limit = min(self.ceiling, self._limit + 1 / math.sqrt(self._limit))
        if known is None or cohort is None:
            return
        was_told = cohort.is_told
        cohort.latencies.append(now - call.began)
        if cohort.is_told and not was_told:
            known.measured_at = now
            self._measure(known, cohort.median_s, max(cohort.load, load), now)

    def refused(self, call: Call, now: float) -> None:
        """The server had no room for it."""
        self._refused_at = now
        if call.began > self._cut_at:
            self._cut(self._limit / 2, now)

    def _measure(self, kind: Kind, median_s: float, load: int, now: float) -> None:
        if kind.shrunk and kind.shrunk.is_in_vain(median_s, load):
            self._limit = max(self._limit, kind.shrunk.limit)
            kind.medians.clear()
            kind.shrunk = None
        kind.medians.append(median_s)
        kind.pressure = median_s / max(min(kind.medians), 1e-9)
        if kind.pressure > KNEE and median_s >= KNEE_LEAST_S:
            kind.shrunk = self._shrunk(kind.shrunk, median_s, load)
            floor = min(self._limit, KNEE_FLOOR)
            self._cut(max(floor, self._limit * max(0.5, KNEE / kind.pressure)), now)
        elif kind.pressure <= PRESSED:
            kind.shrunk = None

    def _shrunk(self, before: Shrunk | None, median_s: float, load: int) -> Shrunk:
        """What to compare with: when it began, or later where the queue of before was still growing."""
        if before is None:
            return Shrunk(median_s, load, self._limit)
        return before._replace(median_s=median_s, load=load) if median_s > 1.15 * before.median_s else before

    def _cut(self, limit: float, now: float) -> None:
        self._limit = max(1.0, limit)
        self._cut_at = now
