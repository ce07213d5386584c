"""Commands on stored runs that ask no model: `list`, `stop`, `report`, `export`, `verify` and others; and `task`."""

import os
import sys
import time
from argparse import Namespace
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from vpp.cli.system import environment, find_run, print_json, write_bytes
from vpp.data.tasks import generate
from vpp.errors import RunError
from vpp.findings.status import metric_text, pending_words, steps_done
from vpp.llm.cache import ResponseCache
from vpp.runs import store
from vpp.runs.directory import Command, RunDirectory, State
from vpp.runs.journal import RunReader, read_summary
from vpp.runs.store import RunStore
from vpp.show.markup import one_line
from vpp.show.words import counted, cut, integer
from vpp.verification import BEYOND, TOLERANCE, Fault, Verification
from vpp.verification import verify as verification

OBEYED_WITHIN_S = 20.0
ENDED: tuple[State, ...] = ("finished", "stopped", "failed", "interrupted")
OBEYED: dict[Command, tuple[State, ...]] = {"stop": (), "pause": ("paused",), "go on": ("running", "queued")}
MLFLOW_DEFAULTS = {
    "MLFLOW_DISABLE_TELEMETRY": "true",
    "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "2",
    "MLFLOW_SUPPRESS_PRINTING_URL_TO_STDOUT": "true",
}
"""No usage reports, two retries, no printed address. Variables that are already set stay as they are."""
MOST_FAULTS = 40
LONGEST_VALUE = 60


def send(options: Namespace) -> int:
    """Send the run's worker a command, and wait for a state in which it has obeyed or ended."""
    directory, command = find_run(options.run_dir), options.sent
    if not (directory.is_held() or directory.is_starting()):
        raise RunError(f"{directory.path} is not running: continue it with `vpp resume`")
    directory.send_command(command)
    reader, until = RunReader(directory), (*OBEYED[command], *ENDED)
    deadline = time.monotonic() + OBEYED_WITHIN_S
    while (state := reader.refresh().state) not in until and time.monotonic() < deadline:
        time.sleep(0.1)
    words = pending_words(command, state) or "The command is pending: the worker has not read it yet."
    print(f"{directory.id}: {state}{'' if state in until else f'. {words}'}")
    return 0


def list_runs(options: Namespace) -> int:
    rows = [_row(directory) for directory in RunStore(environment().runs_dir).runs()]
    if options.json:
        print_json(rows)
        return 0
    for row in rows:
        problem = f" · {row['problem']}" if row["problem"] else ""
        print(f"{row['run']}  {row['status']:<11}  {_result(row):<14}  {one_line(str(row['name']))}{problem}")
    if not rows:
        print("no runs yet: python -m vpp run DATA.csv --target COLUMN --demo")
    return 0


def _row(directory: RunDirectory) -> dict[str, Any]:
    """Return a run's line; of an unreadable run only where it is, and why."""
    place = {"run": directory.id, "dir": str(directory.path)}
    try:
        spec = directory.spec()
        summary = read_summary(directory)
    except RunError as error:
        return {**place, "name": directory.id, "status": "unreadable", "problem": str(error), "metric": None}
    state = directory.state(summary)
    return {
        **place,
        "name": spec.name,
        "status": state,
        "problem": "",
        "method": spec.config.method,
        "steps": {"done": steps_done(summary), "of": summary.total_steps},
        "metric": {"name": summary.metric, "train": summary.train, "test": summary.test},
        "spent": {"requests": summary.sent, "cost": summary.cost},
    }


def _result(row: dict[str, Any]) -> str:
    metric = row["metric"]
    if metric is None or metric["test"] is None:
        return "-"
    words = metric_text(metric["name"], metric["test"])
    return f"accuracy {words}" if metric["name"] == "accuracy" else words


def rename(options: Namespace) -> int:
    store.rename(find_run(options.run_dir), options.name)
    return 0


def delete(options: Namespace) -> int:
    directory = find_run(options.run_dir)
    store.delete(directory)
    print(f"{directory.id}: deleted")
    return 0


def cache(options: Namespace) -> int:
    responses = ResponseCache(environment().cache_dir)
    try:
        if options.action == "clear":
            print(f"{responses.clear():,} answers deleted")
        else:
            entries, size = responses.info()
            print(f"{entries:,} answers, {size / 2**20:.1f} MiB, in {environment().cache_dir}")
    finally:
        responses.close()
    return 0


def task(options: Namespace) -> int:
    content = generate(options.name, seed=options.seed, train_size=options.train_size, test_size=options.test_size)
    write_bytes(Path(options.output), content)
    print(options.output)
    return 0


def report(options: Namespace) -> int:
    from vpp.reporting.document import write_all, write_html
    from vpp.reporting.exports import posterior_nc

    directory = find_run(options.run_dir)
    written = [*write_all(directory), write_html(directory)]
    if options.nc:
        written.append(directory.path / "posterior.nc")
        write_bytes(written[-1], posterior_nc(RunReader(directory)))
    print("\n".join(map(str, written)))
    return 0


def export(options: Namespace) -> int:
    from vpp.reporting.exports import log_run
    from vpp.reporting.standalone import left_out_words, standalone

    if options.python:
        program = standalone(RunReader(find_run(options.run_dir)))
        write_bytes(Path(options.python), program.content)
        for words in filter(None, (*(each.words for each in program.left_out), left_out_words(program.left_out))):
            print(words, file=sys.stderr)
        print(options.python)
        return 0
    for name, value in MLFLOW_DEFAULTS.items():
        os.environ.setdefault(name, value)
    print(log_run(find_run(options.run_dir), options.mlflow, experiment=options.experiment))
    return 0


def verify(options: Namespace) -> int:
    directory = find_run(options.run_dir)
    result = verification(directory)
    if options.json:
        facts = {**asdict(result), "holds": result.holds, "tolerance": TOLERANCE, "unchecked": BEYOND}
        print_json({"run": directory.id, **facts})
    else:
        print("\n".join(verification_lines(result)))
    return 0 if result.holds else 1


def verification_lines(result: Verification) -> Iterator[str]:
    """Yield the result for a terminal: faults, what was not checked, and the verdict last."""
    n, faults = result.n_compared, counted(len(result.faults), "fault")
    yield from (f"does not hold: {fault_line(fault)}" for fault in result.faults[:MOST_FAULTS])
    if len(result.faults) > MOST_FAULTS:
        yield f"and {len(result.faults) - MOST_FAULTS} more: --json lists all"
    yield f"not checked: {BEYOND}"
    if not result.has_ended:
        yield "note: the run has not ended: only the lines written so far are checked"
    if result.holds:
        yield f"The journal is consistent: all {integer(n)} lines follow, floats to {TOLERANCE:g} of their size."
    else:
        yield f"The journal is inconsistent: {faults} in {counted(n, 'line')}."


def fault_line(fault: Fault) -> str:
    """Return a fault in one line that is safe for a terminal."""
    written, follows = (cut(one_line(str(value)), LONGEST_VALUE) for value in (fault.written, fault.follows))
    return f"line {fault.line}: {one_line(fault.what)} is {written}, and should be {follows}"
