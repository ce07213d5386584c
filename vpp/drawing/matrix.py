"""The disagreement matrix (test rows x particles: faint = with the majority, full = dissent), and a row opened."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median

from vpp.data.dataset import Row
from vpp.events import Evaluated
from vpp.findings.points import Camp, Point, camps
from vpp.findings.programs import ProgramReading, branch_of
from vpp.findings.slots import grouped
from vpp.posterior.prediction import Value
from vpp.problem import Prediction
from vpp.runs.view import RunView
from vpp.show import markup
from vpp.show.deck import without_seed
from vpp.show.markup import CUE, aligned, badge, is_reworded, is_rewritten, scrolling, term, text, votes
from vpp.show.words import NBSP, counted, integer, listed, number, percent, target_text, value_text, weight_text
from vpp.wording.verdicts import possible_words, range_words, reason_words

MOST_INPUTS = 6
LONG = 80
"""Characters from which a cell counts as a text that is read, not looked up."""
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
    columns: tuple[Camp, ...]
    labels: tuple[str, ...]
    """Labels, shown as their `codes`; empty for numbers."""
    voting: str = "weighted"
    """`weighted` or `unweighted`; empty for a single particle."""
    unit: float = 0.0
    """Usual distance from the mean in the target's unit, for numbers."""
    decimals: int | None = None
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
        cells = "".join(self._cell(point, point.votes[column.slots[0]], signs) for column in self.columns)
        truth, row = text(self._number(point.row.target)), point.row.id
        open_row, inside = self.opened or (None, "")
        is_open, width = row == open_row, len(self.columns) + 4
        under = f'<tr class="under" data-under="under {row}"><td colspan="{width}"><div>{inside}</div></td></tr>'
        mark = badge("rej", "vote wrong") if point.is_wrong else ""
        mark = badge("uns", "undecided") if point.is_undecided else mark
        number = (
            f'<button type="button" class="row" data-row="{row}" aria-expanded="{str(is_open).lower()}" '
            f'aria-label="Row {row}">{row}</button>'
        )
        return (
            f'<tr data-row="{row}"{" class=now" if is_open else ""}><th class="id" scope="row">{number}</th>'
            f'<td class="in" title="{text(inputs_line(point.row, len(point.row.inputs)))}">'
            f"{text(inputs_line(point.row))}</td>{cells}"
            f'<td class="tail">{vote_html(point, self.decimals)}</td>'
            f'<td class="id truth" title="{truth}">{truth} {mark}</td></tr>'
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

    def _number(self, value: Value | None) -> str:
        if value is None:
            return "none"
        return target_text(value, self.decimals) if isinstance(value, float) else str(value)


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


# One row opened: its inputs, the vote, rival sentences side by side, and each particle’s answer


Reasons = Mapping[tuple[str, int], Prediction]
MOST_CAMPS = 4
MOST_NAMED = 6
MOST_PICKED = 14
"""Rows in dispute with a button; the table of rows has all of them."""
TABLE = "rows"
"""Id of the heading above the table of rows, on the page."""
ASK = "Label inputs like this"
ASK_TITLE = "This row’s own label stays held out. Below: inputs like it, and what their labels would tell."


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    test: Evaluated
    view: RunView
    columns: tuple[Camp, ...]
    """Particles with the same answers on every row, as `by_answers` groups them."""
    held: str
    """`weight`, `chains` or `hypotheses`: what a share of the vote is a share of."""
    decimals: int | None = None
    readings: Mapping[str, ProgramReading] = field(default_factory=dict)
    """How hypotheses are read, by id, if they may be programs."""

    def html(self, point: Point, reasons: Reasons | None = None, *, with_answers: bool = False) -> str:
        """Draw one row. reasons: of its answers, drawn by `with_answers`."""
        seed_text = self.view.seed_text
        sentences = [without_seed(self.view.texts[hypothesis], seed_text) for hypothesis in self.test.hypotheses]
        sides, row = camps(point, self.test.weights), point.row
        because = {side.speaker: self.branch_words(side.speaker, row.id) for side in sides}
        ask = f'<button type="button" class="ask" data-ask="{row.id}" title="{ASK_TITLE}">{ASK}</button>'
        if is_read(row):
            inputs = read_html(row)
        else:
            whole = text(inputs_line(row, len(row.inputs)))
            inputs = f'<p class="in" title="{whole}">{whole}</p>'
        return (
            f"{markup.heading(f'Row {row.id}', outcome(point, self.decimals))}{inputs}"
            f'<div class="voted">{vote_html(point, self.decimals)}{ask if len(sides) > 1 else ""}</div>'
            f"{contrast_html(sides, sentences, self.held, because)}"
            f"{self.answers_html(point, reasons) if with_answers and reasons is not None else ''}"
        )

    def branch_words(self, slot: int, row: int) -> str:
        """The branch of a particle's program that answered a row (id); empty if the learner read it itself."""
        reading, branch = self.readings.get(self.test.hypotheses[slot]), branch_of(self.test, slot, row)
        if reading is None or reading.program is None or branch is None:
            return ""
        return reading.program.words(branch)

    def answers_html(self, point: Point, reasons: Reasons) -> str:
        inputs = [(name, "missing" if cell is None else cell) for name, cell in point.row.inputs]
        head = ("particles", self.held, "answer", "reason")
        answers = markup.table(head, answer_rows(point, self, reasons), right=(1,))
        table = markup.table(("input", "value"), inputs)
        return f'<div class="opened">{table}<div class="answers">{answers}</div></div>'


def picks_html(rows: Sequence[Point], chosen: int) -> str:
    """Buttons that open the first rows in dispute. rows: all in dispute, most uncertain first."""
    buttons = "".join(
        f'<button type="button" data-pick="{point.row.id}" aria-pressed="{str(point.row.id == chosen).lower()}" '
        f'aria-label="Open row {point.row.id}">{point.row.id}</button>'
        for point in rows[:MOST_PICKED]
    )
    rest = f'<a href="#{TABLE}">all {integer(len(rows))} in the table below</a>' if len(rows) > MOST_PICKED else ""
    name = "Rows in dispute" if rows[0].is_label else "Widest spread: rows"
    return f'<p class="picks">{name} {buttons}{rest}</p>'


def is_read(row: Row) -> bool:
    return any(len(cell or "") >= LONG for _, cell in row.inputs)


def read_html(row: Row) -> str:
    cells = ((name, cell) for name, cell in row.inputs if cell is not None)
    read = "".join(f'<p class="read"><span class="cap">{text(name)}</span> {text(cell)}</p>' for name, cell in cells)
    return markup.scrolling(read, f"Texts of row {row.id}", "reading")


def vote_html(point: Point, decimals: int | None) -> str:
    if point.is_label:
        return votes(point.shares, point.abstained)
    if words := mean_and_range(point.prediction, point.interval, decimals):
        return f'<span class="num">{text(words[0])}</span> <span class="cap">{text(words[1])}</span>'
    return markup.caption("No readable answer.")


def outcome(point: Point, decimals: int | None = None) -> str:
    """The vote or the mean beside the truth. decimals: of the training targets."""
    truth = value_text(point.row.target)
    if point.is_label:
        return f"true: {truth} · {_voted(point)}"
    if isinstance(point.prediction, float) and isinstance(point.row.target, float):
        off = number(abs(point.prediction - point.row.target))
        possible = f" · possible: {range_words(point, decimals)}" if point.reject.conformal else ""
        return f"true: {truth} · mean: {target_text(point.prediction, decimals)}, off by {off}{possible}"
    return f"true: {truth} · nobody answered"


def _voted(point: Point) -> str:
    if point.decision is not None:
        return f"vote: {point.decision} · {'right' if point.is_right else 'wrong'}"
    if point.reject.conformal:
        return f"undecided: {possible_words(point)}"
    if point.leader is not None:
        return f"undecided: {point.leader} leads with {percent(point.confidence or 0.0)} of the answers"
    return "undecided: a tie" if point.shares else "undecided: nobody answered"


def answer_rows(point: Point, of: Opened, reasons: Reasons) -> list[tuple[str, str, str, str]]:
    """An entry for each answer and reason, camp by camp; of particles that answer all rows alike, the first one's."""
    sides = camps(point, of.test.weights)
    place = {slot: side for side, camp in enumerate(sides) for slot in camp.slots}
    ordered = sorted(of.columns, key=lambda alike: place.get(alike.speaker, len(sides)))
    said = grouped((_said(point, alike.speaker, of, reasons), alike) for alike in ordered)
    rows = []
    for (answer, reason), alike in said.items():
        slots, weight = [slot for each in alike for slot in each.slots], math.fsum(each.weight for each in alike)
        share = weight_text(min(weight, 1.0)) if of.held == "weight" else str(len(slots))
        rows.append((_named(slots), share, answer, reason))
    return rows


def _said(point: Point, slot: int, of: Opened, reasons: Reasons) -> tuple[str, str]:
    vote, prediction = point.votes[slot], reasons.get((of.test.hypotheses[slot], point.row.id))
    reason = reason_words(prediction) if prediction else of.branch_words(slot, point.row.id)
    return "no readable answer" if vote is None else value_text(vote), reason


def _named(slots: Sequence[int]) -> str:
    """`0`, `0 and 2 (×2)`, `0, 1, 2, 3, 4, 5 and 9 more (×15)`."""
    named = listed(slots, most=MOST_NAMED)
    return f"{named} (×{len(slots)})" if len(slots) > 1 else named


# Rival sentences


def contrast_html(sides: Sequence[Camp], sentences: Sequence[str], held: str, because: Mapping[int, str]) -> str:
    """The heaviest hypothesis of each camp side by side; the words on which it and the first one's differ are marked.

    sentences: by slot, without the seed sentence. held: what a share is a share of. because: by slot, the branch of a
    program that answered.
    """
    if not sides:
        return _alone("Nobody answered: there is nothing to contrast.")
    first, *others = sides
    said = sentences[first.speaker]
    if not others:
        words = f"All that answered agree. The heaviest, particle {first.speaker}, says:"
        return _alone(words, markup.hypothesis(said) + _branch(first, because))
    marked_first, _, _ = lit(said, sentences[others[0].speaker])
    shown = [_camp(first, marked_first, held, _branch(first, because))]
    for camp in others[:MOST_CAMPS]:
        _, marked, note = lit(said, sentences[camp.speaker])
        shown.append(_camp(camp, marked, held, _branch(camp, because) + (markup.caption(note) if note else "")))
    rivals, lighter = shown[:2], shown[2:]
    more = len(others) - MOST_CAMPS
    rest = markup.caption(f"And {counted(more, 'camp')} more.") if more > 0 else ""
    title = f"{counted(len(others) - 1, 'lighter camp')}"
    folded = f"<details><summary>{title}</summary>{''.join(lighter)}{rest}</details>" if lighter else ""
    return f'<div class="camps">{"".join(rivals)}</div>{folded}'


def lit(one: str, other: str) -> tuple[str, str, str]:
    """Two sentences as HTML with the words marked that only one has, and a note if none are marked."""
    if one == other:
        return text(one), text(other), "The very same words: the learner read them in two ways."
    if is_rewritten(one, other):
        return text(one), text(other), "Fewer than half the words are shared: none are marked."
    runs, alike = aligned(one, other), is_reworded(one, other)
    note = "Only case, punctuation or synonyms differ: none are marked." if alike else ""
    return _lit((same, old) for same, old, _ in runs), _lit((same, new) for same, _, new in runs), note


def _lit(runs: Iterable[tuple[bool, str]]) -> str:
    """One text as HTML. runs: its words, and whether the other text has them too."""
    return " ".join(text(words) if same else f"<mark>{text(words)}</mark>" for same, words in runs if words)


def _branch(camp: Camp, because: Mapping[int, str]) -> str:
    words = because.get(camp.speaker)
    return f'<p class="cap">branch <code>{text(words)}</code></p>' if words else ""


def _alone(words: str, sentence: str = "") -> str:
    return f'<div class="camps">{markup.caption(words)}{sentence}</div>'


def _camp(camp: Camp, html: str, held: str, below: str) -> str:
    many, which = len(camp.slots), "first" if camp.is_even else "heaviest"
    whom = f"particle {camp.speaker}" + (f", the {which} of {many}" if many > 1 else "")
    share = f"{percent(min(camp.weight, 1.0))} of the {held}"
    head = f'<p class="camp"><b>{text(camp.name)}</b> {text(share)} · {whom.replace(" ", NBSP)}</p>'
    return f'<section class="side">{head}<p class="hyp">{html}</p>{below}</section>'
