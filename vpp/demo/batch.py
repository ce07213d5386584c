"""A batch: rows with their targets, the kinds of its columns, and rounding as a person would."""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from vpp.demo.rule import Cell, Rule, Term
from vpp.demo.values import Row

Floats = NDArray[np.float64]

_WIDEST_SPAN = 20
_FEWEST_COLUMNS = 3


@dataclass(frozen=True)
class Batch:
    """Rows and targets; for classification the targets are labels, else numbers."""

    rows: tuple[Row, ...]
    targets: tuple[str, ...] | tuple[float, ...]

    @property
    def size(self) -> int:
        """How many rows."""
        return len(self.rows)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The columns, in the order of the first row."""
        return tuple(self.rows[0].cells) if self.rows else ()

    @cached_property
    def numeric(self) -> tuple[str, ...]:
        """Columns with numbers and nothing else but missing cells."""
        return tuple(name for name in self.names if self._holds(name, float))

    @cached_property
    def categories(self) -> tuple[str, ...]:
        """Columns with texts and nothing else but missing cells, some text being shared by two rows."""
        return tuple(name for name in self.names if self._holds(name, str) and self._repeats(name))

    def _holds(self, name: str, kind: type) -> bool:
        present = [row.cells.get(name) for row in self.rows if row.cells.get(name) is not None]
        return bool(present) and all(isinstance(value, kind) for value in present)

    def _repeats(self, name: str) -> bool:
        texts = [row.cells.get(name) for row in self.rows if row.cells.get(name) is not None]
        return len(set(texts)) < len(texts)

    @cached_property
    def sequential(self) -> bool:
        """Whether a row reads as a sequence: a cell holds one, or all columns hold small whole numbers alike."""
        if any(isinstance(value, tuple) for value in self.rows[0].cells.values()):
            return True
        if len(self.numeric) < max(_FEWEST_COLUMNS, len(self.names)):
            return False
        every = [number for row in self.rows for number in row.numbers]
        whole = all(number == math.floor(number) for number in every)
        return whole and max(every) - min(every) <= _WIDEST_SPAN and self._alike()

    def _alike(self) -> bool:
        """Whether no column keeps to a value of its own, as flags and years do."""
        largest = [float(np.nanmax(self.values(Cell(name)))) for name in self.numeric]
        return max(largest) - min(largest) <= 0.5 * max(abs(number) for number in largest) + 2

    @cached_property
    def whole_numbers(self) -> bool:
        """Whether the sequences hold whole numbers only."""
        return all(number == math.floor(number) for row in self.rows for number in row.sequence)

    @cached_property
    def length(self) -> int:
        """The length of the shortest sequence."""
        return min(len(row.sequence) for row in self.rows)

    def values(self, term: Term) -> Floats:
        """(size,) the term in every row; not a number where it has no number."""
        found = (term.of(row) for row in self.rows)
        return np.array([value if isinstance(value, float) else math.nan for value in found])

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """The labels among the targets, most frequent first, then as text."""
        texts = [str(target) for target in self.targets]
        return tuple(sorted(set(texts), key=lambda label: (-texts.count(label), label)))

    @cached_property
    def codes(self) -> NDArray[np.int64]:
        """(size,) the place of every target in `labels`."""
        return np.array([self.labels.index(str(target)) for target in self.targets])

    @cached_property
    def y(self) -> Floats:
        """(size,) the targets as numbers."""
        return np.array([float(target) for target in self.targets])

    def errors(self, rule: Rule) -> int:
        """How many rows the rule gets wrong."""
        return sum(rule.answer(row) != target for row, target in zip(self.rows, self.targets, strict=True))

    def predictions(self, rule: Rule) -> Floats:
        """(size,) the numbers that the rule gives; not a number where it gives none."""
        found = (rule.answer(row) for row in self.rows)
        return np.array([value if isinstance(value, float) else math.nan for value in found])


def round_to(value: float, digits: int) -> float:
    """The number to so many significant digits."""
    return float(f"{value:.{digits}g}") + 0.0


def round_between(low: float, high: float, share: float = 0.2) -> float:
    """The shortest number within a share of the gap's width around its middle; low itself where there is no gap."""
    middle, reach = (low + high) / 2, (high - low) * share
    if not reach > 0:
        return low
    decimals = -math.floor(math.log10(max(abs(low), abs(high), reach)))
    while decimals < 15 and abs(round(middle, decimals) - middle) > reach:
        decimals += 1
    return float(round(middle, decimals)) + 0.0
