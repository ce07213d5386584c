"""Slices: how often a run is right by the values of any column, inputs or not, and the slice on which it does worst.

An answer to a number is right if its range holds the truth. A slice of many numbers or dates is a quarter of the rows.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import quantiles
from typing import Any

import numpy as np

from vpp.data.columns import date_forms, read_date
from vpp.data.dataset import Column
from vpp.data.numbers import is_number
from vpp.events import same_answer
from vpp.findings.points import grouped, heaviest_first, holds_truth
from vpp.findings.rows import Rows
from vpp.findings.verdict import Verdict
from vpp.posterior.metric import wilson
from vpp.show.blocks import Block, Note, Table
from vpp.show.words import ROW_OF, counted, cut, from_to, integer, interval_text, number, percent

LEAST = 5
MOST_VALUES = 8
"""Values of a column with a slice each, the commonest; more numbers than that are cut into quarters."""
MOST_WORDS = 90
OTHER, MISSING = "other values", "missing"


@dataclass(frozen=True, slots=True, kw_only=True)
class Slice:
    column: str
    name: str
    n: int
    n_answered: int
    n_right: int
    """Of those answered."""
    hypothesis: int
    """Slot of the heaviest hypothesis, those with equal answers to these rows counted as one."""
    weight: float

    @property
    def share(self) -> float:
        return self.n_right / self.n_answered

    @property
    def words(self) -> str:
        right = f"{integer(self.n_right)} of {integer(self.n_answered)}"
        return f"{right}, {percent(self.share)}" if self.n_answered else "–"

    @property
    def cells(self) -> tuple[str, ...]:
        interval = interval_text(self.n_right, self.n_answered) if self.n_answered else "–"
        return self.name, integer(self.n), self.words, interval, percent(self.n_answered / self.n)

    def record(self, rows: Rows, *, best_of: int = 1) -> dict[str, Any]:
        low, high = wilson(self.n_right, self.n_answered, best_of=best_of) if self.n_answered else (None, None)
        counts = {"rows": self.n, "answered": self.n_answered, "right": self.n_right, "low": low, "high": high}
        heaviest = {"hypothesis": rows.test.hypotheses[self.hypothesis], "weight": self.weight}
        return {"column": self.column, "slice": self.name, **counts, **heaviest}


@dataclass(frozen=True, slots=True, kw_only=True)
class Slices:
    by_column: Mapping[str, tuple[Slice, ...]]
    """Columns with two slices or more."""
    rows: Rows
    n_answered: int
    n_right: int

    @property
    def candidates(self) -> list[Slice]:
        return [each for column in self.by_column.values() for each in column if each.n_answered >= LEAST]

    @property
    def worst(self) -> Slice | None:
        """Slice whose corrected interval ends lowest below the share of all rows; if none does, the least share."""
        overall = self.n_right / max(1, self.n_answered)
        ends = {each: min(self._end(each), overall) for each in self.candidates}
        return min(ends, key=lambda each: (ends[each], each.share, -each.n_answered), default=None)

    @property
    def stands_out(self) -> bool:
        """True if the worst slice is worse than all rows beyond chance, corrected for the slices looked at."""
        return self.worst is not None and self._end(self.worst) < self.n_right / self.n_answered

    def _end(self, each: Slice) -> float:
        return wilson(each.n_right, each.n_answered, best_of=len(self.candidates))[1]


def slices(rows: Rows) -> Slices:
    by_id = {point.row.id: point for point in rows.points}
    points = [by_id[row] for row in rows.test.rows]
    answered = [not point.is_undecided and point.prediction is not None for point in points]
    is_right = [point.is_right if point.is_label else holds_truth(point) for point in points]
    right = [known and own for known, own in zip(answered, is_right, strict=True)]
    # (N, K) equal numbers for equal answers
    answers = [repr(same_answer(vote)) for point in points for vote in point.votes]
    codes = np.unique(answers, return_inverse=True)[1].reshape(len(points), -1)

    def made(column: str, name: str, places: list[int]) -> Slice:
        alike = grouped((codes[places, slot].tobytes(), slot) for slot in heaviest_first(rows.test.weights))
        weights = {slots[0]: sum(rows.test.weights[slot] for slot in slots) for slots in alike.values()}
        heaviest = max(weights, key=lambda slot: weights[slot])
        return Slice(
            column=column,
            name=name,
            n=len(places),
            n_answered=sum(answered[at] for at in places),
            n_right=sum(right[at] for at in places),
            hypothesis=heaviest,
            weight=min(1.0, weights[heaviest]),
        )

    cells = [point.row.cells for point in points]
    by_column = {}
    for column in rows.dataset.columns:
        parts = parted(column, [each.get(column.name) for each in cells]) if column.name in cells[0] else {}
        if len(parts) > 1:
            by_column[column.name] = tuple(made(column.name, *part) for part in parts.items())
    return Slices(by_column=by_column, rows=rows, n_answered=sum(answered), n_right=sum(right))


def parted(column: Column, cells: Sequence[str | None]) -> Mapping[str, list[int]]:
    """Return the places of the rows by slice: values, or quarters of more numbers and dates; a missing cell is one."""
    if column.kind == "text":
        return {}
    present = [cell for cell in cells if cell is not None]
    keys: dict[str, float] = {}
    if len({*present}) > MOST_VALUES:
        if column.kind == "number":
            keys = {cell: float(cell) for cell in present if is_number(cell)}
        elif column.kind == "date" and (forms := date_forms(present)):
            keys = {cell: date.timestamp() for cell in present if (date := read_date(cell, forms[0]))}
    if keys:
        known = [keys[cell] for cell in present if cell in keys]
        edges = sorted({*quantiles(known, n=4, method="inclusive")})
        quarters = grouped((bisect_left(edges, keys[cell]), cell) for cell in present if cell in keys)
        names = {cell: _range_name(some, keys, column) for _, some in sorted(quarters.items()) for cell in some}
    else:
        common = [cell for cell, _ in Counter(present).most_common()]
        most = MOST_VALUES if len(common) <= MOST_VALUES else MOST_VALUES - 1
        names = {cell: cell for cell in common[:most]}
    places = grouped((MISSING if cell is None else names.get(cell, OTHER), at) for at, cell in enumerate(cells))
    return {name: places[name] for name in dict.fromkeys((*names.values(), OTHER, MISSING)) if name in places}


def _range_name(cells: Sequence[str], keys: Mapping[str, float], column: Column) -> str:
    ends = min(cells, key=keys.__getitem__), max(cells, key=keys.__getitem__)
    return from_to([number(keys[end]) for end in ends] if column.kind == "number" else ends)


# In words


def title(found: Slices, verdict: Verdict | None) -> str:
    """Return the title of a fold: `By column: the worst slice is island = Biscoe`. verdict: of a run that has ended."""
    if found.worst and found.stands_out:
        return f"By column: the worst slice is {found.worst.column} = {found.worst.name}"
    if found.n_right == found.n_answered:
        return f"By column: all {counted(found.n_answered, 'answer')} are right" if found.n_answered else "By column"
    if verdict and verdict.grade in ("worse", "nothing"):
        return "By column: the mistakes are spread over all values"
    right = "right" if found.rows.dataset.classes else "in range"
    return f"By column: {percent(found.n_right / found.n_answered)} {right} overall, no value clearly worse"


def worst_words(found: Slices) -> str:
    """`All rows: 95 %. The worst of 14 slices: island = Biscoe, right on 12 of 20 (32 % to 84 %, corrected for 14).`"""
    worst, m = found.worst, len(found.candidates)
    if worst is None:
        return f"No column parts the rows into slices of at least {LEAST} answers."
    if found.n_right == found.n_answered:
        return f"No slice stands out: all {counted(found.n_answered, 'answer')} are right."
    lead = (
        f"All rows: {percent(found.n_right / found.n_answered)}.{'' if found.stands_out else ' No slice stands out.'}"
    )
    right = "right on" if found.rows.dataset.classes else "the truth in the range on"
    share = f"{integer(worst.n_right)} of {integer(worst.n_answered)}"
    corrected = f"{interval_text(worst.n_right, worst.n_answered, best_of=m)}, corrected for {integer(m)}"
    return f"{lead} The worst of {counted(m, 'slice')}: {worst.column} = {worst.name}, {right} {share} ({corrected})."


def _heads(rows: Rows) -> tuple[str, ...]:
    right = "right where answered" if rows.dataset.classes else "truth in the range"
    return f"{ROW_OF[rows.test.split]}s", right, "95 % interval", "answered"


def slice_table(found: Slices, column: str) -> Iterator[Block]:
    """Yield the slices of a column, with their heaviest hypotheses if they differ."""
    texts, every = found.rows.texts, found.by_column[column]
    heads, lines = (column, *_heads(found.rows)), [each.cells for each in every]
    if len({texts[each.hypothesis] for each in every}) > 1:
        heads = (*heads, "heaviest hypothesis")
        words = [f"{percent(each.weight)}: {cut(texts[each.hypothesis], MOST_WORDS)}" for each in every]
        lines = [(*line, own) for line, own in zip(lines, words, strict=True)]
    elif len(texts) > 1:
        yield Note("The same hypothesis is the heaviest in every slice.")
    yield Table(head=heads, rows=lines, right=(1, 2, 3, 4), name=f"Slices by {column}")


def worst_by_column(found: Slices) -> Iterator[Block]:
    """Yield the worst slice in a sentence, and a line for the lowest of each column; nothing without slices."""
    if not found.by_column:
        return
    yield Note(worst_words(found))
    lowest: dict[str, Slice] = {}
    for each in sorted(found.candidates, key=lambda one: (one.share, one.n_answered / one.n)):
        lowest.setdefault(each.column, each)
    lines = [(column, *each.cells) for column, each in lowest.items()]
    yield Table(head=("column", "its lowest slice", *_heads(found.rows)), rows=lines, right=(2, 3, 4, 5), name="Slices")


def side_by_side(found: Mapping[str, Slices], column: str) -> Table:
    """Return the slices of a column with the right answers of each run on the same rows. found: by code."""
    first = next(iter(found.values()))
    own = [{each.name: each for each in of_run.by_column.get(column, ())} for of_run in found.values()]
    head = (column, "test rows", *(f"{code}: {_heads(first.rows)[1]}" for code in found))
    lines = [
        (each.name, integer(each.n), *(run[each.name].words if each.name in run else "–" for run in own))
        for each in first.by_column[column]
    ]
    return Table(head=head, rows=lines, right=range(1, len(head)), name=f"Slices by {column}")


def slices_result(found: Slices) -> dict[str, Any]:
    """Return all slices in JSON types, and the worst with its corrected interval."""
    m, worst, every = len(found.candidates), found.worst, found.by_column.values()
    return {
        "looked_at": m,
        "stands_out": found.stands_out,
        "worst": worst.record(found.rows, best_of=m) if worst else None,
        "all": [each.record(found.rows) for column in every for each in column],
    }
