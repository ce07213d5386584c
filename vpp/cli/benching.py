"""`bench`, and its progress on standard error: a line that is drawn over on a terminal, plain lines elsewhere."""

import shlex
import shutil
import sys
from argparse import Namespace
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TextIO

from vpp.bench.cells import Sizes
from vpp.bench.conductor import Conducted, conduct
from vpp.bench.engine import Engine, Processes
from vpp.bench.machines import HERE, machines
from vpp.bench.pace import eta, time_left
from vpp.bench.sweep import CellView, SweepDirectory, SweepSpec, SweepView, folder_name
from vpp.bench.variants import PAPER
from vpp.cli import running
from vpp.cli.surroundings import environment, keys
from vpp.data.tasks import TASKS
from vpp.errors import InputError
from vpp.runs.preparation import check_endpoint

EXIT_CODES = {"done": 0, "failed": 1, "stopped": 130}
SEEDS = 3


def bench(options: Namespace) -> int:
    """Works a sweep to its end."""
    env = environment()
    jobs = env.max_running if options.jobs is None else options.jobs
    if jobs < 1:
        raise InputError(f"jobs is {jobs}: give at least 1")
    directory, asked = _asked(options, env.runs_dir)
    check_endpoint(asked.endpoint)
    progress = SweepProgress(sys.stderr, quiet=options.quiet)
    try:
        with _engine(options, jobs=jobs, slots=max(jobs, env.max_running)) as engine:
            conducted = conduct(directory, asked, jobs=jobs, engine=engine, watcher=progress, since=options.asked_at)
    finally:
        progress.close()
    print(_told(directory, conducted))
    return EXIT_CODES[conducted.ending]


@contextmanager
def _engine(options: Namespace, *, jobs: int, slots: int) -> Iterator[Engine]:
    """Worker processes of this machine, or tasks of a Ray cluster."""
    if options.engine == "processes":
        if options.ray_address:
            raise InputError("--ray-address names a cluster for --engine ray: give both, or neither")
        yield Processes(keys=keys(), slots=slots)
        return
    with machines(options.ray_address or HERE, jobs=jobs, slots=slots, keys=keys()) as found:
        yield found


def _told(directory: SweepDirectory, conducted: Conducted) -> str:
    view = conducted.view
    failed = f", {len(view.failed)} failed" if view.failed else ""
    told = f"{len(view.outcomes)} of {len(view.cells)} cells finished{failed}: {directory.tables}"
    return told if conducted.ending == "done" else f"{told}\n{_going_on(directory)}"


def _going_on(directory: SweepDirectory) -> str:
    again = shlex.join(("python", "-m", "vpp", "bench", "-o", str(directory.path)))
    return f"Go on with the same command, or with all that is there: {again}"


def _asked(options: Namespace, runs_dir: Path) -> tuple[SweepDirectory, SweepSpec]:
    """The folder, and what to work there: where nothing is said, what the sweep there covers, else the paper's."""
    endpoint = running.endpoint_of(options)
    directory = SweepDirectory(options.output or runs_dir / folder_name(endpoint))
    found = directory.spec() if directory.exists else None
    if found and not _names_endpoint(options):
        endpoint = found.endpoint
    before = found.sizes if found else Sizes()
    return directory, SweepSpec(
        endpoint=endpoint,
        tasks=_named(options.tasks, found.tasks if found else tuple(TASKS), "task"),
        methods=_named(options.methods, found.methods if found else PAPER, "method"),
        seeds=_or(options.seeds, found.seeds if found else SEEDS),
        sizes=Sizes(
            train=_or(options.train_size, before.train),
            test=_or(options.test_size, before.test),
            epochs=_or(options.epochs, before.epochs),
        ),
    )


def _named(given: str | None, otherwise: tuple[str, ...], what: str) -> tuple[str, ...]:
    names = otherwise if given is None else tuple(name.strip() for name in given.split(",") if name.strip())
    if not names:
        raise InputError(f"no {what} is named: leave the option out for all of the paper's")
    return names


def _or(given: int | None, otherwise: int) -> int:
    return otherwise if given is None else given


def _names_endpoint(options: Namespace) -> bool:
    return bool(options.demo or options.gguf or options.base_url or options.model)


class SweepProgress:
    """Told how a sweep goes."""

    def __init__(self, stream: TextIO, *, quiet: bool) -> None:
        self._stream = stream
        self._quiet = quiet
        self._is_terminal = stream.isatty()
        self._drawn = ""
        self._line = ""

    def look(self, view: SweepView, asked: Sequence[CellView], *, jobs: int) -> None:
        """Draws the line anew where it says something new."""
        self._line = sweep_line(view, asked, jobs=jobs)
        if self._is_terminal and not self._quiet and self._line != self._drawn:
            self._drawn = self._line
            self._print(f"\r\x1b[K{self._line[: shutil.get_terminal_size().columns - 1]}", end="")

    def say(self, text: str) -> None:
        """A line of its own; elsewhere than on a terminal the state of the sweep stands behind it."""
        if self._quiet:
            return
        self.close()
        self._print(text if self._is_terminal or not self._line else f"{text} ({self._line})")

    def close(self) -> None:
        """Leaves the line behind."""
        if self._is_terminal and self._drawn:
            self._drawn = ""
            self._print("\r\x1b[K", end="")

    def _print(self, text: str, *, end: str = "\n") -> None:
        """A terminal that is gone does not end the sweep."""
        with suppress(OSError, ValueError):
            print(text, end=end, file=self._stream, flush=True)


def sweep_line(view: SweepView, asked: Sequence[CellView], *, jobs: int) -> str:
    """`12 of 105 cells, 92 left, linear-smc-0 step 4 of 20, about 7 min left`."""
    left = [each for each in asked if each.outcome is None]
    parts = [f"{len(asked) - len(left)} of {len(asked)} cells", f"{len(left)} left"]
    parts += [_in_flight(each) for each in asked if each.is_live]
    until = time_left(view, left, jobs=jobs) if left else None
    return ", ".join([*parts, *([eta(until)] if until else [])])


def _in_flight(view: CellView) -> str:
    if view.state != "running":
        return f"{view.cell.name} {view.state}{f' ({view.detail})' if view.detail else ''}"
    return f"{view.cell.name} step {view.step} of {view.steps}" if view.steps else f"{view.cell.name} starting"
