"""A table's columns as a program sees them: names that are identifiers, and cells as Python values."""

import keyword
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Literal

from vpp.data.columns import are_codes
from vpp.data.dataset import Dataset, Row
from vpp.data.numbers import is_integer, is_number
from vpp.programs.sandbox import Cell
from vpp.programs.source import ENTRY, QUESTION

Type = Literal["number", "text", "prose"]
"""What a program gets from a column: an int or a float, a short str, or a str of free text."""
RESERVED = frozenset({ENTRY, QUESTION})


@dataclass(frozen=True, slots=True)
class Argument:
    """A column as an argument of `predict`."""

    name: str
    """The column's own."""
    alias: str
    type: Type
    values: tuple[str, ...]
    """Distinct cells of the training rows, sorted."""
    has_missing: bool


class Columns:
    """The input columns of a table, in file order."""

    def __init__(self, dataset: Dataset) -> None:
        self._dataset = dataset
        self._kinds = {column.name: column.kind for column in dataset.columns}
        self.names: dict[str, str] = {}
        """By alias."""
        for name in dataset.inputs:
            self.names[_alias(name, set(self.names))] = name

    @cached_property
    def arguments(self) -> dict[str, Argument]:
        """By alias. Reads every row; the aliases do not."""
        arguments = {}
        for at, (alias, name) in enumerate(self.names.items()):
            cells = [row.inputs[at][1] for row in self._dataset.labelled]
            present = sorted({cell for cell in cells if cell is not None})
            type_ = _type(self._kinds[name], present)
            arguments[alias] = Argument(name, alias, type_, tuple(present), None in cells)
        return arguments

    @cached_property
    def aliases(self) -> tuple[str, ...]:
        return tuple(self.names)

    @cached_property
    def texts(self) -> frozenset[str]:
        """Aliases of the columns of free text."""
        return frozenset(alias for alias, name in self.names.items() if self._kinds[name] == "text")

    def cells(self, row: Row, aliases: Sequence[str]) -> tuple[Cell, ...]:
        """The row's cells under these aliases, as values; None where a cell is missing."""
        cells = dict(row.inputs)
        asked = [self.arguments[alias] for alias in aliases]
        return tuple(cell_value(cells.get(each.name), each.type) for each in asked)


def cell_value(cell: str | None, type_: Type) -> Cell:
    """The value of a cell. One that does not fit its column's type stays text."""
    if cell is None or type_ in ("text", "prose") or not is_number(cell):
        return cell
    return int(cell) if is_integer(cell) else float(cell)


def _type(kind: str, present: Sequence[str]) -> Type:
    """A category of numbers, such as 0 and 1, is numbers: rules compare it with numbers."""
    if kind == "text":
        return "prose"
    # The cells of a column of numbers, up to 100,000 different ones, need no second look.
    holds_numbers = kind == "number" or (bool(present) and all(map(is_number, present)) and not are_codes(present))
    return "number" if holds_numbers else "text"


@lru_cache(maxsize=4096)
def _identifier(name: str) -> str:
    # Python reads names in this form of Unicode.
    characters = unicodedata.normalize("NFKC", name)
    words = "".join(each if f"a{each}".isidentifier() else " " for each in characters).split()
    word = "_".join(words).strip("_") or "column"
    return word if word.isidentifier() else f"_{word}"


def _alias(name: str, taken: set[str]) -> str:
    """An identifier like the name, which no other column has."""
    word = _identifier(name)
    if keyword.iskeyword(word) or word in RESERVED:
        word += "_"
    alias, n = word, 2
    while alias in taken:
        alias, n = f"{word}_{n}", n + 1
    return alias
