"""Inputs to ask about next: rows that came without a target, or rows made up within the range of the training rows."""

from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from dataclasses import replace
from decimal import Decimal
from itertools import islice
from typing import Literal

import numpy as np

from vpp.data.dataset import Dataset, Row
from vpp.data.kinds import is_number

CANDIDATES = 104
"""Purpose number of the draw of candidates: SeedSequence(seed, spawn_key=(CANDIDATES, draw))."""
TRIES = 20
"""Rows made up at most for one that is wanted: those that are labelled already, or made up before, are dropped."""
MOST_DECIMALS = 8
"""Numbers with more digits before or after the point are not drawn anew but taken over as they were seen."""

Source = Literal["unlabelled", "made up"]
Cell = str | None
Key = tuple[Cell | float, ...]
_Draw = Callable[[np.random.Generator], Cell]


def candidate_rows(dataset: Dataset, *, source: Source, n: int, seed: int, draw: int = 0) -> tuple[Row, ...]:
    """At most `n` rows without a target, none with the inputs of a labelled row, no two alike, by id.

    source: rows of the file that have no target, with their own ids; or rows made up, with ids that go on after all
    others. draw: another number gives other rows. Fewer come where there are no more.
    """
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(CANDIDATES, draw)))
    known = {input_key(row) for row in (*dataset.train, *dataset.test)}
    if source == "made up":
        return _made_up(dataset, n, rng, known)
    order = rng.permutation(len(dataset.unlabelled))
    rows = islice(_unlike((dataset.unlabelled[i] for i in order), known), n)
    return tuple(sorted(rows, key=lambda row: row.id))


def input_key(row: Row) -> Key:
    """Equal for rows of the same inputs: numbers by their value, other cells by their text."""
    return tuple(float(cell) if cell is not None and is_number(cell) else cell for _, cell in row.inputs)


def _made_up(dataset: Dataset, n: int, rng: np.random.Generator, known: Set[Key]) -> tuple[Row, ...]:
    """Every cell drawn by itself, so that cells may stand together that never could."""
    columns = [(name, _cells_like(column)) for name, column in _columns(dataset)]
    first = dataset.next_id
    drawn = (
        Row(id=first, inputs=tuple((name, cell(rng)) for name, cell in columns), target=None) for _ in range(TRIES * n)
    )
    rows = islice(_unlike(drawn, known), n)
    return tuple(replace(row, id=first + i) for i, row in enumerate(rows))


def _unlike(rows: Iterable[Row], known: Set[Key]) -> Iterator[Row]:
    """Those whose inputs are not known, and not those of an earlier one."""
    seen = set(known)
    for row in rows:
        key = input_key(row)
        if key not in seen:
            seen.add(key)
            yield row


def _columns(dataset: Dataset) -> Iterator[tuple[str, list[str]]]:
    """(Name, cells of the training rows that are not missing) of each input."""
    for place, name in enumerate(dataset.inputs):
        cells = [row.inputs[place][1] for row in dataset.train]
        yield name, [cell for cell in cells if cell is not None]


def _cells_like(seen: Sequence[str]) -> _Draw:
    """How a cell is drawn: a number of the range seen, with as many decimals; any other as it was seen."""
    if not seen:
        return lambda rng: None
    if not all(map(_is_plain, seen)):
        distinct = list(dict.fromkeys(seen))
        return lambda rng: distinct[int(rng.integers(len(distinct)))]
    decimals = max(map(_decimals, seen))
    low, high = min(map(Decimal, seen)), max(map(Decimal, seen))
    steps = int((high - low).scaleb(decimals))
    return lambda rng: f"{low + Decimal(int(rng.integers(steps + 1))).scaleb(-decimals):.{decimals}f}"


def _is_plain(cell: str) -> bool:
    """Whether it is a number of a usual size."""
    if not is_number(cell):
        return False
    number = Decimal(cell)
    return _decimals(cell) <= MOST_DECIMALS and abs(number) < 10**MOST_DECIMALS


def _decimals(cell: str) -> int:
    """Digits after the point."""
    exponent = Decimal(cell).as_tuple().exponent
    return max(0, -exponent) if isinstance(exponent, int) else 0
