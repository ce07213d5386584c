"""A batch: rows with their targets and the kinds of their columns; draws by weight; rounding to short numbers."""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from vpp.demo.rule import Rule
from vpp.demo.terms import Cell, Term
from vpp.demo.values import Row

Floats = NDArray[np.float64]
F = TypeVar("F")

_WIDEST_SPAN = 20
_FEWEST_COLUMNS = 3


@dataclass(frozen=True)
class Batch:
    """Rows and targets: labels for classification, else numbers."""

    rows: tuple[Row, ...]
    targets: tuple[str, ...] | tuple[float, ...]

    @cached_property
    def names(self) -> tuple[str, ...]:
        return tuple(self.rows[0].cells) if self.rows else ()

    @cached_property
    def numeric(self) -> tuple[str, ...]:
        """Columns with numbers or missing cells only."""
        return tuple(name for name in self.names if self._holds(name, float))

    @cached_property
    def categories(self) -> tuple[str, ...]:
        """Columns with texts or missing cells only, at least one text in two rows."""
        return tuple(name for name in self.names if self._holds(name, str) and self._repeats(name))

    def _holds(self, name: str, kind: type) -> bool:
        present = [row.cells.get(name) for row in self.rows if row.cells.get(name) is not None]
        return bool(present) and all(isinstance(value, kind) for value in present)

    def _repeats(self, name: str) -> bool:
        texts = [row.cells.get(name) for row in self.rows if row.cells.get(name) is not None]
        return len(set(texts)) < len(texts)

    @cached_property
    def sequential(self) -> bool:
        """Return whether rows are sequences: a cell holds one, or all columns hold small whole numbers of one range."""
        if any(isinstance(value, tuple) for value in self.rows[0].cells.values()):
            return True
        if len(self.numeric) < max(_FEWEST_COLUMNS, len(self.names)):
            return False
        every = [number for row in self.rows for number in row.numbers]
        whole = all(number == math.floor(number) for number in every)
        if not whole or max(every) - min(every) > _WIDEST_SPAN:
            return False
        # Columns of one sequence have similar maxima, unlike flags and years.
        largest = [float(np.nanmax(self.values(Cell(name)))) for name in self.numeric]
        return max(largest) - min(largest) <= 0.5 * max(abs(number) for number in largest) + 2

    @cached_property
    def whole_numbers(self) -> bool:
        return all(number == math.floor(number) for row in self.rows for number in row.sequence)

    @cached_property
    def length(self) -> int:
        return min(len(row.sequence) for row in self.rows)

    def values(self, term: Term) -> Floats:
        """(size,) the term's value in each row; NaN if it is not a number."""
        values = (term.of(row) for row in self.rows)
        return np.array([value if isinstance(value, float) else math.nan for value in values])

    @cached_property
    def labels(self) -> tuple[str, ...]:
        texts = [str(target) for target in self.targets]
        return tuple(sorted(set(texts), key=lambda label: (-texts.count(label), label)))

    @cached_property
    def codes(self) -> NDArray[np.int64]:
        """(size,) index of each target in `labels`."""
        return np.array([self.labels.index(str(target)) for target in self.targets])

    @cached_property
    def everything(self) -> NDArray[np.bool_]:
        return np.ones(len(self.rows), dtype=bool)

    @cached_property
    def y(self) -> Floats:
        return np.array([float(target) for target in self.targets])

    def errors(self, rule: Rule) -> int:
        return sum(rule.answer(row) != target for row, target in zip(self.rows, self.targets, strict=True))

    def predictions(self, rule: Rule) -> Floats:
        answers = (rule.answer(row) for row in self.rows)
        return np.array([value if isinstance(value, float) else math.nan for value in answers])


def part(batch: Batch, mask: NDArray[np.bool_]) -> Batch:
    at = np.flatnonzero(mask)
    return Batch(tuple(batch.rows[one] for one in at), tuple(batch.targets[one] for one in at))  # type: ignore[arg-type]


def round_to(value: float, digits: int) -> float:
    return float(f"{value:.{digits}g}") + 0.0


def round_between(low: float, high: float, share: float = 0.2) -> float:
    """Return the shortest number close to the middle of a gap, within a share of its width; low without a gap."""
    middle, reach = (low + high) / 2, (high - low) * share
    if not reach > 0:
        return low
    decimals = -math.floor(math.log10(max(abs(low), abs(high), reach)))
    while decimals < 15 and abs(round(middle, decimals) - middle) > reach:
        decimals += 1
    return float(round(middle, decimals)) + 0.0


def drawn(weights: dict[F, float], rng: Generator) -> F:
    forms, p = list(weights), np.array(list(weights.values()))
    return forms[int(rng.choice(len(forms), p=p / p.sum()))]
