"""Predictions as CSV: of the test rows (predictions.csv), and of rows a run was asked about; and sheets to label.

A line has the row, the inputs, columns that came with it, the truth of a test row, what `_cells` names, each particle's
answer, and its reason where asked for. The spread is the particles' alone, the range includes noise. An abstention is
an empty cell. An own column whose name an input has gets a `_`. Every cell is safe to open in a spreadsheet: see
`vpp.show.markup`, which also undoes it. A labelling sheet has the inputs, the target, and the expected information gain
in bits of rows to label, the most informative first.
"""

import csv
import io
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from vpp.data.dataset import Dataset, Row
from vpp.data.labelling import answered_rows, candidate_rows, input_key
from vpp.data.numbers import Notation, is_number, write_number
from vpp.data.table import Table
from vpp.findings.points import Point, evaluated_points, figures, questions, votes_on
from vpp.findings.rows import reason_words
from vpp.posterior.calibration import RejectOption
from vpp.posterior.prediction import Value
from vpp.runs.asking import Answers
from vpp.runs.directory import RunReader
from vpp.show.markup import original, safe_cell
from vpp.show.words import shortest

DIGITS = 12
"""Significant digits of sums of weights and of what is made from them."""
Line = Mapping[str, Value | None]
"""Cells of a row behind those that came, by column."""
Beside = Mapping[str, Sequence[str | None]]
"""Cells of columns that are no input, by name; row `id` has the cell at this index."""


def predictions_csv(reader: RunReader) -> bytes:
    """A line for each evaluated test row; the header alone before the test rows are evaluated."""
    dataset, snapshot = reader.dataset(), reader.refresh()
    view, test = snapshot.view, snapshot.view.evaluations.get("test")
    every = evaluated_points(test, view, snapshot.spec.config, dataset) if test else []
    by_id = {point.row.id: point for point in every}
    rows = [by_id[row] for row in test.rows] if test else []
    lines = [{"truth": p.row.target, **_cells(p), **_numbered("particle", p.votes)} for p in rows]
    return _csv([point.row for point in rows], lines, inputs=dataset.inputs)


def prediction_csv(
    answers: Answers, *, reject: RejectOption | None = None, with_reasons: bool = False, beside: Beside | None = None
) -> bytes:
    """A line for each row asked about: the columns of predictions.csv but the truth.

    reject: the run's rule for “I don’t know”.
    beside: columns that stand behind the inputs as they were read, such as a name of each row.
    with_reasons: also a column `because_0`… for each particle: why it said so, or why nothing could be read.
    """
    lines: list[Line] = []
    for vote in votes_on(answers, reject):
        reasons = map(reason_words, vote.said) if with_reasons else ()
        lines.append({**_cells(vote), **_numbered("particle", vote.votes), **_numbered("because", reasons)})
    inputs = [name for name, _ in answers.rows[0].inputs] if answers.rows else []
    return _csv(answers.rows, lines, inputs=inputs, beside=beside or {})


def _numbered(name: str, cells: Iterable[Value | None]) -> Line:
    return {f"{name}_{slot}": cell for slot, cell in enumerate(cells)}


def _cells(point: Point) -> Line:
    """Cells between the truth and the particles' answers; if all abstain, empty except for the shares."""
    found = figures(point)
    possible = found.pop("possible", ())
    line = {name: _tidy(value) if isinstance(value, float) else value for name, value in found.items()}
    if not point.is_label:
        return line | dict(zip(("possible_low", "possible_high"), map(_tidy, possible or ()), strict=False))
    shares, classes, is_calibrated = dict(point.shares), point.mixture.classes, point.reject.conformal is not None
    line |= {f"share_{label}": _tidy(shares.get(label, 0.0)) for label in classes}
    return line | {f"possible_{label}": float(label in possible) for label in classes if is_calibrated}


def _tidy(value: float) -> float | None:
    """Value without its last digits, which depend on the order of summation; None if it is not finite."""
    return float(f"{value:.{DIGITS}g}") if math.isfinite(value) else None


def _csv(
    rows: Sequence[Row], lines: Sequence[Line], *, inputs: Sequence[str], beside: Beside = MappingProxyType({})
) -> bytes:
    row_column, *own = _unlike(("row", *(lines[0] if lines else ())), (*inputs, *beside))
    records = (
        (str(row.id), *(cell for _, cell in row.inputs), *(cells[row.id] for cells in beside.values()), *line.values())
        for row, line in zip(rows, lines, strict=True)
    )
    return _encoded([map(safe_cell, (row_column, *inputs, *beside, *own)), *(map(_cell, each) for each in records)])


def _encoded(records: Iterable[Iterable[str]]) -> bytes:
    """UTF-8 with `\\r\\n` after each line (RFC 4180)."""
    text = io.StringIO()
    csv.writer(text).writerows(records)
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


def sheet_rows(reader: RunReader, *, n: int, made_up: bool = True, draw: int = 0) -> tuple[Row, ...]:
    """Return at most n rows to ask about: of the table in no part first, then made-up ones.

    made_up: whether rows that are not in the table may follow. draw: number of the draw.
    """
    dataset, seed = reader.dataset(), reader.directory.spec().config.seed
    found = list(candidate_rows(dataset, source="file", n=n, seed=seed, draw=draw))
    if made_up and len(found) < n:
        found += candidate_rows(dataset, source="made up", n=n, seed=seed, draw=draw)
    distinct = list({input_key(row): row for row in reversed(found)}.values())[::-1][:n]
    own = {row.id for row in (*dataset.unlabelled, *dataset.unused)}
    return tuple(
        row if row.id in own else replace(row, id=dataset.next_id + place) for place, row in enumerate(distinct)
    )


def sheet_of(answers: Answers, reader: RunReader) -> bytes:
    snapshot, dataset = reader.refresh(), reader.dataset()
    return sheet_csv(questions(answers, snapshot.view, snapshot.spec.config, dataset), dataset)


def sheet_csv(questions: Sequence[Point], dataset: Dataset) -> bytes:
    notations = {column.name: column.notation for column in dataset.columns}
    records = (
        (*(_written(cell, notations.get(name)) for name, cell in each.row.inputs), "", f"{each.bits:.3f}")
        for each in questions
    )
    return _encoded([map(safe_cell, (*dataset.inputs, dataset.target, BITS)), *records])


def _written(cell: str | None, notation: Notation | None) -> str:
    """Return a cell as the run's own table has it: a number with the column's decimal mark."""
    if cell is None:
        return ""
    return write_number(cell, notation) if notation and is_number(cell) else safe_cell(cell)


def filled_rows(table: Table, dataset: Dataset) -> tuple[Row, ...]:
    """Return the rows of a sheet, or of any table, that have a target. Raises DataError as `answered_rows` does."""
    if BITS not in table.names[-1:]:
        return answered_rows(table, dataset)
    named = tuple(replace(column, name=original(column.name)) for column in table.columns)
    answered = answered_rows(replace(table, names=tuple(map(original, table.names)), columns=named), dataset)
    return tuple(
        replace(each, inputs=tuple((name, cell and original(cell)) for name, cell in each.inputs)) for each in answered
    )
