"""A table as data, its numbers as text, and markdown of it. Accuracies are shown in percent."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, stdev
from typing import Literal

from vpp.wording.escaping import markdown_table, markdown_text
from vpp.wording.words import fixed, number

NOT_RUN = "not run"
ONE_SEED = "1 seed"
SMALL = 0.005
"""Mean squared errors below it would read as 0.00."""
TIED = 1e-9
"""Means closer than this are equal."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Cells are plain text: whoever draws them escapes them."""

    title: str
    note: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    quiet: Literal["rows", "columns", ""] = ""
    """Where the paper's numbers stand: every second row, or every second column after the first."""
    labels: int = 2
    """Columns at the left that hold words."""


def markdown(table: Table) -> str:
    """A section of tables.md."""
    cells = [tuple(map(markdown_text, row)) for row in (table.head, *table.rows)]
    right = range(table.labels, len(table.head))
    return "\n\n".join(
        (
            f"## {markdown_text(table.title)}",
            markdown_text(table.note),
            markdown_table(cells[0], cells[1:], right=right),
        )
    )


def value_text(value: float, *, is_error: bool) -> str:
    """`87.2` for an accuracy of 0.872, `2.43` for a mean squared error."""
    if not is_error:
        return fixed(100 * value, 1)
    return number(value, 2) if 0 < value < SMALL else fixed(value, 2)


def spread_text(values: Sequence[float], *, is_error: bool) -> str:
    """`87.2 ± 19.3 (3)`: mean, sample standard deviation (ddof = 1), and how many seeds; `87.2 (1 seed)`."""
    if not values:
        return NOT_RUN
    mean = value_text(fmean(values), is_error=is_error)
    if len(values) == 1:
        return f"{mean} ({ONE_SEED})"
    return f"{mean} ± {value_text(deviation(values), is_error=is_error)} ({len(values)})"


def deviation(values: Sequence[float]) -> float:
    """Sample standard deviation (ddof = 1) of at least two values; infinite where one of them is."""
    return stdev(values) if all(abs(value) < float("inf") for value in values) else float("inf")


def paired(values: Mapping[int, float], base: Mapping[int, float]) -> list[float]:
    """Differences on the seeds that both have, which share their data."""
    return [values[seed] - base[seed] for seed in sorted(values) if seed in base]


def signed(value: float, *, is_error: bool) -> str:
    """`+1.7`, `−0.30`."""
    shown = value_text(value, is_error=is_error)
    return f"+{shown}" if value > 0 else shown


def listed(values: Iterable[str]) -> str:
    """`46.58, 38.16`; says so where there are none."""
    return ", ".join(values) or NOT_RUN
