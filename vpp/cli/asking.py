"""Commands that ask the models of a stored run: `predict`, `sheet`, `trial` and `baseline`."""

import sys
from argparse import Namespace
from collections import Counter
from dataclasses import asdict
from pathlib import Path

from vpp.cli import Ending, Lines
from vpp.cli.progress import ask
from vpp.cli.system import find_run, read_table, write_bytes
from vpp.data.table import other_columns, read_like, unlabelled_rows
from vpp.errors import EndpointError, InputError
from vpp.findings.baselines import MODEL_NAMES, baselines, with_prompted
from vpp.findings.experiments import trial_blocks, trial_verdict
from vpp.findings.points import reject_option
from vpp.findings.scores import averaged_score, score_text
from vpp.llm.protocol import OF_PROMPT
from vpp.reporting.document import write_all
from vpp.reporting.predictions import prediction_csv, sheet_of, sheet_rows
from vpp.runs.asking import Answers, Asking
from vpp.runs.journal import RunReader
from vpp.show.markup import lines
from vpp.show.words import counted
from vpp.trials import PromptedAsking, TrialAsking, TrialSize


def predict(options: Namespace) -> Lines:
    """Ask every particle about every row of a table. If it is stopped or fails, the rows answered so far are kept."""
    directory = find_run(options.run_dir)
    reader = RunReader(directory)
    dataset = reader.dataset()
    table = read_like(read_table(options.data, options), dataset.columns)
    print("".join(f"note: {note}\n" for note in table.notes), end="", file=sys.stderr)
    rows = unlabelled_rows(table, dataset.inputs)
    asking = Asking(directory, rows)
    failure: KeyboardInterrupt | EndpointError | None = None
    try:
        answers = ask(asking)
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
    refusals = _refusals(answers)
    for words, n in refusals.most_common():
        print(f"{counted(n, 'row')}: {words}", file=sys.stderr)
    done = f"{len(answers.rows)} of {len(rows)}" if failure else len(rows)
    yield f"{done} rows predicted by {counted(len(answers.weights), 'particle')}: {options.output}"
    counts = {"rows": len(rows), "predicted": len(answers.rows), "refused": dict(refusals)}
    return Ending({"run": directory.id, "file": options.output, **counts}, failure=failure)


def _refusals(answers: Answers) -> Counter[str]:
    """Count the rows that the server refused to answer, by its words."""
    reasons = ((each.row, each.reason or "") for particle in answers.predictions for each in particle)
    return Counter({row: words for row, words in reasons if words.startswith(tuple(OF_PROMPT))}.values())


def sheet(options: Namespace) -> Lines:
    """Ask every particle about rows without a label, and write them as a sheet to fill in, most informative first."""
    if options.rows < 1:
        raise InputError(f"--rows is {options.rows}: give at least 1")
    reader = RunReader(find_run(options.run_dir))
    answers = ask(Asking(reader.directory, sheet_rows(reader, n=options.rows)))
    write_bytes(Path(options.output), sheet_of(answers, reader))
    target = reader.dataset().target
    yield f"{options.output}: fill in {target!r}, then: vpp continue {options.run_dir} {options.output}"
    return Ending({"run": reader.directory.id, "file": options.output, "rows": len(answers.rows), "target": target})


def trial(options: Namespace) -> Lines:
    """Ask the trial's questions, keep its result in the run's directory, and print it."""
    reader = RunReader(find_run(options.run_dir))
    asking = TrialAsking(reader, TrialSize(ideas=options.ideas, changes=options.changes, rows=options.rows))
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
    simple = with_prompted(baselines(dataset), directory, dataset)
    test = reader.refresh().view.evaluated.get("test")
    own = None if test is None else averaged_score(test, dataset)
    rows = [("the run", own)] if own else []
    rows += [(MODEL_NAMES[model.name], model.score) for model in simple.models]
    width = max(len(name) for name, _ in rows)
    yield from (f"{name:{width}}  {score_text(score):>8}" for name, score in rows)
    facts = {"metric": "mse" if dataset.task == "regression" else "accuracy", "learner_calls": prompted.run_calls}
    results: dict[str, float | None] = {"posterior": own.value if own else None}
    results |= {model.name: model.score.value for model in simple.models}
    models = {each.name: {"calls": each.calls, "examples": each.examples} for each in prompted.models}
    return Ending({"run": directory.id, **facts, "test": results, "prompted": models})
