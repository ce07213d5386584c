"""What a table's columns hint at for its split: rows that may belong together, and rows in time."""

import re
from collections.abc import Iterator, Sequence

from vpp.data.dataset import Column
from vpp.data.kinds import is_integer
from vpp.data.table import Table

FEWEST_GROUPS = 3
FEWEST_CODES = 10
"""Values of a column of codes that only their form tells; fewer are usual labels."""
_GROUP_NAME = re.compile(
    r"(.*[^a-z])?(id|uuid|guid|patient|subject|participant|proband|person|customer|client|user|author|player|pupil|"
    r"student|school|household|family|hospital|clinic|site|shop|store|device|machine|sensor|batch|session|animal)"
    r"([ _-]?(id|code|key|no|nr|number))?|.*[a-z](Id|ID)",
    re.IGNORECASE,
)
_GROUP_CODE = re.compile(r"(?=.*\d)[\w./#:+@-]+|[\w.+-]+@[\w.-]+")


def split_hints(table: Table, target: str) -> tuple[str, ...]:
    """A sentence on the likeliest column of groups, and one on the first of dates, where rows are drawn by chance."""
    others = [column for column in table.columns if column.name != target]
    return (*_of_groups(table, others), *_of_time(others))


def _of_groups(table: Table, columns: Sequence[Column]) -> Iterator[str]:
    named = [column for column in columns if _repeats(column, table) and _are_groups(column, table)]
    for column in sorted(named, key=lambda column: _GROUP_NAME.fullmatch(column.name) is None)[:1]:
        yield (
            f"column {column.name!r} has {column.n_distinct:,} values for {table.n_rows:,} rows: if its rows belong "
            f"together, split by group (--split group:{column.name})"
        )


def _of_time(columns: Sequence[Column]) -> Iterator[str]:
    dated = [column.name for column in columns if column.kind == "date" and column.n_distinct > 1]
    for name in dated[:1]:
        later = f"to predict later rows from earlier ones, split by time (--split time:{name})"
        yield f"column {name!r} holds dates: {later}"


def _repeats(column: Column, table: Table) -> bool:
    """Two rows a value at least, on average."""
    return column.n_distinct >= FEWEST_GROUPS and 2 * column.n_distinct <= table.n_rows - column.n_missing


def _are_groups(column: Column, table: Table) -> bool:
    """By the name, where the cells are integers or words; else by codes that are no integers."""
    if column.kind not in ("number", "category", "text"):
        return False
    present = {cell for cell in table.cells(column.name) if cell is not None}
    if _GROUP_NAME.fullmatch(column.name):
        return column.kind != "number" or all(map(is_integer, present))
    is_code = column.kind != "number" and len(present) >= FEWEST_CODES
    return is_code and all(map(_GROUP_CODE.fullmatch, present))
