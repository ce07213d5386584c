"""A server and a client with a throttle on a virtual clock: a run of minutes in no time."""

import heapq
import itertools
import random
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from vpp.llm.limits import Call, Throttle

Latency = Callable[[float, int], float]
"""Seconds of an answer, given the time and the number of calls in progress."""
TIMEOUT_S = 120.0
WAIT_S = 0.5
"""Most seconds between a refusal and the next attempt."""


@dataclass
class World:
    """One server and one client."""

    ceiling: int
    capacity: int
    latency: Latency
    rejects: bool = False
    now: float = 0.0
    answered: int = 0
    limits: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.throttle = Throttle(self.ceiling, clock=lambda: self.now)
        self._events: list[tuple[float, int, Callable[[], None]]] = []
        self._ids = itertools.count()
        self._random = random.Random(7)
        self._to_send = 0
        self._queue: deque[Callable[[], None]] = deque()
        self._busy = self._asked = 0

    def at(self, when: float, what: Callable[[], None]) -> None:
        heapq.heappush(self._events, (when, next(self._ids), what))

    def ask(self, calls: int) -> None:
        """Let this many calls wait to be sent."""
        self._asked += calls
        self._to_send += calls
        self._send()

    def run(self) -> float:
        """Answer every call; return the time."""
        while self.answered < self._asked:
            self.now, _, what = heapq.heappop(self._events)
            what()
            self._send()
        return self.now

    def rounds(self, number: int, calls: int) -> Iterator[float]:
        """Yield the seconds that each of several rounds takes, one after another."""
        for _ in range(number):
            began = self.now
            self.ask(calls)
            yield self.run() - began

    def _send(self) -> None:
        while self._to_send and self.throttle.semaphore.inside < self.throttle.limit:
            self.throttle.semaphore.inside += 1
            self._to_send -= 1
            self._arrive(self.throttle.begin())
            self.limits.append(self.throttle.limit)

    def _send_again(self) -> None:
        self._to_send += 1

    def _arrive(self, call: Call) -> None:
        state = {"over": False}

        def done(answered: bool) -> None:
            if state["over"]:
                return
            state["over"] = True
            if answered:
                self.answered += 1
                self.throttle.answered(call)
            else:
                self.throttle.refused(call)
                self.at(self.now + self._random.uniform(0, WAIT_S), self._send_again)
            self.throttle.semaphore.inside -= 1

        def finish() -> None:
            self._busy -= 1
            done(True)
            if self._queue:
                self._queue.popleft()()

        def work() -> None:
            self._busy += 1
            self.at(self.now + self.latency(self.now, self._busy), finish)

        if self._busy < self.capacity:
            work()
        elif self.rejects:
            self.at(self.now + 0.001, lambda: done(False))
        else:
            self._queue.append(work)
        self.at(self.now + TIMEOUT_S, lambda: done(False))
