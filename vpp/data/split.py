"""Which rows are for training and which for testing: seeded, stratified by class, limited in size."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from vpp.errors import InputError

SPLIT = 101
"""Purpose number of a split's randomness: SeedSequence(seed, spawn_key=(SPLIT, …))."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizes:
    """How many rows each part may have. Raises InputError for a size below 1 or a fraction outside (0, 1)."""

    train: int
    test: int
    test_fraction: float
    """The test rows' share where there are fewer than train + test rows."""

    def __post_init__(self) -> None:
        for name, size in (("train size", self.train), ("test size", self.test)):
            if size < 1:
                raise InputError(f"{name} {size} is too small: give at least 1")
        if not 0 < self.test_fraction < 1:
            raise InputError(f"test fraction {self.test_fraction} is out of range: give a number between 0 and 1")

    def within(self, n: int) -> tuple[int, int]:
        """(Training, test) rows of n: both sizes if there are enough, else the fraction for testing, 1 at least."""
        if n >= self.train + self.test:
            return self.train, self.test
        test = min(self.test, max(1, round(n * self.test_fraction)))
        return min(self.train, n - test), test


@dataclass(frozen=True, slots=True, kw_only=True)
class Split:
    """Positions of the rows taken, each part in shuffled order."""

    train: tuple[int, ...]
    test: tuple[int, ...]


def stratified_split(strata: Sequence[str], *, train: int, test: int, rng: np.random.Generator) -> Split:
    """Rows drawn without replacement, each part in the strata's proportions (largest remainder).

    strata: (n,) the class of each row; all equal for a plain random split. Every class gets a training row
    where train >= the number of classes. Needs train + test <= n.
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


def _apportion(counts: Mapping[str, int], total: int) -> dict[str, int]:
    """`total` seats in proportion to the counts, never more than a count; ties go to the larger, then the first."""
    n = max(1, sum(counts.values()))
    seats = {stratum: total * k // n for stratum, k in counts.items()}
    by_remainder = sorted(counts, key=lambda stratum: (total * counts[stratum] % n, counts[stratum]), reverse=True)
    for stratum in by_remainder[: total - sum(seats.values())]:
        seats[stratum] += 1
    return seats


def _one_each(seats: Mapping[str, int]) -> dict[str, int]:
    """A seat for those without, taken from the largest, as long as it has more than one."""
    moved = dict(seats)
    for stratum in (stratum for stratum, n in seats.items() if n == 0):
        largest = max(moved, key=lambda other: moved[other])
        if moved[largest] > 1:
            moved[largest] -= 1
            moved[stratum] = 1
    return moved


def _take(order: Sequence[int], strata: Sequence[str], wanted: Mapping[str, int]) -> tuple[int, ...]:
    """The first `wanted` positions of each stratum, in the order given."""
    left = dict(wanted)
    taken = []
    for i in order:
        if left[strata[i]] > 0:
            left[strata[i]] -= 1
            taken.append(i)
    return tuple(taken)
