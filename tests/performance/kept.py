"""Calls that are not repeated: answers in memory, a run's finished half; and the calls that packs of rows save."""

import json
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from tests.performance.figures import Figure, measure
from tests.performance.latency import NAMES, seconds
from tests.performance.rounds import REAL, Method
from tests.performance.stub import served
from tests.performance.workers import ROOT, Bench, Ran, bench
from vpp.data.tasks import TASKS
from vpp.inference.plan import plan
from vpp.settings import Config

PENGUINS = ROOT / "assets" / "examples" / "penguins.csv"
DEMO_S = 240.0
"""Seconds that a run of the demo model may take."""
POINTS = (1, 5, 10)
AT_ONCE = 2
"""Runs of the demo model at a time: none of their figures is a time."""
RESUMED: tuple[tuple[Method, bool], ...] = (("smc", False), ("mh-prefetch", True), ("mh-prefetch", False))
"""Methods, and whether with the cache, as by default. SMC does not need it: a step is resumed from the journal."""
REPEATED = "without the cache, MH repeats the calls that ran ahead of the last complete step"
NO_MODEL = "a language model repeats itself more or less often than the demo model"


def figures(folder: Path, short: bool) -> list[Figure]:
    """Calls saved by memory, and calls repeated by a resume."""
    name = "learner calls saved by memory of (hypothesis, row), SMC on contains-zero, demo model"
    words = ("--prior", TASKS["contains-zero"].prior or "", *(("--particles", "3", "--epochs", "1") if short else ()))

    def saved() -> Iterable[float]:
        with bench(folder / "memory") as desk:
            table = partial(desk.task, "contains-zero")
            runs = demo_runs(desk, "zero", table, *words, seeds=1 if short else 3)
            return [100 * saved_share(place) for _, place in runs]

    memory = measure(name, saved, unit="%", note=NO_MODEL)
    return [memory, *(resume(folder, method, cached=cached, steps=2 if short else 4) for method, cached in RESUMED)]


def demo_runs(desk: Bench, name: str, table: Callable[[int], Path], *words: str, seeds: int) -> list[tuple[Ran, Path]]:
    """Run the demo model without a cache, once a seed. table: of a seed."""

    def run(seed: int) -> tuple[Ran, Path]:
        given = ["run", str(table(seed)), "--method", "smc", "--seed", str(seed), "--demo", "--no-cache", *words]
        worker = desk.start(f"{name}-{seed}", given)
        return worker.finish(within_s=DEMO_S), worker.place

    with ThreadPoolExecutor(AT_ONCE) as pool:
        return list(pool.map(run, range(seeds)))


def saved_share(directory: Path) -> float:
    """Share of the plan's learner calls that the run did not need; the plan asks anew for every text and row."""
    header = json.loads((directory / "run.json").read_text())
    last = json.loads((directory / "events.jsonl").read_bytes().splitlines()[-1])
    rows = header["dataset"]
    planned = plan(Config(**header["config"]), n_train=rows["n_train"], n_test=rows["n_test"]).learner_calls
    return 1 - float(last["usage"]["learner"]) / planned


def resume(folder: Path, method: Method, *, cached: bool, steps: int) -> Figure:
    """Calls that a worker repeats which goes on after another was killed with half of its steps finished.

    The kill comes some tenths of a second after the step; answers take longer, so none has come since.
    """
    name = f"calls repeated after a kill at half time and a resume ({NAMES[method]}, T = {steps}, "
    forgets = method != "smc" and not cached
    target, note = (None, REPEATED) if forgets else (0, "")

    def repeated() -> Iterable[float]:
        with bench(folder / f"{method}-{cached}") as desk, served(**seconds(REAL)) as stub:
            words = desk.words(method, steps=steps, base_url=stub.base_url)
            killed = desk.start("killed", [*words, *([] if cached else ["--no-cache"])])
            killed.wait_for_step(steps // 2 - 1, within_s=120)
            killed.kill()
            stub.reset()
            desk.launch(killed.place, ["resume", str(killed.place), "--quiet"]).finish(within_s=180)
            return [stub.counts()["repeated_bodies"]]

    return measure(name + ("with the cache)" if cached else "no cache)"), repeated, target=target, note=note)


def packs(folder: Path, short: bool) -> list[Figure]:
    """Learner calls by how many rows a call answers; one epoch."""
    seeds, particles = (1, "3") if short else (2, "5")
    given = ("--target", "species", "--particles", particles, "--epochs", "1", "--points-per-call")

    def calls(points: int) -> Iterable[float]:
        with bench(folder) as desk:
            runs = demo_runs(desk, f"points-{points}", lambda _: PENGUINS, *given, str(points), seeds=seeds)
            return [float(ran.usage["learner"]) for ran, _ in runs]

    name = f"penguins, K = {particles}, rows a call"
    return [measure(f"{name} {points}: learner calls", partial(calls, points)) for points in POINTS]
