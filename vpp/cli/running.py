"""`run`."""

import sys
from argparse import Namespace
from dataclasses import replace
from pathlib import Path
from typing import Any

from vpp.cli.surroundings import environment, read_bytes, read_text
from vpp.cli.working import work_on
from vpp.data.build import build_dataset
from vpp.data.dataset import Dataset
from vpp.data.table import Table
from vpp.data.target import target_guess
from vpp.errors import InputError
from vpp.runs.preparation import Preparation
from vpp.runs.spec import EndpointSpec
from vpp.settings import Config, preset
from vpp.wording.options import unused_words


def run(options: Namespace) -> int:
    """Prepares a run and works it to its end."""
    given = _given(options)
    config = replace(preset(options.preset), **given)
    dataset = _dataset(options, config)
    preparation = Preparation(
        dataset=dataset,
        config=config,
        endpoint=endpoint_of(options),
        name=options.name,
        learner_template=read_text(options.learner_template),
        optimizer_template=read_text(options.optimizer_template),
        command=tuple(sys.argv[1:]),
    )
    directory = preparation.create(environment().runs_dir, run_dir=Path(options.run_dir) if options.run_dir else None)
    unused = unused_words(given, config, dataset.task)
    if unused and not options.quiet:
        print(f"not used as things are chosen: {unused}", file=sys.stderr)
    return work_on(directory, options)


def _given(options: Namespace) -> dict[str, Any]:
    """Options of the method that were typed, by name."""
    return {
        name.removeprefix("config."): value
        for name, value in vars(options).items()
        if name.startswith("config.") and value is not None
    }


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


def endpoint_of(options: Namespace) -> EndpointSpec:
    """What the options, and then the environment, say of the server."""
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
