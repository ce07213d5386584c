"""Files beside a run: report.md, report.html, posterior.json, predictions.csv.

Cells of a CSV are written as they are, quoted where CSV asks for it. A cell that begins with `=`, `+`, `-` or `@` is
left so, though a spreadsheet may take it for a formula: data are data, and a changed cell would no longer join with
the file it came from. Import such a file as text.
"""

import csv
import io
import json
import math
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from vpp.data.dataset import Dataset, Row
from vpp.events import Evaluated, Votes
from vpp.inspection.ideas import Idea, Ideas, merge_ideas
from vpp.inspection.scores import averages, averages_asked, rows_of
from vpp.posterior.disagreement import vote_entropy, weighted_interval, weighted_spread
from vpp.posterior.prediction import Value, vote_shares
from vpp.reporting.document import report_html
from vpp.reporting.markdown import report_markdown
from vpp.reporting.words import shortest
from vpp.runs.asking import Answers
from vpp.runs.directory import RunDirectory
from vpp.runs.journal import write_atomically
from vpp.runs.reader import RunReader
from vpp.runs.summary import result
from vpp.runs.view import RunView
from vpp.settings import Config

SCHEMA_VERSION = 1


def write_all(directory: RunDirectory) -> Path:
    """Writes the four files into the run's directory, each in one move; returns the path of report.md."""
    reader = RunReader(directory)
    report = report_markdown(reader)
    files = {
        "posterior.json": posterior_json(reader),
        "predictions.csv": predictions_csv(reader),
        "report.html": report_html(report, title=reader.refresh().spec.name).encode(errors="replace"),
        "report.md": report.encode(),
    }
    for name, content in files.items():
        write_atomically(directory.path / name, content)
    return directory.path / "report.md"


# posterior.json


def posterior_json(reader: RunReader) -> bytes:
    """Ideas, particles, weights, ESS, settings, dataset and result of a run as it is now, as UTF-8 JSON.

    JSON has no infinity: a log-likelihood of -inf is the string "-Infinity", as in the journal.
    """
    snapshot = reader.refresh()
    view, spec = snapshot.view, snapshot.spec
    merged = merge_ideas(view, reader.dataset())
    content = {
        "schema": SCHEMA_VERSION,
        "name": spec.name,
        "seed_text": view.started.seed_text if view.started else None,
        "ideas": [_idea(idea) for idea in merged] if merged else [],
        "rows_compared": merged.n_rows if merged else 0,
        "particles": _particles(view, merged),
        "weights_are": _weights_are(view, spec.config),
        "ess": view.ess_by_step,
        "final_ess": view.final.ess if view.final else None,
        "settings": view.started.config if view.started else {},
        "models": view.started.models if view.started else {},
        "templates": view.started.templates if view.started else {},
        "versions": view.started.versions if view.started else {},
        "dataset": spec.dataset,
        "result": {**result(reader.directory, view), "status": snapshot.state},
    }
    return json.dumps(_finite(content), ensure_ascii=False, indent=2, allow_nan=False).encode(errors="replace") + b"\n"


def _weights_are(view: RunView, config: Config) -> str | None:
    """Which weights stand beside the particles."""
    if not view.population:
        return None
    if view.final:
        return config.final_weights
    return "carried" if config.is_telescoping else "after_last_step" if config.is_weighted else "equal"


def _idea(idea: Idea) -> dict[str, Any]:
    return {
        "weight": idea.weight,
        "text": idea.text,
        "wordings": [{"text": t, "weight": w} for t, w in zip(idea.texts, idea.text_weights, strict=True)],
        "particles": list(idea.slots),
        "test": {
            "n": idea.n_test,
            "n_correct": idea.n_correct_test,
            "mse": idea.mse_test,
            "n_abstained": idea.n_abstained_test,
        },
    }


def _particles(view: RunView, merged: Ideas | None) -> list[dict[str, Any]]:
    if merged is None:
        return []
    return [
        {
            "particle": slot,
            "weight": weight,
            "hypothesis": state.hypothesis,
            "text": view.texts[state.hypothesis],
            "idea": merged.of_slot(slot),
            "parent": state.parent,
            "log_likelihood": state.log_likelihood,
        }
        for slot, (state, weight) in enumerate(zip(view.population, view.weights, strict=True))
    ]


def _finite(value: Any) -> Any:
    """The same content, infinite and undefined numbers as strings."""
    if isinstance(value, dict):
        return {key: _finite(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(each) for each in value]
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return value


# predictions.csv


def predictions_csv(reader: RunReader) -> bytes:
    """A line for each evaluated test row; the header alone before the test rows are evaluated.

    Columns: row, the inputs, truth, prediction; for classification its share of the weight and the vote's entropy in
    bits, for regression the weighted standard deviation and the interval that holds 90 % of the particles' weight, both
    of the particles' spread alone, noise not included; then each particle's answer. An abstention is an empty cell. An
    own column whose name an input has gets a `_`.
    """
    snapshot = reader.refresh()
    dataset = reader.dataset()
    test = snapshot.view.evaluated.get("test")
    if test is None:
        return _predictions((), (), (), (), dataset=dataset)
    return _predictions(rows_of(test, dataset), _votes(test), averages(test), test.weights, dataset=dataset)


def _votes(evaluated: Evaluated) -> list[Votes]:
    """(N, K)."""
    return list(zip(*evaluated.predictions, strict=True))


def _predictions(
    rows: Sequence[Row], votes: Sequence[Votes], averaged: Votes, weights: Sequence[float], *, dataset: Dataset
) -> bytes:
    own = ("truth", *_SUMMARY[dataset.task], *_particle_columns(weights))
    lines = (
        (row.target, *_summary(said, answer, weights, task=dataset.task), *said)
        for row, said, answer in zip(rows, votes, averaged, strict=True)
    )
    return _csv(rows, own, lines, inputs=dataset.inputs)


def prediction_csv(answers: Answers, config: Config | None = None) -> bytes:
    """A line for each row asked about: the columns of predictions.csv but the truth.

    config: the run's, which says how a tied vote is decided; by the lowest label where it is not given.
    """
    averaged = averages_asked(answers, config or Config())
    by_row: list[Votes] = list(zip(*([p.value for p in said] for said in answers.predictions), strict=True))
    own = (*_SUMMARY[answers.task], *_particle_columns(answers.weights))
    lines = (
        (*_summary(said, answer, answers.weights, task=answers.task), *said)
        for said, answer in zip(by_row, averaged, strict=True)
    )
    inputs = tuple(name for name, _ in answers.rows[0].inputs) if answers.rows else ()
    return _csv(answers.rows, own, lines, inputs=inputs)


_SUMMARY = {
    "classification": ("prediction", "share", "entropy_bits"),
    "regression": ("prediction", "spread", "low", "high"),
}


def _particle_columns(weights: Sequence[float]) -> tuple[str, ...]:
    return tuple(f"particle_{slot}" for slot in range(len(weights)))


def _summary(
    votes: Votes, prediction: Value | None, weights: Sequence[float], *, task: str
) -> tuple[Value | None, ...]:
    """The cells under `_SUMMARY`; empty but the share where all abstain."""
    if task == "classification":
        share = vote_shares(votes, weights).get(prediction, 0.0) if prediction is not None else 0.0
        return prediction, share, _known(vote_entropy(votes, weights))
    low, high = weighted_interval(votes, weights) or (None, None)
    return prediction, _known(weighted_spread(votes, weights)), low, high


def _known(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _csv(
    rows: Sequence[Row], own: Sequence[str], lines: Iterable[Sequence[Value | None]], *, inputs: Sequence[str]
) -> bytes:
    """UTF-8 with `\\r\\n` after each line (RFC 4180). own: names of the columns behind the inputs."""
    text = io.StringIO()
    writer = csv.writer(text)
    row_column, *own = _unlike(("row", *own), inputs)
    writer.writerow((row_column, *inputs, *own))
    for row, line in zip(rows, lines, strict=True):
        writer.writerow((row.id, *(cell for _, cell in row.inputs), *map(_cell, line)))
    return text.getvalue().encode(errors="replace")


def _unlike(names: Sequence[str], taken: Sequence[str]) -> Iterator[str]:
    for name in names:
        while name in taken:
            name += "_"
        yield name


def _cell(value: Value | None) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else shortest(value)
