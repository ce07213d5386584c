"""Figures in HTML that need no script: a vote as a bar, parts of a whole, curves by step; the stylesheet's colours."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

from vpp.environment import app_folder
from vpp.show.blocks import Drawing, Table
from vpp.show.markup import term, text
from vpp.show.words import EQUAL, NBSP, counted, percent

if TYPE_CHECKING:
    import plotly.graph_objects as go

Mode = Literal["light", "dark"]


class Token(NamedTuple):
    """A colour in each theme, as #rrggbb."""

    light: str
    dark: str

    def of(self, mode: Mode) -> str:
        return self.light if mode == "light" else self.dark


_SHEET = (app_folder() / "assets" / "vpp.css").read_text(encoding="utf-8")
TOKENS = {name: Token(*pair) for name, *pair in re.findall(r" --([\w-]+): light-dark\((#\w+), (#\w+)\);", _SHEET)}
"""Surfaces (paper, sheet, sunk), ink, lines (rule; edge of a control; past bars), verdicts, tints, labels."""

HUES = 6
"""Custom properties --l0 to --l5 of assets/vpp.css; the seventh label has the first one's hue again."""
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
    """Characters that fit into the whole bar: a label without its room is not written."""

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
            # No-break spaces: on a narrow page a label is complete or out of sight.
            said = (each.replace(" ", NBSP) for each in (self._words(label, share), label))
            words = text(next((each for each in said if len(each) <= share * self.room), ""))
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
    """Step, value and name."""
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
    """Draw the lines of a curve so that a pointer reads their values."""
    import plotly.graph_objects as go  # late: it takes a second

    ink = {name: token.of(mode) for name, token in TOKENS.items()}
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
