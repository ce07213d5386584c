"""`bench`: run a sweep and print a line for each cell on standard error."""

import shlex
import sys
from argparse import Namespace
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

from vpp.bench.runner import Backend, ray_cluster, run_sweep
from vpp.bench.sweep import METHODS, Setting, SweepDirectory, SweepSpec, folder_name
from vpp.cli.progress import StatusLine
from vpp.cli.running import endpoint_of
from vpp.cli.system import environment
from vpp.data.tasks import TASKS
from vpp.errors import InputError
from vpp.runs.preparation import check_endpoint

EXIT_CODES = {"done": 0, "failed": 1, "stopped": 130}
SEEDS = 3


def bench(options: Namespace) -> int:
    env = environment()
    jobs = env.max_running if options.jobs is None else options.jobs
    if jobs < 1:
        raise InputError(f"--jobs is {jobs}: give at least 1")
    directory, spec = _directory_and_spec(options, env.runs_dir)
    check_endpoint(spec.endpoint)
    slots, say = max(jobs, env.max_running), StatusLine(None if options.quiet else sys.stderr).print
    with ray_cluster(options.ray, jobs=jobs) if options.ray else nullcontext():
        backend: Backend = "ray" if options.ray else "threading"
        ending, view = run_sweep(directory, spec, jobs=jobs, slots=slots, backend=backend, say=say)
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
