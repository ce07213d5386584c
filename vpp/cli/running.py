"""`run` and `continue`: prepare a run from a file and the options, and print its plan."""

import sys
import textwrap
from argparse import Namespace
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TextIO

from vpp.cli.system import (
    descriptions_beside,
    environment,
    find_run,
    format_text,
    keys,
    read_table,
    read_text,
    recorded,
)
from vpp.cli.working import cap_of, work_on
from vpp.data.build import build_dataset
from vpp.data.dataset import Dataset
from vpp.data.descriptions import typed
from vpp.data.split import SplitPlan
from vpp.data.table import ColumnChoice, guess_reason, target_guess, with_kinds
from vpp.errors import InputError
from vpp.findings.cost import cost, demo_pace
from vpp.findings.counts import rows_sentence
from vpp.findings.options import unused_words
from vpp.findings.status import model_file_words
from vpp.llm.choices import AUTO, ROLES, TEMPLATES, Role, chosen_templates
from vpp.llm.limits import NO_CAP, Price
from vpp.llm.templates import set_texts
from vpp.runs.budget import estimate
from vpp.runs.model_file import TIMEOUT_S, endpoint_for
from vpp.runs.preparation import Preparation, check_gate, continue_run, read_prior, read_sentences
from vpp.runs.spec import EndpointSpec, Prices, RunSpec
from vpp.settings import Config, preset
from vpp.show.blocks import Note


def run(options: Namespace) -> int:
    given = {
        name.removeprefix("config."): value
        for name, value in vars(options).items()
        if name.startswith("config.") and value is not None
    }
    config = replace(preset(options.preset), **given)
    endpoint = endpoint_of(options)
    dataset, file_format = _dataset(options, config)
    templates = _templates(options, endpoint, has_text=dataset.has_text)
    start = read_sentences(read_text(options.start) or "", name=options.start) if options.start else ()
    spec = RunSpec(
        config=config,
        endpoint=endpoint,
        name=options.name,
        learner_template=templates["learner"],
        optimizer_template=templates["optimizer"],
        prior_template=templates["prior"],
        cell_limit=dict(options.limit).get("cell_limit", 0),
        start=start,
        start_prior=() if options.start_prior is None else read_prior(options.start_prior, start),
        command=recorded(sys.argv[1:]),
        prices=_prices(options.price),
        cap=cap_of(options, before=NO_CAP),
    )
    preparation = Preparation(dataset=dataset, spec=spec)
    if options.plan:
        _print_reading(preparation.dataset, file_format, options)
        _print_plan(preparation, sys.stdout)
        return 0
    directory = preparation.create(environment().runs_dir, run_dir=Path(options.run_dir) if options.run_dir else None)
    _print_reading(preparation.dataset, file_format, options)
    if not options.quiet:
        _print_plan(preparation, sys.stderr)
        if unused := unused_words(given, config, dataset.task):
            print(f"options without effect here: {unused}", file=sys.stderr)
    return work_on(directory, options)


def continue_(options: Namespace) -> int:
    from vpp.reporting.predictions import filled_rows  # a run needs neither
    from vpp.runs.reader import RunReader

    earlier = find_run(options.run_dir)
    table = read_table(options.data, options)
    answered = filled_rows(table, RunReader(earlier).dataset())
    preparation = continue_run(earlier, answered, name=options.name, command=tuple(sys.argv[1:]))
    directory = preparation.create(environment().runs_dir, run_dir=Path(options.to) if options.to else None)
    n_left_out = table.n_rows - len(answered)
    if n_left_out and not options.quiet:
        print(f"{n_left_out} of {table.n_rows} rows have no target and were left out", file=sys.stderr)
    return work_on(directory, options)


def _templates(options: Namespace, endpoint: EndpointSpec, *, has_text: bool) -> dict[Role, str | None]:
    """Template text by role; None for the paper's. Raises InputError for a folder without a template."""
    is_named = options.templates in TEMPLATES
    name = options.templates if is_named else AUTO
    texts = set_texts(chosen_templates(name, is_demo=endpoint.is_demo, preset=options.preset, has_text=has_text))
    if is_named:
        return texts
    files: dict[Role, Path] = {role: Path(options.templates) / f"{role}.txt" for role in ROLES}
    own = {role: read_text(str(file)) for role, file in files.items() if file.is_file()}
    if not own:
        raise InputError(
            f"--templates {options.templates}: not one of {', '.join(TEMPLATES)}, nor a folder with one of "
            + ", ".join(file.name for file in files.values())
        )
    return {**texts, **own}


def _dataset(options: Namespace, config: Config) -> tuple[Dataset, str]:
    table = read_table(options.data, options)
    table = with_kinds(table, dict(options.kind))
    target = options.target or target_guess(table)
    if target is None:
        raise InputError(f"{options.data}: no column looks like a target: name one with --target")
    test = read_table(options.test, options) if options.test else None
    beside, described_in = descriptions_beside(options.data, table, target)
    given = typed(options.describe, columns=table.names, cells=table.cells(target))
    dataset = build_dataset(
        table,
        target=target,
        test_table=test,
        notes=()
        if options.target
        else (f"the target {target!r} is a guess, {guess_reason(table)}; name another with --target",),
        columns=ColumnChoice(task=options.task, inputs=options.inputs, descriptions={**beside, **given}),
        split=SplitPlan(
            seed=config.seed,
            train_size=options.train_size,
            test_size=options.test_size,
            calibration_size=options.calibration_size,
            rule=options.split,
            is_whole=config.is_weighing or not options.test_size,
        ),
    )
    source = f"; columns are described in {described_in}" if described_in else ""
    return dataset, f"{format_text(table.reading)}{source}"


def _print_reading(dataset: Dataset, file_format: str, options: Namespace) -> None:
    """Print how the file became rows. Called once the run is accepted, so that a refusal stays one line."""
    if not options.quiet:
        print(f"{dataset.provenance.file} is read as: {file_format}", file=sys.stderr)
        print("".join(f"note: {note}\n" for note in dataset.provenance.notes), end="", file=sys.stderr, flush=True)


def _print_plan(preparation: Preparation, stream: TextIO) -> None:
    """Print the cost as New run shows it; durations only if the pace is known."""
    from vpp.show.terminal import lines  # a quiet run does not need it

    spec, dataset = preparation.spec, preparation.dataset
    pace = demo_pace(spec.endpoint) if spec.endpoint.demo else None
    for line in lines([Note(rows_sentence(dataset)), *cost(estimate(spec, dataset), spec, dataset, pace)]):
        print(line if "  " in line else textwrap.fill(line, 110), file=stream)


SHARED = ("concurrency", "cache", "structured", "reasoning_effort", "body")
"""Options of every kind of endpoint."""
NAMED = ("base_url", "model", "optimizer_model", "optimizer_base_url")
"""Options that the environment may give."""


def endpoint_of(options: Namespace) -> EndpointSpec:
    """Build the endpoint from the options, then the environment. For a model file, print how it is served."""
    env, given = environment(), vars(options)
    usual = {"timeout_s": TIMEOUT_S} if options.gguf else {}
    limits = {name: value for name, value in options.limit if name != "cell_limit"}
    base = EndpointSpec(**{name: given[name] for name in SHARED}, **{**usual, **limits})
    if options.demo:
        return replace(base, demo=True, model="demo")
    if options.gguf:
        endpoint = endpoint_for(options.gguf, base, may_use=keys().model_files)
        if not given.get("quiet"):
            print(model_file_words(endpoint), file=sys.stderr, flush=True)
        return endpoint
    model, at, address = (options.optimizer_model or "").partition("@http")
    given |= {"optimizer_model": model, "optimizer_base_url": at[1:] + address}
    named: dict[str, Any] = {name: given[name] or getattr(env, name) or "" for name in NAMED}
    endpoint = replace(base, header_names=tuple(name for name, _ in keys().headers), **named)
    check_gate(endpoint, keys().gate)
    return endpoint


def _prices(amounts: Sequence[float]) -> Prices:
    """Prices of the learner, then of the optimizer if it has its own: of prompt and completion tokens each."""
    if not amounts:
        return Prices()
    learner, *optimizer = (Price(prompt=amounts[i], completion=amounts[i + 1]) for i in range(0, len(amounts), 2))
    return Prices(learner=learner, optimizer=optimizer[0] if optimizer else None)
