"""How long a run must take: the rounds that have to wait for one another, and what a server of some capacity needs."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any, Literal, cast

from vpp.inference.plan import plan
from vpp.settings import Config

Method = Literal["vml", "mh", "mh-prefetch", "smc"]


@dataclass(frozen=True)
class Latency:
    """Seconds until an answer."""

    name: str
    learner_s: float
    optimizer_s: float


REAL = Latency("real", 1.0, 3.0)
STRESS = Latency("stress", 0.3, 0.9)
CONFIG = Config(particles=10, batch_size=10, buffer_size=40, epochs=1, mutate="every")


def rounds(method: Method, steps: int) -> tuple[int, int]:
    """Return the (learner's, optimizer's) rounds that wait for one another, at the bench's sizes."""
    config = replace(CONFIG, method=cast(Any, method.removesuffix("-prefetch")))
    whole = plan(config, n_train=10 * steps, n_test=10).rounds
    optimizer = steps + (method != "vml")  # a proposal a step; VML begins from the seed sentence, the others draw
    return whole - optimizer, optimizer


def critical_path_s(method: Method, steps: int, latency: Latency) -> float:
    """Seconds that no client can beat on a server of unlimited room."""
    learner, optimizer = rounds(method, steps)
    return learner * latency.learner_s + optimizer * latency.optimizer_s


def merged(rounds: Iterable[dict[str, Any]]) -> list[tuple[str, int]]:
    """Return (role, calls) of rounds that a stub counted; neighbours of one role could have been one round."""
    return [
        (role, sum(each["calls"] for each in group))
        for role, group in groupby(rounds, key=lambda one: str(one["role"]))
    ]


def capacity_s(rounds: Sequence[tuple[str, int]], latency: Latency, capacity: int) -> float:
    """Sum over rounds of max(latency, calls x latency / capacity): the least time at a server's capacity."""
    seconds = {"learner": latency.learner_s, "optimizer": latency.optimizer_s}
    return sum(max(1.0, calls / capacity) * seconds[role] for role, calls in rounds)
