"""Slices: how often a run is right by the values of any column, inputs or not, and the slice on which it does worst.

An answer to a number is right if its range holds the truth. A slice of numbers or dates is a quarter of the rows.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import quantiles
from typing import Any

import numpy as np

from vpp.data.columns import find_form, is_number
from vpp.data.dataset import Column
from vpp.findings.comparison import Candidate
from vpp.findings.points import Point, heaviest_first, holds_truth
from vpp.findings.rows import Rows, evaluated_rows
from vpp.findings.scores import grouped, same_answer
from vpp.posterior.metric import wilson
from vpp.show.blocks import Block, Heading, Note, Table
from vpp.show.words import ROW_OF, counted, cut, integer, interval_text, number, percent

LEAST = 5
"""Fewest answered rows of a slice that can be the worst."""
MOST_VALUES = 8
"""Values of a column with a slice each, the commonest; more numbers than that are cut into quarters."""
MOST_WORDS = 90
OTHER, MISSING = "other values", "missing"
Parts = Mapping[str, list[int]]
"""Places of rows by the name of their slice."""


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

    def interval(self, *, best_of: int = 1) -> tuple[float, float]:
        return wilson(self.n_right, self.n_answered, best_of=best_of)

    def interval_text(self, *, best_of: int = 1) -> str:
        return interval_text(self.n_right, self.n_answered, best_of=best_of)

    @property
    def right_words(self) -> str:
        return f"{integer(self.n_right)} of {integer(self.n_answered)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Slices:
    by_column: Mapping[str, tuple[Slice, ...]]
    """Columns with two slices or more."""
    rows: Rows
    n_answered: int
    n_right: int

    @property
    def candidates(self) -> list[Slice]:
        """Slices among which the worst is looked for."""
        return [each for column in self.by_column.values() for each in column if each.n_answered >= LEAST]

    @property
    def worst(self) -> Slice | None:
        """Slice whose corrected interval ends lowest below the share of all rows; if none does, the least share."""
        m, overall = len(self.candidates), self.n_right / max(1, self.n_answered)

        def order(each: Slice) -> tuple[float, float, int]:
            return min(each.interval(best_of=m)[1], overall), each.share, -each.n_answered

        return min(self.candidates, key=order, default=None)

    @property
    def stands_out(self) -> bool:
        """True if the worst slice is worse than all rows beyond chance, corrected for the slices looked at."""
        worst = self.worst
        return worst is not None and worst.interval(best_of=len(self.candidates))[1] < self.n_right / self.n_answered


def slices(rows: Rows) -> Slices:
    by_id = {point.row.id: point for point in rows.points}
    points = [by_id[row] for row in rows.test.rows]
    cells = [point.row.cells for point in points]
    columns = [column for column in rows.dataset.columns if column.name in cells[0]]
    parts = {column.name: parted(column, [each.get(column.name) for each in cells]) for column in columns}
    # (N, K) equal numbers for equal answers
    answers = [same_answer(vote) for point in points for vote in point.votes]
    codes = np.unique([repr(each) for each in answers], return_inverse=True)[1].reshape(len(points), -1)

    def made(column: str, name: str, places: list[int]) -> Slice:
        some = [points[at] for at in places]
        alike = grouped((codes[places, slot].tobytes(), slot) for slot in heaviest_first(rows.test.weights))
        weights = {slots[0]: sum(rows.test.weights[slot] for slot in slots) for slots in alike.values()}
        heaviest = max(weights, key=lambda slot: weights[slot])
        answered = [point for point in some if is_answered(point)]
        return Slice(
            column=column,
            name=name,
            n=len(some),
            n_answered=len(answered),
            n_right=sum(map(is_right, answered)),
            hypothesis=heaviest,
            weight=min(1.0, weights[heaviest]),
        )

    every = [point for point in points if is_answered(point)]
    return Slices(
        by_column={
            column: tuple(made(column, name, places) for name, places in each.items())
            for column, each in parts.items()
            if len(each) > 1
        },
        rows=rows,
        n_answered=len(every),
        n_right=sum(map(is_right, every)),
    )


def is_answered(point: Point) -> bool:
    return not point.is_undecided and point.prediction is not None


def is_right(point: Point) -> bool:
    return point.is_right if point.is_label else holds_truth(point)


def parted(column: Column, cells: Sequence[str | None]) -> Parts:
    """Return the places of the rows by slice: values, or quarters of more numbers and dates; a missing cell is one."""
    if column.kind in ("text", "sequence"):
        return {}
    present = [cell for cell in cells if cell is not None]
    keys: dict[str, float] = {}
    if len({*present}) > MOST_VALUES:
        if column.kind == "number":
            keys = {cell: float(cell) for cell in present if is_number(cell)}
        elif column.kind == "date" and (form := find_form(present)):
            keys = {cell: form.read(cell).timestamp() for cell in present}
    if keys:
        known = [keys[cell] for cell in present if cell in keys]
        edges = sorted({*quantiles(known, n=4, method="inclusive")})
        quarters = grouped((bisect_left(edges, keys[cell]), cell) for cell in present if cell in keys)
        names = {cell: _range_name(some, keys, column) for _, some in sorted(quarters.items()) for cell in some}
    else:
        common = Counter(present).most_common()
        most = MOST_VALUES if len(common) <= MOST_VALUES else MOST_VALUES - 1
        names = {cell: cell for cell, _ in common[:most]} | {cell: OTHER for cell, _ in common[most:]}
    places = grouped((MISSING if cell is None else names.get(cell, OTHER), at) for at, cell in enumerate(cells))
    order = [*dict.fromkeys(names.values()), OTHER, MISSING]
    return {name: places[name] for name in dict.fromkeys(order) if name in places}


def _range_name(cells: Sequence[str], keys: Mapping[str, float], column: Column) -> str:
    low, high = min(cells, key=keys.__getitem__), max(cells, key=keys.__getitem__)
    if column.kind == "number":
        low, high = number(keys[low]), number(keys[high])
    return low if low == high else f"{low} to {high}"


# In words


def worst_words(found: Slices) -> str:
    """`No slice stands out. The worst of 14: island = Biscoe, right on 12 of 20 (32 to 84 %, corrected for 14) …`"""
    worst, m = found.worst, len(found.candidates)
    if worst is None:
        return f"No column parts the rows into slices of at least {LEAST} answers."
    if found.n_right == found.n_answered:
        return f"No slice stands out: all {counted(found.n_answered, 'answer')} are right."
    lead = f"{'' if found.stands_out else 'No slice stands out. '}The worst of {counted(m, 'slice')}"
    right = "right on" if found.rows.dataset.classes else "the truth in the range on"
    every = percent(found.n_right / found.n_answered)
    corrected = f"{worst.interval_text(best_of=m)}, corrected for {integer(m)}"
    return f"{lead}: {worst.column} = {worst.name}, {right} {worst.right_words} ({corrected}). All rows: {every}."


def slices_title(found: Slices) -> str:
    """Return the title of a fold: `By column: the worst slice is island = Biscoe`."""
    worst = found.worst
    named = f"the worst slice is {worst.column} = {worst.name}" if worst and found.stands_out else "no slice stands out"
    return f"By column: {named}"


def slice_table(found: Slices, column: str) -> Iterator[Block]:
    """Yield the slices of a column, and their heaviest hypotheses if they differ."""
    rows, every = found.rows, found.by_column[column]
    differ = len({rows.texts[each.hypothesis] for each in every}) > 1
    head = (column, ROW_OF[rows.test.split] + "s", *_right_heads(rows), *(["heaviest hypothesis"] if differ else []))
    lines = []
    for each in every:
        words = f"{percent(each.weight)}: {cut(rows.texts[each.hypothesis], MOST_WORDS)}"
        lines.append((each.name, integer(each.n), *_right_cells(each), *([words] if differ else [])))
    yield Table(head=head, rows=lines, right=(1, 2, 3, 4), name=f"Slices by {column}")
    if not differ and len(rows.texts) > 1:
        yield Note("The same hypothesis is the heaviest in every slice.")


def _right_heads(rows: Rows) -> tuple[str, str, str]:
    right = "right where answered" if rows.dataset.classes else "truth in the range"
    return right, "95 % interval", "answered"


def _right_cells(each: Slice) -> tuple[str, str, str]:
    if not each.n_answered:
        return "–", "–", percent(0.0)
    right = f"{each.right_words}, {percent(each.share)}"
    return right, each.interval_text(), percent(each.n_answered / each.n)


def worst_by_column(found: Slices) -> Iterator[Block]:
    """Yield the worst slice in a sentence, and a line for the worst of each column."""
    yield Note(worst_words(found))
    own = [[each for each in column if each.n_answered >= LEAST] for column in found.by_column.values()]

    def order(each: Slice) -> tuple[float, float]:
        return each.share, each.n_answered / each.n

    if lowest := sorted((min(each, key=order) for each in own if each), key=order):
        head = ("column", "its lowest slice", ROW_OF[found.rows.test.split] + "s", *_right_heads(found.rows))
        lines = [(each.column, each.name, integer(each.n), *_right_cells(each)) for each in lowest]
        yield Table(head=head, rows=lines, right=(2, 3, 4, 5), name="Slices")


def slices_of_runs(runs: Mapping[str, Candidate], *, first: str) -> dict[str, Slices]:
    """Return the slices of runs that are evaluated on the same test rows, the first run's first. runs: by code."""
    order = sorted(runs, key=lambda code: code != first)
    rows = {code: evaluated_rows(runs[code].view, runs[code].config, runs[code].dataset) for code in order}
    return {code: slices(each) for code, each in rows.items() if each}


def side_by_side(found: Mapping[str, Slices], column: str) -> tuple[Block, ...]:
    """Return the slices of the first run's column, with the shares of every run on the same rows. found: by run."""
    first = next(iter(found.values()))
    by_id = [{point.row.id: point for point in each.rows.points} for each in found.values()]
    ids = first.rows.test.rows
    kept = next(each for each in first.rows.dataset.columns if each.name == column)
    parts = parted(kept, [by_id[0][row].row.cells.get(column) for row in ids])
    lines = []
    for name, places in parts.items():
        shares = []
        for run in by_id:
            answered = [run[ids[at]] for at in places if is_answered(run[ids[at]])]
            n_right = sum(map(is_right, answered))
            shares.append(f"{n_right} of {len(answered)}, {percent(n_right / len(answered))}" if answered else "–")
        lines.append((name, integer(len(places)), *shares))
    head = (column, "test rows", *(f"{run}: {_right_heads(first.rows)[0]}" for run in found))
    return Heading("Slices", column), Table(head=head, rows=lines, right=range(1, len(head)), name="Slices")


def slices_result(found: Slices) -> dict[str, Any]:
    """Return all slices in JSON types, and the worst with its corrected interval."""
    m = len(found.candidates)

    def record(each: Slice, best_of: int) -> dict[str, Any]:
        low, high = each.interval(best_of=best_of) if each.n_answered else (None, None)
        counts = {"rows": each.n, "answered": each.n_answered, "right": each.n_right, "low": low, "high": high}
        heaviest = {"hypothesis": found.rows.test.hypotheses[each.hypothesis], "weight": each.weight}
        return {"column": each.column, "slice": each.name, **counts, **heaviest}

    return {
        "looked_at": m,
        "stands_out": found.stands_out,
        "worst": record(found.worst, m) if found.worst else None,
        "all": [record(each, 1) for column in found.by_column.values() for each in column],
    }
