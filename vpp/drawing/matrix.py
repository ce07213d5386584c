"""The disagreement matrix (test rows x particles): faint = with the majority, full = dissent."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from vpp.data.dataset import Row
from vpp.inspection.points import Camp, Point
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
    signs = codes(labels)
    return ", ".join(f"{sign} = “{label}”" for label, sign in signs.items() if sign != label)


def usual_distance(points: Sequence[Point]) -> float:
    """Median distance of answers from the mean of their point, those at the mean left out; 0 if all are at it."""
    gaps = [gap for point in points for vote in point.votes if 0 < (gap := distance(vote, point)) < math.inf]
    return median(gaps) if gaps else 0.0


def distance(vote: Value | None, point: Point) -> float:
    """Distance of a number from its point's mean; 0 if either is missing."""
    if isinstance(vote, float) and isinstance(point.prediction, float):
        return abs(vote - point.prediction)
    return 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Matrix:
    """Style and columns of the matrix."""

    columns: tuple[Camp, ...]
    """Columns in order."""
    labels: tuple[str, ...]
    """Labels, shown as their `codes`; empty for numbers."""
    voting: str = "weighted"
    """`weighted` or `unweighted`; empty for a single particle."""
    unit: float = 0.0
    """Usual distance from the mean in the target's unit, for numbers."""
    decimals: int | None = None
    """Decimals of the training targets, for numbers."""
    opened: tuple[int, str] | None = None
    """Id of the open row, and the HTML under it."""

    def html(self, shown: Sequence[Point]) -> str:
        """Table with a row per point; rows open where pages/parts/pieces.py draws it with `on_open`."""
        peak = max((column.weight for column in self.columns), default=1) or 1
        columns = "".join(_head(column, peak, is_weighted=self.voting == "weighted") for column in self.columns)
        tail = f"{self.voting} vote".strip() if self.labels else "mean, 90 % of the particles"
        first = '<th scope="col">row</th><th scope="col">inputs</th>'
        head = f'{first}{columns}<th scope="col">{term(tail)}</th><th scope="col">true</th>'
        signs = codes(self.labels)
        body = "".join(self._line(point, signs) for point in shown)
        kind, size = "" if self.labels else " wide", len(self.columns)
        table = (
            f'<table class="mx{kind}" style="--n:{size}"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'
        )
        return CUE + scrolling(table, "Answers, point by point", "mx-wrap")

    def _line(self, point: Point, signs: Mapping[str, str]) -> str:
        numeric = not self.labels
        cells = "".join(self._cell(point, point.votes[column.slots[0]], signs) for column in self.columns)
        ending = self._spread(point) if numeric else votes(point.shares, point.abstained)
        mark = verdict_mark(point)
        truth = self._number(point.row.target) if numeric else str(point.row.target)
        whole = inputs_line(point.row, len(point.row.inputs))
        row, width = point.row.id, len(self.columns) + 4
        open_row, inside = self.opened or (None, "")
        is_open = row == open_row
        under = f'<tr class="under" data-under="under {row}"><td colspan="{width}"><div>{inside}</div></td></tr>'
        number = (
            f'<button type="button" class="row" data-row="{row}" aria-expanded="{str(is_open).lower()}" '
            f'aria-label="Row {row}">{row}</button>'
        )
        return (
            f'<tr data-row="{row}"{" class=now" if is_open else ""}><th class="id" scope="row">{number}</th>'
            f'<td class="in" title="{text(whole)}">'
            f"{text(inputs_line(point.row))}</td>{cells}"
            f'<td class="tail">{ending}</td><td class="id truth" title="{text(truth)}">{text(truth)} {mark}</td></tr>'
            f"{under if is_open else ''}"
        )

    def _cell(self, point: Point, vote: Value | None, signs: Mapping[str, str]) -> str:
        if vote is None:
            return '<td class="x ab"><span class="sr">no readable answer</span></td>'
        if not self.labels:
            # The further from the mean, the more ink.
            level = sum(distance(vote, point) > bound * self.unit for bound in SHADES) if self.unit else 0
            shade = ("", " d1", " d2", " di")[level]
            return f'<td class="x{shade}" title="{text(vote)}">{text(self._number(vote))}</td>'
        # No label leads at a tie: no particle dissents.
        dissent = " d1" if point.leader is None else " di" if vote != point.leader else ""
        return f'<td class="x{dissent}" title="{text(vote)}">{text(signs.get(str(vote), str(vote)))}</td>'

    def _spread(self, point: Point) -> str:
        shown = mean_and_range(point.prediction, point.interval, self.decimals)
        if shown is None:
            return '<span class="cap">no readable answer</span>'
        return f'<span class="num">{text(shown[0])}</span> <span class="cap">{text(shown[1])}</span>'

    def _number(self, value: Value | None) -> str:
        return (
            "none" if value is None else target_text(value, self.decimals) if isinstance(value, float) else str(value)
        )


def _head(column: Camp, peak: float, *, is_weighted: bool) -> str:
    """Column head: the weight as a bar, the particle's number, and how many particles share the column."""
    many = len(column.slots)
    whom = f"particle {column.slots[0]}" if many == 1 else f"particles {listed(sorted(column.slots))}"
    weight = f", weight {weight_text(column.weight)}" if is_weighted else ""
    count = f"<small>×{many}</small>" if many > 1 else ""
    return (
        f'<th class="col" scope="col"><span class="wb" style="--w:{column.weight / peak:.3f}"></span>'
        f'<abbr title="{whom}{weight}">{column.slots[0]}{count}</abbr></th>'
    )


def verdict_mark(point: Point) -> str:
    if point.is_undecided:
        return badge("uns", "undecided")
    return badge("rej", "vote wrong") if point.is_wrong else ""


def mean_and_range(
    prediction: Value | None, interval: tuple[float, float] | None, decimals: int | None
) -> tuple[str, str] | None:
    """Return `2.7` and `2 to 4`, the range of 90 % of the weight; None if no particle with weight answered."""
    if interval is None or not isinstance(prediction, float):
        return None
    mean, low, high = (target_text(value, decimals) for value in (prediction, *interval))
    return mean, f"{low} to {high}"


def inputs_line(row: Row, most: int = MOST_INPUTS) -> str:
    parts = [f"{name} {'missing' if cell is None else cell}" for name, cell in row.inputs[:most]]
    more = len(row.inputs) - most
    return ", ".join(parts) + (f", and {more} more" if more > 0 else "")
