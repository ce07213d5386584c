"""Commands that read a run or ask its learner, from `report` to `reword`; and `task`, which writes a table."""

import json
import os
import sys
from argparse import Namespace
from collections import Counter
from collections.abc import Callable, Coroutine, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from pydantic_core import to_json

from vpp.cli.progress import Tally
from vpp.cli.system import environment, find_run, keys, read_table, until_interrupted, write_bytes
from vpp.cli.working import work_on
from vpp.data.table import other_columns, read_like, unlabelled_rows
from vpp.data.tasks import generate
from vpp.errors import EndpointError, InputError
from vpp.findings.baselines import MODEL_NAMES, Baselines, baselines, with_prompted
from vpp.findings.experiments import comparison_words, rows_name, trial_blocks, trial_json, trial_verdict
from vpp.findings.points import reject_option
from vpp.findings.scores import Score, averaged_score, score_text
from vpp.llm.errors import OF_PROMPT
from vpp.reporting.document import report_html, report_markdown, ways, write_all, write_html
from vpp.reporting.exports import log_run, posterior_nc
from vpp.reporting.predictions import asked_sheet, prediction_csv
from vpp.reporting.standalone import left_out_words, standalone
from vpp.runs.asking import (
    Asking,
    Comparison,
    PromptedAsking,
    PromptedBaselines,
    Rewording,
    reworded_run,
    score_rewording,
)
from vpp.runs.reader import RunReader
from vpp.show import terminal
from vpp.show.markup import one_line
from vpp.show.words import counted, cut, integer, listed, step_words
from vpp.trials.trial import TrialAsking, TrialSize
from vpp.verification import CLAIMS, TOLERANCE, Fault, Verification
from vpp.verification import verify as verification

T = TypeVar("T")
MLFLOW_DEFAULTS = {
    "MLFLOW_DISABLE_TELEMETRY": "true",
    "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "2",
    "MLFLOW_SUPPRESS_PRINTING_URL_TO_STDOUT": "true",
}
"""No usage reports, two retries, no printed address. Variables that are already set stay as they are."""


def _answers(ask: Callable[..., Coroutine[Any, Any, T]], *what: Any, quiet: bool = False) -> T:
    """Ask models to the end, with progress on standard error."""
    tally = Tally(None if quiet else sys.stderr)
    try:
        return until_interrupted(ask(*what, keys=keys(), cache_dir=environment().cache_dir, on_progress=tally))
    finally:
        tally.close()


def report(options: Namespace) -> int:
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
    if options.python:
        found = standalone(RunReader(find_run(options.run_dir)))
        write_bytes(Path(options.python), found.content)
        for words in (*(each.words for each in found.left_out), left_out_words(found.left_out)):
            print(words, end="\n" if words else "", file=sys.stderr)
        print(options.python)
        return 0
    for name, value in MLFLOW_DEFAULTS.items():
        os.environ.setdefault(name, value)
    print(log_run(find_run(options.run_dir), options.mlflow, experiment=options.experiment))
    return 0


def verify(options: Namespace) -> int:
    directory = find_run(options.run_dir)
    result = verification(directory, ways(directory))
    if options.json:
        print(to_json(_verification_json(result, directory.id), inf_nan_mode="strings").decode())
    else:
        print("\n".join(verification_lines(result, run=directory.id)))
    return 0 if result.holds else 1


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
                **{name: getattr(fault, name) for name in ("what", "written", "follows")},
            }
            for fault in result.faults
        ],
        "told": list(notes(result)),
        "unchecked": result.unchecked,
    }


def baseline(options: Namespace) -> int:
    directory = find_run(options.run_dir)
    found = _answers(PromptedAsking(directory, calls=options.calls, examples=options.examples).go)
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
        each.name: {"test": scores[each.name], "calls": each.calls, "questions_a_row": each.questions}
        | {"examples": each.examples}
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
    found = _answers(asking.go)
    if options.json:
        verdict = {"verdict": trial_verdict(found)}
        print(to_json({**trial_json(reader.directory.id, found), **verdict}, inf_nan_mode="strings").decode())
        return 0
    print("\n".join(terminal.lines(trial_blocks(found, reader.refresh().view.seed_text))))
    return 0


def sheet(options: Namespace) -> int:
    """Ask every particle about rows without a label, and write them as a sheet to fill in, most informative first."""
    if options.rows < 1:
        raise InputError(f"--rows is {options.rows}: give at least 1")
    reader = RunReader(find_run(options.run_dir))
    snapshot = reader.refresh()
    write_bytes(Path(options.output), _answers(partial(asked_sheet, reader, snapshot.view, n=options.rows)))
    target = snapshot.spec.dataset["target"]
    print(f"{options.output}: fill in {target!r}, then: vpp continue {options.run_dir} {options.output}")
    return 0


def predict(options: Namespace) -> int:
    """Ask every particle about every row of a table. If it is stopped or fails, the rows answered so far are kept."""
    directory = find_run(options.run_dir)
    table = read_table(options.data, options)
    reader = RunReader(directory)
    dataset = reader.dataset()
    table = read_like(table, dataset.columns)
    for note in table.notes:
        print(f"note: {note}", file=sys.stderr)
    rows = unlabelled_rows(table, dataset.inputs)
    asking = Asking(directory, rows)
    failure: KeyboardInterrupt | EndpointError | None = None
    try:
        answers = _answers(asking.go)
    except (KeyboardInterrupt, EndpointError) as error:
        failure, answers = error, asking.whole()
    if failure and not answers.rows:
        if isinstance(failure, KeyboardInterrupt):
            cached = "answers so far are in the cache" if directory.spec().endpoint.cache else "this run has no cache"
            print(f"stopped: {options.output} was not written; {cached}", file=sys.stderr)
        raise failure
    content = prediction_csv(
        answers,
        reject=reject_option(reader.refresh().view, directory.spec().config, dataset, of=answers),
        with_reasons=options.reasons,
        beside=other_columns(table, dataset.inputs),
    )
    write_bytes(Path(options.output), content)
    said = ((given.row, given.reason or "") for each in answers.predictions for given in each)
    refused = {row: words for row, words in said if words.startswith(tuple(OF_PROMPT))}
    for words, n in Counter(refused.values()).most_common():
        print(f"{counted(n, 'row')}: {words}", file=sys.stderr)
    done = f"{len(answers.rows)} of {len(rows)}" if failure else len(rows)
    print(f"{done} rows predicted by {counted(len(answers.weights), 'particle')}: {options.output}")
    if failure:
        raise failure
    return 0


def reword(options: Namespace) -> int:
    reader = RunReader(find_run(options.run_dir))
    wording, compared = _answers(score_rewording, reader, options.particle, options.text, quiet=options.quiet)
    snapshot, run = reader.refresh(), reader.directory.id
    if options.json and not options.keep:
        print(to_json(_comparison_json(run, wording, compared), inf_nan_mode="strings").decode())
        return 0
    if not (options.keep and options.quiet):
        lines = comparison_words(wording, compared, rows_name(snapshot.view, snapshot.spec.config))
        print("\n".join(lines), file=sys.stderr if options.keep else sys.stdout, flush=True)
    if not options.keep:
        return 0
    prepared = reworded_run(snapshot.spec, reader.dataset(), snapshot.view, wording, run=run, name=options.name)
    prepared = replace(prepared, spec=replace(prepared.spec, command=tuple(sys.argv[1:])))
    directory = prepared.create(environment().runs_dir, run_dir=Path(options.to) if options.to else None)
    return work_on(directory, options)


def _comparison_json(run: str, wording: Rewording, compared: Comparison) -> dict[str, Any]:
    return {
        "run": run,
        "particle": wording.slot,
        "text": {"old": wording.old, "new": wording.new},
        "rows": [row.id for row in compared.rows],
        "log_likelihood": {"old": compared.log_likelihood, "new": compared.log_likelihood_new},
        "exponent": wording.exponent,
        "log_alpha": compared.log_alpha,
        "acceptance_probability": compared.acceptance,
        **{name: getattr(compared, name) for name in ("won", "lost", "unread")},
    }


def task(options: Namespace) -> int:
    content = generate(options.name, seed=options.seed, train_size=options.train_size, test_size=options.test_size)
    write_bytes(Path(options.output), content)
    print(options.output)
    return 0


FAULTS_SHOWN = 40
LONGEST_VALUE = 60


def verification_lines(result: Verification, *, run: str) -> Iterator[str]:
    """Yield the result for a terminal: claims, faults, notes, what was not checked, and the verdict last."""
    yield f"{run}: {counted(result.lines, 'line')} of events.jsonl, {counted(result.steps, 'whole step')}"
    for claim, (n_held, n) in result.counts.items():
        yield f"{claim:<8} {integer(n_held):>6} of {integer(n):>6} hold   {CLAIMS[claim]}"
    for fault in result.faults[:FAULTS_SHOWN]:
        yield f"does not hold: {fault_line(fault)}"
    if len(result.faults) > FAULTS_SHOWN:
        yield f"and {counted(len(result.faults) - FAULTS_SHOWN, 'fault')} more: --json lists all"
    yield from (f"note: {note}" for note in notes(result))
    yield from (f"not checked: {why}" for why in result.unchecked)
    yield verdict(result, run=run)


def verdict(result: Verification, *, run: str = "RUN") -> str:
    """Return the verdict in one line. run: its id, for the commands that it names."""
    if result.holds:
        return f"The journal is consistent: every derived value is equal, floats to {TOLERANCE:g} of their size."
    if {fault.claim for fault in result.faults} == {"exports"}:
        names = list(dict.fromkeys(fault.file for fault in result.faults))
        differ = "differs" if len(names) == 1 else "differ"
        fix = f"`python -m vpp report {run}` writes all exports again"
        return f"The journal is consistent, but {listed(names)} {differ} from it: {fix}."
    return f"The journal is inconsistent: {counted(len(result.faults), 'fault')}."


def notes(result: Verification) -> Iterator[str]:
    if not result.has_ended:
        yield "the run has not ended: only the lines written so far are checked"


def fault_line(fault: Fault) -> str:
    where, what, written, follows = _cells(fault)
    return f"{where}: {what} is {written}, and should be {follows}"


def _cells(fault: Fault) -> tuple[str, str, str, str]:
    parts = [fault.file or f"line {fault.line}"]
    parts += [step_words(fault.step)] if fault.step is not None else []
    parts += [f"particle {fault.slot}"] if fault.slot is not None else []
    return ", ".join(parts), one_line(fault.what), _short(fault.written), _short(fault.follows)


def _short(value: object) -> str:
    """Return a value short, on one line, and safe for a terminal."""
    if value is None or value == ():
        return "nothing"
    items = value if isinstance(value, Sequence) and not isinstance(value, str) else [value]
    return cut(one_line(", ".join(map(str, items))), LONGEST_VALUE)
