"""The table that was asked for: whole runs beside what they must take, at both latencies, and beside the paper."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from tests.performance.figures import Figure


class Row(NamedTuple):
    """A ratio, under the names that its figures have."""

    about: str
    paper: str
    real: str
    """As T = 20 was run, once."""
    carried: str
    """As T = 6 was run, three times, carried to T = 20 where T matters."""
    stress: str


WALL, PATH = "/ VML, wall clock", "wall clock / its critical path"
PLACES = "wall clock / what its rounds must take"
ROWS = (
    *(
        Row(
            f"{name} / VML",
            paper,
            f"real: {name} {WALL}, T = 20",
            f"real: {name} {WALL}, T = 20 as T = 6 has it",
            f"stress: {name} {WALL}, T = 20",
        )
        for name, paper in (("SMC", "15.8"), ("MH plain", "14.7"), ("MH with prefetch", "14.7"))
    ),
    *(
        Row(
            f"{name} / its critical path",
            "–",
            f"real: {name}, {PATH}, T = 20",
            f"real: {name}, {PATH}, T = 6",
            f"stress: {name}, {PATH}, T = 20",
        )
        for name in ("VML", "SMC", "MH plain", "MH with prefetch")
    ),
    Row(
        "SMC / what its rounds must take, capacity 64, T = 6",
        "–",
        "",
        f"real: SMC at capacity 64, {PLACES}, T = 6",
        f"stress: SMC at capacity 64, {PLACES}, T = 6",
    ),
)
HEADLINED = frozenset(name for row in ROWS for name in row[2:] if name)
HEAD = ("wall clock", "paper", "real, T = 20, one run", "real, by T = 6", "target", "stress, T = 20", "target")


def headline(figures: Sequence[Figure]) -> list[str]:
    """Markdown; a dash for what was not measured, and nothing where none of it was."""
    by_name = {figure.name: figure for figure in figures}
    if not any(name in by_name for row in ROWS for name in row[2:]):
        return []
    return [f"| {' | '.join(HEAD)} |", f"|---|{'---:|' * (len(HEAD) - 1)}", *_rows(by_name)]


def _rows(by_name: dict[str, Figure]) -> Iterator[str]:
    for row in ROWS:
        real, carried, stress = (by_name.get(name) for name in row[2:])
        cells = (row.about, row.paper, _value(real), _value(carried), _asked(carried), _value(stress), _asked(stress))
        yield f"| {' | '.join(cells)} |"


def _value(figure: Figure | None) -> str:
    return figure.value if figure else "–"


def _asked(figure: Figure | None) -> str:
    return (figure.asked if figure else "") or "–"
