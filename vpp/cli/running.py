"""`run` and `resume`."""

import json
import sys
from argparse import Namespace
from dataclasses import replace
from pathlib import Path
from typing import Any

from vpp.cli.progress import Progress
from vpp.cli.surroundings import environment, find_run, read_bytes, read_text, surroundings
from vpp.data.build import build_dataset
from vpp.data.dataset import Dataset
from vpp.data.table import Table
from vpp.data.target import target_guess
from vpp.errors import InputError
from vpp.reporting.exports import write_all
from vpp.reporting.words import seconds
from vpp.runs.directory import RunDirectory
from vpp.runs.preparation import Preparation
from vpp.runs.spec import EndpointSpec
from vpp.runs.summary import result
from vpp.runs.view import RunView
from vpp.runs.worker import work
from vpp.settings import Config, preset

EXIT_CODES = {"finished": 0, "stopped": 130, "failed": 3}


def run(options: Namespace) -> int:
    """Prepares a run and works it to its end."""
    config = _config(options)
    preparation = Preparation(
        dataset=_dataset(options, config),
        config=config,
        endpoint=_endpoint(options),
        name=options.name,
        learner_template=read_text(options.learner_template),
        optimizer_template=read_text(options.optimizer_template),
        command=tuple(sys.argv[1:]),
    )
    directory = preparation.create(environment().runs_dir, run_dir=Path(options.run_dir) if options.run_dir else None)
    return _work(directory, options)


def resume(options: Namespace) -> int:
    """Goes on from the last whole step."""
    directory = find_run(options.run_dir)
    directory.clear_word()
    return _work(directory, options)


def _work(directory: RunDirectory, options: Namespace) -> int:
    progress = None if options.quiet else Progress()
    view = work(directory, surroundings(progress))
    if progress:
        progress.close()
    if view.phase in ("finished", "stopped"):
        write_all(directory)
    if view.phase == "failed":
        print(f"vpp: {view.detail}", file=sys.stderr)
    if options.json:
        print(json.dumps(result(directory, view)))
    else:
        print(_told(directory, view))
    return EXIT_CODES[view.phase]


def _told(directory: RunDirectory, view: RunView) -> str:
    """A few lines for a person."""
    outcome = result(directory, view)
    metric = outcome["metric"]
    lines = [f"{view.phase} after {seconds(view.wall_s)}, {view.usage.calls:,} calls ({view.usage.cached:,} cached)"]
    if metric["test"] is not None:
        lines.append(
            f"test {_shown(metric['name'], metric['test'])}, training {_shown(metric['name'], metric['train'])}"
        )
    uncertain = outcome["uncertain"]
    if uncertain["points"] is not None:
        lines.append(f"the particles disagree on {uncertain['points']} of {uncertain['of']} test rows")
    if view.population:
        weight, best = max(zip(view.weights, (p.hypothesis for p in view.population), strict=True))
        lines.append(f"heaviest hypothesis ({weight:.3f}): {view.texts[best]}")
    if view.phase == "failed":
        lines.append(f"go on with: python -m vpp resume {directory.path}")
    else:
        lines.append(f"report: {directory.path / 'report.md'}")
    return "\n".join(lines)


def _shown(metric: str, value: float | None) -> str:
    if value is None:
        return "not evaluated"
    return f"accuracy {100 * value:.1f} %" if metric == "accuracy" else f"mean squared error {value:.4g}"


def _config(options: Namespace) -> Config:
    given = {
        name.removeprefix("config."): value
        for name, value in vars(options).items()
        if name.startswith("config.") and value is not None
    }
    return replace(preset(options.preset), **given)


def _dataset(options: Namespace, config: Config) -> Dataset:
    table = Table.read(read_bytes(options.data), name=_file_name(options.data))
    target = options.target or target_guess(table)
    if target is None:
        raise InputError(f"{options.data}: no column looks like a target: name one with --target")
    test = Table.read(read_bytes(options.test), name=_file_name(options.test)) if options.test else None
    return build_dataset(
        table,
        target=target,
        task=options.task,
        inputs=options.inputs,
        exclude=options.exclude,
        seed=config.seed,
        train_size=options.train_size,
        test_size=options.test_size,
        test_fraction=options.test_fraction,
        test_table=test,
    )


def _file_name(path: str) -> str:
    return "standard input" if path == "-" else Path(path).name


def _endpoint(options: Namespace) -> EndpointSpec:
    env = environment()
    shared: dict[str, Any] = {
        "concurrency": options.concurrency,
        "timeout_s": options.timeout,
        "max_wait_s": options.max_wait,
        "cache": not options.no_cache,
    }
    if options.demo:
        return EndpointSpec(demo=True, demo_latency_ms=options.demo_latency_ms, model="demo", **shared)
    return EndpointSpec(
        base_url=options.base_url or env.base_url or "",
        model=options.model or env.model or "",
        optimizer_base_url=options.optimizer_base_url or "",
        optimizer_model=options.optimizer_model or "",
        **shared,
    )
