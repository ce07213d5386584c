"""The disagreement matrix: points x particles. Agreement is silent, dissent is ink."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from vpp.data.dataset import Row
from vpp.inspection.camps import Column
from vpp.inspection.points import Point
from vpp.posterior.prediction import Value
from vpp.wording.markup import CUE, badge, scrolling, term, text, votes
from vpp.wording.words import listed, target_text, weight_text

MOST_INPUTS = 6
SHADES = (1.5, 2.5, 4.0)
"""Distances from the mean at which a number is inked more, in usual distances."""


def codes(labels: Sequence[str]) -> dict[str, str]:
    """A short sign for each label: its first letters, as many as tell it from the others, or its number."""
    for length in (1, 2, 3):
        signs = [label[:length] for label in labels]
        if len(set(signs)) == len(labels):
            return dict(zip(labels, signs, strict=True))
    return {label: str(i) for i, label in enumerate(labels, start=1)}


def code_legend(labels: Sequence[str]) -> str:
    """What the signs stand for; empty where they are the labels themselves."""
    found = codes(labels)
    return ", ".join(f"{sign} = {label}" for label, sign in found.items() if sign != label)


def usual_distance(found: Sequence[Point]) -> float:
    """Median distance of answers from the mean of their point, those at the mean left out; 0 where all are there."""
    gaps = [gap for point in found for vote in point.votes if 0 < (gap := distance(vote, point)) < math.inf]
    return median(gaps) if gaps else 0.0


def distance(vote: Value | None, point: Point) -> float:
    """Of a number from its point's mean; 0 where one of the two is none."""
    if isinstance(vote, float) and isinstance(point.prediction, float):
        return abs(vote - point.prediction)
    return 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Matrix:
    """How points are drawn."""

    columns: tuple[Column, ...]
    """From the left."""
    labels: tuple[str, ...]
    """Written as their `codes`; none means numbers."""
    voting: str = "weighted"
    """How particles count, `weighted` or `unweighted`; empty where there is one."""
    unit: float = 0.0
    """For numbers, the usual distance from the mean, in the target's unit."""
    decimals: int | None = None
    """For numbers, those of the training targets."""
    opened: tuple[int, str] | None = None
    """Id of the row that is open, and what stands under it, as HTML."""

    def html(self, shown: Sequence[Point]) -> str:
        """A row a point; it is opened where pages/parts/pieces.py draws it with `rows_to_open`."""
        peak = max((column.weight for column in self.columns), default=1) or 1
        columns = "".join(_head(column, peak) for column in self.columns)
        tail = f"{self.voting} vote".strip() if self.labels else "mean, 90 % of the particles"
        first = '<th scope="col">row</th><th scope="col">inputs</th>'
        head = f'{first}{columns}<th scope="col">{term(tail)}</th><th scope="col">true</th>'
        signs = codes(self.labels)
        body = "".join(self._line(point, signs) + self._under(point) for point in shown)
        kind, size = "" if self.labels else " wide", len(self.columns)
        table = (
            f'<table class="mx{kind}" style="--n:{size}"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'
        )
        return CUE + scrolling(table, "Answers, point by point", "mx-wrap")

    def _under(self, point: Point) -> str:
        """The open row's answers, as wide as the page whatever the table's width."""
        if not self._is_open(point) or self.opened is None:
            return ""
        width, inside = len(self.columns) + 4, self.opened[1]
        return (
            f'<tr class="under" data-under="under {point.row.id}"><td colspan="{width}"><div>{inside}</div></td></tr>'
        )

    def _is_open(self, point: Point) -> bool:
        return self.opened is not None and self.opened[0] == point.row.id

    def _line(self, point: Point, signs: Mapping[str, str]) -> str:
        numeric = not self.labels
        cells = "".join(self._cell(point, point.votes[column.slots[0]], signs) for column in self.columns)
        ending = self._spread(point) if numeric else votes(point.shares, point.abstained)
        wrong = badge("rej", "vote wrong") if point.is_wrong else ""
        truth = self._number(point.row.target) if numeric else str(point.row.target)
        whole = inputs_line(point.row, len(point.row.inputs))
        row, is_open = point.row.id, self._is_open(point)
        number = (
            f'<button type="button" class="row" data-row="{row}" aria-expanded="{str(is_open).lower()}" '
            f'aria-label="Row {row}">{row}</button>'
        )
        return (
            f'<tr data-row="{row}"{" class=now" if is_open else ""}><th class="id" scope="row">{number}</th>'
            f'<td class="in" title="{text(whole)}">'
            f"{text(inputs_line(point.row))}</td>{cells}"
            f'<td class="tail">{ending}</td><td class="id truth" title="{text(truth)}">{text(truth)} {wrong}</td></tr>'
        )

    def _cell(self, point: Point, vote: Value | None, signs: Mapping[str, str]) -> str:
        if vote is None:
            return '<td class="x ab"><span class="sr">no readable answer</span></td>'
        if not self.labels:
            return f'<td class="x{self._shade(point, vote)}" title="{text(vote)}">{text(self._number(vote))}</td>'
        dissent = " di" if vote != point.prediction else ""
        return f'<td class="x{dissent}" title="{text(vote)}">{text(signs.get(str(vote), str(vote)))}</td>'

    def _shade(self, point: Point, vote: Value) -> str:
        """More ink the further off."""
        off = distance(vote, point)
        level = sum(off > bound * self.unit for bound in SHADES) if self.unit else 0
        return ("", " d1", " d2", " di")[level]

    def _spread(self, point: Point) -> str:
        if point.interval is None:
            return '<span class="cap">no readable answer</span>'
        mean, low, high = (text(self._number(value)) for value in (point.prediction, *point.interval))
        return f'<span class="num">{mean}</span> <span class="cap">{low} to {high}</span>'

    def _number(self, value: Value | None) -> str:
        return (
            "none" if value is None else target_text(value, self.decimals) if isinstance(value, float) else str(value)
        )


def _head(column: Column, peak: float) -> str:
    """The weight as a bar over the particle's number; how many share the column, where they do."""
    many = len(column.slots)
    whom = f"particle {column.slots[0]}" if many == 1 else f"particles {listed(sorted(column.slots))}"
    count = f"<small>×{many}</small>" if many > 1 else ""
    return (
        f'<th class="col" scope="col"><span class="wb" style="--w:{column.weight / peak:.3f}"></span>'
        f'<abbr title="{whom}, weight {weight_text(column.weight)}">{column.slots[0]}{count}</abbr></th>'
    )


def inputs_line(row: Row, most: int = MOST_INPUTS) -> str:
    """A row's inputs in one line; all of them where they are few."""
    parts = [f"{name} {'missing' if cell is None else cell}" for name, cell in row.inputs[:most]]
    more = len(row.inputs) - most
    return ", ".join(parts) + (f", and {more} more" if more > 0 else "")
