"""Commands that begin work: `run`, `weigh`, `continue`, `resume`, `bench`; and those on servers."""

import logging
import os
import shlex
import sys
import textwrap
from argparse import Namespace
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import asdict, replace
from functools import partial
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from vpp.cli import BAD_INPUT, DONE, ENDPOINT_FAILED, STOPPED, Ending, Lines, complain, say, system
from vpp.cli.parser import INSTEAD, part
from vpp.cli.progress import Progress, follow, is_terminal
from vpp.data.build import ColumnChoice, build_dataset, guess_reason, target_guess
from vpp.data.dataset import Dataset
from vpp.data.descriptions import typed
from vpp.data.table import with_kinds
from vpp.environment import Environment, app_folder
from vpp.errors import InputError
from vpp.findings.cost import cost
from vpp.findings.options import unused_words
from vpp.findings.status import model_file_words, rows_sentence, verdict
from vpp.llm.check import Finding
from vpp.llm.limits import Cap
from vpp.llm.templates import AUTO, ROLES, TEMPLATES, Role
from vpp.runs import preparation
from vpp.runs.asking import check_servers
from vpp.runs.budget import estimate
from vpp.runs.directory import RunDirectory, RunReader, read_view, refusal
from vpp.runs.group import Group, begin
from vpp.runs.process import TIMEOUT_S, endpoint_for, on_signals
from vpp.runs.spec import EndpointSpec, RunSpec, to_json
from vpp.runs.view import RunView
from vpp.runs.worker import work
from vpp.settings import Config, preset
from vpp.show.blocks import Note
from vpp.show.words import capitalised, in_words

if TYPE_CHECKING:
    from vpp.bench.sweep import SweepDirectory, SweepSpec

EXIT_CODES = {"finished": DONE, "paused": ENDPOINT_FAILED, "stopped": STOPPED}
"""A run paused at its cap has the exit code of a failed endpoint: both can be resumed."""
FAILURE_CODES = {"endpoint": 3, "input": 2, "error": 1, "disk": 1}
TOKENS = ("prompt", "completion")
NAMED = ("base_url", "model", "optimizer_model", "optimizer_base_url")
"""Options that the environment may give."""


def run(options: Namespace) -> Lines:
    changes = part(options, "config")
    config = system.from_text(Config, asdict(preset(options.preset)) | changes)
    endpoint = endpoint_of(options)
    dataset, file_format = _dataset(options, config)
    if options.noise is not None:
        config = replace(config, **{"tau" if dataset.task == "regression" else "epsilon": options.noise})
    start = preparation.read_sentences(system.read_text(options.start), name=options.start) if options.start else ()
    values = {
        "config": config,
        "endpoint": endpoint,
        "name": options.name,
        "templates": _templates(options, endpoint, dataset),
        "start": start,
        "start_prior": options.start_prior,
        "command": system.without_secrets(sys.argv[1:]),
        "prices": options.price,
        "cap": part(options, "cap"),
        **part(options, "spec"),
    }
    spec: RunSpec = system.from_text(RunSpec, values)
    prepared = preparation.Preparation(dataset=dataset, spec=spec)
    folder, to = system.environment().runs_dir, Path(options.to) if options.to else None
    runs: list[RunDirectory] = []
    if not options.plan and options.seeds == 1:
        runs = [prepared.create(folder, run_dir=to)]
    elif not options.plan:
        runs = begin(prepared, options.seeds, to or folder)
    if not options.quiet:  # once the run is accepted, so that a refusal stays one line
        print(f"{dataset.provenance.file} is read as: {file_format}", file=sys.stderr)
        print("".join(f"note: {note}\n" for note in prepared.dataset.provenance.notes), end="", file=sys.stderr)
    if not runs:
        yield from _plan_lines(prepared, options.seeds)
        return Ending(plan_record(prepared, options.seeds))
    if not options.quiet:
        print("\n".join(_plan_lines(prepared, options.seeds)), file=sys.stderr)
        if unused := unused_words(changes.keys() - INSTEAD, config, dataset.task):
            print(f"options without effect here: {unused}", file=sys.stderr, flush=True)
    return (yield from work_on(runs[0], options) if options.seeds == 1 else _follow(runs, options))


def continue_(options: Namespace) -> Lines:
    from vpp.reporting.predictions import filled_rows  # a run does not need it

    earlier = system.find_run(options.run_dir)
    table = system.read_table(options.data, options)
    answered = filled_rows(table, RunReader(earlier).dataset())
    prepared = preparation.continue_run(earlier, answered, name=options.name, command=tuple(sys.argv[1:]))
    directory = prepared.create(system.environment().runs_dir, run_dir=Path(options.to) if options.to else None)
    n_left_out = table.n_rows - len(answered)
    if n_left_out and not options.quiet:
        print(f"{n_left_out} of {table.n_rows} rows have no target and were left out", file=sys.stderr)
    return (yield from work_on(directory, options))


def resume(options: Namespace) -> Lines:
    """Continue from the last complete step, under another cap if one is given."""
    directory = system.find_run(options.run_dir)
    spec = directory.spec()
    cap = system.from_text(Cap, asdict(spec.cap) | part(options, "cap"))
    if cap != spec.cap:
        preparation.check_budget(spec.prices, cap, spec.endpoint)
        directory.amend(cap=cap)
    return (yield from work_on(directory, options))


# What options say


def endpoint_of(options: Namespace) -> EndpointSpec:
    """Build the endpoint from the options, then the environment. For a model file, print how it is served."""
    env, given = system.environment(), part(options, "endpoint")
    server: dict[str, Any] = {name: given.pop(name, "") or getattr(env, name) or "" for name in NAMED}
    base: EndpointSpec = system.from_text(EndpointSpec, ({"timeout_s": TIMEOUT_S} if options.gguf else {}) | given)
    if options.demo:
        return replace(base, demo=True, model="demo")
    if options.gguf:
        endpoint = endpoint_for(options.gguf, base, may_use=system.keys().model_files)
        if not getattr(options, "quiet", False):
            print(model_file_words(endpoint), file=sys.stderr, flush=True)
        return endpoint
    endpoint = replace(base, **server)
    if endpoint.base_url:
        preparation.check_endpoint(endpoint, needs_model=False, gate=system.keys().gate)
    return endpoint


def _templates(options: Namespace, endpoint: EndpointSpec, dataset: Dataset) -> dict[Role, str | None]:
    """Return the texts of the shipped set of that name, or of set `auto` with a folder's files over it."""
    is_named = options.templates in TEMPLATES
    paths = {role: Path(options.templates) / f"{role}.txt" for role in ROLES}
    own = {} if is_named else {role: system.read_text(path) for role, path in paths.items() if path.is_file()}
    if not is_named and not own:
        names = ", ".join(path.name for path in paths.values())
        choices = f"not one of {', '.join(TEMPLATES)}, nor a folder with one of {names}"
        raise InputError(f"--templates {options.templates}: {choices}")
    name = options.templates if is_named else AUTO
    return preparation.template_texts(name, is_demo=endpoint.is_demo, preset=options.preset, dataset=dataset) | own


def _dataset(options: Namespace, config: Config) -> tuple[Dataset, str]:
    table = with_kinds(system.read_table(options.data, options), dict(options.kind))
    target = options.target or target_guess(table)
    if target is None:
        raise InputError(f"{options.data}: no column looks like a target{table.doubt}: name one with --target")
    test = system.read_table(options.test, options) if options.test else None
    beside, described_in = system.descriptions_beside(options.data, table, target)
    given = typed(options.describe, columns=table.names, cells=table.cells(target))
    guess = f"the target {target!r} is a guess, {guess_reason(table)}; name another with --target"
    dataset = build_dataset(
        table,
        target=target,
        test_table=test,
        notes=() if options.target else (guess,),
        columns=ColumnChoice(inputs=options.inputs, descriptions={**beside, **given}),
        split=preparation.split_of(config, **part(options, "split")),
    )
    source = f"; columns are described in {described_in}" if described_in else ""
    return dataset, f"{system.format_text(table.reading)}{source}"


def plan_record(prepared: preparation.Preparation, seeds: int) -> dict[str, Any]:
    """Return what a plan says: of each of the runs, if several are planned."""
    expected = estimate(prepared.spec, prepared.dataset)
    whole, tokens = expected.plan, {name: sum(getattr(line, name) for line in expected.lines) for name in TOKENS}
    calls = {"expected": whole.expected_calls, "most": whole.calls}
    times = {"rounds": whole.rounds, "seconds": expected.seconds}
    return {"runs": seeds, "calls": calls, **times, "tokens": tokens, "cost": expected.cost, "work": expected.lines}


def _plan_lines(prepared: preparation.Preparation, seeds: int) -> Iterator[str]:
    from vpp.show.markup import lines  # a quiet run does not need it

    spec, dataset = prepared.spec, prepared.dataset
    several = [Note(f"{capitalised(in_words(seeds))} runs, each:")] if seeds > 1 else []
    for line in lines([Note(rows_sentence(dataset)), *several, *cost(estimate(spec, dataset), spec, dataset)]):
        yield line if "  " in line else textwrap.fill(line, 110)


# The worker


def quiet(*_: object) -> None:
    """Say nothing."""


def work_on(directory: RunDirectory, options: Namespace) -> Lines:
    log = RotatingFileHandler(directory.log, maxBytes=2**20, backupCount=1, encoding="utf-8", delay=True)
    logging.basicConfig(handlers=[log], format="%(asctime)s %(message)s")
    logging.raiseExceptions = False  # a run continues without its log
    progress = Progress(directory.spec())
    view = work(directory, system.keys(), system.environment(), quiet if options.quiet else progress)
    progress.clear()
    if view.phase == "failed" or (view.phase == "paused" and options.quiet):
        complain(view.detail)
    if view.failure == "disk" and not directory.exists:
        return Ending({"dir": directory.path, "status": view.phase}, FAILURE_CODES["disk"])
    # Imported late: pandas and scikit-learn would delay a worker's first call.
    from vpp.findings.result import result, summary
    from vpp.show.markup import lines

    if view.phase in ("finished", "stopped"):
        _write_results(directory, view)
        if pooled := Group(directory.path.parent, directory.spec().group).pool():
            _write_results(pooled, read_view(pooled.journal))
    yield from lines(summary(directory, view))
    return Ending(partial(result, directory, view), _exit_code(view))


def _write_results(directory: RunDirectory, view: RunView) -> None:
    from vpp.findings.verdict import record_verdict
    from vpp.reporting.exports import write_all

    record_verdict(directory, view)
    try:
        write_all(directory)
    except OSError as error:
        fix = f"then `python -m vpp report {directory.path}` writes its reports"
        complain(f"{refusal(error, directory.path)}, {fix}")


def _exit_code(view: RunView) -> int:
    return FAILURE_CODES[view.failure] if view.failure else EXIT_CODES.get(view.phase, 1)


def _follow(runs: Sequence[RunDirectory], options: Namespace) -> Lines:
    """Work on a group's runs, a worker each, to their ends, and print what they say together."""
    from vpp.findings.comparison import seeds, seeds_blocks, seeds_record, seeds_table
    from vpp.findings.verdict import blocks
    from vpp.show.markup import lines

    group = Group(runs[0].path.parent, runs[0].spec().group)
    with on_signals(partial(group.send, "stop")):
        follow(runs, has_bar=is_terminal() and not options.quiet, tell=quiet if options.quiet else say)
    if pooled := group.pool():
        _write_results(pooled, read_view(pooled.journal))
    together = seeds(group)
    verdict = blocks(together.pooled.verdict if together.pooled else None)
    where = [Note(f"report: {pooled.path / 'report.md'}")] if pooled else []
    yield from lines([*verdict, *seeds_blocks(together), seeds_table(together), *where])
    views = [each.view for each in together.runs]
    for view in (view for view in views if view.phase == "failed"):
        complain(view.detail)
    return Ending(seeds_record(together), max(map(_exit_code, views)))


# The paper's experiments

SWEEP_CODES = {"done": DONE, "failed": 1, "stopped": STOPPED}


def bench(options: Namespace) -> Lines:
    from vpp.bench.runner import Backend, ray_cluster, run_sweep

    env = system.environment()
    jobs = env.max_running if options.jobs is None else options.jobs
    if jobs < 1:
        raise InputError(f"--jobs is {jobs}: give at least 1")
    directory, spec = _directory_and_spec(options, env.runs_dir)
    preparation.check_endpoint(spec.endpoint)
    # What workers take for VPP_MAX_RUNNING: with fewer than the jobs, some would wait.
    slots = max(jobs, env.max_running)
    with ray_cluster(options.ray, jobs=jobs) if options.ray else nullcontext():
        backend: Backend = "ray" if options.ray else "threading"
        words = quiet if options.quiet else say
        ending, progress = run_sweep(directory, spec, jobs=jobs, slots=slots, backend=backend, say=words)
    failed = f", {len(progress.failures)} failed" if progress.failures else ""
    yield f"{len(progress.outcomes)} of {len(progress.spec.cells)} cells finished{failed}: {directory.tables}"
    if ending != "done":
        yield f"Continue with: {shlex.join(('python', '-m', 'vpp', 'bench', '-o', str(directory.path)))}"
    failures = {cell.name: words for cell, words in progress.failures.items()}
    counts = {"cells": len(progress.spec.cells), "finished": len(progress.outcomes), "failures": failures}
    files = {"tables": directory.tables, "results": directory.results}
    return Ending({"dir": directory.path, "ending": ending, **counts, **files}, SWEEP_CODES[ending])


def _directory_and_spec(options: Namespace, runs_dir: Path) -> "tuple[SweepDirectory, SweepSpec]":
    """Return the folder and the sweep to run: the options, then the folder's sweep, then the paper's."""
    from vpp.bench.sweep import SweepDirectory, SweepSpec, folder_name

    endpoint, chosen = endpoint_of(options), part(options, "setting")
    directory = SweepDirectory(options.output or runs_dir / folder_name(endpoint, chosen.get("reading", "rows")))
    usual = directory.spec() if directory.exists else SweepSpec(endpoint=endpoint)
    is_named = options.demo or options.gguf or part(options, "endpoint").keys() & {"base_url", "model"}
    setting = replace(usual.setting, **chosen)
    own = endpoint if is_named else usual.endpoint
    return directory, replace(usual, endpoint=own, setting=setting, **part(options, "sweep"))


# Servers


def app(options: Namespace) -> NoReturn:
    """Replace this process by the app's server, until it is interrupted. Variables in ./.env apply to it too."""
    variables = {**system.dotenv(), **os.environ}
    folders = Environment.of(variables)
    variables |= {"VPP_RUNS_DIR": str(folders.runs_dir.absolute()), "VPP_CACHE_DIR": str(folders.cache_dir.absolute())}
    print(f"runs are saved in {variables['VPP_RUNS_DIR']}", file=sys.stderr, flush=True)
    served = ["--server.port", str(options.port), "--server.address", options.host, *options.streamlit]
    if (secrets := Path(".streamlit", "secrets.toml").absolute()).exists():
        served += ["--secrets.files", str(secrets)]
    os.chdir(app_folder())  # Streamlit reads .streamlit/config.toml from there
    os.execve(sys.executable, [sys.executable, "-m", "streamlit", "run", "app.py", *served], variables)


def check_server(options: Namespace) -> Lines:
    spec = endpoint_of(options)
    preparation.check_endpoint(spec, needs_model=False)
    to_json(spec)
    results: list[Finding] = []
    for each in check_servers(spec, system.keys()):
        if not results or results[-1].roles != each.roles:
            yield f"{' and '.join(each.roles)}: {each.model or 'no model named'} at {each.base_url}"
        yield f"  {each.mark:<5}  {each.name}: {each.words}"
        results.append(each)
    mark, words = verdict(results)
    yield words
    has_failed = any(each.mark == "fails" for each in results)
    code = ENDPOINT_FAILED if has_failed else BAD_INPUT if mark == "fails" else DONE  # bad: a model has no name
    return Ending({"usable": code == DONE, "verdict": words, "findings": results}, code)
