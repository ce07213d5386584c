"""Predictions as CSV: of the test rows (predictions.csv), and of rows a run was asked about; and sheets to label.

Columns: row, the inputs, other columns that came with rows asked about, truth (of test rows), prediction; for
classification its share of the weight, the vote's entropy in bits, the weight of those that abstained and a share for
each class; for regression the weighted standard deviation, the interval that holds 90 % of the particles' weight
(both of the particles' spread alone, noise not included) and the weight of those that abstained. Then each particle's
answer, and its reason where asked for. A run with calibration rows adds what is possible: 1 or 0 for each class, or
the range of the true number. An abstention is an empty cell. An own column whose name an input has gets a
`_`.

A labelling sheet has rows to label, most informative first; a new run continues with the labels. Its columns: the
inputs, the target, and the expected information gain in bits.

Every cell, the header's too, is safe to open in a spreadsheet: see `vpp.wording.escaping`, which also undoes it.
"""

import csv
import io
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from vpp.data.columns import is_number, write_number
from vpp.data.dataset import Dataset, Notation, Row
from vpp.data.labelling import Answered, answered_rows, candidate_rows, input_key
from vpp.data.table import Table
from vpp.inspection.points import Question, calibrated, questions
from vpp.inspection.scores import rows_of
from vpp.posterior.calibration import Conformal
from vpp.posterior.disagreement import vote_entropy, weighted_interval, weighted_spread
from vpp.posterior.prediction import Answer, Value, silent_weight, vote_shares
from vpp.runs.asking import Answers, Asking, averages_asked
from vpp.runs.keys import Keys
from vpp.runs.reader import RunReader
from vpp.runs.view import RunView
from vpp.trials.trial import parting_rows, read_trial
from vpp.wording.escaping import original, safe_cell
from vpp.wording.verdicts import reason_words
from vpp.wording.words import shortest

DIGITS = 12
"""Significant digits of sums of weights and of what is made from them."""
Line = Sequence[Value | None]
Beside = Mapping[str, Sequence[str | None]]
"""Cells of columns that are no input, by name; row `id` has the cell at this index."""


def predictions_csv(reader: RunReader) -> bytes:
    """A line for each evaluated test row; the header alone before the test rows are evaluated."""
    dataset = reader.dataset()
    view = reader.refresh().view
    test = view.evaluated.get("test")
    if test is None:
        return _csv((), ("truth", *_Summary(dataset.task, dataset.classes).names), (), inputs=dataset.inputs)
    summary = _Summary(dataset.task, dataset.classes, calibrated(view, dataset, of=test))
    rows, votes, answers = rows_of(test, dataset), zip(*test.predictions, strict=True), zip(*test.answers, strict=True)
    lines = (
        (row.target, *summary.cells(said, average, test.weights), *labels)
        for row, labels, said, average in zip(rows, votes, answers, test.averaged, strict=True)
    )
    own = ("truth", *summary.names, *_numbered("particle", test.weights))
    return _csv(rows, own, lines, inputs=dataset.inputs)


def prediction_csv(
    answers: Answers, *, doubt: Conformal | None = None, with_reasons: bool = False, beside: Beside | None = None
) -> bytes:
    """A line for each row asked about: the columns of predictions.csv but the truth.

    doubt: the run's calibration, if it has one.
    beside: columns that stand behind the inputs as they were read, such as a name of each row.
    with_reasons: also a column `because_0`… for each particle: why it said so, or why nothing could be read.
    """
    summary = _Summary(answers.task, answers.classes, doubt)
    lines: list[Line] = []
    for row, average in zip(zip(*answers.predictions, strict=True), averages_asked(answers), strict=True):
        votes, said = [prediction.value for prediction in row], [prediction.answer for prediction in row]
        reasons = [reason_words(prediction) for prediction in row] if with_reasons else []
        lines.append((*summary.cells(said, average, answers.weights), *votes, *reasons))
    own = (*summary.names, *_numbered("particle", answers.weights))
    own += _numbered("because", answers.weights) if with_reasons else ()
    inputs = tuple(name for name, _ in answers.rows[0].inputs) if answers.rows else ()
    return _csv(answers.rows, own, lines, inputs=inputs, beside=beside)


def _numbered(name: str, weights: Sequence[float]) -> tuple[str, ...]:
    return tuple(f"{name}_{slot}" for slot in range(len(weights)))


class _Summary:
    """The columns between the truth and the particles' answers."""

    def __init__(self, task: str, classes: Sequence[str], doubt: Conformal | None = None) -> None:
        self._is_label = task == "classification"
        self._classes = classes
        self._doubt = doubt

    @property
    def names(self) -> tuple[str, ...]:
        if not self._is_label:
            ends = ("possible_low", "possible_high") if self._doubt else ()
            return ("prediction", "spread", "low", "high", "abstained", *ends)
        shares = (f"share_{label}" for label in self._classes)
        possible = (f"possible_{label}" for label in self._classes) if self._doubt else ()
        return ("prediction", "share", "entropy_bits", "abstained", *shares, *possible)

    def cells(self, said: Sequence[Answer], prediction: Value | None, weights: Sequence[float]) -> Line:
        """Cells of a row; empty except for the shares if all abstain."""
        abstained = _tidy(silent_weight(said, weights))
        if not self._is_label:
            votes = [None if isinstance(answer, dict) else answer for answer in said]
            interval = weighted_interval(votes, weights)
            low, high = interval or (None, None)
            possible = map(_tidy, self._doubt.interval(interval)) if self._doubt else ()
            return prediction, _tidy(weighted_spread(votes, weights)), low, high, abstained, *possible
        shares = vote_shares(said, weights)
        share = shares.get(prediction, 0.0) if prediction is not None else 0.0
        each = (_tidy(shares.get(label, 0.0)) for label in self._classes)
        held = self._doubt.labels(said, weights) if self._doubt else ()
        can_be = (float(label in held) for label in self._classes) if self._doubt else ()
        return prediction, _tidy(share), _tidy(vote_entropy(said, weights)), abstained, *each, *can_be


def _tidy(value: float) -> float | None:
    """Value without its last digits, which depend on the order of summation; None if it is not finite."""
    return float(f"{value:.{DIGITS}g}") if math.isfinite(value) else None


def _csv(
    rows: Sequence[Row],
    own: Sequence[str],
    lines: Iterable[Line],
    *,
    inputs: Sequence[str],
    beside: Beside | None = None,
) -> bytes:
    """UTF-8 with `\\r\\n` after each line (RFC 4180). own: names of the columns behind those that came."""
    others = beside or {}
    text = io.StringIO()
    writer = csv.writer(text)
    row_column, *own = _unlike(("row", *own), (*inputs, *others))
    writer.writerow(map(safe_cell, (row_column, *inputs, *others, *own)))
    for row, line in zip(rows, lines, strict=True):
        came = (*(cell for _, cell in row.inputs), *(cells[row.id] for cells in others.values()))
        writer.writerow(map(_cell, (str(row.id), *came, *line)))
    return text.getvalue().encode(errors="replace")


def _unlike(names: Sequence[str], taken: Sequence[str]) -> Iterator[str]:
    """Names made unique, also among `taken`."""
    used = set(taken)
    for name in names:
        while name in used:
            name += "_"
        used.add(name)
        yield name


def _cell(value: Value | None) -> str:
    if value is None:
        return ""
    return safe_cell(value) if isinstance(value, str) else shortest(value)


# Labelling sheets

BITS = "information_bits"
"""Last column of a sheet, by which one is recognised."""


def sheet_rows(reader: RunReader, view: RunView, *, n: int) -> tuple[Row, ...]:
    """Return at most n rows to ask about: those that part a trial's ideas, unlabelled ones, made-up ones."""
    dataset, seed = reader.dataset(), reader.directory.spec().config.seed
    found = list(parting_rows(read_trial(reader.directory, view), dataset, n))
    found += candidate_rows(dataset, source="unlabelled", n=n, seed=seed)
    found += candidate_rows(dataset, source="made up", n=n, seed=seed)
    distinct = list({input_key(row): row for row in reversed(found)}.values())[::-1][:n]
    kept = {row.id for row in dataset.unlabelled}
    return tuple(
        row if row.id in kept else replace(row, id=dataset.next_id + place) for place, row in enumerate(distinct)
    )


async def asked_sheet(
    reader: RunReader,
    view: RunView,
    *,
    n: int,
    keys: Keys,
    cache_dir: Path,
    on_progress: Callable[[int, int], None] | None = None,
) -> bytes:
    """Ask every particle about at most n rows, and write the sheet. Raises EndpointError, RunError."""
    rows = sheet_rows(reader, view, n=n)
    answers = await Asking(reader.directory, rows).go(keys=keys, cache_dir=cache_dir, on_progress=on_progress)
    dataset, config = reader.dataset(), reader.directory.spec().config
    return sheet_csv(questions(answers, view, config, dataset), dataset)


def sheet_csv(questions: Sequence[Question], dataset: Dataset) -> bytes:
    """Write the sheet, most informative rows first, as UTF-8 with `\\r\\n` after each line (RFC 4180)."""
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(map(safe_cell, (*dataset.inputs, dataset.target, BITS)))
    notations = {column.name: column.notation for column in dataset.columns}
    for question in questions:
        cells = (_written(cell, notations.get(name)) for name, cell in question.row.inputs)
        writer.writerow((*cells, "", f"{question.bits:.3f}"))
    return text.getvalue().encode(errors="replace")


def _written(cell: str | None, notation: Notation | None) -> str:
    """Return a cell as the run's own table has it: a number with the column's decimal mark."""
    if cell is None:
        return ""
    return write_number(cell, notation) if notation and is_number(cell) else safe_cell(cell)


def filled_rows(table: Table, dataset: Dataset) -> tuple[Answered, ...]:
    """Return the rows of a sheet, or of any table, that have a target. Raises DataError as `answered_rows` does."""
    if BITS not in table.names[-1:]:
        return answered_rows(table, dataset)
    named = tuple(replace(column, name=original(column.name)) for column in table.columns)
    answered = answered_rows(replace(table, columns=named), dataset)
    return tuple(
        replace(each, inputs={name: None if cell is None else original(cell) for name, cell in each.inputs.items()})
        for each in answered
    )
