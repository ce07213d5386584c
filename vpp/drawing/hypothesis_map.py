"""The map of a step's hypotheses as SVG: dots near each other answer alike; with its caption and its numbers."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from vpp.drawing.deck import without_seed
from vpp.inspection.hypothesis_map import ASPECT, HypothesisMap, Point
from vpp.wording.markup import caption, table, text
from vpp.wording.words import counted, cut, fixed, integer, listed, particles, percent, weight_text

WIDTH = 380
"""Units of the drawing; pixels where it has its full width."""
MARGIN = 24
"""Units between the frame and the edge: half of the largest dot, and a label."""
HEIGHT = round((WIDTH - 2 * MARGIN) * ASPECT) + 2 * MARGIN
LARGEST = 16
"""Radius of a dot of weight 1."""
SMALLEST, SMALLEST_GONE = 2.5, 3.5
"""Radii of the lightest dot, and of the lightest one that is gone, whose ring is dashed."""
TARGET = 12
"""Radius within which a pointer hits a dot."""
MOST_NUMBERED = 6
"""Most dots that show the number of a particle."""
MOST_NAMED = 6
"""Most particles of a dot that are named one by one."""
MOST_LETTERS = 160
"""Characters of a hypothesis in the table."""
SCALES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5)
"""Distances for the scale; the longest in half the frame is shown."""

Box = tuple[float, float, float, float]
"""Left, right, top and bottom."""
Line = tuple[float, float, float, float]
"""From x, y to x, y."""


@dataclass(frozen=True, slots=True)
class _Side:
    """A place for the number of a dot."""

    dx: float
    """Distance from the dot's middle, to the right."""
    dy: float
    """The same, downwards."""
    box: Box

    @property
    def is_inside(self) -> bool:
        return not (self.dx or self.dy)


def map_html(drawn: HypothesisMap) -> str:
    if why := _why_not(drawn):
        return caption(why)
    return (
        f'<figure class="map"><svg viewBox="0 0 {WIDTH} {HEIGHT}" role="list" aria-label="{text(map_alt(drawn))}">'
        f"{_ways(drawn)}<g>{''.join(_dots(drawn))}</g>{_scale(drawn)}</svg>"
        f'<figcaption class="cap">{text(map_caption(drawn))}</figcaption>'
        f'<details class="astable"><summary>Show as table</summary>{_table(drawn)}</details></figure>'
    )


# Words


def _why_not(drawn: HypothesisMap) -> str:
    if drawn.n_particles < 2:
        return "A map of the hypotheses needs two particles." if drawn.n_particles else "No hypotheses to map yet."
    if not drawn.n_rows:
        return "No map: no row has an answer from every particle yet."
    if len(drawn.alive) < 2:
        return f"No map: {_all(drawn.n_particles)} particles give the same answers on {counted(drawn.n_rows, 'row')}."
    return ""


def _all(n: int) -> str:
    return "both" if n == 2 else f"all {integer(n)}"


def map_caption(drawn: HypothesisMap) -> str:
    rows = counted(drawn.n_rows, "row")
    distance = f"share of {rows} answered differently" if drawn.is_label else f"mean difference of answers on {rows}"
    shapes = ["area: weight" if drawn.is_weighted else "area: particles", "number: particle"]
    if any(point.parents for point in drawn.points):
        shapes.append("line: from its parent")
    if len(drawn.alive) < len(drawn.points):
        shapes.append("dashed: text now gone")
    return f"Distance: {distance} · {' · '.join(shapes)} · {stress_words(drawn.stress)}"


def stress_words(stress: float) -> str:
    """`distances off by about 8 % (stress 0.08)`: the root mean square error as a share of the distances."""
    off = f"off by about {percent(stress)}" if round(stress, 2) else "true to scale"
    return f"distances {off} (stress {fixed(stress)})"


def map_alt(drawn: HypothesisMap) -> str:
    """Text alternative: the heaviest dot, and the one that differs most from it."""
    heaviest, *others = drawn.alive
    farthest = max(others, key=lambda point: point.apart)
    return (
        f"Map of {counted(drawn.n_particles, 'particle')} with {len(drawn.alive)} different behaviours. Heaviest: "
        f"{_held(drawn, heaviest)}. {_named(farthest.slots).capitalize()} {_differs(drawn, farthest)}, the most of all."
    )


def point_label(drawn: HypothesisMap, point: Point) -> str:
    """`particles 3 and 7, weight 0.42, differs from the heaviest on 12 of 40 rows`."""
    if point.is_gone:
        return f"{_named(point.slots)} of the step before, now gone"
    if point is drawn.alive[0]:
        return f"{_held(drawn, point)}, the heaviest"
    return f"{_held(drawn, point)}, {_differs(drawn, point)}"


def _held(drawn: HypothesisMap, point: Point) -> str:
    return f"{_named(point.slots)}, {_weight(drawn, point)}"


def _weight(drawn: HypothesisMap, point: Point) -> str:
    if drawn.is_weighted:
        return f"weight {weight_text(point.weight, 2)}"
    return f"{len(point.slots)} of {drawn.n_particles}"


def _named(slots: Sequence[int]) -> str:
    """`particles 3 and 7`, `particles 0, 1, 2 and 9 others`."""
    if len(slots) <= MOST_NAMED:
        return particles(slots)
    named = [*slots[: MOST_NAMED - 1], f"{len(slots) - MOST_NAMED + 1} others"]
    return f"particles {listed(named)}"


def _differs(drawn: HypothesisMap, point: Point) -> str:
    verb = "differs" if len(point.slots) == 1 else "differ"
    return f"{verb} from the heaviest {_by(drawn, point)}"


def _by(drawn: HypothesisMap, point: Point) -> str:
    """`on 12 of 40 rows`, `by 8 % of the range`."""
    if drawn.is_label:
        return f"on {integer(round(point.apart * drawn.n_rows))} of {counted(drawn.n_rows, 'row')}"
    return f"by {percent(point.apart)} of the target’s range"


def _table(drawn: HypothesisMap) -> str:
    head = ("particles", "weight" if drawn.is_weighted else "share", "differs from the heaviest", "what it says")
    rows = [
        (
            listed(point.slots),
            weight_text(point.weight),
            "now gone" if point.is_gone else _by(drawn, point),
            cut(without_seed(point.text, drawn.seed_text), MOST_LETTERS),
        )
        for point in drawn.points
    ]
    return table(head, rows, right=(1,), name="hypotheses on the map")


# The drawing


def _unit(drawn: HypothesisMap) -> float:
    """Units of the drawing for a distance of 1."""
    return (WIDTH / 2 - MARGIN) / drawn.half


def _place(drawn: HypothesisMap, x: float, y: float) -> tuple[float, float]:
    unit = _unit(drawn)
    return WIDTH / 2 + x * unit, HEIGHT / 2 + y * unit


def _radius(point: Point) -> float:
    return max(SMALLEST, LARGEST * math.sqrt(point.weight))


def _ways(drawn: HypothesisMap) -> str:
    lines = [f"M{ax:.1f},{ay:.1f}L{bx:.1f},{by:.1f}" for ax, ay, bx, by in _lines(drawn)]
    gone = [point for point in drawn.points if point.is_gone]
    return f'<g aria-hidden="true"><path class="way" d="{"".join(lines)}"/>{"".join(_gone(drawn, p) for p in gone)}</g>'


def _lines(drawn: HypothesisMap) -> list[Line]:
    ends = ((parent, (point.x, point.y)) for point in drawn.points for parent in point.parents)
    return [(*_place(drawn, *begin), *_place(drawn, *end)) for begin, end in ends]


def _gone(drawn: HypothesisMap, point: Point) -> str:
    x, y = _place(drawn, point.x, point.y)
    r, name = max(SMALLEST_GONE, _radius(point)), text(point_label(drawn, point))
    return f'<circle class="gone" cx="{x:.1f}" cy="{y:.1f}" r="{r:.1f}"><title>{name}</title></circle>'


def _dots(drawn: HypothesisMap) -> Iterator[str]:
    """Dots, the heaviest first, so that the small ones lie on top."""
    numbers = _numbers(drawn)
    for point in drawn.alive:
        x, y = _place(drawn, point.x, point.y)
        r, label = _radius(point), text(point_label(drawn, point))
        yield (
            f'<g class="dot" role="listitem" tabindex="0" data-key="{point.front}" '
            f'data-slots="{" ".join(map(str, point.slots))}" style="transform:translate({x:.1f}px,{y:.1f}px)" '
            f'aria-label="{label}"><title>{label}</title><circle class="hit" r="{max(TARGET, r):.1f}"/>'
            f'<circle class="ink" r="{r:.1f}"/>{numbers.get(point.front, "")}</g>'
        )


def _numbers(drawn: HypothesisMap) -> dict[int, str]:
    numbers: dict[int, str] = {}
    lines, taken = _lines(drawn), [(point, _around(drawn, point)) for point in drawn.points]
    for point in drawn.alive:
        others = [box for other, box in taken if other is not point]
        sides = _sides(drawn, point) if len(numbers) < MOST_NUMBERED else ()
        side = next((each for each in sides if _is_free(each, others, lines)), None)
        if side:
            kind = ' class="inside"' if side.is_inside else ""
            numbers[point.front] = f'<text x="{side.dx:.1f}" y="{side.dy + 4:.1f}"{kind}>{point.front}</text>'
            taken.append((point, side.box))
    return numbers


def _sides(drawn: HypothesisMap, point: Point) -> Iterator[_Side]:
    """Places for a number: inside a large dot, then right, left, below, above."""
    (x, y), r, half = _place(drawn, point.x, point.y), _radius(point), 4 * len(str(point.front))
    beside = ((r + 3 + half, 0.0), (-r - 3 - half, 0.0), (0.0, r + 8), (0.0, -r - 8))
    for dx, dy in (((0.0, 0.0),) if r >= TARGET else ()) + beside:
        yield _Side(dx, dy, _box(x + dx, y + dy, half, 6))


def _is_free(side: _Side, boxes: Sequence[Box], lines: Sequence[Line]) -> bool:
    """True if no box meets the number; nor a line, which would run under a dot."""
    is_crossed = not side.is_inside and any(_crosses(line, side.box) for line in lines)
    return not is_crossed and not any(_meet(side.box, box) for box in boxes)


def _around(drawn: HypothesisMap, point: Point) -> Box:
    return _box(*_place(drawn, point.x, point.y), _radius(point), _radius(point))


def _box(x: float, y: float, across: float, up: float) -> Box:
    return x - across, x + across, y - up, y + up


def _meet(a: Box, b: Box) -> bool:
    return a[0] < b[1] and b[0] < a[1] and a[2] < b[3] and b[2] < a[3]


def _crosses(line: Line, box: Box) -> bool:
    """True if part of the line is in the box: if its parts between the sides, and between top and bottom, overlap."""
    first, last = 0.0, 1.0
    for at, to, low, high in ((line[0], line[2], *box[:2]), (line[1], line[3], *box[2:])):
        if at == to and not low < at < high:
            return False
        if at != to:
            near, far = sorted(((low - at) / (to - at), (high - at) / (to - at)))
            first, last = max(first, near), min(last, far)
    return first < last


def _scale(drawn: HypothesisMap) -> str:
    share = max(each for each in SCALES if each <= drawn.half)
    end, y = 8 + share * _unit(drawn), HEIGHT - 6
    words = f"{percent(share)} of {'rows' if drawn.is_label else 'the range'}"
    return (
        f'<g aria-hidden="true" class="scale"><path d="M8,{y - 4}v4H{end:.1f}v-4"/>'
        f'<text x="{end + 6:.1f}" y="{y}">{text(words)}</text></g>'
    )
