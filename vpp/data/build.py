"""From a table to a dataset: target, task, inputs and split, with notes on what was decided."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from vpp.data.dataset import Dataset, Provenance, Row, Task
from vpp.data.inputs import choose_inputs, require_columns, unlabelled_rows
from vpp.data.split import SPLIT, Sizes, stratified_split
from vpp.data.table import Table
from vpp.data.target import check_numbers, resolve_task, sort_labels, target_value
from vpp.errors import DataError

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
    name: str | None = None,
    min_train: int = 1,
    notes: Sequence[str] = (),
) -> Dataset:
    """Rows with a target, at most `train_size` for training and `test_size` for testing, by seed; and rows without one.

    inputs: None takes every column but the target, those in `exclude`, constants and those that only name the rows.
    test_fraction: the test rows' share where the table has fewer than train_size + test_size rows.
    test_table: its rows are the test rows, with ids that go on after the table's; it needs the same inputs and target.
    min_train: the fewest training rows that will do.
    notes: put before those made here. Raises InputError for a size out of range, else DataError.
    """
    sizes = Sizes(train=train_size, test=test_size, test_fraction=test_fraction)
    found = resolve_task(table, target, task)
    chosen, left_out = choose_inputs(table, target=target, inputs=inputs, exclude=exclude)
    examples = _Examples(table=table, inputs=chosen, target=target, task=found)
    files = [examples] if test_table is None else [examples, _tested(examples, test_table)]
    train, test = _split(files, sizes, min_train=min_train, seed=seed)
    unlabelled, kept = _unlabelled(files, seed=seed)
    return Dataset(
        name=name or table.file.rpartition("/")[2].removesuffix(".csv"),
        target=target,
        task=found,
        columns=table.columns,
        inputs=chosen,
        classes=sort_labels(label for file in files for label in file.strata) if found == "classification" else (),
        train=train,
        test=test,
        provenance=_provenance(files, len(train) + len(test), (*notes, *table.notes, *left_out, *kept)),
        unlabelled=unlabelled,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Examples:
    """The rows of one file that have a target."""

    table: Table
    inputs: tuple[str, ...]
    target: str
    task: Task
    first_id: int = 0
    """The id of the file's first row."""

    @property
    def targets(self) -> list[tuple[int, str]]:
        """(Position in the file, cell) of each."""
        return [(i, cell) for i, cell in enumerate(self.table.cells(self.target)) if cell is not None]

    @property
    def strata(self) -> list[str]:
        """The label of each; all equal for regression."""
        return [cell if self.task == "classification" else "" for _, cell in self.targets]

    @property
    def unlabelled(self) -> tuple[Row, ...]:
        """The file's rows without a target that have any input, in its order."""
        found = unlabelled_rows(self.table, self.inputs, self.target)
        asked = (row for row in found if any(cell is not None for _, cell in row.inputs))
        return tuple(replace(row, id=self.first_id + row.id) for row in asked)

    def rows(self, picked: Sequence[int]) -> tuple[Row, ...]:
        """The rows at these places among `targets`."""
        targets = self.targets
        columns = [(name, self.table.cells(name)) for name in self.inputs]
        return tuple(
            Row(
                id=self.first_id + i,
                inputs=tuple((name, cells[i]) for name, cells in columns),
                target=target_value(cell, self.task),
            )
            for i, cell in (targets[k] for k in picked)
        )


def _tested(examples: _Examples, table: Table) -> _Examples:
    """The test file's, read as the training file's are."""
    require_columns(table, (*examples.inputs, examples.target), of=examples.table.file)
    if examples.task == "regression":
        check_numbers(table, examples.target)
    return replace(examples, table=table, first_id=examples.table.n_rows)


def _split(
    files: Sequence[_Examples], sizes: Sizes, *, min_train: int, seed: int
) -> tuple[tuple[Row, ...], tuple[Row, ...]]:
    """(Training rows, test rows): of the one file, or of the first and the second."""
    wanted = _wanted([len(file.targets) for file in files], sizes)
    _check_enough(files, n_train=wanted[0][0], n_test=wanted[-1][1], min_train=min_train)
    splits = [
        stratified_split(file.strata, train=train, test=test, rng=_rng(seed, part))
        for part, (file, (train, test)) in enumerate(zip(files, wanted, strict=True))
    ]
    return files[0].rows(splits[0].train), files[-1].rows(splits[-1].test)


def _unlabelled(files: Sequence[_Examples], *, seed: int) -> tuple[tuple[Row, ...], tuple[str, ...]]:
    """The rows without a target that are kept, in the files' order, and a note where some are not."""
    found = [row for file in files for row in file.unlabelled]
    if len(found) <= MOST_UNLABELLED:
        return tuple(found), ()
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(UNLABELLED,)))
    drawn = sorted(rng.choice(len(found), MOST_UNLABELLED, replace=False).tolist())
    note = f"of {len(found):,} rows without a target, {MOST_UNLABELLED:,} were drawn by seed and kept to be asked about"
    return tuple(found[i] for i in drawn), (note,)


def _wanted(n_labelled: Sequence[int], sizes: Sizes) -> list[tuple[int, int]]:
    """(Training, test) rows to draw from each file."""
    if len(n_labelled) == 1:
        return [sizes.within(n_labelled[0])]
    n_train, n_test = n_labelled
    return [(min(n_train, sizes.train), 0), (0, min(n_test, sizes.test))]


def _check_enough(files: Sequence[_Examples], *, n_train: int, n_test: int, min_train: int) -> None:
    if n_train < max(1, min_train) or n_test < 1:
        found = " and ".join(f"{len(file.targets)} in {file.table.file}" for file in files)
        raise DataError(
            f"too few rows have a value in {files[0].target!r}: {found}; at least {max(1, min_train)} for training and "
            "1 for testing are needed: add rows or fill in the target"
        )


def _rng(seed: int, part: int) -> np.random.Generator:
    """The first file's stream, and the test file's own."""
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(SPLIT, part)))


def _provenance(files: Sequence[_Examples], n_used: int, notes: tuple[str, ...]) -> Provenance:
    table = files[0].table
    n_rows = sum(file.table.n_rows for file in files)
    n_labelled = sum(len(file.targets) for file in files)
    return Provenance(
        file=table.file,
        sha256=table.sha256,
        delimiter=table.delimiter,
        encoding=table.encoding,
        n_rows=n_rows,
        n_unlabelled=n_rows - n_labelled,
        n_left_out=n_labelled - n_used,
        notes=notes + tuple(note for file in files[1:] for note in _test_file_notes(file)),
    )


def _test_file_notes(file: _Examples) -> tuple[str, ...]:
    what = f"test rows are those of {file.table.file} (SHA-256 {file.table.sha256}), with ids from {file.first_id}"
    return (what, *file.table.notes)
