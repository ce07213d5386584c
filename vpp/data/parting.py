"""Split the labelled rows of one or two files; warn about what the split lacks."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from vpp.data.dataset import Column, Row, Task
from vpp.data.inputs import unlabelled_rows
from vpp.data.kinds import find_form, is_integer, is_number
from vpp.data.lines import quoted
from vpp.data.split import SPLIT, Sizes, Split, group_split, stratified_split, time_split
from vpp.data.split_rule import RANDOM, SplitRule
from vpp.data.table import Table
from vpp.data.target import target_value
from vpp.errors import DataError


@dataclass(frozen=True, kw_only=True)
class Examples:
    """Labelled rows of a table: those with a value in the target column and, if given, in the `needed` column."""

    table: Table
    inputs: tuple[str, ...]
    target: str
    task: Task
    first_id: int = 0
    """Id of the file's first row."""
    needed: str = ""
    """Column that must have a value too; empty if none."""

    @cached_property
    def labelled(self) -> list[tuple[int, str]]:
        """(position in the file, target cell) of each row with a target."""
        return [(i, cell) for i, cell in enumerate(self.table.cells(self.target)) if cell is not None]

    @cached_property
    def targets(self) -> list[tuple[int, str]]:
        """`labelled` rows with a value in the needed column."""
        if not self.needed:
            return self.labelled
        cells = self.table.cells(self.needed)
        return [(i, cell) for i, cell in self.labelled if cells[i] is not None]

    @property
    def n_without(self) -> int:
        """Number of rows with a target but without the needed value."""
        return len(self.labelled) - len(self.targets)

    @cached_property
    def strata(self) -> list[str]:
        """Label of each of `targets`; all equal for regression."""
        return [cell if self.task == "classification" else "" for _, cell in self.targets]

    @property
    def labels(self) -> set[str]:
        """Labels of all rows with a target; one empty label for regression."""
        return {cell if self.task == "classification" else "" for _, cell in self.labelled}

    @property
    def unlabelled(self) -> tuple[Row, ...]:
        """Rows without a target but with any input, in file order."""
        rows = unlabelled_rows(self.table, self.inputs, self.target)
        filled = (row for row in rows if any(cell is not None for _, cell in row.inputs))
        return tuple(replace(row, id=self.first_id + row.id) for row in filled)

    def cells(self, column: str) -> list[str | None]:
        """Cells of a column, one for each of `targets`."""
        cells = self.table.cells(column)
        return [cells[i] for i, _ in self.targets]

    def rows(self, picked: Sequence[int]) -> tuple[Row, ...]:
        """Rows at these positions of `targets`."""
        columns = [(name, self.table.cells(name)) for name in self.inputs]
        return tuple(
            Row(
                id=self.first_id + i,
                inputs=tuple((name, cells[i]) for name, cells in columns),
                target=target_value(cell, self.task),
            )
            for i, cell in (self.targets[k] for k in picked)
        )


RARE_SHARE = 0.1
RARE_ROWS = 5
"""A label with fewer training rows, or a smaller share, is rare if the commonest label has twice as many."""
NAMED = 5
"""Most labels that a note lists; the rest are counted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Parted:
    """Training and test rows."""

    train: tuple[Row, ...]
    test: tuple[Row, ...]
    notes: tuple[str, ...] = ()
    """Notes on the split, a sentence each."""


def part(files: Sequence[Examples], sizes: Sizes, rule: SplitRule, *, min_train: int, seed: int) -> Parted:
    """Split one file by the rule, or draw training rows from the first file and test rows from the second.

    Raises DataError if there are too few rows, or if the rule's column cannot split them.
    """
    if rule == RANDOM:
        train, test = _drawn(files, sizes, min_train=min_train, seed=seed)
        return Parted(train=train, test=test)
    file = files[0]
    _check_enough(files, n_train=len(file.targets) - 1, n_test=min(1, len(file.targets)), min_train=min_train)
    by_rule = _by_group if rule.kind == "group" else _by_time
    split, notes = by_rule(file, sizes, rule.column, _rng(seed, 0))
    _check_enough(files, n_train=len(split.train), n_test=len(split.test), min_train=min_train)
    return Parted(train=file.rows(split.train), test=file.rows(split.test), notes=(*notes, *_without(file)))


def _drawn(
    files: Sequence[Examples], sizes: Sizes, *, min_train: int, seed: int
) -> tuple[tuple[Row, ...], tuple[Row, ...]]:
    wanted = _wanted([len(file.targets) for file in files], sizes)
    _check_enough(files, n_train=wanted[0][0], n_test=wanted[-1][1], min_train=min_train)
    splits = [
        stratified_split(file.strata, train=train, test=test, rng=_rng(seed, part))
        for part, (file, (train, test)) in enumerate(zip(files, wanted, strict=True))
    ]
    return files[0].rows(splits[0].train), files[-1].rows(splits[-1].test)


def _wanted(n_labelled: Sequence[int], sizes: Sizes) -> list[tuple[int, int]]:
    """(training, test) rows to draw from each file."""
    if len(n_labelled) == 1:
        return [sizes.within(n_labelled[0])]
    n_train, n_test = n_labelled
    return [(min(n_train, sizes.train), 0), (0, min(n_test, sizes.test))]


def _check_enough(files: Sequence[Examples], *, n_train: int, n_test: int, min_train: int) -> None:
    if n_train < max(1, min_train) or n_test < 1:
        counts = " and ".join(f"{len(file.targets)} in {file.table.file}" for file in files)
        needed = f" and {files[0].needed!r}" if files[0].needed else ""
        raise DataError(
            f"too few rows have a value in {files[0].target!r}{needed}: {counts}; at least {max(1, min_train)} for "
            "training and 1 for testing are needed: add rows or fill in the target"
        )


def _rng(seed: int, part: int) -> np.random.Generator:
    """Random stream of a file's split (0: first file, 1: test file)."""
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(SPLIT, part)))


def _by_group(file: Examples, sizes: Sizes, column: str, rng: np.random.Generator) -> tuple[Split, list[str]]:
    groups = [cell or "" for cell in file.cells(column)]
    if len(set(groups)) < 2:
        raise DataError(
            f"column {column!r} of {file.table.file} has a single group among the rows with a target: split by another "
            "column, or by chance"
        )
    split = group_split(groups, file.strata, sizes=sizes, rng=rng)
    train, test = ({groups[i] for i in part} for part in (split.train, split.test))
    largest = Counter(groups).most_common(1)[0]
    notes = [
        f"split by {column!r}: {_counted(len(train), 'group')} for training, {len(test):,} for testing, no overlap"
    ]
    if len(set(groups)) == len(groups):
        notes.append(f"every row has a different {column!r}, so this split equals a random one")
    elif 2 * largest[1] > len(groups):
        share = f"{largest[1]:,} of {len(groups):,} rows"
        notes.append(f"the group {quoted(largest[0])} has {share}, so the parts are uneven")
    return split, notes


def _by_time(file: Examples, sizes: Sizes, column: str, rng: np.random.Generator) -> tuple[Split, list[str]]:
    cells = [cell or "" for cell in file.cells(column)]
    times = _times(file, column, cells)
    if len(set(times)) < 2:
        raise DataError(
            f"column {column!r} of {file.table.file} has a single time among the rows with a target: split by another "
            "column, or by chance"
        )
    split = time_split(times, file.strata, sizes=sizes, rng=rng)
    first = split.test[0]
    latest = f"{_counted(len(split.test), 'row')} from {quoted(cells[first])} on"
    notes = [f"split by {column!r}: test rows are the latest, {latest}"]
    tied = sum(time == times[first] for time in times) - sum(times[i] == times[first] for i in split.test)
    if tied:
        row = "1 more row has" if tied == 1 else f"{tied:,} more rows have"
        notes.append(f"{row} the same {column!r} as the first test row; ties were broken by the order in the file")
    return split, notes


def _times(file: Examples, column: str, cells: Sequence[str]) -> list[Any]:
    """Parse a column of numbers or dates. Raises DataError for other columns."""
    if all(map(is_number, cells)):
        return [float(cell) for cell in cells]
    form = find_form(sorted({cell for cell in file.table.cells(column) if cell is not None}))
    if form is None:
        kind = file.table.column(column).kind
        holds = {"text": "free text", "category": "categories", "sequence": "sequences"}.get(kind, f"{kind}s")
        raise DataError(
            f"column {column!r} of {file.table.file} cannot order the rows in time: it holds {holds}; name a column of "
            "dates in one form, or of numbers"
        )
    moments = {cell: form.read(cell) for cell in set(cells)}
    return [moments[cell] for cell in cells]


def _without(file: Examples) -> Iterator[str]:
    if n := file.n_without:
        rows = "1 row has" if n == 1 else f"{n:,} rows have"
        yield f"{rows} a target but no {file.needed!r}: left out"


def coverage_notes(parted: Parted, labels: Sequence[str], *, n_left: int = 0) -> Iterator[str]:
    """Warn about labels without training or test rows, rare labels, and training targets that are all equal.

    labels: labels of all rows with a target; empty for regression. n_left: rows with a target in neither part.
    """
    trained, tested = Counter(row.target for row in parted.train), Counter(row.target for row in parted.test)
    if not labels and len(trained) == 1:
        yield f"every training row has the target {parted.train[0].target}: there is nothing to learn from them"
    unseen = [label for label in labels if label not in trained]
    if unseen:
        n = sum(tested[label] for label in unseen)
        rows = f"{_counted(n, 'test row')} with {'it' if len(unseen) == 1 else 'them'} can hardly be predicted"
        yield f"no training row has {_listed(unseen)}" + (f": {rows}" if n else "")
    if labels and (rare := _rare(Counter(str(row.target) for row in parted.train))):
        yield rare + ("; take more rows (Rows and split; --train-size)" if n_left else "")
    untested = [label for label in labels if label in trained and label not in tested]
    if untested:
        yield f"no test row has {_listed(untested)}, so the accuracy on such rows is unknown"


def _rare(trained: Counter[str]) -> str:
    """Accuracy of always predicting the commonest label, as a note, if another label is rare; else empty."""
    total = trained.total()
    (common, most), *_, (rare, n) = [*trained.most_common(), *trained.most_common()[-1:]]
    if not (n < RARE_ROWS or n < RARE_SHARE * total) or 2 * n > most:
        return ""
    few = f"label {quoted(rare)} has {n:,} of {_counted(total, 'training row')}"
    return f"{few}: always predicting {quoted(common)} would be right on {round(100 * most / total)}\u00a0%"


def repeat_notes(files: Sequence[Examples]) -> Iterator[str]:
    """Note the rows of the test file that are in the training file too."""
    if len(files) < 2:
        return
    known = set(_word_for_word(files[0]))
    again = sum(row in known for row in _word_for_word(files[1]))
    if again:
        row = "row" if again == 1 else "rows"
        was = "is" if again == 1 else "are"
        total = len(files[1].targets)
        yield (
            f"{again:,} {row} of the {total:,} of {files[1].table.file} {was} identical to a row of "
            f"{files[0].table.file}: rows used for training and testing make the test too optimistic"
        )


def _word_for_word(file: Examples) -> Iterator[tuple[str | None, ...]]:
    return zip(*(file.cells(name) for name in (*file.inputs, file.target)), strict=True)


def _listed(labels: Sequence[str]) -> str:
    shown = ", ".join(map(quoted, labels[:NAMED]))
    more = f" and {len(labels) - NAMED:,} more" if len(labels) > NAMED else ""
    return f"the label {shown}" if len(labels) == 1 else f"one of the labels {shown}{more}"


def _counted(n: int, noun: str) -> str:
    return f"{n:,} {noun}" if n == 1 else f"{n:,} {noun}s"


FEWEST_GROUPS = 3
FEWEST_CODES = 10
"""Least values of a group column that is recognised by its codes alone; fewer are ordinary labels."""
_GROUP_NAME = re.compile(
    r"(.*[^a-z])?(id|uuid|guid|patient|subject|participant|proband|person|customer|client|user|author|player|pupil|"
    r"student|school|household|family|hospital|clinic|site|shop|store|device|machine|sensor|batch|session|animal)"
    r"([ _-]?(id|code|key|no|nr|number))?|.*[a-z](Id|ID)",
    re.IGNORECASE,
)
_GROUP_CODE = re.compile(r"(?=.*\d)[\w./#:+@-]+|[\w.+-]+@[\w.-]+")


def split_hints(table: Table, target: str) -> tuple[str, ...]:
    """Suggest a split by the likeliest column of groups and by the first column of dates, a sentence each."""
    others = [column for column in table.columns if column.name != target]
    return (*_of_groups(table, others), *_of_time(others))


def _of_groups(table: Table, columns: Sequence[Column]) -> Iterator[str]:
    named = [column for column in columns if _repeats(column, table) and _are_groups(column, table)]
    for column in sorted(named, key=lambda column: _GROUP_NAME.fullmatch(column.name) is None)[:1]:
        yield (
            f"column {column.name!r} has {column.n_distinct:,} values for {table.n_rows:,} rows: if its rows belong "
            f"together, split by group (--split group:{column.name})"
        )


def _of_time(columns: Sequence[Column]) -> Iterator[str]:
    dated = [column.name for column in columns if column.kind == "date" and column.n_distinct > 1]
    for name in dated[:1]:
        later = f"to predict later rows from earlier ones, split by time (--split time:{name})"
        yield f"column {name!r} holds dates: {later}"


def _repeats(column: Column, table: Table) -> bool:
    """True if a value has at least two rows on average."""
    return column.n_distinct >= FEWEST_GROUPS and 2 * column.n_distinct <= table.n_rows - column.n_missing


def _are_groups(column: Column, table: Table) -> bool:
    """True for integers or words under the name of a group, and for codes that are not integers."""
    if column.kind not in ("number", "category", "text"):
        return False
    present = {cell for cell in table.cells(column.name) if cell is not None}
    if _GROUP_NAME.fullmatch(column.name):
        return column.kind != "number" or all(map(is_integer, present))
    is_code = column.kind != "number" and len(present) >= FEWEST_CODES
    return is_code and all(map(_GROUP_CODE.fullmatch, present))
