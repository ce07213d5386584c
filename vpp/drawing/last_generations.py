"""The genealogy of the last steps in little space: a column a step, a row a particle, as one SVG."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import sqrt

from vpp.events import INITIAL_STEP
from vpp.inspection.slots import came_from, generation_at, weights_of
from vpp.runs.view import RunView
from vpp.settings import Config
from vpp.wording.markup import caption, text
from vpp.wording.words import counted

COLUMNS = 6
"""Columns in view; one more is drawn beyond the left edge, so that lines come in from there."""
WIDTH, PITCH, RIGHT = 380, 64, 14
"""Pixels of the drawing, between two columns, and right of the newest one."""
MOST_HEIGHT, ROW = 110, 16
"""Most pixels of all rows, and of one."""
AXIS = 22
"""Pixels of the line of step numbers."""
LARGEST, SMALLEST = 7, 0.9
"""Radii of a particle of weight 1, and of the lightest."""
RING = 3.5
"""Radius of the ring between the numbers of two steps, where the first was resampled."""
NEW = 0.15
"""Size of a new text, where there are no weights."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Column:
    """A population, by slot."""

    name: str
    """Step number, or `first` or `end`."""
    sizes: tuple[float, ...]
    """Areas of the discs: weights, or without weights that of a new text."""
    parents: tuple[int | None, ...]
    survives: frozenset[int]
    """Slots with a descendant in the newest column."""
    n_new: int
    """Texts that differ from their parents'."""
    forks: bool
    """True if its step resampled it or dropped particles, and the next column is drawn."""


def generations_html(view: RunView, config: Config, step: int | None) -> str:
    """Draw the ancestors of the particles that the cards of `step` show, the newest at the right; None is the end."""
    columns = _columns(view, config, step)
    if not columns:
        return caption("No hypotheses yet.")
    rows = max(config.largest_size, *(len(column.sizes) for column in columns))
    words = generations_words(columns[-COLUMNS:], is_weighted=config.is_weighted)
    height = round(rows * _pitch(rows)) + AXIS
    drawn = "".join(_svg(columns, rows, height))
    return (
        f'<figure class="lines"><svg width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}" role="img" '
        f'aria-label="{text(f"Genealogy of the last steps: {words}.")}">{drawn}</svg>'
        f'<figcaption class="cap">{text(words)}</figcaption></figure>'
    )


def _columns(view: RunView, config: Config, step: int | None) -> list[_Column]:
    last = generation_at(view, config, step)
    if last is None:
        return []
    columns: list[_Column] = []
    survives = frozenset(range(len(view.steps[last].population)))
    for generation in range(last, max(INITIAL_STEP, last - COLUMNS) - 1, -1):
        is_end = step is None and generation == last
        column = _column(view, config, generation, survives, is_end=is_end)
        columns.append(replace(column, forks=column.forks and generation < last))
        survives = frozenset(parent for slot in survives if (parent := column.parents[slot]) is not None)
    return columns[::-1]


def _column(view: RunView, config: Config, generation: int, survives: frozenset[int], *, is_end: bool) -> _Column:
    at, following = view.steps[generation], view.steps.get(generation + 1)
    ids = [state.hypothesis for state in at.population]
    parents = tuple(came_from(at, slot) for slot in range(len(ids)))
    were = [state.hypothesis for state in view.steps[generation - 1].population] if generation > INITIAL_STEP else []
    is_new = [parent is None or were[parent] != own for own, parent in zip(ids, parents, strict=True)]
    sizes = weights_of(view, generation, is_end=is_end) if config.is_weighted else tuple(NEW * new for new in is_new)
    return _Column(
        name=_name(generation, config, is_end=is_end),
        sizes=sizes,
        parents=parents,
        survives=survives,
        n_new=sum(is_new),
        forks=following is not None and bool(following.resampled or following.shrunk),
    )


def _name(generation: int, config: Config, *, is_end: bool) -> str:
    if is_end and generation != INITIAL_STEP:
        return "end"
    if config.is_weighted and not is_end:
        return str(generation + 1)
    return "first" if generation == INITIAL_STEP else str(generation)


def generations_words(columns: Sequence[_Column], *, is_weighted: bool) -> str:
    """`10 particles at step 7 descend from 4 at step 2 · size = weight · dotted: died out · ring: resampled`."""
    oldest, newest = columns[0], columns[-1]
    n = counted(len(newest.sizes), "particle")
    if len(columns) == 1:
        return f"{n} at {_said(newest.name)}, without ancestors"
    joined = sum(column.parents[slot] is None for column in columns[1:] for slot in column.survives)
    newcomers = f" and {counted(joined, 'newcomer')}" if joined else ""
    verb = "descends" if len(newest.sizes) == 1 else "descend"
    said = f"{n} at {_said(newest.name)} {verb} from {len(oldest.survives)} at {_said(oldest.name)}{newcomers}"
    has_ended = any(len(column.survives) < len(column.sizes) for column in columns)
    if not (is_weighted or has_ended):
        n_new = sum(column.n_new for column in columns[1:])
        said = f"{counted(n_new, 'new text') if n_new else 'No new text'} since {_said(oldest.name)}"
    parts = [said, "size = weight" if is_weighted else "large dot: new text"]
    parts += ["dotted: died out"] if has_ended else []
    parts += ["ring: resampled"] if any(column.forks for column in columns) else []
    return " · ".join(parts)


def _said(name: str) -> str:
    return {"first": "the start", "end": "the end"}.get(name, f"step {name}")


def _pitch(rows: int) -> float:
    return min(ROW, MOST_HEIGHT / rows)


def _svg(columns: Sequence[_Column], rows: int, height: int) -> Iterator[str]:
    ys = [(slot + 0.5) * _pitch(rows) for slot in range(rows)]
    xs = [WIDTH - RIGHT - PITCH * (len(columns) - 1 - i) for i in range(len(columns))]
    lines: dict[bool, list[str]] = {True: [], False: []}
    discs: dict[bool, list[str]] = {True: [], False: []}
    for x, column in zip(xs, columns, strict=True):
        for slot, (size, parent) in enumerate(zip(column.sizes, column.parents, strict=True)):
            lives = slot in column.survives
            discs[lives].append(_disc(x, ys[slot], size))
            if parent is not None and x > xs[0]:
                lines[lives].append(_line(x, ys[slot], ys[parent]))
    forks = [x + PITCH // 2 for x, column in zip(xs, columns, strict=True) if column.forks]
    breaks = [f"M{x},0v{height - AXIS}" for x in forks]
    rings = [_round(x, height - 9, RING) for x in forks]
    yield _path("dead", lines[False]) + _path("break", breaks) + _path("alive", lines[True])
    yield _path("ghost", discs[False]) + _path("node", discs[True]) + _path("ring", rings)
    for x, column in zip(xs, columns, strict=True):
        now = ' class="now"' if column is columns[-1] else ""
        yield f'<text x="{x}" y="{height - 5}"{now}>{column.name}</text>' if x > 0 else ""


def _line(x: float, y: float, before: float) -> str:
    """Curve from the parent, one column to the left and at height `before`."""
    middle = x - PITCH // 2
    return f"M{x - PITCH},{before:.1f}C{middle},{before:.1f} {middle},{y:.1f} {x},{y:.1f}"


def _disc(x: float, y: float, size: float) -> str:
    return _round(x, y, max(SMALLEST, LARGEST * sqrt(size)))


def _round(x: float, y: float, r: float) -> str:
    arc = f"a{r:.1f},{r:.1f} 0 1,0"
    return f"M{x - r:.1f},{y:.1f}{arc} {2 * r:.1f},0{arc} {-2 * r:.1f},0"


def _path(kind: str, parts: Sequence[str]) -> str:
    return f'<path class="{kind}" d="{"".join(parts)}"/>'
