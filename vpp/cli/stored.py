"""Commands on stored runs: those that list, control, export and verify them, and those that ask their models."""

import os
import sys
import time
from argparse import Namespace
from dataclasses import asdict
from pathlib import Path
from typing import Any

from vpp.bench.tasks import generate
from vpp.cli import Ending, Lines, say
from vpp.cli.progress import ask
from vpp.cli.system import environment, find_run, read_table, write_bytes
from vpp.data.table import other_columns, read_like, unlabelled_rows
from vpp.errors import EndpointError, InputError, RunError
from vpp.findings.asking import NOT_ADDITIVE, trial_blocks, trial_verdict
from vpp.findings.baselines import baselines, with_prompted
from vpp.findings.points import reject_option
from vpp.findings.result import result
from vpp.findings.status import pending_words, refused_rows, steps_done
from vpp.findings.verdict import beside_text
from vpp.reporting.document import simple_models
from vpp.reporting.exports import log_run, posterior_nc, write_all, write_html
from vpp.reporting.predictions import prediction_csv, sheet_of, sheet_rows
from vpp.reporting.standalone import left_out_words, standalone
from vpp.runs import store
from vpp.runs.asking import Asking
from vpp.runs.directory import Command, RunDirectory, RunReader, State, read_summary
from vpp.runs.store import RunStore
from vpp.show.markup import lines, one_line
from vpp.show.words import counted, cut, integer
from vpp.trials import PromptedAsking, TrialAsking
from vpp.verification import BEYOND, TOLERANCE, Fault
from vpp.verification import verify as verification

PATIENCE_S = 20.0
END_STATES: tuple[State, ...] = ("finished", "stopped", "failed", "interrupted")
STATES_AFTER: dict[Command, tuple[State, ...]] = {"stop": (), "pause": ("paused",), "go on": ("running", "queued")}
MLFLOW_DEFAULTS = {
    "MLFLOW_DISABLE_TELEMETRY": "true",
    "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "2",
    "MLFLOW_SUPPRESS_PRINTING_URL_TO_STDOUT": "true",
}
"""No usage reports, two retries, no printed address. Variables that are already set stay as they are."""
MOST_FAULTS = 40  # in words; --json lists all
LONGEST_VALUE = 60


def send(options: Namespace) -> Lines:
    """Send the run's worker a command, and wait for a state in which it has obeyed or ended."""
    directory, command = find_run(options.run_dir), options.sent
    if not directory.is_held():
        raise RunError(f"{directory.path} is not running: continue it with `vpp resume`")
    directory.send_command(command)
    reader, until = RunReader(directory), (*STATES_AFTER[command], *END_STATES)
    deadline = time.monotonic() + PATIENCE_S
    while (state := reader.refresh().state) not in until and time.monotonic() < deadline:
        time.sleep(0.1)
    words = pending_words(command, state) or "The command is pending: the worker has not read it yet."
    words += " Stop again to skip that." if command == "stop" and state == "running" else ""
    yield f"{directory.id}: {state}{'' if state in until else f'. {words}'}"
    return Ending({"run": directory.id, "status": state, "is_pending": state not in until})


def list_runs(_: Namespace) -> Lines:
    rows = list(map(_row, RunStore(environment().runs_dir).runs()))
    for row in rows:
        words = row["problem"] or f"{row['result'] or '-'}  {one_line(str(row['name']))}"
        yield f"{row['run']}  {row['status']:<11}  {words}"
    if not rows:
        yield "no runs yet: python -m vpp run DATA.csv --target COLUMN --demo"
    return Ending(rows)


def _row(directory: RunDirectory) -> dict[str, Any]:
    """Return a run's line; of an unreadable run only where it is, and why."""
    place = {"run": directory.id, "dir": str(directory.path)}
    try:
        spec = directory.spec()
        summary = read_summary(directory)
    except RunError as error:
        return {**place, "name": directory.id, "status": "unreadable", "problem": str(error), "metric": None}
    return {
        **place,
        "name": spec.name,
        "status": directory.state(summary),
        "problem": "",
        "result": beside_text(summary.verdict),
        "method": spec.config.method,
        "steps": {"done": steps_done(summary), "of": summary.total_steps},
        "metric": {"name": summary.metric, "train": summary.train, "test": summary.test},
        "spent": {"requests": summary.sent, "cost": summary.cost},
    }


def rename(options: Namespace) -> Lines:
    directory = find_run(options.run_dir)
    store.rename(directory, options.name)
    yield f"{directory.id}: {directory.spec().name}"
    return Ending({"run": directory.id, "name": directory.spec().name})


def delete(options: Namespace) -> Lines:
    directory = find_run(options.run_dir)
    store.delete(directory)
    yield f"{directory.id}: deleted"
    return Ending({"run": directory.id, "status": "deleted"})


def task(options: Namespace) -> Lines:
    content = generate(options.name, seed=options.seed, train_size=options.train_size, test_size=options.test_size)
    write_bytes(Path(options.output), content)
    yield options.output
    return Ending({"file": options.output})


def report(options: Namespace) -> Lines:
    directory = find_run(options.run_dir)
    written = [*write_all(directory), write_html(directory)]
    if options.nc:
        written.append(directory.path / "posterior.nc")
        write_bytes(written[-1], posterior_nc(RunReader(directory)))
    yield from map(str, written)
    return Ending({"run": directory.id, "files": written})


def export(options: Namespace) -> Lines:
    if options.python:
        program = standalone(RunReader(find_run(options.run_dir)))
        write_bytes(Path(options.python), program.content)
        for words in filter(None, (*(each.words for each in program.left_out), left_out_words(program.left_out))):
            print(words, file=sys.stderr)
        yield options.python
        return Ending({"file": options.python, "left_out": program.left_out})
    for name, value in MLFLOW_DEFAULTS.items():
        os.environ.setdefault(name, value)
    logged = log_run(find_run(options.run_dir), options.mlflow, experiment=options.experiment)
    yield logged
    return Ending({"mlflow_run": logged})


def verify(options: Namespace) -> Lines:
    directory = find_run(options.run_dir)
    found = verification(directory)
    yield from map(fault_line, found.faults[:MOST_FAULTS])
    if len(found.faults) > MOST_FAULTS:
        yield f"and {len(found.faults) - MOST_FAULTS} more: --json lists all"
    yield f"not checked: {BEYOND}"
    if not found.has_ended:
        yield "note: the run has not ended: only the lines written so far are checked"
    n = found.n_compared
    if found.holds:
        yield f"The journal is consistent: all {integer(n)} lines follow, floats to {TOLERANCE:g} of their size."
    else:
        yield f"The journal is inconsistent: {counted(len(found.faults), 'fault')} in {counted(n, 'line')}."
    facts = {**asdict(found), "holds": found.holds, "tolerance": TOLERANCE, "unchecked": BEYOND}
    return Ending({"run": directory.id, **facts}, 0 if found.holds else 1)


def fault_line(fault: Fault) -> str:
    """Return a fault in one line that is safe for a terminal."""
    written, follows = (cut(one_line(str(value)), LONGEST_VALUE) for value in (fault.written, fault.follows))
    return f"does not hold: line {fault.line}: {one_line(fault.what)} is {written}, and should be {follows}"


# Questions to a run's models


def predict(options: Namespace) -> Lines:
    """Ask every particle about every row of a table. If it is stopped or fails, the rows answered so far are kept."""
    directory = find_run(options.run_dir)
    reader = RunReader(directory)
    dataset = reader.dataset()
    table = read_like(read_table(options.data, options), dataset.columns, dataset.cells)
    print("".join(f"note: {note}\n" for note in table.notes), end="", file=sys.stderr)
    rows = unlabelled_rows(table, dataset.inputs)
    asking = Asking(reader, rows)
    failure: KeyboardInterrupt | EndpointError | None = None
    try:
        answers = ask(asking)
    except (KeyboardInterrupt, EndpointError) as error:
        failure, answers = error, asking.complete_rows()
    if failure and not answers.rows:
        if isinstance(failure, KeyboardInterrupt):
            cached = "answers so far are in the cache" if directory.spec().endpoint.cache else "this run has no cache"
            say(f"stopped: {options.output} was not written; {cached}")
        raise failure
    content = prediction_csv(
        answers,
        reject=reject_option(reader.refresh().view, directory.spec().config, dataset, of=answers),
        with_reasons=options.reasons,
        beside=other_columns(table, dataset.inputs),
    )
    write_bytes(Path(options.output), content)
    refusals = refused_rows(each for particle in answers.predictions for each in particle)
    for words, n in refusals.most_common():
        print(f"{counted(n, 'row')}: {words}", file=sys.stderr)
    done = f"{len(answers.rows)} of {len(rows)}" if failure else len(rows)
    yield f"{done} rows predicted by {counted(len(answers.weights), 'particle')}: {options.output}"
    counts = {"rows": len(rows), "predicted": len(answers.rows), "refused": dict(refusals)}
    return Ending({"run": directory.id, "file": options.output, **counts}, failure=failure)


def sheet(options: Namespace) -> Lines:
    """Ask every particle about rows without a label, and write them as a sheet to fill in, most informative first."""
    if options.rows < 1:
        raise InputError(f"--rows is {options.rows}: give at least 1")
    reader = RunReader(find_run(options.run_dir))
    answers = ask(Asking(reader, sheet_rows(reader, n=options.rows)))
    write_bytes(Path(options.output), sheet_of(answers, reader))
    target = reader.dataset().target
    yield f"{options.output}: fill in {target!r}, then: vpp continue {options.run_dir} {options.output}. {NOT_ADDITIVE}"
    return Ending({"run": reader.directory.id, "file": options.output, "rows": len(answers.rows), "target": target})


def trial(options: Namespace) -> Lines:
    reader = RunReader(find_run(options.run_dir))
    asking = TrialAsking(reader, ideas=options.ideas, changes=options.changes, rows=options.rows)
    cost = f"{counted(asking.calls, 'call')} of the learner, if every answer can be read"
    if options.plan:
        yield cost
        return Ending({"run": reader.directory.id, "calls": asking.calls})
    print(cost, file=sys.stderr, flush=True)
    result = ask(asking)
    yield from lines(trial_blocks(result, reader.refresh().view.seed_text))
    return Ending({"run": reader.directory.id, **asdict(result), "verdict": trial_verdict(result)})


def baseline(options: Namespace) -> Lines:
    directory = find_run(options.run_dir)
    prompted = ask(PromptedAsking(directory, calls=options.calls))
    write_all(directory)
    reader = RunReader(directory)
    dataset = reader.dataset()
    yield from lines(simple_models(reader, dataset))
    metric = result(directory, reader.refresh().view)["metric"]
    simple = with_prompted(baselines(dataset), directory, dataset).models
    scores: dict[str, float] = {each.name: each.score.value for each in simple}
    models = {each.name: {"calls": each.calls, "examples": each.examples} for each in prompted.models}
    facts = {"metric": metric["name"], "learner_calls": prompted.run_calls}
    return Ending({"run": directory.id, **facts, "test": {"posterior": metric["test"], **scores}, "prompted": models})
