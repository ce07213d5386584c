"""Split rows into training and test rows: by chance (stratified), by group, or by time."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from vpp.errors import InputError

SPLIT = 101
"""Purpose number of a split's random stream: SeedSequence(seed, spawn_key=(SPLIT, file))."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizes:
    """Most rows of each part. Raises InputError for a size below 1 or a fraction outside (0, 1)."""

    train: int
    test: int
    test_fraction: float
    """Share of test rows if there are fewer than train + test rows."""

    def __post_init__(self) -> None:
        for name, size in (("train size", self.train), ("test size", self.test)):
            if size < 1:
                raise InputError(f"{name} {size} is too small: give at least 1")
        if not 0 < self.test_fraction < 1:
            raise InputError(f"test fraction {self.test_fraction} is out of range: give a number between 0 and 1")

    def within(self, n: int) -> tuple[int, int]:
        """Return (training, test) rows of n: both sizes if n suffices, else the test fraction, at least 1 test row."""
        if n >= self.train + self.test:
            return self.train, self.test
        test = min(self.test, max(1, round(n * self.test_fraction)))
        return min(self.train, n - test), test

    def test_share(self, n: int) -> float:
        """Share of test rows among the rows taken from n."""
        train, test = self.within(n)
        return test / (train + test)


@dataclass(frozen=True, slots=True, kw_only=True)
class Split:
    """Positions of the rows taken: shuffled, except that a split by time orders its test rows."""

    train: tuple[int, ...]
    test: tuple[int, ...]


def stratified_split(strata: Sequence[str], *, train: int, test: int, rng: np.random.Generator) -> Split:
    """Draw rows without replacement, each part in the strata's proportions (largest remainder method).

    strata: (n,) class of each row; all equal for a plain random split. Every class gets a training row if
    train >= the number of classes. Requires train + test <= n.
    """
    counts = dict(sorted(Counter(strata).items()))
    wanted_train = _one_each(_apportion(counts, train))
    rest = {stratum: counts[stratum] - wanted_train[stratum] for stratum in counts}
    wanted_test = _apportion(rest, test)
    order = rng.permutation(len(strata)).tolist()
    taken = _take(order, strata, wanted_train)
    used = set(taken)
    others = [i for i in order if i not in used]
    return Split(train=taken, test=_take(others, strata, wanted_test))


def group_split(groups: Sequence[str], strata: Sequence[str], *, sizes: Sizes, rng: np.random.Generator) -> Split:
    """Assign whole groups to training or testing, then draw at most `sizes` rows of each side, stratified.

    Groups are visited in random order; one is added to the test side if that brings it nearer to its share of rows.
    groups, strata: (n,) with at least two groups. Each side has at least one group.
    """
    aim = len(groups) * sizes.test_share(len(groups))
    tested = _nearest_to(aim, Counter(groups), rng)
    sides = (
        [i for i, group in enumerate(groups) if group not in tested],
        [i for i, group in enumerate(groups) if group in tested],
    )
    return Split(train=_draw(sides[0], strata, sizes.train, rng), test=_draw(sides[1], strata, sizes.test, rng))


def time_split(times: Sequence[Any], strata: Sequence[str], *, sizes: Sizes, rng: np.random.Generator) -> Split:
    """Take the latest rows for testing, in order; draw the training rows from the earlier ones, stratified.

    times: (n,) of one ordered type, n >= 2; ties are ordered by position.
    """
    _, n_test = sizes.within(len(times))
    order = sorted(range(len(times)), key=lambda i: (times[i], i))
    return Split(train=_draw(order[:-n_test], strata, sizes.train, rng), test=tuple(order[-n_test:]))


def _nearest_to(aim: float, rows: Mapping[str, int], rng: np.random.Generator) -> set[str]:
    """Draw groups with about `aim` rows in total: at least one group, never all. rows: number of rows by group."""
    names = sorted(rows)
    taken: set[str] = set()
    total = 0
    for place in rng.permutation(len(names)).tolist():
        size = rows[names[place]]
        if abs(total + size - aim) < abs(total - aim) and len(taken) + 1 < len(names):
            taken.add(names[place])
            total += size
    return taken or {min(names, key=lambda name: rows[name])}


def _draw(places: Sequence[int], strata: Sequence[str], most: int, rng: np.random.Generator) -> tuple[int, ...]:
    """Draw at most `most` of the places, in the strata's proportions."""
    own = [strata[i] for i in places]
    return tuple(places[k] for k in stratified_split(own, train=min(most, len(own)), test=0, rng=rng).train)


def _apportion(counts: Mapping[str, int], total: int) -> dict[str, int]:
    """Apportion `total` seats to the counts (largest remainder), never more than a count; ties go to the larger."""
    n = max(1, sum(counts.values()))
    seats = {stratum: total * k // n for stratum, k in counts.items()}
    by_remainder = sorted(counts, key=lambda stratum: (total * counts[stratum] % n, counts[stratum]), reverse=True)
    for stratum in by_remainder[: total - sum(seats.values())]:
        seats[stratum] += 1
    return seats


def _one_each(seats: Mapping[str, int]) -> dict[str, int]:
    """Give each stratum without a seat one of the largest stratum's, if that has more than one."""
    moved = dict(seats)
    for stratum in (stratum for stratum, n in seats.items() if n == 0):
        largest = max(moved, key=lambda other: moved[other])
        if moved[largest] > 1:
            moved[largest] -= 1
            moved[stratum] = 1
    return moved


def _take(order: Sequence[int], strata: Sequence[str], wanted: Mapping[str, int]) -> tuple[int, ...]:
    """Take the first `wanted` positions of each stratum, in the given order."""
    left = dict(wanted)
    taken = []
    for i in order:
        if left[strata[i]] > 0:
            left[strata[i]] -= 1
            taken.append(i)
    return tuple(taken)
