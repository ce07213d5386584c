"""What is not asked again: answers that memory holds, those of a run's finished half; and what packs of rows save."""

import json
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

from tests.performance.figures import Figure, unmeasured
from tests.performance.latency import NAMES
from tests.performance.rounds import STRESS, Latency, Method
from tests.performance.stub import served
from tests.performance.workers import ROOT, Bench, Ran, WorkerFailed, bench
from vpp.data.tasks import TASKS
from vpp.inference.plan import plan
from vpp.settings import Config

PENGUINS = ROOT / "assets" / "examples" / "penguins.csv"
DEMO_S = 240.0
"""Which a run of the demo model may take."""
POINTS = (1, 5, 10)
AT_ONCE = 2
"""Runs of the demo model at a time: no figure of theirs is a time."""
RESUMED: tuple[tuple[Method, bool], ...] = (("smc", False), ("mh-prefetch", True), ("mh-prefetch", False))
"""Methods, and whether with the cache, as by default. SMC does not need it: a step is resumed from the journal."""


def memory(folder: Path, *, seeds: int, words: tuple[str, ...] = ()) -> list[Figure]:
    """Learner calls that a run needs fewer than one that forgets what it was told of a hypothesis and a row."""
    name = "learner calls saved by memory of (hypothesis, row), SMC on contains-zero, demo model"
    given = ("--prior", TASKS["contains-zero"].prior or "", *words)
    with bench(folder) as desk, ThreadPoolExecutor(AT_ONCE) as pool:
        begun = [
            pool.submit(demo_run, desk, f"zero-{seed}", desk.task("contains-zero", seed), seed, *given)
            for seed in range(seeds)
        ]
        try:
            saved = tuple(100 * saved_share(each.result()[1]) for each in begun)
        except WorkerFailed as failure:
            return [unmeasured(name, str(failure))]
    return [Figure(name=name, values=saved, unit="%", note=NO_MODEL)]


REPEATED = "without the cache, MH repeats the calls that ran ahead of the last complete step"
NO_MODEL = "a language model repeats itself more or less often than the demo model"


def demo_run(desk: Bench, name: str, table: Path, seed: int, *words: str) -> tuple[Ran, Path]:
    """A run of the demo model without a cache."""
    given = ["run", str(table), "--method", "smc", "--seed", str(seed), "--demo", "--no-cache", *words]
    worker = desk.start(name, given)
    return worker.finish(within_s=DEMO_S), worker.place


def saved_share(directory: Path) -> float:
    """Of the learner calls that the run's plan has, which asks anew for every row that a text is applied to."""
    header = json.loads((directory / "run.json").read_text())
    config = Config(**header["config"])
    last = json.loads((directory / "events.jsonl").read_bytes().splitlines()[-1])
    rows = header["dataset"]
    planned = plan(config, n_train=rows["n_train"], n_test=rows["n_test"]).learner_calls
    return 1 - float(last["usage"]["learner"]) / planned


def resume(folder: Path, method: Method, *, cached: bool, steps: int, latency: Latency = STRESS) -> Figure:
    """A worker that is killed where half of its steps are finished, and another that goes on."""
    kept = "with the cache" if cached else "no cache"
    name = f"calls repeated after a kill at half time and a resume ({NAMES[method]}, T = {steps}, {kept})"
    forgets = method != "smc" and not cached
    target, note = (None, REPEATED) if forgets else (0, "")
    try:
        with bench(folder) as desk, served(learner_s=latency.learner_s, optimizer_s=latency.optimizer_s) as stub:
            words = desk.words(method, steps=steps, base_url=stub.base_url)
            killed = desk.start("killed", [*words, *([] if cached else ["--no-cache"])])
            killed.wait_for_step(steps // 2 - 1, within_s=120)
            killed.kill()
            stub.reset()
            desk.launch(killed.place, ["resume", str(killed.place), "--quiet"]).finish(within_s=180)
            after = stub.counts()
    except WorkerFailed as failure:
        return unmeasured(name, str(failure), target=target)
    return Figure(name=name, values=(after["repeated_bodies"],), target=target, note=note)


def packs(folder: Path, *, seeds: int, particles: int) -> list[Figure]:
    """Learner calls by how many rows a call answers; one epoch."""
    given = ("--target", "species", "--particles", str(particles), "--epochs", "1", "--points-per-call")
    name = f"penguins, K = {particles}"
    with bench(folder) as desk, ThreadPoolExecutor(AT_ONCE) as pool:
        begun = {
            points: [
                pool.submit(demo_run, desk, f"points-{points}-{seed}", PENGUINS, seed, *given, str(points))
                for seed in range(seeds)
            ]
            for points in POINTS
        }
        return [_of_pack(f"{name}, rows a call {points}: learner calls", told) for points, told in begun.items()]


def _of_pack(name: str, begun: Sequence[Future[tuple[Ran, Path]]]) -> Figure:
    """Learner calls with one size of packs, a run a seed."""
    try:
        return Figure(name=name, values=tuple(float(each.result()[0].usage["learner"]) for each in begun))
    except WorkerFailed as failure:
        return unmeasured(name, str(failure))
