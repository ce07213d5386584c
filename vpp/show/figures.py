"""Figures in HTML that need no script: a vote as a bar, parts of a whole, curves and bars by step."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from vpp.show import markup
from vpp.show.blocks import Table
from vpp.show.markdown import block_markdown
from vpp.show.markup import term, text
from vpp.show.page import block_html
from vpp.show.words import EQUAL, NBSP, number, percent


@dataclass(frozen=True, slots=True)
class Code:
    words: str


@block_html.register
def _(block: Code) -> str:
    return f'<pre class="raw">{markup.text(block.words)}</pre>'


@block_markdown.register
def _(block: Code, level: int) -> str:
    return markup.markdown_code(block.words)


HUES = 6
"""Custom properties --l0 to --l5 of assets/vpp.css; the seventh label has the first one's hue again."""
Kind = Literal["good", "bad", "unsure good", "unsure bad"]


def hue(label: str, labels: Sequence[str]) -> str:
    """Return the class of a label's hue; empty for a word that is no label."""
    return f"l{labels.index(label) % HUES}" if label in labels else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class VoteBar:
    """The leading label is solid, the others are tinted; at a tie all are tinted."""

    shares: tuple[tuple[str, float], ...]
    """Labels and their shares, the largest first."""
    labels: tuple[str, ...]
    """Labels of the target, in order."""
    abstained: float = 0.0

    @property
    def words(self) -> str:
        return ", ".join(f"{label} {share_percent(share)}" for label, share in self.shares if share > 0)


def share_percent(share: float) -> str:
    """A sum that misses 1 only by rounding counts as 1."""
    return percent(1.0 if 1 - share < EQUAL else share)


@block_html.register
def _(block: VoteBar) -> str:
    shares = block.shares
    is_tied = len(shares) > 1 and shares[0][1] - shares[1][1] < EQUAL
    # No-break spaces: a label is complete or left out.
    spans = "".join(
        f'<span class="{hue(label, block.labels)}{" lead" if not i and not is_tied else ""}" '
        f'style="--v:{share:.4f}">{text(f"{label} {share_percent(share)}".replace(" ", NBSP))}</span>'
        for i, (label, share) in enumerate(shares)
        if share > 0
    )
    rest = f'<span class="ca" style="--v:{block.abstained:.4f}"></span>' if block.abstained > 0.0005 else ""
    return f'<span class="vote" role="img" aria-label="{text(block.words or "no answer")}">{spans}{rest}</span>'


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    name: str
    value: str
    """The size in words, as `45 rows`."""
    size: float
    kind: Kind


@dataclass(frozen=True, slots=True, kw_only=True)
class PartsBar:
    """Sizes side by side, with a legend under them."""

    name: str
    parts: tuple[Part, ...]


@block_html.register
def _(block: PartsBar) -> str:
    words = "; ".join(f"{part.name}: {part.value}" for part in block.parts)
    bars = "".join(f'<i class="{part.kind}" style="--v:{part.size:.4f}"></i>' for part in block.parts if part.size > 0)
    legend = "".join(
        f'<li><i class="{part.kind}"></i>{text(part.name)} <b>{text(part.value)}</b></li>' for part in block.parts
    )
    label = text(f"{block.name}. {words}")
    return (
        f'<figure class="parts"><div class="bar" role="img" aria-label="{label}">{bars}</div><ul>{legend}</ul></figure>'
    )


@block_markdown.register
def _(block: PartsBar, level: int) -> str:
    return block_markdown(Table(head=(block.name, "size"), rows=[(p.name, p.value) for p in block.parts]), level)


WIDTH, HEIGHT, BARS_HEIGHT = 320, 132, 44
"""Units of a drawing, about pixels."""
LEFT, RIGHT, TOP, BOTTOM = 36, 12, 8, 30
"""Margins of the curve's frame."""
RING = 7


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """Best and mean of the hypotheses by step, counted from 1, with a dot for the test rows."""

    title: str
    axis: str
    """What the values are."""
    best: Sequence[tuple[int, float]]
    mean: Sequence[tuple[int, float]]
    test: float | None
    total: int
    """Number of steps planned."""
    at: int | None
    """The step that is looked at."""
    is_share: bool
    """True for shares of rows, False for errors in the target's unit."""
    alt: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Bars:
    """Shares by step, from 0 to 1, counted from 1, with a ring at some steps and a line at `limit`."""

    title: str
    values: Mapping[int, float]
    words: str
    alt: str
    total: int
    at: int | None
    rings: tuple[int, ...] = ()
    limit: float = 0.0


@block_html.register
def _(block: Curve) -> str:
    low, high = _range(block)

    def x(step: float) -> float:
        return LEFT + (step - 1) / max(1, block.total - 1 + (block.test is not None)) * (WIDTH - LEFT - RIGHT)

    def y(value: float) -> float:
        return TOP + (high - value) / (high - low) * (HEIGHT - TOP - BOTTOM)

    def line(name: str, points: Sequence[tuple[int, float]]) -> str:
        if len(points) == 1:
            points = (*points, *points)  # a line of no length with round ends is a dot
        return f'<path class="{name}" d="M{"L".join(f"{x(step):.1f},{y(value):.1f}" for step, value in points)}"/>'

    said = percent if block.is_share else lambda value: number(value, 3)
    floor = HEIGHT - BOTTOM
    labels = "".join(
        f'<path class="grid" d="M{LEFT},{y(value):.1f}H{WIDTH - RIGHT}"/>'
        f'<text x="{LEFT - 5}" y="{y(value) + 4:.1f}" text-anchor="end">{text(said(value))}</text>'
        for value in (low, high)
    )
    axis = "".join(
        f'<text x="{place:.1f}" y="{below}" text-anchor="{anchor}">{words}</text>'
        for place, below, anchor, words in (
            (LEFT, floor + 13, "start", "1"),
            (x(block.total), floor + 13, "end", block.total),
            ((LEFT + WIDTH) / 2, HEIGHT - 4, "middle", "step"),
        )
    )
    now = f'<path class="at" d="M{x(block.at):.1f},{TOP}V{floor}"/>' if block.at is not None else ""
    lines = (line("mean", block.mean) + line("best", block.best)) if block.best else ""
    dot = ""
    if block.test is not None:
        dot = f'<circle cx="{x(block.total + 1):.1f}" cy="{y(block.test):.1f}" r="4"><title>test rows</title></circle>'
    key = '<i class="best"></i>best <i class="mean"></i>mean' + (' <i class="dot"></i>test' if dot else "")
    return (
        f'<figure class="curve"><h3>{text(block.title)}</h3>'
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{text(block.alt)}">'
        f"{labels}{now}{lines}{dot}{axis}</svg>"
        f'<figcaption class="cap">{text(block.axis)}: {key}</figcaption></figure>'
    )


def _range(block: Curve) -> tuple[float, float]:
    """Return a range of y that holds all values: tenths for shares, from 0 for errors."""
    values = [value for _, value in (*block.best, *block.mean)] + ([] if block.test is None else [block.test])
    if not block.is_share:
        return 0.0, max(values, default=1.0) or 1.0
    low = int(10 * min(values, default=0.0) + 1e-9) / 10
    return min(low, 0.9), 1.0


@block_html.register
def _(block: Bars) -> str:
    pitch, floor = WIDTH / max(1, block.total), BARS_HEIGHT - 1
    gap = min(3.0, 0.3 * pitch)

    def bar(step: int, share: float) -> str:
        return f"M{(step - 1) * pitch:.2f},{floor}h{pitch - gap:.2f}v{-share * (floor - 1):.2f}h{gap - pitch:.2f}z"

    done = "".join(bar(step, share) for step, share in block.values.items() if step != block.at)
    now = bar(block.at, block.values[block.at]) if block.at is not None and block.at in block.values else ""
    discs = "".join(f"M{(step - 0.5) * pitch - gap / 2:.2f},5h0" for step in block.rings)
    size = f'style="--d:{max(3.0, min(RING, 1.5 * pitch)):.1f}px"'
    rings = f'<path class="ring" d="{discs}" {size}/><path class="hole" d="{discs}" {size}/>' if discs else ""
    limit = f'<path class="limit" d="M0,{(1 - block.limit) * floor:.1f}H{WIDTH}"/>' if block.limit else ""
    return (
        f'<figure class="bars"><h3>{term(block.title)}</h3>'
        f'<svg viewBox="0 0 {WIDTH} {BARS_HEIGHT}" preserveAspectRatio="none" role="img" '
        f'aria-label="{text(block.alt)}"><path class="done" d="{done}"/><path class="now" d="{now}"/>'
        f'<path class="axis" d="M0,{floor}H{WIDTH}"/>{limit}{rings}</svg>'
        f'<figcaption class="cap">{text(block.words)}</figcaption></figure>'
    )
