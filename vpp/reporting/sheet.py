"""Labelling sheets: a CSV of rows to label, most informative first; a new run continues with the labels.

Columns: the inputs, the target, and the expected information gain in bits. Cells are safe to open in a spreadsheet
(`vpp.wording.escaping`), which is undone when the sheet comes back.
"""

import csv
import io
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from vpp.data.columns import is_number, write_number
from vpp.data.dataset import Dataset, Notation, Row
from vpp.data.labelling import Answered, answered_rows, candidate_rows, input_key
from vpp.data.table import Table
from vpp.inspection.points import Question, questions
from vpp.runs.asking import Asking
from vpp.runs.keys import Keys
from vpp.runs.reader import RunReader
from vpp.runs.view import RunView
from vpp.trials.trial import parting_rows, read_trial
from vpp.wording.escaping import original, safe_cell

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
