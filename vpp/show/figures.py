"""Blocks in HTML of their own: votes and parts as bars, curves by step, rows with their votes; the colours."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

from vpp.environment import app_folder
from vpp.show.blocks import Drawing, Table
from vpp.show.markup import CUE, aligned, badge, caption, html, is_rewritten, scrolling, term, text
from vpp.show.words import EQUAL, counted, cut, percent

if TYPE_CHECKING:
    import plotly.graph_objects as go

Mode = Literal["light", "dark"]


class Token(NamedTuple):
    """A colour in each theme, as #rrggbb."""

    light: str
    dark: str


_SHEET = (app_folder() / "assets" / "vpp.css").read_text(encoding="utf-8")
TOKENS = {name: Token(*pair) for name, *pair in re.findall(r" --([\w-]+): light-dark\((#\w+), (#\w+)\);", _SHEET)}
"""Surfaces (paper, sheet, sunk), ink, lines (rule; edge of a control; past bars), verdicts, tints, labels."""

HUES = 6
"""Custom properties --l0 to --l5 of assets/vpp.css; the seventh label has the first one's hue again."""
LEAST_ROOM = 3
Kind = Literal["good", "bad", "unsure good", "unsure bad"]


def hue(label: str, labels: Sequence[str]) -> str:
    """Return the class of a label's hue; empty for a word that is no label."""
    return f"l{labels.index(label) % HUES}" if label in labels else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class VoteBar(Drawing):
    """The leading label is solid, the others are tinted; at a tie all are tinted."""

    shares: tuple[tuple[str, float], ...]
    """Labels and their shares, the largest first."""
    labels: tuple[str, ...]
    abstained: float = 0.0
    room: int = 24
    """Characters that fit into the whole bar: the page cuts a label that is longer than its part."""

    @property
    def words(self) -> str:
        return ", ".join(self._words(*each) for each in self.shares if each[1] > 0)

    def _words(self, label: str, share: float) -> str:
        """A sum that misses 1 only by rounding counts as 1."""
        return f"{label} {percent(1.0 if 1 - share < EQUAL else share)}"

    def html(self) -> str:
        shares = self.shares
        is_tied = len(shares) > 1 and shares[0][1] - shares[1][1] < EQUAL

        def span(place: int, label: str, share: float) -> str:
            said, most = self._words(label, share), share * self.room
            words = text(said if len(said) <= most else label if most >= LEAST_ROOM else "")
            kind = f"{hue(label, self.labels)}{'' if place or is_tied else ' lead'}"
            return f'<span class="{kind}" style="--v:{share:.4f}">{words}</span>'

        spans = "".join(span(place, *each) for place, each in enumerate(shares) if each[1] > 0)
        rest = f'<span class="ca" style="--v:{self.abstained:.4f}"></span>' if self.abstained > 0.0005 else ""
        return f'<span class="vote" role="img" aria-label="{text(self.words or "no answer")}">{spans}{rest}</span>'


@dataclass(frozen=True, slots=True, kw_only=True)
class PartsBar(Drawing):
    """Counts of rows side by side, with a legend under them."""

    name: str
    parts: tuple[tuple[str, int, Kind], ...]

    def html(self) -> str:
        bars = "".join(f'<i class="{kind}" style="--v:{n}"></i>' for _, n, kind in self.parts if n)
        legend = "".join(
            f'<li><i class="{kind}"></i>{text(name)} <b>{counted(n, "row")}</b></li>' for name, n, kind in self.parts
        )
        words = "; ".join(f"{name}: {counted(n, 'row')}" for name, n, _ in self.parts)
        bar = f'<div class="bar" role="img" aria-label="{text(f"{self.name}. {words}")}">{bars}</div>'
        return f'<figure class="parts">{bar}<ul>{legend}</ul></figure>'

    def table(self) -> Table:
        return Table(head=(self.name, "size"), rows=[(name, counted(n, "row")) for name, n, _ in self.parts])


WIDTH = 320
"""Of a curve, in units of about a pixel."""
LEFT, RIGHT, TOP, BOTTOM = 36, 12, 8, 30


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve(Drawing):
    """Values by step, counted from 1."""

    title: str
    words: str
    alt: str
    lines: Mapping[str, Sequence[tuple[int, float]]]
    """By the class in assets/vpp.css: `mean` is drawn under `best`."""
    names: Sequence[str] = ()
    """Of the lines in the key, in their order; their classes if not given."""
    dots: Sequence[tuple[float, float, str]] = ()
    low: tuple[float, str]
    high: tuple[float, str]
    """Ends of the scale, and how they read."""
    limit: float | None = None
    total: int
    at: int | None
    height: int = 132

    def html(self) -> str:
        (low, _), (high, _), floor = self.low, self.high, self.height - BOTTOM
        steps = [step for points in self.lines.values() for step, _ in points]
        last = max(self.total, *steps, *(step for step, _, _ in self.dots), 2)

        def x(step: float) -> float:
            return LEFT + (step - 1) / (last - 1) * (WIDTH - LEFT - RIGHT)

        def y(value: float) -> float:
            return TOP + (high - value) / (high - low) * (floor - TOP)

        def line(name: str, points: Sequence[tuple[int, float]]) -> str:
            if len(points) == 1:
                points = (*points, *points)  # a line of no length with round ends is a dot
            return f'<path class="{name}" d="M{"L".join(f"{x(step):.1f},{y(value):.1f}" for step, value in points)}"/>'

        def level(name: str, value: float) -> str:
            return f'<path class="{name}" d="M{LEFT},{y(value):.1f}H{WIDTH - RIGHT}"/>'

        scale = "".join(
            f'{level("grid", value)}<text x="{LEFT - 5}" y="{y(value) + 4:.1f}" text-anchor="end">{text(words)}</text>'
            for value, words in (self.low, self.high)
        )
        axis = "".join(
            f'<text x="{place:.1f}" y="{below}" text-anchor="{anchor}">{words}</text>'
            for place, below, anchor, words in (
                (LEFT, floor + 13, "start", "1"),
                (x(self.total), floor + 13, "end", self.total),
                ((LEFT + WIDTH) / 2, self.height - 4, "middle", "step"),
            )
        )
        limit = "" if self.limit is None else level("limit", self.limit)
        now = "" if self.at is None else f'<path class="at" d="M{x(self.at):.1f},{TOP}V{floor}"/>'
        lines = "".join(line(name, points) for name, points in self.lines.items() if points)
        dots = "".join(
            f'<circle class="{name}" cx="{x(step):.1f}" cy="{y(value):.1f}" r="4"><title>{text(name)}</title></circle>'
            for step, value, name in self.dots
        )
        names = [*zip(self.lines, self.names or self.lines, strict=True)] if len(self.lines) > 1 else []
        names += [(f"dot {name}", name) for name in dict.fromkeys(name for _, _, name in self.dots)]
        key = " ".join(f'<i class="{kind}"></i>{text(name)}' for kind, name in reversed(names))
        return (
            f'<figure class="curve"><h3>{term(self.title)}</h3>'
            f'<svg viewBox="0 0 {WIDTH} {self.height}" role="img" aria-label="{text(self.alt)}">'
            f"{scale}{limit}{now}{lines}{dots}{axis}</svg>"
            f'<figcaption class="cap">{text(self.words)}{": " if key else ""}{key}</figcaption></figure>'
        )


def plotly_figure(curve: Curve, mode: Mode) -> "go.Figure":
    import plotly.graph_objects as go  # late: it takes a second

    ink = {name: getattr(token, mode) for name, token in TOKENS.items()}
    lines = [
        go.Scatter(
            x=[step for step, _ in points],
            y=[value for _, value in points],
            name=name,
            line={"color": ink[kind.split()[-1]], "width": 2},
            hovertemplate="%{y:.0%}",
        )
        for (kind, points), name in zip(curve.lines.items(), curve.names, strict=True)
    ]
    axes = {"gridcolor": ink["rule"], "zeroline": False}
    return go.Figure(
        lines,
        layout={
            "font": {"family": "VPP Sans, Fira Sans, sans-serif", "size": 13, "color": ink["ink-2"]},
            "hoverlabel": {"bgcolor": ink["sheet"], "bordercolor": ink["edge"], "font": {"color": ink["ink"]}},
            "xaxis": {**axes, "title": "step", "showgrid": False, "labelalias": {str(curve.total + 1): "end"}},
            "yaxis": {**axes, "range": [curve.low[0], curve.high[0]], "tickformat": ".0%"},
            **dict.fromkeys(("paper_bgcolor", "plot_bgcolor"), "rgba(0,0,0,0)"),
            "margin": {"l": 40, "r": 12, "t": 8, "b": 40},
            "hovermode": "x unified",
            "legend": {"title": {"text": "hypothesis"}, "traceorder": "reversed"},
            "height": 280,
        },
    )


# Rows with their votes as a table, the inputs of a row, and rival hypotheses side by side

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
    notes = "".join(map(caption, filter(None, (rival.reason, note))))
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
