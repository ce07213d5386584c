"""One test row opened: its inputs, the vote, rival sentences side by side, and each particle's answer."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from vpp.data.dataset import Row
from vpp.drawing.deck import without_seed
from vpp.drawing.matrix import inputs_line, mean_and_range
from vpp.events import Evaluated
from vpp.inspection.points import Camp, Point, camps
from vpp.inspection.quoted import LONG, invented, quotes, runs
from vpp.inspection.slots import grouped
from vpp.problem import Prediction
from vpp.runs.view import RunView
from vpp.wording import markup
from vpp.wording.doubt import possible_words, range_words, reason_words
from vpp.wording.markup import aligned, is_reworded, is_rewritten, text, votes
from vpp.wording.words import NBSP, counted, integer, listed, number, percent, target_text, value_text, weight_text

Reasons = Mapping[tuple[str, int], Prediction]
"""Learner's answers by hypothesis id and row id."""
MOST_CAMPS = 4
"""Camps contrasted with the first; a vote of many labels has many."""
MOST_NAMED = 6
"""Particles named; the others are counted."""
MOST_PICKED = 14
"""Rows in dispute with a button; the table of rows has all of them."""
TABLE = "rows"
"""Id of the heading above the table of rows, on the page."""
ASK = "Label inputs like this"
ASK_TITLE = "This row’s own label stays held out. Below: inputs like it, and what their labels would tell."


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """The evaluation, view and columns that draw any open row of a run."""

    test: Evaluated
    view: RunView
    columns: tuple[Camp, ...]
    """Particles with the same answers on every row, as `by_answers` groups them."""
    held: str
    """`weight`, `chains` or `hypotheses`: what a share of the vote is a share of."""
    decimals: int | None = None
    """Decimals of the training targets, for numbers."""

    def html(self, point: Point, reasons: Reasons | None = None, *, with_answers: bool = False) -> str:
        """Draw one row. reasons: words that they quote are marked in the row's texts; with_answers draws them too."""
        seed_text = self.view.started.seed_text if self.view.started else ""
        sentences = [without_seed(self.view.texts[hypothesis], seed_text) for hypothesis in self.test.hypotheses]
        sides, row = camps(point, self.test.weights), point.row
        ask = _ask(row.id) if len(sides) > 1 else ""
        return "".join(
            (
                markup.heading(f"Row {row.id}", outcome(point, self.decimals)),
                _inputs(point.row, self._quoted(point, reasons or {})),
                f'<div class="voted">{vote_html(point, self.decimals)}{ask}</div>',
                contrast_html(sides, sentences, self.held),
                self.answers_html(point, reasons) if with_answers and reasons is not None else "",
            )
        )

    def _quoted(self, point: Point, reasons: Reasons) -> list[str]:
        said = (reasons.get((hypothesis, point.row.id)) for hypothesis in dict.fromkeys(self.test.hypotheses))
        return quotes(prediction.explanation for prediction in said if prediction)

    def answers_html(self, point: Point, reasons: Reasons) -> str:
        inputs = [(name, "missing" if cell is None else cell) for name, cell in point.row.inputs]
        head = ("particles", self.held, "answer", "reason")
        answers = markup.table(head, answer_rows(point, self, reasons), right=(1,))
        return (
            f'<div class="opened">{markup.table(("input", "value"), inputs)}<div class="answers">{answers}</div></div>'
        )


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


def _inputs(row: Row, quoted: Sequence[str]) -> str:
    """The row's inputs: in one line, or each text on its own with the quoted words marked."""
    if not is_read(row):
        whole = text(inputs_line(row, len(row.inputs)))
        return f'<p class="in" title="{whole}">{whole}</p>'
    return read_html(row, quoted)


def read_html(row: Row, quoted: Sequence[str]) -> str:
    cells = [(name, cell) for name, cell in row.inputs if cell is not None]
    read = "".join(
        f'<p class="read"><span class="cap">{text(name)}</span> {_marked(cell, quoted)}</p>' for name, cell in cells
    )
    strange = invented([cell for _, cell in cells], quoted)
    made_up = listed([f"“{words}”" for words in strange[:MOST_NAMED]])
    where = "Marked: words that a particle quotes as its reason." if len(strange) < len(quoted) else ""
    notes = " ".join(filter(None, (where, f"Quoted, but not in the row: {made_up}." if strange else "")))
    return markup.scrolling(read, f"Texts of row {row.id}", "reading") + (markup.caption(notes) if notes else "")


def _marked(cell: str, quoted: Sequence[str]) -> str:
    parts = runs(cell, quoted)
    return "".join(f"<mark>{text(part.text)}</mark>" if part.is_quoted else text(part.text) for part in parts)


def _ask(row: int) -> str:
    return f'<button type="button" class="ask" data-ask="{row}" title="{ASK_TITLE}">{ASK}</button>'


def vote_html(point: Point, decimals: int | None) -> str:
    if point.is_label:
        return votes(point.shares, point.abstained)
    shown = mean_and_range(point.prediction, point.interval, decimals)
    if shown is None:
        return markup.caption("No readable answer.")
    return f'<span class="num">{text(shown[0])}</span> <span class="cap">{text(shown[1])}</span>'


def outcome(point: Point, decimals: int | None = None) -> str:
    """The vote or the mean beside the truth. decimals: of the training targets."""
    truth = value_text(point.row.target)
    if point.is_label:
        return f"true: {truth} · {_voted(point)}"
    if isinstance(point.prediction, float) and isinstance(point.row.target, float):
        off = number(abs(point.prediction - point.row.target))
        possible = f" · possible: {range_words(point, decimals)}" if point.calibrated else ""
        return f"true: {truth} · mean: {target_text(point.prediction, decimals)}, off by {off}{possible}"
    return f"true: {truth} · nobody answered"


def _voted(point: Point) -> str:
    if point.decision is not None:
        return f"vote: {point.decision} · {'right' if point.is_right else 'wrong'}"
    if point.calibrated:
        return f"undecided: {possible_words(point)}"
    if point.leader is not None:
        return f"undecided: {point.leader} leads with {percent(point.confidence or 0.0)} of the answers"
    return "undecided: a tie" if point.shares else "undecided: nobody answered"


def answer_rows(point: Point, of: Opened, reasons: Reasons) -> list[tuple[str, ...]]:
    """An entry for each answer and reason, camp by camp; of particles that answer all rows alike, the first one's."""
    sides = camps(point, of.test.weights)
    place = {slot: side for side, camp in enumerate(sides) for slot in camp.slots}
    ordered = sorted(of.columns, key=lambda alike: place.get(alike.speaker, len(sides)))
    said = grouped((_said(point, alike.speaker, of, reasons), alike) for alike in ordered)
    return [_entry(answer, reason, alike, of.held) for (answer, reason), alike in said.items()]


def _said(point: Point, slot: int, of: Opened, reasons: Reasons) -> tuple[str, str]:
    vote, prediction = point.votes[slot], reasons.get((of.test.hypotheses[slot], point.row.id))
    reason = reason_words(prediction) if prediction else ""
    return "no readable answer" if vote is None else value_text(vote), reason


def _entry(answer: str, reason: str, alike: Sequence[Camp], held: str) -> tuple[str, ...]:
    slots = [slot for each in alike for slot in each.slots]
    weight = math.fsum(each.weight for each in alike)
    return (_named(slots), weight_text(min(weight, 1.0)) if held == "weight" else str(len(slots)), answer, reason)


def _named(slots: Sequence[int]) -> str:
    """`0`, `0 and 2 (×2)`, `0, 1, 2, 3, 4, 5 and 9 more (×15)`."""
    more = len(slots) - MOST_NAMED
    named = listed([*slots[:MOST_NAMED], f"{more} more"] if more > 0 else slots)
    return f"{named} (×{len(slots)})" if len(slots) > 1 else named


# Rival sentences


def contrast_html(sides: Sequence[Camp], sentences: Sequence[str], held: str) -> str:
    """The heaviest hypothesis of each camp side by side; the words on which it and the first one's differ are marked.

    sentences: by slot, without the seed sentence. held: what a share is a share of.
    """
    if not sides:
        return _alone("Nobody answered: there is nothing to contrast.")
    first, *others = sides
    if not others:
        return _alone(
            f"All that answered agree. The heaviest, particle {first.speaker}, says:",
            markup.hypothesis(sentences[first.speaker]),
        )
    said = sentences[first.speaker]
    marked_first, _, _ = lit(said, sentences[others[0].speaker])
    shown = [_camp(first, marked_first, held)]
    for camp in others[:MOST_CAMPS]:
        _, marked, note = lit(said, sentences[camp.speaker])
        shown.append(_camp(camp, marked, held, note))
    rivals, lighter = shown[:2], shown[2:]
    more = len(others) - MOST_CAMPS
    rest = markup.caption(f"And {counted(more, 'camp')} more.") if more > 0 else ""
    title = f"{counted(len(others) - 1, 'lighter camp')}"
    folded = f"<details><summary>{title}</summary>{''.join(lighter)}{rest}</details>" if lighter else ""
    return f'<div class="camps">{"".join(rivals)}</div>{folded}'


def lit(one: str, other: str) -> tuple[str, str, str]:
    """Two sentences as HTML with the words marked that only one of them has, and a note on sentences unlike or equal.

    Sentences that share less than half of their words are not marked.
    """
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


def _alone(words: str, sentence: str = "") -> str:
    return f'<div class="camps">{markup.caption(words)}{sentence}</div>'


def _camp(camp: Camp, html: str, held: str, note: str = "") -> str:
    many = len(camp.slots)
    place = "the first of {}" if camp.is_even else "the heaviest of {}"
    whom = f"particle {camp.speaker}" + (f", {place.format(many)}" if many > 1 else "")
    share = f"{percent(min(camp.weight, 1.0))} of the {held}"
    head = f'<p class="camp"><b>{text(camp.name)}</b> {text(share)} · {whom.replace(" ", NBSP)}</p>'
    return f'<section class="side">{head}<p class="hyp">{html}</p>{markup.caption(note) if note else ""}</section>'
