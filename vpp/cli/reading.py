"""Commands that read a run: `report`, `export`, `verify`, `baseline`, `predict`; and `task`, which writes a table."""

import json
import os
import sys
from argparse import Namespace
from pathlib import Path
from typing import Any

from pydantic_core import to_json

from vpp.cli.progress import Tally
from vpp.cli.system import environment, find_run, keys, read_table, until_interrupted, write_bytes
from vpp.data.roles import other_columns, unlabelled_rows
from vpp.data.table import read_like
from vpp.data.tasks import generate
from vpp.drawing import trying
from vpp.drawing.comparison import MODEL_NAMES
from vpp.errors import InputError
from vpp.inspection.baselines import Baselines, baselines, with_prompted
from vpp.inspection.points import calibrated
from vpp.inspection.scores import Score, averaged_score
from vpp.reporting.data_tree import posterior_nc
from vpp.reporting.document import report_html
from vpp.reporting.exports import ways, write_all, write_html
from vpp.reporting.markdown import report_markdown
from vpp.reporting.mlflow_run import log_run
from vpp.reporting.predictions import prediction_csv
from vpp.reporting.sheet import asked_sheet
from vpp.runs.asking import ask
from vpp.runs.prompted import Asked, PromptedAsking, PromptedBaselines
from vpp.runs.reader import RunReader
from vpp.trials.trial import TrialAsking, TrialSize, trial_json
from vpp.verification import TOLERANCE, Verification
from vpp.verification import verify as verification
from vpp.wording.escaping import one_line
from vpp.wording.verification import notes, verification_lines
from vpp.wording.words import counted, score_text

HOLDS, DOES_NOT_HOLD = 0, 1
MLFLOW_DEFAULTS = {
    "MLFLOW_DISABLE_TELEMETRY": "true",
    "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "2",
    "MLFLOW_SUPPRESS_PRINTING_URL_TO_STDOUT": "true",
}
"""No usage reports, two retries, no printed address. Variables that are already set stay as they are."""


def report(options: Namespace) -> int:
    """Write the report of a run in its present state, and print each file written."""
    directory = find_run(options.run_dir)
    reader = RunReader(directory)
    if options.output and options.html and Path(options.output).resolve() == Path(options.html).resolve():
        raise InputError(f"{options.output} cannot hold both reports: name two files with -o and --html")
    if options.output:
        write_bytes(Path(options.output), report_markdown(reader).encode())
        written = [Path(options.output)]
    else:
        written = write_all(directory)
    if options.html:
        write_bytes(Path(options.html), report_html(reader).encode(errors="replace"))
        written.append(Path(options.html))
    elif not options.output:
        written.append(write_html(directory))
    if options.nc:
        written.append(written[0].parent / "posterior.nc")
        write_bytes(written[-1], posterior_nc(reader))
    print("\n".join(map(str, written)))
    return 0


def export(options: Namespace) -> int:
    """Log the run to MLflow, and print the id of MLflow's run."""
    for name, value in MLFLOW_DEFAULTS.items():
        os.environ.setdefault(name, value)
    print(log_run(find_run(options.run_dir), options.mlflow, experiment=options.experiment))
    return 0


def verify(options: Namespace) -> int:
    """Replay the run on its recorded answers, and report differences from the journal and the exports."""
    directory = find_run(options.run_dir)
    result = verification(directory, ways(directory))
    if options.json:
        print(to_json(_verification_json(result, directory.id), inf_nan_mode="strings").decode())
    else:
        print("\n".join(verification_lines(result, run=directory.id)))
    return HOLDS if result.holds else DOES_NOT_HOLD


def _verification_json(result: Verification, run: str) -> dict[str, Any]:
    return {
        "run": run,
        "holds": result.holds,
        "tolerance": TOLERANCE,
        "lines": result.lines,
        "steps": result.steps,
        "claims": {claim: {"hold": n_held, "of": n} for claim, (n_held, n) in result.counts.items()},
        "faults": [
            {
                "claim": fault.claim,
                "file": fault.file or None,
                "line": fault.line,
                "step": fault.step,
                "particle": fault.slot,
                "what": fault.what,
                "written": fault.written,
                "follows": fault.follows,
            }
            for fault in result.faults
        ],
        "told": list(notes(result)),
        "unchecked": result.unchecked,
    }


def baseline(options: Namespace) -> int:
    """Ask the prompted baselines, write the report with them, and print each beside the run's own result."""
    directory, asked = find_run(options.run_dir), Asked(calls=options.calls, examples=options.examples)
    tally, asking = Tally(sys.stderr, of="answers"), PromptedAsking(directory, asked)
    try:
        found = until_interrupted(asking.go(keys=keys(), cache_dir=environment().cache_dir, on_progress=tally))
    finally:
        tally.close()
    write_all(directory)
    reader = RunReader(directory)
    dataset = reader.dataset()
    simple = with_prompted(baselines(dataset), directory, dataset)
    test = reader.refresh().view.evaluated.get("test")
    own = None if test is None else averaged_score(test, dataset)
    if options.json:
        print(json.dumps(_baseline_json(directory.id, found, simple, own)))
    else:
        named = [(MODEL_NAMES[model.name], model.score, model.about) for model in simple.models]
        lines = [("the run", own, ""), *named] if own else named
        width = max(len(name) for name, *_ in lines)
        print("\n".join(f"{name:{width}}  {score_text(score):>8}  {about}".rstrip() for name, score, about in lines))
    return 0


def _baseline_json(run: str, found: PromptedBaselines, simple: Baselines, own: Score | None) -> dict[str, Any]:
    scores = {model.name: model.score.value for model in simple.models}
    prompted = {
        each.name: {
            "test": scores[each.name],
            "calls": each.calls,
            "questions_a_row": each.questions,
            "examples": each.examples,
        }
        for each in found.models
    }
    fitted = {name: value for name, value in scores.items() if name not in prompted}
    metric = "mse" if simple.models[0].score.n_correct is None else "accuracy"
    own_part = {"test": own and own.value, "learner_calls": found.run_calls}
    return {"run": run, "metric": metric, "posterior": own_part, "simple": fitted, "prompted": prompted}


def trial(options: Namespace) -> int:
    """Ask the trial's questions, keep its result in the run's directory, and print it."""
    reader = RunReader(find_run(options.run_dir))
    size = TrialSize(ideas=options.ideas, changes=options.changes, rows=options.rows)
    asking = TrialAsking(reader, size)
    cost = f"{counted(asking.calls, 'call')} of the learner, if every answer can be read"
    print(cost, file=sys.stdout if options.plan else sys.stderr, flush=True)
    if options.plan:
        return 0
    tally = Tally(sys.stderr, of="answers")
    try:
        found = until_interrupted(asking.go(keys=keys(), cache_dir=environment().cache_dir, on_progress=tally))
    finally:
        tally.close()
    if options.json:
        print(to_json(trial_json(reader.directory.id, found), inf_nan_mode="strings").decode())
        return 0
    print(trying.verdict(found))
    started = reader.refresh().view.started
    for place, idea in enumerate(found.ideas, 1):
        print(f"\nIdea {place}: {one_line(trying.sentence_of(idea, started.seed_text if started else ''))}")
        names = zip(trying.HEAD[1:], trying.table_rows(found)[place - 1][1:], strict=True)
        print("\n".join(f"  {name}: {value}" for name, value in names))
        print("\n".join(f"  {lost:>8}  {one_line(clause)}" for clause, lost in trying.clause_rows(idea)))
    if words := trying.unread_words(found):
        print(f"\n{words}")
    return 0


def sheet(options: Namespace) -> int:
    """Ask every particle about rows without a label, and write them as a sheet to fill in, most informative first."""
    if options.rows < 1:
        raise InputError(f"--rows is {options.rows}: give at least 1")
    reader = RunReader(find_run(options.run_dir))
    snapshot, tally = reader.refresh(), Tally(sys.stderr, of="answers")
    asking = asked_sheet(
        reader, snapshot.view, n=options.rows, keys=keys(), cache_dir=environment().cache_dir, on_progress=tally
    )
    try:
        content = until_interrupted(asking)
    finally:
        tally.close()
    write_bytes(Path(options.output), content)
    target = snapshot.spec.dataset["target"]
    print(f"{options.output}: fill in {target!r}, then: vpp continue {options.run_dir} {options.output}")
    return 0


def predict(options: Namespace) -> int:
    """Ask every particle about every row of a table. A stopped or failed prediction writes no file."""
    directory = find_run(options.run_dir)
    table = read_table(options.data, options)
    reader = RunReader(directory)
    snapshot = reader.refresh()
    spec, dataset = snapshot.spec, reader.dataset()
    table = read_like(table, dataset.columns)
    for note in table.column_notes:
        print(f"note: {note}", file=sys.stderr)
    rows = unlabelled_rows(table, dataset.inputs)
    tally = Tally(sys.stderr, of="answers")
    try:
        answers = until_interrupted(
            ask(directory, rows, keys=keys(), cache_dir=environment().cache_dir, on_progress=tally)
        )
    except KeyboardInterrupt:
        tally.close()
        cached = "answers so far are in the cache" if spec.endpoint.cache else "this run has no cache"
        print(f"stopped: {options.output} was not written; {cached}", file=sys.stderr)
        raise
    finally:
        tally.close()
    beside = other_columns(table, dataset.inputs)
    content = prediction_csv(
        answers,
        doubt=calibrated(reader.refresh().view, dataset, of=answers),
        with_reasons=options.reasons,
        beside=beside,
    )
    write_bytes(Path(options.output), content)
    print(f"{len(rows)} rows predicted by {counted(len(answers.weights), 'particle')}: {options.output}")
    return 0


def task(options: Namespace) -> int:
    """Write one of the paper's tasks as a CSV."""
    content = generate(options.name, seed=options.seed, train_size=options.train_size, test_size=options.test_size)
    write_bytes(Path(options.output), content)
    print(options.output)
    return 0
