"""Rows with their votes as a table, a row in brief, its inputs, and rival hypotheses side by side."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from vpp.show import markup
from vpp.show.blocks import Drawing, Table
from vpp.show.figures import VoteBar
from vpp.show.markup import CUE, aligned, badge, html, is_rewritten, scrolling, text
from vpp.show.words import counted, cut

Cells = tuple[tuple[str, str], ...]
"""Names and values; the name of a text that is the only input is empty."""
LONG = 80
"""Characters from which a value is a text that is read, not looked up."""
MOST_RIVALS = 4
MOST_VALUES = 6
"""Inputs of an opened row before the others are folded, unless these are few."""
LONGEST_CELL = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class RowLine:
    row: int
    inputs: tuple[str, ...]
    vote: VoteBar | str
    truth: str
    mark: Literal["", "wrong", "I don’t know"] = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RowTable(Drawing):
    columns: tuple[str, ...]
    """Inputs; a single one may be a text."""
    lines: tuple[RowLine, ...]
    vote: str = "vote"
    """Head of the column with the vote, or with the mean."""
    opens: bool = True
    """Whether a row opens when it is pressed: not in a report."""
    open_row: int | None = None
    inside: tuple[object, ...] = ()

    def html(self) -> str:
        inputs = "".join(f'<th class="in" scope="col" title="{text(name)}">{text(name)}</th>' for name in self.columns)
        ends = f'<th class="tail" scope="col">{text(self.vote)}</th><th class="truth" scope="col">true</th>'
        head = f'<tr><th scope="col">row</th>{inputs}{ends}</tr>'
        body = "".join(_line(line, self) for line in self.lines)
        has_text = len(self.columns) == 1 and any(len(line.inputs[0]) >= LONG for line in self.lines)
        table = f'<table class="{"mx reads" if has_text else "mx"}"><thead>{head}</thead><tbody>{body}</tbody></table>'
        return CUE + scrolling(table, "Rows and their votes", "scroll")

    def table(self) -> Table:
        head = ("row", *self.columns, self.vote, "true")
        rows = [
            (
                str(line.row),
                *(cut(cell, LONGEST_CELL) for cell in line.inputs),
                line.vote if isinstance(line.vote, str) else line.vote.words or "no answer",
                f"{line.truth} ({line.mark})" if line.mark else line.truth,
            )
            for line in self.lines
        ]
        return Table(head=head, rows=rows, right=(0,))


def _line(line: RowLine, block: RowTable) -> str:
    row, is_open = line.row, line.row == block.open_row
    inputs = "".join(f'<td class="in" title="{text(cell)}"><span>{text(cell)}</span></td>' for cell in line.inputs)
    vote = text(line.vote) if isinstance(line.vote, str) else html([line.vote])
    mark = badge("rej" if line.mark == "wrong" else "uns", line.mark) if line.mark else ""
    under = ""
    if is_open:
        inside = f'<td colspan="{len(block.columns) + 3}"><div>{html(block.inside)}</div></td>'
        under = f'<tr class="under" data-under="under {row}">{inside}</tr>'
    number = (
        f'<button type="button" class="row" data-row="{row}" aria-expanded="{str(is_open).lower()}" '
        f'aria-label="Row {row}">{row}</button>'
        if block.opens
        else str(row)
    )
    return (
        f'<tr data-row="{row}"{" class=now" if is_open else ""}><th scope="row">{number}</th>'
        f'{inputs}<td class="tail">{vote}</td>'
        f'<td class="truth" title="{text(line.truth)}">{text(line.truth)} {mark}</td></tr>{under}'
    )


@dataclass(frozen=True, slots=True)
class Inputs(Drawing):
    """All inputs of a row: values in a line, texts in full."""

    cells: Cells

    def html(self) -> str:
        values = [(name, value) for name, value in self.cells if len(value) < LONG]
        texts = [(name, value) for name, value in self.cells if len(value) >= LONG]
        n = MOST_VALUES if len(values) > MOST_VALUES + 2 else len(values)
        line = f'<p class="in">{_cells(values[:n])}</p>' if values else ""
        if more := values[n:]:
            fold = f"<summary>{counted(len(more), 'more input')}</summary>"
            line += f'<details>{fold}<p class="in">{_cells(more)}</p></details>'
        read = "".join(f'<p class="read">{_named(name)}{text(value)}</p>' for name, value in texts)
        return line + (scrolling(read, "Texts of the row", "reading") if read else "")


def _cells(cells: Iterable[tuple[str, str]]) -> str:
    return " ".join(f"<span>{_named(name)}{text(value)}</span>" for name, value in cells)


def _named(name: str) -> str:
    return f'<span class="cap">{text(name)}</span> ' if name else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rival:
    """Hypotheses with one answer, by the heaviest of them."""

    answer: str
    facts: str
    hypothesis: str
    code: str = ""
    """The branch of its program that answered; empty if it has none."""
    reason: str = ""
    """The model's own."""


@dataclass(frozen=True, slots=True)
class Rivals(Drawing):
    """Side by side, the heaviest first: the words on which the others differ from it are marked."""

    all: tuple[Rival, ...]

    def html(self) -> str:
        first, *others = self.all
        words, _, _ = mark_differences(first.hypothesis, others[0].hypothesis if others else first.hypothesis)
        parts = [_rival(first, words)]
        for rival in others[:MOST_RIVALS]:
            _, words, note = mark_differences(first.hypothesis, rival.hypothesis)
            parts.append(_rival(rival, words, note))
        rest = counted(len(others) - 1, "lighter answer")
        lighter = f"<details><summary>{rest}</summary>{''.join(parts[2:])}</details>" if len(others) > 1 else ""
        return f'<div class="rivals">{"".join(parts[:2])}</div>{lighter}'


def _rival(rival: Rival, marked_html: str, note: str = "") -> str:
    branch = f'<p class="cap">branch <code>{text(rival.code)}</code></p>' if rival.code else ""
    notes = "".join(map(markup.caption, filter(None, (rival.reason, note))))
    return (
        f'<section class="rival"><p class="who"><b>{text(rival.answer)}</b> {text(rival.facts)}</p>'
        f'<p class="hyp">{marked_html}</p>{branch}{notes}</section>'
    )


def mark_differences(one: str, other: str) -> tuple[str, str, str]:
    """Return two hypotheses as HTML with the words marked that only one has, and a note if none are marked."""
    if one == other:
        return text(one), text(other), "The very same words: the model read them in two ways."
    runs = ((True, one, other),) if is_rewritten(one, other) else aligned(one, other)
    note = "Only case and punctuation differ." if len(runs) == 1 and not is_rewritten(one, other) else ""
    sides = (((is_same, old) for is_same, old, _ in runs), ((is_same, new) for is_same, _, new in runs))
    first, second = (
        " ".join(text(words) if is_same else f"<mark>{text(words)}</mark>" for is_same, words in side if words)
        for side in sides
    )
    return first, second, note
