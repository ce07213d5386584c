"""Figures of a run by step, as SVG that needs no script: how often hypotheses are right, and bars of shares."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from vpp.show.markup import term, text
from vpp.show.page import block_html
from vpp.show.words import number, percent

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
