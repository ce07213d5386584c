"""`bench`: run a sweep and show its progress on standard error."""

import shlex
import sys
from argparse import Namespace
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

from vpp.bench.runner import Backend, ray_cluster, run_sweep
from vpp.bench.sweep import METHODS, CellView, Setting, SweepDirectory, SweepSpec, SweepView, folder_name
from vpp.cli.progress import StatusLine
from vpp.cli.running import endpoint_of
from vpp.cli.system import environment
from vpp.data.tasks import TASKS
from vpp.errors import InputError
from vpp.runs.preparation import check_endpoint
from vpp.show.words import seconds

EXIT_CODES = {"done": 0, "failed": 1, "stopped": 130}
SEEDS = 3


def bench(options: Namespace) -> int:
    env = environment()
    jobs = env.max_running if options.jobs is None else options.jobs
    if jobs < 1:
        raise InputError(f"--jobs is {jobs}: give at least 1")
    directory, spec = _directory_and_spec(options, env.runs_dir)
    check_endpoint(spec.endpoint)
    progress, slots = SweepProgress(quiet=options.quiet), max(jobs, env.max_running)
    try:
        with ray_cluster(options.ray, jobs=jobs) if options.ray else nullcontext():
            backend: Backend = "ray" if options.ray else "threading"
            ending, view = run_sweep(directory, spec, jobs=jobs, slots=slots, backend=backend, watcher=progress)
    finally:
        progress.close()
    failed = f", {len(view.failed)} failed" if view.failed else ""
    print(f"{len(view.outcomes)} of {len(view.cells)} cells finished{failed}: {directory.tables}")
    if ending != "done":
        command = shlex.join(("python", "-m", "vpp", "bench", "-o", str(directory.path)))
        print(f"Continue with the same command, or with every cell of this folder: {command}")
    return EXIT_CODES[ending]


def _directory_and_spec(options: Namespace, runs_dir: Path) -> tuple[SweepDirectory, SweepSpec]:
    """Return the folder and the sweep to run: the options, then the folder's sweep, then the paper's."""
    endpoint = endpoint_of(options)
    directory = SweepDirectory(options.output or runs_dir / folder_name(endpoint, options.reading or Setting().reading))
    stored = directory.spec() if directory.exists else None
    if stored and not (options.demo or options.gguf or options.base_url or options.model):
        endpoint = stored.endpoint
    before = stored.setting if stored else Setting()
    wanted = {"train": options.train_size, "test": options.test_size, "epochs": options.epochs}
    wanted["reading"] = options.reading
    return directory, SweepSpec(
        endpoint=endpoint,
        tasks=options.tasks or (stored.tasks if stored else tuple(TASKS)),
        methods=options.methods or (stored.methods if stored else tuple(METHODS)),
        seeds=options.seeds if options.seeds is not None else stored.seeds if stored else SEEDS,
        setting=replace(before, **{name: value for name, value in wanted.items() if value is not None}),
    )


class SweepProgress:
    """The sweep's state on a terminal's last line, and a line for each event."""

    def __init__(self, *, quiet: bool) -> None:
        self._line, self._quiet, self._text = StatusLine(sys.stderr), quiet, ""

    def look(self, view: SweepView, wanted: Sequence[CellView], *, jobs: int) -> None:
        text = sweep_line(view, wanted, jobs=jobs)
        if self._line.is_terminal and not self._quiet and text != self._text:
            self._line.draw(text)
        self._text = text

    def say(self, text: str) -> None:
        """Print text on a line of its own; in a file or pipe, followed by the sweep's progress."""
        if not self._quiet:
            self._line.print(text if self._line.is_terminal or not self._text else f"{text} ({self._text})")

    def close(self) -> None:
        self._line.clear()


def sweep_line(view: SweepView, wanted: Sequence[CellView], *, jobs: int) -> str:
    """Format progress, as in `12 of 105 cells, 92 left, linear-smc-0 step 4 of 20, about 7 min left`."""
    left = [each for each in wanted if each.outcome is None]
    parts = [f"{len(wanted) - len(left)} of {len(wanted)} cells", f"{len(left)} left"]
    parts += [_in_flight(each) for each in wanted if each.is_live]
    left_s = view.seconds_left(left, jobs=jobs)
    return ", ".join([*parts, *([] if left_s is None else [f"about {seconds(left_s)} left"])])


def _in_flight(view: CellView) -> str:
    if view.state != "running":
        return f"{view.cell.name} {view.state}{f' ({view.detail})' if view.detail else ''}"
    return f"{view.cell.name} step {view.step} of {view.steps}" if view.steps else f"{view.cell.name} starting"
