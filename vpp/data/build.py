"""Build a dataset from a table: target, task, inputs and split, with notes on each decision."""

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Literal

import numpy as np

from vpp.data.dataset import Dataset, Provenance, Row, Task
from vpp.data.inputs import choose_inputs, require_columns
from vpp.data.parting import Examples, Parted, coverage_notes, part, repeat_notes, split_hints
from vpp.data.split import Sizes
from vpp.data.split_rule import RANDOM, SplitRule
from vpp.data.table import Table, read_like
from vpp.data.target import MAX_CLASSES, check_numbers, check_readable, label_notes, resolve_task, sort_labels
from vpp.errors import DataError, InputError

UNLABELLED = 103
"""Purpose number of the draw of rows without a target: SeedSequence(seed, spawn_key=(UNLABELLED,))."""
MOST_UNLABELLED = 1_000
"""Most rows without a target in a dataset."""


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
    """Draw training and test rows by seed, and keep rows without a target for labelling.

    inputs: None takes every column except the target, `exclude`, constants, identifiers and the column of `split`.
    test_fraction: share of test rows if the table has fewer than train_size + test_size rows.
    test_table: source of the test rows, whose ids follow the table's; needs the same inputs and target.
    split: rule of the split; rows without a value in its column are left out. min_train: least training rows.
    notes: put before the notes made here. Raises InputError for a size out of range, else DataError.
    """
    sizes = Sizes(train=train_size, test=test_size, test_fraction=test_fraction)
    _check_rule(split, table, target=target, test_table=test_table)
    resolved = resolve_task(table, target, task)
    chosen, left_out = choose_split_inputs(table, split, target=target, inputs=inputs, exclude=exclude)
    examples = Examples(table=table, inputs=chosen, target=target, task=resolved, needed=split.column)
    files = [examples] if test_table is None else [examples, _test_examples(examples, test_table)]
    parted = part(files, sizes, split, min_train=min_train, seed=seed)
    unlabelled, draw_notes = _unlabelled(files, seed=seed)
    classes = sort_labels(label for file in files for label in file.labels) if resolved == "classification" else ()
    _check_classes(classes, files)
    hints = split_hints(table, target) if split == RANDOM and test_table is None else ()
    n_left = sum(len(file.labelled) for file in files) - len(parted.train) - len(parted.test)
    covered = coverage_notes(parted, classes, n_left=n_left)
    own_notes = (*parted.notes, *hints, *covered, *label_notes(classes), *draw_notes, *repeat_notes(files))
    return Dataset(
        name=name or table.file.rpartition("/")[2].removesuffix(".csv"),
        target=target,
        task=resolved,
        columns=table.columns,
        inputs=chosen,
        classes=classes,
        train=parted.train,
        test=parted.test,
        provenance=_provenance(files, parted, split, sizes, (*notes, *table.notes, *left_out, *own_notes)),
        unlabelled=unlabelled,
    )


def _check_rule(split: SplitRule, table: Table, *, target: str, test_table: Table | None) -> None:
    """Raises InputError for a rule beside a test file, and DataError for an unknown column or the target."""
    if not split.column:
        return
    if test_table is not None:
        raise InputError(f"the test rows come from {test_table.file}: leave out the split by {split.column!r}")
    table.column(split.column)
    if split.column == target:
        raise DataError(f"column {target!r} is the target and cannot split the rows: name another column")


def _check_classes(classes: Sequence[str], files: Sequence[Examples]) -> None:
    """Raises DataError if labels are indistinguishable in answers, or if a test file adds too many."""
    check_readable(classes, files[0].target)
    if len(classes) > MAX_CLASSES:
        added = len(files[-1].labels - files[0].labels)
        raise DataError(
            f"{files[-1].table.file} has {added} labels in {files[0].target!r} that {files[0].table.file} lacks, which "
            f"makes more than {MAX_CLASSES} in total: give a test file with the same labels"
        )


def choose_split_inputs(
    table: Table,
    split: SplitRule,
    *,
    target: str,
    inputs: Sequence[str] | None = None,
    exclude: Collection[str] = (),
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Call `choose_inputs`, and by default leave out the column of the split."""
    if inputs is not None or not split.column or split.column in exclude:
        return choose_inputs(table, target=target, inputs=inputs, exclude=exclude)
    chosen, notes = choose_inputs(table, target=target, inputs=None, exclude=(*exclude, split.column))
    return chosen, (*notes, f"column {split.column!r} was left out: {split.why_no_input}")


def _test_examples(examples: Examples, table: Table) -> Examples:
    """Examples of the test file, read as those of the training file."""
    require_columns(table, (*examples.inputs, examples.target), of=examples.table.file)
    table = read_like(table, examples.table.columns)
    if examples.task == "regression":
        check_numbers(table, examples.target)
    return replace(examples, table=table, first_id=examples.table.n_rows)


def _unlabelled(files: Sequence[Examples], *, seed: int) -> tuple[tuple[Row, ...], tuple[str, ...]]:
    """Rows without a target in file order, drawn by seed if there are too many, and a note on that draw."""
    rows = [row for file in files for row in file.unlabelled]
    if len(rows) <= MOST_UNLABELLED:
        return tuple(rows), ()
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(UNLABELLED,)))
    drawn = sorted(rng.choice(len(rows), MOST_UNLABELLED, replace=False).tolist())
    note = f"of {len(rows):,} rows without a target, {MOST_UNLABELLED:,} were drawn by seed for labelling"
    return tuple(rows[i] for i in drawn), (note,)


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
        split="file" if len(files) > 1 else split.text,
        test_file=files[1].table.file if len(files) > 1 else "",
        train_size=sizes.train,
        test_size=sizes.test,
        test_fraction=sizes.test_fraction,
        notes=notes + tuple(note for file in files[1:] for note in _test_file_notes(file)),
    )


def _test_file_notes(file: Examples) -> tuple[str, ...]:
    source = f"test rows come from {file.table.file} (SHA-256 {file.table.sha256}), with ids from {file.first_id}"
    return (source, *file.table.notes)
