"""Wall clock of whole runs on a server with room: SMC and MH beside a single VML run, and VML beside what it must take.

At stress latencies each run has the machine to itself; at real ones two run at a time, as LANES has them. There each
method's ratio to its critical path is measured at T = 6, three times, and what follows for T = 20 is told beside one
run of T = 20: at T = 6 the first draw, a round of each role, weighs more.
"""

import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

from tests.performance.figures import Figure, unmeasured
from tests.performance.rounds import Latency, Method, capacity_s, critical_path_s, merged
from tests.performance.stub import Served, served
from tests.performance.workers import Bench, Worker, WorkerFailed, bench

METHODS: tuple[Method, ...] = ("vml", "mh", "mh-prefetch", "smc")
NAMES: dict[Method, str] = {"mh": "MH plain", "mh-prefetch": "MH with prefetch", "smc": "SMC", "vml": "VML"}
TARGETS = {
    "real": {"smc": 1.15, "mh": 1.35, "mh-prefetch": 1.15, "vml": 1.03, "capacity": 1.10},
    "stress": {"smc": 1.45, "mh": 1.50, "mh-prefetch": 1.30, "vml": 1.10, "capacity": 1.20},
}
NO_TARGETS: Mapping[str, float] = MappingProxyType({})
LANES: tuple[tuple[Method, ...], ...] = (("smc", "vml"), ("mh", "mh-prefetch"))
"""What runs at a time, a lane after another, the longer first: VML is nearly idle, and MH's calls are spread. More at
once would tell how they crowd two cores and one stub."""
CAPACITY = 64
APART_S = 3.0
"""Between the starts of workers that run side by side: a start takes a core for a second."""
SIGMA = 0.5
"""Of the log-normal latencies: the slowest of a hundred answers takes three times as long as the mean one."""
BARRED = "import vpp.inference.ahead as ahead; assert hasattr(ahead, 'LEAD'); ahead.LEAD = 0"
"""A worker whose chains wait for one another after every step."""
SLACK_S = 60.0
"""Which a run may take beyond three times what it must."""


@dataclass
class Measured:
    """Wall clocks in seconds, one a repetition, and why there are none."""

    latency: Latency
    steps: int
    walls: dict[Method, list[float]] = field(default_factory=dict)
    faults: dict[Method, str] = field(default_factory=dict)

    def add(self, method: Method, worker: Worker) -> None:
        """Waits for a worker's end."""
        try:
            wall_s = finished(worker, steps=self.steps, must_s=critical_path_s(method, self.steps, self.latency))
            self.walls.setdefault(method, []).append(wall_s)
        except WorkerFailed as failure:
            self.faults[method] = str(failure)

    def of_path(self, method: Method) -> list[float]:
        """Wall clock over critical path."""
        return [wall / critical_path_s(method, self.steps, self.latency) for wall in self.walls.get(method, [])]

    def fault(self, *methods: Method) -> str:
        """Why the figure of these methods is missing; empty where it is not."""
        known = {
            method: self.faults.get(method, "" if method in self.walls else "it was not run") for method in methods
        }
        return "; ".join(filter(None, known.values()))


def finished(worker: Worker, *, steps: int, must_s: float) -> float:
    """Wall clock of a run of so many steps. Raises WorkerFailed."""
    done = worker.finish(within_s=3 * must_s + SLACK_S)
    if done.steps != steps:
        raise WorkerFailed(f"{worker.place.name} has {done.steps} steps, not {steps}")
    return done.wall_s


def runs(latency: Latency, folder: Path, *, steps: int, times: int, apart_s: float | None = None) -> Measured:
    """Every method, so many times. apart_s: two at a time, begun so long after each other; None: each alone."""
    found = Measured(latency, steps)
    lanes = [(method,) for method in METHODS] if apart_s is None else LANES
    with bench(folder) as desk, served(**seconds(latency)) as stub:
        for again in range(times):
            for lane in lanes:
                _run(lane, desk, found, base_url=stub.base_url, again=again, apart_s=apart_s or 0.0)
    return found


def _run(lane: Sequence[Method], desk: Bench, found: Measured, *, base_url: str, again: int, apart_s: float) -> None:
    """A lane's methods side by side, to the end of the last."""
    started: dict[Method, Worker] = {}
    for method in lane:
        words = desk.words(method, steps=found.steps, base_url=base_url)
        if started:
            time.sleep(apart_s)
        started[method] = desk.start(f"{found.latency.name}-{found.steps}-{method}-{again}", words)
    for method, worker in started.items():
        found.add(method, worker)


def ratio(found: Measured, method: Method, *, name: str, target: float | None) -> Figure:
    """A method's wall clock over VML's of the same repetition."""
    if fault := found.fault(method, "vml"):
        return unmeasured(name, fault, target=target)
    walls, vml = found.walls[method], found.walls["vml"]
    return Figure(name=name, values=tuple(a / b for a, b in zip(walls, vml, strict=True)), target=target)


def followed(short: Measured, method: Method, *, steps: int, name: str, target: float) -> Figure:
    """A method's ratio to VML at `steps`, if each takes as many times its critical path as at the steps measured."""
    if fault := short.fault(method, "vml"):
        return unmeasured(name, fault, target=target)
    must = critical_path_s(method, steps, short.latency) / critical_path_s("vml", steps, short.latency)
    pairs = zip(short.of_path(method), short.of_path("vml"), strict=True)
    return Figure(name=name, values=tuple(a / b * must for a, b in pairs), target=target)


def path(found: Measured, method: Method, *, target: float | None) -> Figure:
    """A method's wall clock over its critical path."""
    name = f"{found.latency.name}: {NAMES[method]}, wall clock / its critical path, T = {found.steps}"
    if fault := found.fault(method):
        return unmeasured(name, fault, target=target)
    return Figure(name=name, values=tuple(found.of_path(method)), target=target)


def direct(found: Measured, *, targets: Mapping[str, float] = NO_TARGETS) -> list[Figure]:
    """The ratios of the runs as they are, and each method beside its critical path. targets: by method."""
    made = [
        ratio(
            found,
            method,
            name=f"{found.latency.name}: {NAMES[method]} / VML, wall clock, T = {found.steps}",
            target=targets.get(method),
        )
        for method in ("smc", "mh", "mh-prefetch")
    ]
    made.append(path(found, "vml", target=targets.get("vml")))
    return made + [path(found, method, target=None) for method in METHODS if method != "vml"]


def from_short(short: Measured, *, steps: int) -> list[Figure]:
    """What T = 6 says of T = 20."""
    targets, name = TARGETS[short.latency.name], short.latency.name
    return [
        followed(
            short,
            method,
            steps=steps,
            name=f"{name}: {NAMES[method]} / VML, wall clock, T = {steps} as T = {short.steps} has it",
            target=targets[method],
        )
        for method in ("smc", "mh", "mh-prefetch")
    ]


def capacity(latency: Latency, folder: Path, *, steps: int, times: int, apart_s: float | None) -> Figure:
    """SMC against a server that answers 64 at once, over the sum of what its rounds must take there.

    The rounds' calls are the stub's own count; each worker has a stub of its own. apart_s: all side by side, begun so
    long after each other; None: each alone.
    """
    name = f"{latency.name}: SMC at capacity {CAPACITY}, wall clock / what its rounds must take, T = {steps}"
    target = TARGETS.get(latency.name, {}).get("capacity")
    begun: list[tuple[Worker, Served]] = []
    values: list[float] = []
    with bench(folder) as desk, ExitStack() as stack:
        try:
            for again in range(times):
                stub = stack.enter_context(served(**seconds(latency), capacity=CAPACITY))
                words = desk.words("smc", steps=steps, base_url=stub.base_url)
                begun.append((desk.start(f"{latency.name}-{CAPACITY}-{again}", words), stub))
                if apart_s is None:
                    values.append(_over_rounds(*begun.pop(), latency, steps))
                else:
                    time.sleep(apart_s)
            values += [_over_rounds(worker, stub, latency, steps) for worker, stub in begun]
        except WorkerFailed as failure:
            return unmeasured(name, str(failure), target=target)
    return Figure(name=name, values=tuple(values), target=target)


def _over_rounds(worker: Worker, stub: Served, latency: Latency, steps: int) -> float:
    """Wall clock over what the rounds that the stub saw must take."""
    calls = 10 * (40 * steps + 10 * steps + 100)
    most_s = critical_path_s("smc", steps, latency) + calls / CAPACITY * latency.learner_s
    wall_s = finished(worker, steps=steps, must_s=most_s)
    return wall_s / capacity_s(merged(stub.counts()["rounds"]), latency, CAPACITY)


def ahead(latency: Latency, folder: Path, *, steps: int, apart_s: float = APART_S) -> list[Figure]:
    """MH whose chains wait for one another, beside MH as it is, on the same log-normal latencies, side by side; once.

    The latencies are the same each time, so another time tells little more.
    """
    name = f"{latency.name}, log-normal (sigma {SIGMA}): MH whose chains wait / run ahead, wall clock, T = {steps}"
    must_s = 4 * critical_path_s("mh", steps, latency)
    with bench(folder) as desk, served(**seconds(latency), jitter=SIGMA) as stub:
        try:
            words = desk.words("mh", steps=steps, base_url=stub.base_url)
            barred = desk.start("barred", words, changed=BARRED)
            time.sleep(apart_s)
            free = desk.start("free", words)
            barred_s = finished(barred, steps=steps, must_s=must_s)
            gain = barred_s / finished(free, steps=steps, must_s=must_s)
        except WorkerFailed as failure:
            return [unmeasured(name, str(failure))]
    return [Figure(name=name, values=(gain,), note="both get the same latencies, which the requests decide")]


def seconds(latency: Latency) -> dict[str, float]:
    """As a stub takes them."""
    return {"learner_s": latency.learner_s, "optimizer_s": latency.optimizer_s}
