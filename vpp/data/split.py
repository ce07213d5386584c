"""Split rows into training, test and calibration rows: by chance (stratified), by group, or by time."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from vpp.data.columns import date_forms, read_date
from vpp.data.dataset import RANDOM, SplitRule
from vpp.data.numbers import is_number
from vpp.data.table import Table
from vpp.errors import DataError, InputError, counted, quoted
from vpp.randomness import rng

HELD_OUT = 0.375  # share of test and calibration rows if there are fewer rows than the sizes ask for


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitPlan:
    """Rule, sizes and seed of a split. Raises InputError for an impossible size."""

    rule: SplitRule = RANDOM  # rows without a value in its column are left out
    train_size: int = 100
    test_size: int = 60  # 0 makes a training row of every row with a target, in the file's order
    calibration_size: int = 0  # most of them: parted from the test rows by chance, or one of each calibration group
    coverage: float = 0.9  # promised by the calibration rows, for a note if they are too few
    seed: int = 0

    def __post_init__(self) -> None:
        for name, least in {"train": 1, "test": 0, "calibration": 0}.items():
            if (size := getattr(self, f"{name}_size")) < least:
                raise InputError(f"{name} size {size} is too small: give at least {least}")
        if not self.test_size and (self.rule != RANDOM or self.calibration_size):
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
    """Ids of the rows in each part: shuffled, except that a split by time orders its test rows."""

    train: tuple[int, ...]
    test: tuple[int, ...]
    calibration: tuple[int, ...] = ()
    note: str = ""


def stratified_split(strata: Mapping[int, str], *, train: int, test: int, rng: np.random.Generator) -> Split:
    """Draw rows without replacement, each part in the strata's proportions (largest remainder method).

    strata: class of each row by id; all equal for a plain random split. Every class gets a training row if
    train >= the number of classes. Requires train + test <= the number of rows.
    """
    counts = dict(sorted(Counter(strata.values()).items()))
    n_train = _apportion(counts, train)
    for stratum in [stratum for stratum, n in n_train.items() if n == 0]:
        largest = max(n_train, key=n_train.__getitem__)
        if n_train[largest] > 1:
            n_train |= {largest: n_train[largest] - 1, stratum: 1}
    n_test = _apportion({stratum: counts[stratum] - n_train[stratum] for stratum in counts}, test)
    ids, parts = list(strata), (list[int](), list[int]())
    for row in (ids[place] for place in rng.permutation(len(ids)).tolist()):
        for part, left in zip(parts, (n_train, n_test), strict=True):
            if left[strata[row]] > 0:
                left[strata[row]] -= 1
                part.append(row)
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Pool:
    """Rows of one file that have a target and, if the rule needs one, a value in its column."""

    file: str
    strata: Mapping[int, str]  # label of each row by id; all equal for a regression
    keys: Mapping[int, str]  # cell of each row in the rule's column, or its target

    def draw(self, ids: Iterable[int], most: int, rng: np.random.Generator) -> tuple[int, ...]:
        """Draw at most `most` of these rows, in the strata's proportions."""
        own = {row: self.strata[row] for row in ids}
        return stratified_split(own, train=min(most, len(own)), test=0, rng=rng).train


def split_rows(pools: Sequence[Pool], plan: SplitPlan, *, table: Table, target: str) -> Split:
    """Split by the rule, or into one part a file. Raises DataError for too few rows, an unfit column."""
    own, column, kind = pools[0], plan.rule.column, plan.rule.kind
    sizes = [plan.within(len(own.keys))]
    if len(pools) > 1:
        sizes = [(min(len(own.keys), plan.train_size), 0), (0, min(len(pools[1].keys), plan.held_out))]
    if not own.keys or (plan.test_size and min(sizes[0][0], sizes[-1][1]) < 1):
        counts = " and ".join(f"{len(pool.keys)} in {pool.file}" for pool in pools)
        needed = f" and {column!r}" if column else ""
        raise DataError(
            f"too few rows have a value in {target!r}{needed}: {counts}; at least 1 for training and 1 for testing are "
            "needed: add rows or fill in the target"
        )
    if not plan.test_size:
        return Split(train=tuple(own.keys), test=())
    if kind == "random":
        splits = [
            stratified_split(pool.strata, train=train, test=test, rng=rng(plan.seed, "split", file))
            for file, (pool, (train, test)) in enumerate(zip(pools, sizes, strict=True))
        ]
        return _calibrated(replace(splits[-1], train=splits[0].train), plan)
    if len(set(own.keys.values())) < 2:
        raise DataError(
            f"column {column!r} of {own.file} has a single {kind} among the rows with a target: split by another "
            "column, or by chance"
        )
    generator = rng(plan.seed, "split", 0)
    if kind == "group":
        return group_split(own, plan, generator)
    times = _times(own.keys, table, column)
    order = sorted(own.keys, key=times.__getitem__)  # equal times in the order of the file
    early, late = order[: -sizes[0][1]], tuple(order[-sizes[0][1] :])
    held_out = "test and calibration rows" if plan.calibration_size else "test rows"
    latest = f"{held_out} are the latest, {counted(len(late), 'row')} from {quoted(own.keys[late[0]])} on"
    train = own.draw(early, plan.train_size, generator)
    return _calibrated(Split(train=train, test=late, note=f"split by {column!r}: {latest}"), plan)


def group_split(pool: Pool, plan: SplitPlan, rng: np.random.Generator) -> Split:
    """Assign whole groups to training, testing or calibration, then draw at most the plan's rows, stratified.

    Groups are visited in random order; one is held out if that brings the held-out rows nearer to their share. The
    first of them calibrate, with one row each: rows of one group are alike, so only one of each is exchangeable with
    a row of a new group (single subsampling; Dunn, Wasserman and Ramdas 2023). Requires at least two groups; training
    and testing have at least one each.
    """
    n_train, n_test = plan.within(len(pool.keys))
    aim, total = len(pool.keys) * (n_test / (n_train + n_test)), 0
    rows: dict[str, list[int]] = defaultdict(list)
    for row, group in pool.keys.items():
        rows[group].append(row)
    names, held_out = sorted(rows), list[str]()
    for name in (names[i] for i in rng.permutation(len(names)).tolist()):
        if abs(total + len(rows[name]) - aim) < abs(total - aim) and len(held_out) + 1 < len(names):
            held_out.append(name)
            total += len(rows[name])
    held_out = held_out or [min(names, key=lambda name: len(rows[name]))]
    n = min(len(held_out) - 1, plan.calibration_size, round(len(held_out) * plan.calibration_size / plan.held_out))
    train, test = (
        pool.draw(sorted(row for name in part for row in rows[name]), most, rng)
        for part, most in (({*names} - {*held_out}, plan.train_size), (held_out[n:], plan.test_size))
    )
    calibration = tuple(int(rng.choice(rows[name])) for name in held_out[:n])
    of_train, of_test = (len({pool.keys[row] for row in part}) for part in (train, test))
    more = f", {n:,} for calibration (one row each)" if plan.calibration_size else ""
    groups = f"{counted(of_train, 'group')} for training, {of_test:,} for testing{more}, no overlap"
    return Split(train=train, test=test, calibration=calibration, note=f"split by {plan.rule.column!r}: {groups}")


def _calibrated(split: Split, plan: SplitPlan) -> Split:
    """Part the held-out rows into test and calibration rows by chance, so that each could be either."""
    n = min(len(split.test) - 1, round(len(split.test) * plan.calibration_size / plan.held_out))
    own = {split.test[i] for i in rng(plan.seed, "calibration").permutation(len(split.test))[:n].tolist()}
    test, calibration = ([row for row in split.test if (row in own) == is_own] for is_own in (False, True))
    return replace(split, test=tuple(test), calibration=tuple(calibration))


def _times(keys: Mapping[int, str], table: Table, name: str) -> dict[int, Any]:
    """Parse cells of a column of numbers or dates. Raises DataError for other columns."""
    if all(map(is_number, keys.values())):
        return {row: float(cell) for row, cell in keys.items()}
    forms = date_forms([cell for cell in dict.fromkeys(table.cells(name)) if cell is not None])
    if not forms:
        raise DataError(
            f"column {name!r} of {table.file} cannot order the rows in time (its kind is {table.column(name).kind}): "
            "name a column of dates in one form, or of numbers"
        )
    return {row: read_date(cell, forms[0]) for row, cell in keys.items()}
