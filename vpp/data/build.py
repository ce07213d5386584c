"""From a table to a dataset: target, task, inputs and split, with notes on what was decided."""

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Literal

import numpy as np

from vpp.data.dataset import Dataset, Provenance, Row, Task
from vpp.data.examples import Examples
from vpp.data.hints import split_hints
from vpp.data.inputs import choose_inputs, require_columns
from vpp.data.parting import Parted, coverage_notes, part, repeat_notes
from vpp.data.recast import read_like
from vpp.data.split import Sizes
from vpp.data.split_rule import RANDOM, SplitRule
from vpp.data.table import Table
from vpp.data.target import MAX_CLASSES, check_numbers, check_readable, label_notes, resolve_task, sort_labels
from vpp.errors import DataError, InputError

UNLABELLED = 103
"""Purpose number of the draw among rows without a target: SeedSequence(seed, spawn_key=(UNLABELLED,))."""
MOST_UNLABELLED = 1_000
"""Rows without a target that are kept at most."""


def build_dataset(
    table: Table,
    *,
    target: str,
    task: Task | Literal["auto"] = "auto",
    inputs: Sequence[str] | None = None,
    exclude: Collection[str] = (),
    seed: int = 0,
    train_size: int = 100,
    test_size: int = 60,
    test_fraction: float = 0.375,
    test_table: Table | None = None,
    split: SplitRule = RANDOM,
    name: str | None = None,
    min_train: int = 1,
    notes: Sequence[str] = (),
) -> Dataset:
    """Rows with a target, at most `train_size` for training and `test_size` for testing, by seed; and rows without one.

    inputs: None takes every column but the target, those in `exclude`, constants and those that only name the rows.
    test_fraction: the test rows' share where the table has fewer than train_size + test_size rows.
    test_table: its rows are the test rows, with ids that go on after the table's; it needs the same inputs and target.
    split: what parts the rows; its column is an input only where `inputs` names it, and a row without it takes no part.
    min_train: the fewest training rows that will do.
    notes: put before those made here. Raises InputError for a size out of range, else DataError.
    """
    sizes = Sizes(train=train_size, test=test_size, test_fraction=test_fraction)
    _check_rule(split, table, target=target, test_table=test_table)
    found = resolve_task(table, target, task)
    chosen, left_out = inputs_beside(table, split, target=target, inputs=inputs, exclude=exclude)
    examples = Examples(table=table, inputs=chosen, target=target, task=found, needed=split.column)
    files = [examples] if test_table is None else [examples, _tested(examples, test_table)]
    parted = part(files, sizes, split, min_train=min_train, seed=seed)
    unlabelled, kept = _unlabelled(files, seed=seed)
    classes = sort_labels(label for file in files for label in file.labels) if found == "classification" else ()
    _check_classes(classes, files)
    hints = split_hints(table, target) if split == RANDOM and test_table is None else ()
    n_left = sum(len(file.labelled) for file in files) - len(parted.train) - len(parted.test)
    covered = coverage_notes(parted, classes, n_left=n_left)
    said = (*parted.notes, *hints, *covered, *label_notes(classes), *kept, *repeat_notes(files))
    return Dataset(
        name=name or table.file.rpartition("/")[2].removesuffix(".csv"),
        target=target,
        task=found,
        columns=table.columns,
        inputs=chosen,
        classes=classes,
        train=parted.train,
        test=parted.test,
        provenance=_provenance(files, parted, split, sizes, (*notes, *table.notes, *left_out, *said)),
        unlabelled=unlabelled,
    )


def _check_rule(split: SplitRule, table: Table, *, target: str, test_table: Table | None) -> None:
    """Raises InputError for a rule that has nothing to part, and DataError for an unknown column or the target."""
    if not split.column:
        return
    if test_table is not None:
        raise InputError(f"the rows of {test_table.file} are the test rows: leave out the split by {split.column!r}")
    table.column(split.column)
    if split.column == target:
        raise DataError(f"column {target!r} is the target and cannot part the rows: name another column")


def _check_classes(classes: Sequence[str], files: Sequence[Examples]) -> None:
    """Raises DataError where labels cannot be told apart, or a test file brings too many."""
    check_readable(classes, files[0].target)
    if len(classes) > MAX_CLASSES:
        added = len(files[-1].labels - files[0].labels)
        raise DataError(
            f"{files[-1].table.file} has {added} labels in {files[0].target!r} that {files[0].table.file} lacks, and "
            f"{MAX_CLASSES} in all are the most: give a test file with the same labels"
        )


def inputs_beside(
    table: Table,
    split: SplitRule,
    *,
    target: str,
    inputs: Sequence[str] | None = None,
    exclude: Collection[str] = (),
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """As `choose_inputs`; unasked, the column that parts the rows is none."""
    if inputs is not None or not split.column or split.column in exclude:
        return choose_inputs(table, target=target, inputs=inputs, exclude=exclude)
    chosen, notes = choose_inputs(table, target=target, inputs=None, exclude=(*exclude, split.column))
    return chosen, (*notes, f"column {split.column!r} was left out: {split.why_no_input}")


def _tested(examples: Examples, table: Table) -> Examples:
    """The test file's, read as the training file's are."""
    require_columns(table, (*examples.inputs, examples.target), of=examples.table.file)
    table = read_like(table, examples.table.columns)
    if examples.task == "regression":
        check_numbers(table, examples.target)
    return replace(examples, table=table, first_id=examples.table.n_rows)


def _unlabelled(files: Sequence[Examples], *, seed: int) -> tuple[tuple[Row, ...], tuple[str, ...]]:
    """The rows without a target that are kept, in the files' order, and a note where some are not."""
    found = [row for file in files for row in file.unlabelled]
    if len(found) <= MOST_UNLABELLED:
        return tuple(found), ()
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(UNLABELLED,)))
    drawn = sorted(rng.choice(len(found), MOST_UNLABELLED, replace=False).tolist())
    note = f"of {len(found):,} rows without a target, {MOST_UNLABELLED:,} were drawn by seed and kept to be asked about"
    return tuple(found[i] for i in drawn), (note,)


def _provenance(
    files: Sequence[Examples], parted: Parted, split: SplitRule, sizes: Sizes, notes: tuple[str, ...]
) -> Provenance:
    table = files[0].table
    n_rows = sum(file.table.n_rows for file in files)
    n_labelled = sum(len(file.labelled) for file in files)
    return Provenance(
        file=table.file,
        sha256=table.sha256,
        delimiter=table.delimiter,
        encoding=table.encoding,
        read_as=table.read_as,
        n_rows=n_rows,
        n_unlabelled=n_rows - n_labelled,
        n_left_out=n_labelled - len(parted.train) - len(parted.test),
        split="file" if len(files) > 1 else split.said,
        test_file=files[1].table.file if len(files) > 1 else "",
        train_size=sizes.train,
        test_size=sizes.test,
        test_fraction=sizes.test_fraction,
        notes=notes + tuple(note for file in files[1:] for note in _test_file_notes(file)),
    )


def _test_file_notes(file: Examples) -> tuple[str, ...]:
    what = f"test rows are those of {file.table.file} (SHA-256 {file.table.sha256}), with ids from {file.first_id}"
    return (what, *file.table.notes)
