"""Commands that ask the models of a stored run: `predict`, `sheet`, `trial`, `baseline` and `reword`."""

import asyncio
import sys
from argparse import Namespace
from collections import Counter
from collections.abc import Callable, Coroutine
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from pydantic_core import to_json

from vpp.cli.progress import ask
from vpp.cli.running import work_on
from vpp.cli.system import environment, find_run, read_table, write_bytes
from vpp.data.table import other_columns, read_like, unlabelled_rows
from vpp.errors import EndpointError, InputError
from vpp.findings.baselines import MODEL_NAMES, Baselines, baselines, with_prompted
from vpp.findings.experiments import comparison_words, rows_name, trial_blocks, trial_verdict
from vpp.findings.points import reject_option
from vpp.findings.scores import Score, averaged_score, score_text
from vpp.llm.protocol import OF_PROMPT
from vpp.reporting.document import write_all
from vpp.reporting.predictions import asked_sheet, prediction_csv
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
from vpp.show.markup import lines
from vpp.show.words import counted
from vpp.trials.trial import TrialAsking, TrialSize

T = TypeVar("T")


def _answers(question: Callable[..., Coroutine[Any, Any, T]], *, quiet: bool = False) -> T:
    return ask(question, run=asyncio.run, has_bar=False if quiet else None)


def print_json(value: object) -> None:
    print(to_json(value, inf_nan_mode="strings").decode())


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
    reasons = ((given.row, given.reason or "") for each in answers.predictions for given in each)
    refused = {row: words for row, words in reasons if words.startswith(tuple(OF_PROMPT))}
    for words, n in Counter(refused.values()).most_common():
        print(f"{counted(n, 'row')}: {words}", file=sys.stderr)
    done = f"{len(answers.rows)} of {len(rows)}" if failure else len(rows)
    print(f"{done} rows predicted by {counted(len(answers.weights), 'particle')}: {options.output}")
    if failure:
        raise failure
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


def trial(options: Namespace) -> int:
    """Ask the trial's questions, keep its result in the run's directory, and print it."""
    reader = RunReader(find_run(options.run_dir))
    asking = TrialAsking(reader, TrialSize(ideas=options.ideas, changes=options.changes, rows=options.rows))
    cost = f"{counted(asking.calls, 'call')} of the learner, if every answer can be read"
    print(cost, file=sys.stdout if options.plan else sys.stderr, flush=True)
    if options.plan:
        return 0
    result = _answers(asking.go)
    if options.json:
        print_json({"run": reader.directory.id, **asdict(result), "verdict": trial_verdict(result)})
    else:
        print("\n".join(lines(trial_blocks(result, reader.refresh().view.seed_text))))
    return 0


def baseline(options: Namespace) -> int:
    directory = find_run(options.run_dir)
    asked = _answers(PromptedAsking(directory, calls=options.calls, examples=options.examples).go)
    write_all(directory)
    reader = RunReader(directory)
    dataset = reader.dataset()
    simple = with_prompted(baselines(dataset), directory, dataset)
    test = reader.refresh().view.evaluated.get("test")
    own = None if test is None else averaged_score(test, dataset)
    if options.json:
        print_json(_baseline_json(directory.id, asked, simple, own))
        return 0
    lines = [("the run", own)] if own else []
    lines += [(MODEL_NAMES[model.name], model.score) for model in simple.models]
    width = max(len(name) for name, _ in lines)
    print("\n".join(f"{name:{width}}  {score_text(score):>8}" for name, score in lines))
    return 0


def _baseline_json(run: str, asked: PromptedBaselines, simple: Baselines, own: Score | None) -> dict[str, Any]:
    scores = {model.name: model.score.value for model in simple.models}
    prompted = {
        each.name: {"test": scores[each.name], "calls": each.calls, "questions_a_row": each.questions}
        | {"examples": each.examples}
        for each in asked.models
    }
    return {
        "run": run,
        "metric": "mse" if simple.models[0].score.n_correct is None else "accuracy",
        "posterior": {"test": own and own.value, "learner_calls": asked.run_calls},
        "simple": {name: value for name, value in scores.items() if name not in prompted},
        "prompted": prompted,
    }


def reword(options: Namespace) -> int:
    reader = RunReader(find_run(options.run_dir))
    scoring = partial(score_rewording, reader, options.particle, options.text)
    wording, compared = _answers(scoring, quiet=options.quiet)
    snapshot, run = reader.refresh(), reader.directory.id
    if options.json and not options.keep:
        print_json(_comparison_json(run, wording, compared))
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
