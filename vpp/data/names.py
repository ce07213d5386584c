"""Names of columns: one line each, none twice, none too long."""

from collections.abc import Collection, Sequence
from itertools import count

from vpp.errors import DataError

MAX_NAME = 1_000
"""Characters of the longest name that is taken."""
LONG_NAME = 60
"""Characters of a name from which on it is shown cut."""


def unique_names(
    headers: Sequence[str], *, without: Collection[int], say: bool, file: str
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """A name for each header but those at the places `without`, and a note on each that it does not give.

    say: whether a column without a name is noted. Raises DataError for a name longer than MAX_NAME.
    """
    given = [" ".join(header.split()) for header in headers]
    taken = set(given)
    named: dict[str, None] = {}
    notes: list[str] = []
    for number, name in enumerate(given, start=1):
        if number - 1 in without:
            continue
        if len(name) > MAX_NAME:
            raise DataError(
                f"{file}: the name of column {number} has {len(name):,} characters, more than {MAX_NAME:,}: shorten "
                "it, or say that there is no header"
            )
        if name and name not in named:
            named[name] = None
            continue
        own = _unused(name or f"column_{number}", taken)
        taken.add(own)
        named[own] = None
        if name or say:
            fault = f"repeats the name {shown_name(name)!r}" if name else "has no name"
            notes.append(f"column {number} {fault}: called {shown_name(own)!r}")
    return tuple(named), tuple(notes)


def shown_name(name: str) -> str:
    """The name, or its start where it is long."""
    return name if len(name) <= LONG_NAME else f"{name[: LONG_NAME - 1]}…"


def _unused(name: str, taken: Collection[str]) -> str:
    """The name, or the first of name_2, name_3, … that is not taken."""
    if name not in taken:
        return name
    return next(other for i in count(2) if (other := f"{name}_{i}") not in taken)
