"""Wall clock of whole runs on a server with room: SMC and MH beside a single VML run, and VML beside what it must take.

At stress latencies each run has the machine to itself; at real ones two run at a time, as LANES has them. There each
method's ratio to its critical path is measured at T = 6, three times, and carried to T = 20, beside one run of T = 20:
at T = 6 the first draw, a round of each role, weighs more.
"""

import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from tests.performance.figures import Figure, measure
from tests.performance.rounds import REAL, STRESS, Latency, Method, capacity_s, critical_path_s, merged
from tests.performance.stub import Served, served
from tests.performance.workers import Bench, Worker, WorkerFailed, bench

METHODS: tuple[Method, ...] = ("vml", "mh", "mh-prefetch", "smc")
NAMES: dict[Method, str] = {"mh": "MH plain", "mh-prefetch": "MH with prefetch", "smc": "SMC", "vml": "VML"}
TARGETS = {
    "real": {"smc": 1.15, "mh": 1.35, "mh-prefetch": 1.15, "vml": 1.03, "capacity": 1.10},
    "stress": {"smc": 1.45, "mh": 1.50, "mh-prefetch": 1.30, "vml": 1.10, "capacity": 1.20},
}
LANES: tuple[tuple[Method, ...], ...] = (("smc", "vml"), ("mh", "mh-prefetch"))
"""Methods that run side by side, the longer first: VML is nearly idle, and MH's calls are spread. More would crowd two
cores and one stub."""
CAPACITY = 64
APART_S = 3.0
"""Between the starts of workers that run side by side: a start takes a core for a second."""
SIGMA = 0.5
"""Of the log-normal latencies: the slowest of a hundred answers takes three times as long as the mean one."""
BARRED = "import vpp.inference.ahead as ahead; assert hasattr(ahead, 'LEAD'); ahead.LEAD = 0"
"""A worker whose chains wait for one another after every step."""
SLACK_S = 60.0
"""Seconds that a run may take beyond three times what it must."""


@dataclass
class Measured:
    """Wall clocks in seconds, one a repetition, and why there are none."""

    latency: Latency
    steps: int
    walls: dict[Method, list[float]] = field(default_factory=dict)
    faults: dict[Method, str] = field(default_factory=dict)

    def add(self, method: Method, worker: Worker) -> None:
        """Wait for a worker's end."""
        try:
            wall_s = finished(worker, steps=self.steps, must_s=critical_path_s(method, self.steps, self.latency))
            self.walls.setdefault(method, []).append(wall_s)
        except WorkerFailed as failure:
            self.faults[method] = str(failure)

    def wall_s(self, method: Method) -> list[float]:
        """Wall clocks of a method. Raises WorkerFailed if a run failed, or none was made."""
        if method in self.faults or method not in self.walls:
            raise WorkerFailed(self.faults.get(method, "it was not run"))
        return self.walls[method]

    def of_path(self, method: Method) -> list[float]:
        """Wall clocks over the critical path. Raises WorkerFailed."""
        return [wall / critical_path_s(method, self.steps, self.latency) for wall in self.wall_s(method)]


def finished(worker: Worker, *, steps: int, must_s: float) -> float:
    """Wall clock of a run of so many steps. Raises WorkerFailed."""
    done = worker.finish(within_s=3 * must_s + SLACK_S)
    if done.steps != steps:
        raise WorkerFailed(f"{worker.place.name} has {done.steps} steps, not {steps}")
    return done.wall_s


def runs(latency: Latency, folder: Path, *, steps: int, times: int, apart_s: float | None = None) -> Measured:
    """Run every method, so many times. apart_s: two at a time, begun so long after each other; None: each alone."""
    measured = Measured(latency, steps)
    lanes = [(method,) for method in METHODS] if apart_s is None else LANES
    with bench(folder) as desk, served(**seconds(latency)) as stub:
        for again in range(times):
            for lane in lanes:
                _run(lane, desk, measured, base_url=stub.base_url, again=again, apart_s=apart_s or 0.0)
    return measured


def _run(lane: Sequence[Method], desk: Bench, measured: Measured, *, base_url: str, again: int, apart_s: float) -> None:
    """Run a lane's methods side by side, to the end of the last."""
    started: dict[Method, Worker] = {}
    for method in lane:
        words = desk.words(method, steps=measured.steps, base_url=base_url)
        if started:
            time.sleep(apart_s)
        started[method] = desk.start(f"{measured.latency.name}-{measured.steps}-{method}-{again}", words)
    for method, worker in started.items():
        measured.add(method, worker)


def _divided(ours: Sequence[float], theirs: Sequence[float]) -> list[float]:
    return [a / b for a, b in zip(ours, theirs, strict=True)]


def _beside_vml(method: Method, latency: Latency, steps: int) -> float:
    """Critical path of a method over VML's."""
    return critical_path_s(method, steps, latency) / critical_path_s("vml", steps, latency)


def direct(measured: Measured, targets: Mapping[str, float]) -> list[Figure]:
    """Each method beside VML's run of the same repetition, and beside its critical path. targets: by method."""
    name, T = measured.latency.name, measured.steps
    others: tuple[Method, ...] = ("smc", "mh", "mh-prefetch")
    beside_vml = [
        measure(
            f"{name}: {NAMES[method]} / VML, wall clock, T = {T}",
            lambda method=method: _divided(measured.wall_s(method), measured.wall_s("vml")),  # type: ignore[misc]
            target=targets.get(method),
            ideal=_beside_vml(method, measured.latency, T),
        )
        for method in others
    ]
    beside_path = [
        measure(
            f"{name}: {NAMES[method]}, wall clock / its critical path, T = {T}",
            partial(measured.of_path, method),
            target=targets.get("vml") if method == "vml" else None,
            ideal=1.0,
        )
        for method in METHODS
    ]
    return beside_vml + beside_path


def from_short(short: Measured, *, steps: int) -> list[Figure]:
    """Each method beside VML at `steps`, if each takes as many times its critical path as at the steps measured."""
    name, targets = short.latency.name, TARGETS[short.latency.name]

    def carried(method: Method) -> Iterable[float]:
        must = _beside_vml(method, short.latency, steps)
        return (ratio * must for ratio in _divided(short.of_path(method), short.of_path("vml")))

    return [
        measure(
            f"{name}: {NAMES[method]} / VML, wall clock, T = {steps} as T = {short.steps} has it",
            partial(carried, method),
            target=targets[method],
            ideal=_beside_vml(method, short.latency, steps),
        )
        for method in METHODS
        if method != "vml"
    ]


def stress(folder: Path, short: bool) -> list[Figure]:
    """Runs at stress latencies, each alone."""
    measured = runs(STRESS, folder, steps=2 if short else 20, times=1 if short else 3)
    return direct(measured, {} if short else TARGETS["stress"])


def real(folder: Path, short: bool) -> list[Figure]:
    """Runs at real latencies and T = 6, two at a time, and what they say of T = 20."""
    if short:
        return direct(runs(REAL, folder, steps=1, times=1, apart_s=1.0), {})
    six = runs(REAL, folder, steps=6, times=3, apart_s=APART_S)
    return [*from_short(six, steps=20), *direct(six, {"vml": TARGETS["real"]["vml"]})]


def confirmed(folder: Path, _: bool) -> list[Figure]:
    """Runs at real latencies and T = 20, once."""
    return direct(runs(REAL, folder, steps=20, times=1, apart_s=APART_S), TARGETS["real"])


def full(folder: Path, short: bool) -> list[Figure]:
    """SMC against a server that answers 64 at once."""
    if short:
        return [replace(capacity(STRESS, folder, steps=2, times=1, apart_s=None), target=None)]
    return [
        capacity(REAL, folder / "real", steps=6, times=3, apart_s=APART_S),
        capacity(STRESS, folder / "stress", steps=6, times=3, apart_s=None),
    ]


def capacity(latency: Latency, folder: Path, *, steps: int, times: int, apart_s: float | None) -> Figure:
    """SMC against a server that answers 64 at once, over the sum of what its rounds must take there.

    The rounds' calls are the stub's own count; each worker has a stub of its own. apart_s: all side by side, begun so
    long after each other; None: each alone.
    """

    def ratios() -> Iterable[float]:
        begun: list[tuple[Worker, Served]] = []
        with bench(folder) as desk, ExitStack() as stack:
            for again in range(times):
                stub = stack.enter_context(served(**seconds(latency), capacity=CAPACITY))
                words = desk.words("smc", steps=steps, base_url=stub.base_url)
                begun.append((desk.start(f"{latency.name}-{CAPACITY}-{again}", words), stub))
                if apart_s is None:
                    yield _over_rounds(*begun.pop(), latency, steps)
                else:
                    time.sleep(apart_s)
            for worker, stub in begun:
                yield _over_rounds(worker, stub, latency, steps)

    name = f"{latency.name}: SMC at capacity {CAPACITY}, wall clock / what its rounds must take, T = {steps}"
    return measure(name, ratios, target=TARGETS[latency.name]["capacity"], ideal=1.0)


def _over_rounds(worker: Worker, stub: Served, latency: Latency, steps: int) -> float:
    """Wall clock over what the rounds that the stub saw must take."""
    calls = 10 * (40 * steps + 10 * steps + 100)
    most_s = critical_path_s("smc", steps, latency) + calls / CAPACITY * latency.learner_s
    wall_s = finished(worker, steps=steps, must_s=most_s)
    return wall_s / capacity_s(merged(stub.counts()["rounds"]), latency, CAPACITY)


def ahead(folder: Path, short: bool) -> list[Figure]:
    """MH whose chains wait for one another, beside MH as it is, on the same log-normal latencies, side by side; once.

    The latencies are the same each time, so another time tells little more.
    """
    steps = 2 if short else 6
    must_s = 4 * critical_path_s("mh", steps, STRESS)

    def gain() -> Iterable[float]:
        with bench(folder) as desk, served(**seconds(STRESS), jitter=SIGMA) as stub:
            words = desk.words("mh", steps=steps, base_url=stub.base_url)
            barred = desk.start("barred", words, changed=BARRED)
            time.sleep(APART_S)
            free = desk.start("free", words)
            barred_s = finished(barred, steps=steps, must_s=must_s)
            yield barred_s / finished(free, steps=steps, must_s=must_s)

    name = f"{STRESS.name}, log-normal (sigma {SIGMA}): MH whose chains wait / run ahead, wall clock, T = {steps}"
    return [measure(name, gain, note="both get the same latencies, which the requests decide")]


def seconds(latency: Latency) -> dict[str, float]:
    """Return the latencies as options of a stub."""
    return {"learner_s": latency.learner_s, "optimizer_s": latency.optimizer_s}
