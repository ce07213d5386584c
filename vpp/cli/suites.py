"""`bench --suite`: run the tables of a suite, judge what was found, and print the results."""

import json
from argparse import Namespace
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from vpp.bench.cells import Cell, Sizes
from vpp.bench.discovery import discover, known_discovery
from vpp.bench.outcome import Outcome
from vpp.bench.scheduler import SweepResult
from vpp.bench.suite import TEST_ROWS, SuiteTable, read_suite
from vpp.bench.suite_tables import SuiteResult, suite_json, suite_table
from vpp.bench.sweep import SweepDirectory, SweepSpec, folder_name
from vpp.bench.table import markdown
from vpp.cli.running import endpoint_of
from vpp.cli.system import environment, keys, until_interrupted
from vpp.errors import InputError
from vpp.inspection.baselines import baselines
from vpp.runs.directory import load_dataset
from vpp.runs.journal import write_atomically

METHODS = "smc"
SEEDS = 3
Sweep = Callable[[SweepDirectory, SweepSpec], SweepResult]
"""Runs a sweep to its end."""


def bench_suite(options: Namespace, sweep: Sweep) -> SweepResult:
    """Run the suite's cells, judge the finished ones, write tables.md and print it, or one JSON object."""
    folder = _folder(options)
    tables = _chosen(read_suite(folder), options.tasks)
    for table in tables.values():
        _ = table.rule  # an unreadable one is reported before any call
    endpoint = endpoint_of(options)
    name = f"suite-{folder.name}-{folder_name(endpoint).removeprefix('bench-')}"
    directory = SweepDirectory(options.output or environment().runs_dir / name)
    usual = Sizes(test=TEST_ROWS)
    sizes = Sizes(**{field: getattr(options, f"{field}_size") or getattr(usual, field) for field in ("train", "test")})
    spec = SweepSpec(
        endpoint=endpoint,
        tasks=tuple(tables),
        methods=tuple(name.strip() for name in (options.methods or METHODS).split(",")),
        seeds=SEEDS if options.seeds is None else options.seeds,
        sizes=sizes if options.epochs is None else replace(sizes, epochs=options.epochs),
        suite=str(folder),
        preset="recommended",
    )
    result = sweep(directory, spec)
    results = _results(directory, tables, result)
    text = markdown(suite_table(results)) + "\n"
    write_atomically(directory.tables, text.encode())
    print(json.dumps(suite_json(tables, results), ensure_ascii=False) if options.json else text)
    return result


def _folder(options: Namespace) -> Path:
    if options.folder is None:
        raise InputError(f"--suite {options.suite} needs a folder: python -m vpp bench --suite {options.suite} DIR")
    return Path(options.folder).resolve()


def _chosen(tables: dict[str, SuiteTable], names: str | None) -> dict[str, SuiteTable]:
    """Return the tables that --tasks names, or all. Raises InputError for an unknown one."""
    asked = list(tables) if names is None else [name.strip() for name in names.split(",") if name.strip()]
    unknown = next((name for name in asked if name not in tables), None)
    if unknown is not None or not asked:
        raise InputError(f"no table is called {unknown or ''!r}: choose from {', '.join(tables)}")
    return {name: tables[name] for name in asked}


def _results(directory: SweepDirectory, tables: dict[str, SuiteTable], result: SweepResult) -> list[SuiteResult]:
    """Judge the finished cells of these tables; after a stop without a further call."""
    finished = [each.outcome for each in result.view.cells if each.outcome and each.cell.task in tables]
    may_ask = result.ending != "stopped"
    return [_judged(directory, tables[outcome.task], outcome, may_ask=may_ask) for outcome in finished]


def _judged(directory: SweepDirectory, table: SuiteTable, outcome: Outcome, *, may_ask: bool) -> SuiteResult:
    """Add the simple baselines, and what the heaviest idea answers where the true rule is known."""
    cell = Cell(task=outcome.task, method=outcome.method, seed=outcome.seed)
    run, discovery = directory.run_of(cell), None
    if table.rule:
        discovery = known_discovery(run)
        if discovery is None and may_ask:
            asking = discover(run, table.rule, keys=keys(), cache_dir=environment().cache_dir)
            discovery = until_interrupted(asking)
    return SuiteResult(outcome=outcome, simple=baselines(load_dataset(run, run.spec())), discovery=discovery)
