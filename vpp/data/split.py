"""Split rows into training and test rows: by chance (stratified), by group, or by time."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property

import numpy as np

from vpp.data.answers import quoted
from vpp.data.columns import find_form, is_number
from vpp.data.dataset import RANDOM, Row, SplitRule, Task, target_value
from vpp.data.table import Table, unlabelled_rows
from vpp.errors import DataError, InputError

SPLIT = 101
"""Purpose number of a split's random stream: SeedSequence(seed, spawn_key=(SPLIT, file))."""
HELD_OUT = 0.375
"""Share of test and calibration rows if there are fewer rows than the sizes ask for."""
CALIBRATION = 106
"""Purpose number of the draw that parts calibration from test rows: SeedSequence(seed, spawn_key=(CALIBRATION,))."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitPlan:
    """Rule, sizes and seed of a split. Raises InputError for a size below 1."""

    is_whole: bool = False
    """Every row with a target is a training row, in the file's order; there are no test rows."""

    rule: SplitRule = RANDOM
    """Rows without a value in its column are left out."""
    train_size: int = 100
    test_size: int = 60
    calibration_size: int = 0
    """Most calibration rows: parted from the test rows by chance, or one of each calibration group."""
    seed: int = 0

    def __post_init__(self) -> None:
        for name, least in {"train": 1, "test": 0 if self.is_whole else 1, "calibration": 0}.items():
            if (size := getattr(self, f"{name}_size")) < least:
                raise InputError(f"{name} size {size} is too small: give at least {least}")
        if self.is_whole and (self.rule != RANDOM or self.calibration_size):
            raise InputError("every row is a training row here: leave out the split, and calibration rows")

    @property
    def held_out(self) -> int:
        return self.test_size + self.calibration_size

    def within(self, n: int) -> tuple[int, int]:
        """Return (training, held-out) rows of n: both sizes if n suffices, else HELD_OUT of them, at least 1 row."""
        if n >= self.train_size + self.held_out:
            return self.train_size, self.held_out
        held_out = min(self.held_out, max(1, round(n * HELD_OUT)))
        return min(self.train_size, n - held_out), held_out


@dataclass(frozen=True, slots=True, kw_only=True)
class Split:
    """Positions of the rows in each part: shuffled, except that a split by time orders its test rows."""

    train: tuple[int, ...]
    test: tuple[int, ...]
    calibration: tuple[int, ...] = ()
    note: str = ""


def stratified_split(strata: Sequence[str], *, train: int, test: int, rng: np.random.Generator) -> Split:
    """Draw rows without replacement, each part in the strata's proportions (largest remainder method).

    strata: (n,) class of each row; all equal for a plain random split. Every class gets a training row if
    train >= the number of classes. Requires train + test <= n.
    """
    counts = dict(sorted(Counter(strata).items()))
    n_train = _apportion(counts, train)
    for stratum in [stratum for stratum, n in n_train.items() if n == 0]:
        largest = max(n_train, key=n_train.__getitem__)
        if n_train[largest] > 1:
            n_train |= {largest: n_train[largest] - 1, stratum: 1}
    n_test = _apportion({stratum: counts[stratum] - n_train[stratum] for stratum in counts}, test)
    parts: tuple[list[int], list[int]] = ([], [])
    for place in rng.permutation(len(strata)).tolist():
        for part, left in zip(parts, (n_train, n_test), strict=True):
            if left[strata[place]] > 0:
                left[strata[place]] -= 1
                part.append(place)
                break
    return Split(train=tuple(parts[0]), test=tuple(parts[1]))


def _apportion(counts: Mapping[str, int], total: int) -> dict[str, int]:
    """Apportion `total` seats to the counts (largest remainder), never more than a count; ties go to the larger."""
    n = max(1, sum(counts.values()))
    seats = {stratum: total * k // n for stratum, k in counts.items()}
    by_remainder = sorted(counts, key=lambda stratum: (total * counts[stratum] % n, counts[stratum]), reverse=True)
    for stratum in by_remainder[: total - sum(seats.values())]:
        seats[stratum] += 1
    return seats


def _draw(places: Sequence[int], strata: Sequence[str], most: int, rng: np.random.Generator) -> tuple[int, ...]:
    """Draw at most `most` of the places, in the strata's proportions."""
    own = [strata[place] for place in places]
    return tuple(places[i] for i in stratified_split(own, train=min(most, len(own)), test=0, rng=rng).train)


def group_split(groups: Sequence[str], strata: Sequence[str], *, plan: SplitPlan, rng: np.random.Generator) -> Split:
    """Assign whole groups to training, testing or calibration, then draw at most the plan's rows, stratified.

    Groups are visited in random order; one is held out if that brings the held-out rows nearer to their share. The
    first of them calibrate, with one row each: rows of one group are alike, so only one of each is exchangeable with
    a row of a new group (single subsampling; Dunn, Wasserman and Ramdas 2023).
    groups, strata: (n,) with at least two groups. Training and testing have at least one group each.
    """
    n_train, n_test = plan.within(len(groups))
    aim, total = len(groups) * (n_test / (n_train + n_test)), 0
    places: dict[str, list[int]] = {name: [] for name in sorted(set(groups))}
    for place, group in enumerate(groups):
        places[group].append(place)
    names, held_out = list(places), list[str]()
    for name in (names[i] for i in rng.permutation(len(names)).tolist()):
        if abs(total + len(places[name]) - aim) < abs(total - aim) and len(held_out) + 1 < len(names):
            held_out.append(name)
            total += len(places[name])
    held_out = held_out or [min(names, key=lambda name: len(places[name]))]
    n = min(len(held_out) - 1, plan.calibration_size, round(len(held_out) * plan.calibration_size / plan.held_out))
    parts = ({*names} - {*held_out}, held_out[n:])
    train, test = (sorted(place for name in part for place in places[name]) for part in parts)
    return Split(
        train=_draw(train, strata, plan.train_size, rng),
        test=_draw(test, strata, plan.test_size, rng),
        calibration=tuple(int(rng.choice(places[name])) for name in held_out[:n]),
    )


@dataclass(frozen=True, kw_only=True)
class Examples:
    """Labelled rows of a table: those with a value in the target column and, if given, in the `needed` column."""

    table: Table
    inputs: tuple[str, ...]
    target: str
    task: Task
    first_id: int = 0
    needed: str = ""
    beside: tuple[str, ...] = ()
    """Columns that are no inputs, of which another table may lack some."""

    @cached_property
    def labelled(self) -> list[int]:
        """Rows of the table with a target, whether or not they have the needed value."""
        return [row for row, cell in enumerate(self.table.cells(self.target)) if cell is not None]

    @cached_property
    def places(self) -> list[int]:
        needed = self.table.cells(self.needed or self.target)
        return [row for row in self.labelled if needed[row] is not None]

    def cells(self, column: str) -> list[str]:
        """(len(places),) cells of the target, or of the needed column."""
        cells = self.table.cells(column)
        return [cells[row] or "" for row in self.places]

    @property
    def strata(self) -> list[str]:
        return self.cells(self.target) if self.task == "classification" else [""] * len(self.places)

    @property
    def labels(self) -> set[str | None]:
        return {self.table.cells(self.target)[row] for row in self.labelled}

    @property
    def unlabelled(self) -> tuple[Row, ...]:
        """Rows without a target but with any input, in file order."""
        rows = unlabelled_rows(self.table, self.inputs, self.target)
        filled = (row for row in rows if any(cell is not None for _, cell in row.inputs))
        return tuple(replace(row, id=self.first_id + row.id) for row in filled)

    def rows(self, positions: Sequence[int]) -> tuple[Row, ...]:
        columns = [(name, self.table.cells(name)) for name in self.inputs]
        others = [(name, self.table.cells(name) if name in self.table.names else None) for name in self.beside]
        targets = self.table.cells(self.target)
        return tuple(
            Row(
                id=self.first_id + row,
                inputs=tuple((name, cells[row]) for name, cells in columns),
                target=target_value(targets[row] or "", self.task),
                beside=tuple((name, cells[row] if cells else None) for name, cells in others),
            )
            for row in (self.places[position] for position in positions)
        )


def split_rows(files: Sequence[Examples], plan: SplitPlan) -> Split:
    """Split one file by the plan's rule, or draw training rows from the first file and the others from the second.

    Raises DataError if there are too few rows, or if the rule's column cannot split them.
    """
    file, kind, n = files[0], plan.rule.kind, len(files[0].places)
    sizes = [plan.within(n)]
    if len(files) > 1:
        sizes = [(min(n, plan.train_size), 0), (0, min(len(files[1].places), plan.held_out))]
    if n < 1 or (not plan.is_whole and min(sizes[0][0], sizes[-1][1]) < 1):
        counts = " and ".join(f"{len(each.places)} in {each.table.file}" for each in files)
        needed = f" and {file.needed!r}" if file.needed else ""
        raise DataError(
            f"too few rows have a value in {file.target!r}{needed}: {counts}; at least 1 for training and 1 for "
            "testing are needed: add rows or fill in the target"
        )
    if plan.is_whole:
        return Split(train=tuple(range(n)), test=())
    if kind == "random":
        splits = [
            stratified_split(each.strata, train=train, test=test, rng=_rng(plan.seed, number))
            for number, (each, (train, test)) in enumerate(zip(files, sizes, strict=True))
        ]
        return _calibrated(Split(train=splits[0].train, test=splits[-1].test), plan)
    if len(set(file.cells(file.needed))) < 2:
        raise DataError(
            f"column {file.needed!r} of {file.table.file} has a single {kind} among the rows with a target: "
            "split by another column, or by chance"
        )
    return _by_group(file, plan) if kind == "group" else _calibrated(_by_time(file, plan), plan)


def _rng(seed: int, file: int) -> np.random.Generator:
    """Random stream of a file's split (0: first file, 1: test file)."""
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(SPLIT, file)))


def _calibrated(split: Split, plan: SplitPlan) -> Split:
    """Part the held-out rows into test and calibration rows by chance, so that each could be either."""
    n = min(len(split.test) - 1, round(len(split.test) * plan.calibration_size / plan.held_out))
    rng = np.random.default_rng(np.random.SeedSequence(plan.seed, spawn_key=(CALIBRATION,)))
    own = {split.test[i] for i in rng.permutation(len(split.test))[:n].tolist()}
    test, calibration = ([row for row in split.test if (row in own) == is_own] for is_own in (False, True))
    return replace(split, test=tuple(test), calibration=tuple(calibration))


def _by_group(file: Examples, plan: SplitPlan) -> Split:
    groups = file.cells(file.needed)
    split = group_split(groups, file.strata, plan=plan, rng=_rng(plan.seed, 0))
    train, test = ({groups[i] for i in part} for part in (split.train, split.test))
    own = f", {len(split.calibration):,} for calibration (one row each)" if plan.calibration_size else ""
    parts = f"{counted(len(train), 'group')} for training, {len(test):,} for testing{own}"
    return replace(split, note=f"split by {file.needed!r}: {parts}, no overlap")


def _by_time(file: Examples, plan: SplitPlan) -> Split:
    column, cells = file.needed, file.cells(file.needed)
    times = _times(file, column, cells)
    _, n_test = plan.within(len(times))
    order = sorted(range(len(times)), key=times.__getitem__)  # equal times in the order of the file
    test = tuple(order[-n_test:])
    held_out = "test and calibration rows" if plan.calibration_size else "test rows"
    latest = f"{counted(n_test, 'row')} from {quoted(cells[test[0]])} on"
    train = _draw(order[:-n_test], file.strata, plan.train_size, _rng(plan.seed, 0))
    return Split(train=train, test=test, note=f"split by {column!r}: {held_out} are the latest, {latest}")


def _times(file: Examples, column: str, cells: Sequence[str]) -> list[float] | list[datetime]:
    """Parse a column of numbers or dates. Raises DataError for other columns."""
    if all(map(is_number, cells)):
        return list(map(float, cells))
    form = find_form(sorted({cell for cell in file.table.cells(column) if cell is not None}))
    if form is None:
        raise DataError(
            f"column {column!r} of {file.table.file} cannot order the rows in time (its kind is "
            f"{file.table.column(column).kind}): name a column of dates in one form, or of numbers"
        )
    return list(map(form.read, cells))


def counted(n: int, noun: str) -> str:
    return f"{n:,} {noun}" if n == 1 else f"{n:,} {noun}s"
