"""The disagreement matrix (test rows x particles; light = with the majority, dark = dissent), and one row opened."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from vpp.data.dataset import Row
from vpp.drawing.deck import without_seed
from vpp.events import Evaluated
from vpp.inspection.camps import Camp, camps, heaviest_first
from vpp.inspection.points import Point
from vpp.posterior.prediction import Value
from vpp.problem import Prediction
from vpp.runs.view import RunView
from vpp.wording import markup
from vpp.wording.markup import CUE, badge, diff_html, is_rewritten, scrolling, term, text, votes
from vpp.wording.words import counted, listed, number, percent, target_text, value_text, weight_text

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
    """Legend of the signs; empty if they are the labels themselves."""
    signs = codes(labels)
    return ", ".join(f"{sign} = {label}" for label, sign in signs.items() if sign != label)


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
        columns = "".join(_head(column, peak) for column in self.columns)
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
        """A point's row, and under it, if it is open, its answers as wide as the page whatever the table's width."""
        numeric = not self.labels
        cells = "".join(self._cell(point, point.votes[column.slots[0]], signs) for column in self.columns)
        ending = self._spread(point) if numeric else votes(point.shares, point.abstained)
        wrong = badge("rej", "vote wrong") if point.is_wrong else ""
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
            f'<td class="tail">{ending}</td><td class="id truth" title="{text(truth)}">{text(truth)} {wrong}</td></tr>'
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
        dissent = " di" if vote != point.prediction else ""
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


def _head(column: Camp, peak: float) -> str:
    """Column head: the weight as a bar, the particle's number, and how many particles share the column."""
    many = len(column.slots)
    whom = f"particle {column.slots[0]}" if many == 1 else f"particles {listed(sorted(column.slots))}"
    count = f"<small>×{many}</small>" if many > 1 else ""
    return (
        f'<th class="col" scope="col"><span class="wb" style="--w:{column.weight / peak:.3f}"></span>'
        f'<abbr title="{whom}, weight {weight_text(column.weight)}">{column.slots[0]}{count}</abbr></th>'
    )


def mean_and_range(
    prediction: Value | None, interval: tuple[float, float] | None, decimals: int | None
) -> tuple[str, str] | None:
    """Return `2.7` and `2 to 4`, the range of 90 % of the weight; None if no particle with weight answered."""
    if interval is None or not isinstance(prediction, float):
        return None
    mean, low, high = (target_text(value, decimals) for value in (prediction, *interval))
    return mean, f"{low} to {high}"


def inputs_line(row: Row, most: int = MOST_INPUTS) -> str:
    """A row's first inputs in one line."""
    parts = [f"{name} {'missing' if cell is None else cell}" for name, cell in row.inputs[:most]]
    more = len(row.inputs) - most
    return ", ".join(parts) + (f", and {more} more" if more > 0 else "")


# A row opened

Reasons = Mapping[tuple[str, int], Prediction]
"""Learner's answers by hypothesis id and row id."""
ANSWERS = ("particle", "weight", "answer", "its reason")
MOST_CAMPS = 4
"""Camps contrasted with the first; a vote of many labels has many."""


def point_html(point: Point, test: Evaluated, reasons: Reasons, view: RunView, decimals: int | None) -> str:
    """Open row: its inputs, the camps' sentences, and each particle's answer and reason.

    decimals: of the training targets.
    """
    seed_text = view.started.seed_text if view.started else ""
    sentences = [without_seed(view.texts[hypothesis], seed_text) for hypothesis in test.hypotheses]
    sides = camps(point, test.weights)
    inputs = [(name, "missing" if cell is None else cell) for name, cell in point.row.inputs]
    answers = answer_rows(point, test, reasons, sides)
    return "".join(
        (
            markup.heading(f"Row {point.row.id}", outcome(point, decimals)),
            f'<div class="opened">{markup.table(("input", "value"), inputs)}{contrast_html(sides, sentences)}</div>',
            f'<div class="answers">{markup.table(ANSWERS, answers, right=(1,))}</div>',
        )
    )


def outcome(point: Point, decimals: int | None = None) -> str:
    """The vote or the mean beside the truth. decimals: of the training targets."""
    truth = value_text(point.row.target)
    if isinstance(point.row.target, str):
        voted = "nobody answered, which counts as wrong" if point.prediction is None else str(point.prediction)
        verdict = "" if point.prediction is None else ": wrong" if point.is_wrong else ": right"
        return f"true: {truth} · vote: {voted}{verdict}"
    if isinstance(point.prediction, float) and isinstance(point.row.target, float):
        off = number(abs(point.prediction - point.row.target))
        return f"true: {truth} · mean: {target_text(point.prediction, decimals)}, off by {off}"
    return f"true: {truth} · nobody answered"


def answer_rows(point: Point, test: Evaluated, reasons: Reasons, sides: Sequence[Camp]) -> list[tuple[str, ...]]:
    """A row a particle: camp by camp, within them heaviest first, then those without a voice."""
    in_camps = [slot for camp in sides for slot in camp.slots]
    rest = [slot for slot in heaviest_first(test.weights) if slot not in set(in_camps)]
    rows: list[tuple[str, ...]] = []
    for slot in (*in_camps, *rest):
        vote, prediction = point.votes[slot], reasons.get((test.hypotheses[slot], point.row.id))
        answer = "no readable answer" if vote is None else value_text(vote)
        why = (prediction.explanation or prediction.reason or "") if prediction else ""
        rows.append((str(slot), weight_text(test.weights[slot]), answer, why))
    return rows


def contrast_html(sides: Sequence[Camp], sentences: Sequence[str]) -> str:
    """The heaviest hypothesis of the first camp, and of each other camp its heaviest, word by word against that.

    sentences: by slot, without the seed sentence.
    """
    if not sides:
        return _alone("Nobody with weight answered: there is nothing to contrast.")
    first, *others = sides
    if not others:
        return _alone(
            f"All voices answer alike. The heaviest, particle {first.speaker}, says:",
            markup.hypothesis(sentences[first.speaker]),
        )
    sentence_of_first = sentences[first.speaker]
    shown = "".join(_other(camp, sentence_of_first, sentences[camp.speaker]) for camp in others[:MOST_CAMPS])
    more = len(others) - MOST_CAMPS
    rest = markup.caption(f"And {counted(more, 'lighter camp')} more.") if more > 0 else ""
    return f'<div class="camps">{_camp(first, markup.hypothesis(sentence_of_first))}{shown}{rest}</div>'


def _alone(words: str, sentence: str = "") -> str:
    return f'<div class="camps">{markup.caption(words)}{sentence}</div>'


def _camp(camp: Camp, html: str, note: str = "") -> str:
    many = len(camp.slots)
    place = "the first of {} of equal weight" if camp.is_even else "the heaviest of {}"
    whom = f"particle {camp.speaker}" + (f", {place.format(many)}" if many > 1 else "")
    head = f'<p class="camp"><b>{text(camp.name)}</b> {text(percent(min(camp.weight, 1.0)))} of the weight · {whom}</p>'
    return f"<section>{head}{html}{markup.caption(note) if note else ''}</section>"


def _other(camp: Camp, first: str, sentence: str) -> str:
    if sentence == first:
        return _camp(camp, markup.hypothesis(sentence), "The very same words: the learner read them in two ways.")
    if is_rewritten(first, sentence):
        return _camp(camp, markup.hypothesis(sentence), "Fewer than half the words are shared: shown as it is.")
    changed = f'<p class="hyp">{diff_html(first, sentence)}</p>'
    return _camp(camp, changed, "Underlined: only here. Struck: only in the first.")
