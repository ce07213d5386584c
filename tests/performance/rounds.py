"""How long a run must take: the rounds that have to wait for one another, and what a server of some capacity needs."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Literal

Method = Literal["vml", "mh", "mh-prefetch", "smc"]


@dataclass(frozen=True)
class Latency:
    """Seconds until an answer."""

    name: str
    learner_s: float
    optimizer_s: float


REAL = Latency("real", 1.0, 3.0)
STRESS = Latency("stress", 0.3, 0.9)
TINY = Latency("tiny", 0.05, 0.15)


def rounds(method: Method, steps: int) -> tuple[int, int]:
    """(learner's, optimizer's) rounds that wait for one another; a proposal a step, all at one point a call.

    Every method: a forward pass (or the weights' rows) and a proposal a step, and in the end the final rows, whose
    scores wait only for the last text. VML begins from the seed sentence; the others draw from the first batch. MH also
    judges each proposal; with prefetch the next step's rows are scored beside that, so only the first step has a
    forward pass to wait for.
    """
    draw = 0 if method == "vml" else 1
    forward_and_judged = {"mh": 2 * steps, "mh-prefetch": 1 + steps}
    return draw + forward_and_judged.get(method, steps) + 1, draw + steps


def critical_path_s(method: Method, steps: int, latency: Latency) -> float:
    """What no client can beat on a server of unlimited room."""
    learner, optimizer = rounds(method, steps)
    return learner * latency.learner_s + optimizer * latency.optimizer_s


def at_steps(wall_s: float, method: Method, latency: Latency, *, measured: int, wanted: int) -> float:
    """What a run of `wanted` steps takes whose wall clock is as many times its critical path as one of `measured`."""
    return wall_s / critical_path_s(method, measured, latency) * critical_path_s(method, wanted, latency)


def merged(found: Iterable[dict[str, Any]]) -> list[tuple[str, int]]:
    """(role, calls) of rounds as a stub counted them; what follows in the same role could have been one round."""
    return [
        (role, sum(each["calls"] for each in group)) for role, group in groupby(found, key=lambda one: str(one["role"]))
    ]


def capacity_s(found: Sequence[tuple[str, int]], latency: Latency, capacity: int) -> float:
    """The sum over rounds of max(latency, calls x latency / capacity): all that a server of that capacity allows."""
    seconds = {"learner": latency.learner_s, "optimizer": latency.optimizer_s}
    return sum(max(1.0, calls / capacity) * seconds[role] for role, calls in found)
