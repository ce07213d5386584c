"""`run`, `weigh`, `continue` and `resume`: prepare a run, print its plan, and work on it to its end."""

import json
import logging
import sys
import textwrap
from argparse import Namespace
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import Any, TextIO

from vpp.cli.parser import INSTEAD
from vpp.cli.progress import Progress
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
from vpp.data.build import build_dataset
from vpp.data.dataset import Dataset
from vpp.data.descriptions import typed
from vpp.data.split import SplitPlan
from vpp.data.table import ColumnChoice, guess_reason, target_guess, with_kinds
from vpp.errors import InputError
from vpp.findings.cost import cost, demo_pace
from vpp.findings.options import unused_words
from vpp.findings.status import model_file_words, rows_sentence
from vpp.llm.choices import AUTO, ROLES, TEMPLATES
from vpp.llm.limits import NO_CAP, Cap, Price
from vpp.runs.budget import check_budget, estimate
from vpp.runs.directory import RunDirectory
from vpp.runs.disk import refusal
from vpp.runs.model_file import TIMEOUT_S, endpoint_for
from vpp.runs.preparation import Preparation, check_gate, continue_run, read_prior, read_sentences, template_fields
from vpp.runs.spec import EndpointSpec, Prices, RunSpec
from vpp.runs.worker import Surroundings, work
from vpp.settings import Config, preset
from vpp.show.blocks import Note

EXIT_CODES = {"finished": 0, "paused": 3, "stopped": 130}
"""A run paused at its cap has the exit code of a failed endpoint: both can be resumed."""
FAILURE_CODES = {"endpoint": 3, "input": 2, "error": 1, "disk": 1}
SHARED = ("concurrency", "cache", "structured", "reasoning_effort", "body")
"""Options of every kind of endpoint."""
NAMED = ("base_url", "model", "optimizer_model", "optimizer_base_url")
"""Options that the environment may give."""


def run(options: Namespace) -> int:
    given = options_of_config(options)
    config = replace(preset(options.preset), **given)
    endpoint = endpoint_of(options)
    dataset, file_format = _dataset(options, config)
    if options.noise is not None:
        config = replace(config, **{"tau" if dataset.task == "regression" else "epsilon": options.noise})
    start = read_sentences(read_text(options.start), name=options.start) if options.start else ()
    spec = RunSpec(
        config=config,
        endpoint=endpoint,
        name=options.name,
        **_templates(options, endpoint, dataset),
        cell_limit=int(dict(options.limit).get("cell_limit", 0)),
        start=start,
        start_prior=() if options.start_prior is None else read_prior(options.start_prior, start),
        command=recorded(sys.argv[1:]),
        prices=_prices(options.price),
        cap=cap_of(options, before=NO_CAP),
    )
    preparation = Preparation(dataset=dataset, spec=spec)
    directory = None
    if not options.plan:
        directory = preparation.create(environment().runs_dir, run_dir=Path(options.to) if options.to else None)
    if not options.quiet:  # once the run is accepted, so that a refusal stays one line
        print(f"{dataset.provenance.file} is read as: {file_format}", file=sys.stderr)
        print("".join(f"note: {note}\n" for note in preparation.dataset.provenance.notes), end="", file=sys.stderr)
    if directory is None:
        _print_plan(preparation, sys.stdout)
        return 0
    if not options.quiet:
        _print_plan(preparation, sys.stderr)
        if unused := unused_words(given.keys() - INSTEAD, config, dataset.task):
            print(f"options without effect here: {unused}", file=sys.stderr, flush=True)
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


def resume(options: Namespace) -> int:
    """Continue from the last complete step, under another cap if one is given."""
    directory = find_run(options.run_dir)
    spec = directory.spec()
    cap = cap_of(options, before=spec.cap)
    if cap != spec.cap:
        check_budget(spec.prices, cap, spec.endpoint)
        directory.amend(cap=cap)
    if spec.endpoint.header_names and not keys().headers and not options.quiet:
        names = ", ".join(spec.endpoint.header_names)
        print(f"the run was started with the headers {names}, and none is given now: add --header", file=sys.stderr)
    return work_on(directory, options)


# What options say


def options_of_config(options: Namespace) -> dict[str, Any]:
    """Return the options of `Config` that were given."""
    typed_here = ((name, value) for name, value in vars(options).items() if name.startswith("config."))
    given = {name.removeprefix("config."): value for name, value in typed_here if value is not None}
    if "likelihood" in given:
        given["likelihood"], given["learner_samples"] = given["likelihood"]
    if (patience := dict(options.limit).get("patience")) is not None:
        given["patience"] = patience
    if options.calibration_size[1] is not None:
        given["coverage"] = options.calibration_size[1]
    return given


def cap_of(options: Namespace, *, before: Cap) -> Cap:
    return replace(before, **{name: value for name, value in options.limit if name in ("calls", "cost")})


def endpoint_of(options: Namespace) -> EndpointSpec:
    """Build the endpoint from the options, then the environment. For a model file, print how it is served."""
    env, given = environment(), vars(options)
    usual = {"timeout_s": TIMEOUT_S} if options.gguf else {}
    limits = {name: value for name, value in options.limit if name not in ("calls", "cost", "patience", "cell_limit")}
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
    """Return prices of prompt and completion tokens, of the learner, then of the optimizer if it has its own."""
    pairs = zip(amounts[::2], amounts[1::2], strict=True)
    prices = [Price(prompt=prompt, completion=completion) for prompt, completion in pairs]
    return Prices(**dict(zip(("learner", "optimizer"), prices, strict=False)))


def _templates(options: Namespace, endpoint: EndpointSpec, dataset: Dataset) -> dict[str, Any]:
    """Return the templates as fields of RunSpec. Raises InputError for a folder without a template."""
    is_named = options.templates in TEMPLATES
    name = options.templates if is_named else AUTO
    texts = template_fields(name, is_demo=endpoint.is_demo, preset=options.preset, dataset=dataset)
    if is_named:
        return texts
    paths = {role: Path(options.templates) / f"{role}.txt" for role in ROLES}
    own = {f"{role}_template": read_text(path) for role, path in paths.items() if path.is_file()}
    if not own:
        names = ", ".join(path.name for path in paths.values())
        choices = f"not one of {', '.join(TEMPLATES)}, nor a folder with one of {names}"
        raise InputError(f"--templates {options.templates}: {choices}")
    return {**texts, **own}


def _dataset(options: Namespace, config: Config) -> tuple[Dataset, str]:
    """Return the rows, and the format of their file."""
    table = with_kinds(read_table(options.data, options), dict(options.kind))
    target = options.target or target_guess(table)
    if target is None:
        raise InputError(f"{options.data}: no column looks like a target: name one with --target")
    test = read_table(options.test, options) if options.test else None
    beside, described_in = descriptions_beside(options.data, table, target)
    given = typed(options.describe, columns=table.names, cells=table.cells(target))
    guess = f"the target {target!r} is a guess, {guess_reason(table)}; name another with --target"
    dataset = build_dataset(
        table,
        target=target,
        test_table=test,
        notes=() if options.target else (guess,),
        columns=ColumnChoice(task=options.task, inputs=options.inputs, descriptions={**beside, **given}),
        split=SplitPlan(
            seed=config.seed,
            train_size=options.train_size,
            test_size=options.test_size,
            calibration_size=options.calibration_size[0],
            rule=options.split,
            is_whole=config.is_weighing or not options.test_size,
        ),
    )
    source = f"; columns are described in {described_in}" if described_in else ""
    return dataset, f"{format_text(table.reading)}{source}"


def _print_plan(preparation: Preparation, stream: TextIO) -> None:
    from vpp.show.markup import lines  # a quiet run does not need it

    spec, dataset = preparation.spec, preparation.dataset
    pace = demo_pace(spec.endpoint) if spec.endpoint.demo else None
    for line in lines([Note(rows_sentence(dataset)), *cost(estimate(spec, dataset), spec, dataset, pace)]):
        print(line if "  " in line else textwrap.fill(line, 110), file=stream)


# The worker


def work_on(directory: RunDirectory, options: Namespace) -> int:
    """Work on the run to its end, and print its result."""
    log = RotatingFileHandler(directory.log, maxBytes=2**20, backupCount=1, encoding="utf-8", delay=True)
    logging.basicConfig(handlers=[log], format="%(asctime)s %(message)s")
    logging.raiseExceptions = False  # a run continues without its log
    env, progress = environment(), Progress(None if options.quiet else sys.stderr, directory.spec())
    around = Surroundings(
        keys=keys(),
        cache_dir=env.cache_dir,
        slots_dir=env.runs_dir,
        max_running=env.max_running,
        listener=progress,
        on_queued=partial(progress.queued, env.max_running),
        on_loading=progress.loading,
        on_beat=progress.beat,
    )
    view = work(directory, around)
    progress.close()
    if view.phase == "failed" or (view.phase == "paused" and options.quiet):
        _complain(view.detail)
    if view.failure == "disk" and not directory.exists:
        return FAILURE_CODES["disk"]
    # Imported late: pandas and scikit-learn would delay a worker's first call.
    from vpp.findings.result import result, summary
    from vpp.findings.verdict import record_verdict
    from vpp.reporting.document import write_all
    from vpp.show.markup import lines

    if view.phase in ("finished", "stopped"):
        record_verdict(directory, view)
        try:
            write_all(directory)
        except OSError as error:
            fix = f"then `python -m vpp report {directory.path}` writes its reports"
            _complain(f"{refusal(error, directory.path)}, {fix}")
    print(json.dumps(result(directory, view)) if options.json else "\n".join(lines(summary(directory, view))))
    return FAILURE_CODES[view.failure] if view.failure else EXIT_CODES[view.phase]


def _complain(text: str) -> None:
    with suppress(OSError, ValueError):  # a closed terminal leaves the exit code as it is
        print(f"vpp: {text}", file=sys.stderr)
