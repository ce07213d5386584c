"""`python -m tests.performance.scaling`: how a run's cost grows with particles, steps, rows and calls in flight.

Real worker processes ask a stub without latency, so that only this program is measured.
"""

import argparse
import math
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import linear_regression

from tests.markdown import DOCS, put, table
from tests.performance.figures import shown
from tests.performance.stub import served
from tests.performance.workers import AS_THE_STUB_READS, Bench, bench
from tests.watchers.server import Taken, taken
from vpp.runs.directory import RunDirectory
from vpp.runs.reader import RunReader

TEST_ROWS = 10
TAIL = 4096
OPENINGS = 5
LOOK_S = 0.02
NOISE = 0.1
"""Excess over an almost empty run, as a share of it, that counts as noise."""


@dataclass(frozen=True, kw_only=True)
class Size:
    """A run's size."""

    K: int = 4
    T: int = 5
    rows: int = 100
    """Of the table; T x M of them train, ten test."""
    concurrency: int = 512
    M: int = 2
    B: int = 4

    @property
    def train(self) -> int:
        """Rows that train: one epoch of them."""
        return self.M * self.T


Cost = dict[str, float]
"""A run's figures by their names in NAMES, from the journal's line `run_started` to `run_finished` unless named so."""


@dataclass(frozen=True)
class Axis:
    """A size that varies while the others stay."""

    name: str
    about: str
    sizes: tuple[tuple[int, Size], ...]
    figures: tuple[str, ...]
    """Figures that the table shows."""


USUAL = ("calls", "cpu_s", "grown_mb", "kept_mb", "open_s")


def axes(*, quick: bool) -> tuple[Axis, ...]:
    """Return the four axes; in the quick form to a tenth of their ends."""
    top = 10 if quick else 1

    def of(name: str, values: tuple[int, ...], base: Size = Size()) -> tuple[tuple[int, Size], ...]:
        least = min(values)
        return tuple((x, replace(base, **{name: x})) for x in values if x <= max(values) / top or x == least)

    rows, wide = (100, 1000, 10_000, 100_000), Size(K=30, T=2, M=40, B=40)
    at_most = of("concurrency", (8, 32, 128, 512, 1024), wide)
    return (
        Axis("K, particles", "SMC, T = 5, M = 2, B = 4", of("K", (1, 3, 10, 30, 100)), USUAL),
        Axis("T, steps", "SMC, K = 4, M = 2, B = 4", of("T", (10, 30, 100, 250, 500)), USUAL),
        Axis(
            "N, rows of the table",
            "SMC, T = 5, K = 4: 10 training and 10 test rows",
            of("rows", rows),
            ("calls", "cpu_s", "start_s", "start_mb", "kept_mb"),
        ),
        Axis(
            "calls in flight at most",
            "SMC, T = 2, K = 30, M = B = 40: rounds of 1,200 calls",
            at_most,
            ("calls", "wall_s", "per_cpu_s", "grown_mb"),
        ),
    )


NAMES = {
    "calls": ("calls", ""),
    "start_s": ("CPU before the first call", "s"),
    "start_mb": ("memory before the first call, peak", "MB"),
    "wall_s": ("wall clock", "s"),
    "cpu_s": ("CPU", "s"),
    "per_cpu_s": ("calls a CPU second", ""),
    "grown_mb": ("memory that the run adds, peak", "MB"),
    "kept_mb": ("journal and answers", "MB"),
    "open_s": ("opening the finished run, CPU", "s"),
}
ABOVE = ("start_s", "start_mb", "kept_mb", "open_s")
"""Figures whose law is that of what is above an almost empty run."""


def measured(desk: Bench, name: str, size: Size, base_url: str) -> Cost:
    """Measure a worker from start to end. Raises WorkerFailed."""
    words = [
        *("run", str(desk.table(max(size.rows, size.train))), "--target", "label", "--method", "smc", "--epochs", "1"),
        *("--particles", str(size.K), "--batch-size", str(size.M), "--buffer-size", str(size.B), "--no-cache"),
        *("--train-size", str(size.train), "--test-size", str(TEST_ROWS)),
        *("--base-url", base_url, "--model", "stub", "--concurrency", str(size.concurrency)),
        *AS_THE_STUB_READS,
    ]
    worker = desk.start(name, words)
    run, process = RunDirectory(worker.place), worker.process
    started = finished = Taken()
    while process.poll() is None:
        try:
            now = taken(process.pid)
        except OSError:
            break
        if not _has_begun(run.journal):
            started = now
        if not _has_finished(run.journal):
            finished = now
        time.sleep(LOOK_S)
    worker.finish(within_s=5)
    return _cost(run, started, finished)


def _has_begun(journal: Path) -> bool:
    return journal.exists() and journal.stat().st_size > 0


def _has_finished(journal: Path) -> bool:
    if not _has_begun(journal):
        return False
    with journal.open("rb") as file:
        file.seek(max(0, journal.stat().st_size - TAIL))
        return b'"run_finished"' in file.read()


def _cost(run: RunDirectory, started: Taken, finished: Taken) -> Cost:
    view = RunReader(run).refresh().view
    calls, cpu_s = float(view.usage.calls), finished.cpu_s - started.cpu_s
    return {
        "calls": calls,
        "start_s": started.cpu_s,
        "start_mb": started.peak_mb,
        "wall_s": view.wall_s,
        "cpu_s": cpu_s,
        "per_cpu_s": calls / cpu_s if cpu_s else 0.0,
        "grown_mb": finished.peak_mb - started.peak_mb,
        "kept_mb": sum(path.stat().st_size for path in (run.journal, run.answers)) / 2**20,
        "open_s": min(_opening_s(run) for _ in range(OPENINGS)),
    }


def _opening_s(run: RunDirectory) -> float:
    began = time.process_time()
    RunReader(run).refresh()
    return time.process_time() - began


def growth(xs: Sequence[float], ys: Sequence[float]) -> float | None:
    """Exponent b of a x^b, by least squares through the logarithms. None where fewer than three y are above 0."""
    points = [(math.log(x), math.log(y)) for x, y in zip(xs, ys, strict=True) if y > 0]
    return None if len(points) < 3 else linear_regression(*zip(*points, strict=True)).slope


def lines(axis: Axis, costs: Sequence[Cost], empty: Cost) -> Iterator[str]:
    """An axis in markdown."""
    xs = [float(x) for x, _ in axis.sizes]
    yield f"**{axis.name}** ({axis.about})"
    yield ""
    rows = []
    for name in axis.figures:
        label, unit = NAMES[name]
        ys = [cost[name] for cost in costs]
        base = empty[name] if name in ABOVE else 0.0
        exponent = growth(xs, [y - base if y > (1 + NOISE) * base else 0.0 for y in ys])
        power = "–" if exponent is None else f"{exponent:.2f}"
        rows.append([f"{label}, {unit}".removesuffix(", "), *map(shown, ys), power])
    yield from table(["", *(f"{x:,.0f}" for x in xs), "exponent"], rows)
    yield ""


def report(*, quick: bool) -> list[str]:
    """Measure every axis."""
    tables: list[str] = []
    with tempfile.TemporaryDirectory() as name, bench(Path(name)) as desk, served(learner_s=0, optimizer_s=0) as stub:
        empty = measured(desk, "empty", Size(K=1, T=1), stub.base_url)
        for number, axis in enumerate(axes(quick=quick)):
            costs = [measured(desk, f"{number}-{x}", size, stub.base_url) for x, size in axis.sizes]
            part = list(lines(axis, costs, empty))
            tables += part
            print("\n".join(part), flush=True)
    return [*tables, _foot(empty)]


def _foot(empty: Cost) -> str:
    return (
        f"Before its first call an almost empty run (K = 1, T = 1) takes {shown(empty['start_s'])} s of CPU and "
        f"{shown(empty['start_mb'])} MB. Exponents of start, files and opening are of the excess over that run. "
        "A dash: fewer than three sizes exceed it by a tenth."
    )


def main() -> None:
    """Measure, print, and with --write put it into docs/performance.md."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="to a tenth of the largest sizes")
    parser.add_argument("--write", action="store_true", help="into docs/performance.md")
    options = parser.parse_args()
    text = report(quick=options.quick)
    print(text[-1])
    if options.write:
        put(DOCS / "performance.md", "scaling", text)


if __name__ == "__main__":
    main()
