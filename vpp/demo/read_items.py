"""Grammar of constants, columns and items: `three`, `petal width`, `the first two integers`, `a, b and c`.

Each function reads one form at the cursor: see `Cursor`.
"""

from vpp.demo.lexer import Cursor
from vpp.demo.terms import WHOLE, Cell, Items, Term

NOUNS = "integers|integer|numbers|number|digits|digit|values|value"
_NUMERALS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


def number(cursor: Cursor) -> float | None:
    """Read a constant, in digits or as a word, with its sign."""
    sign = -1.0 if cursor.take("-") else 1.0
    token = cursor.take_kind("number")
    if token is not None:
        return sign * float(token.plain)
    word = cursor.take("|".join(_NUMERALS))
    return None if word is None else sign * _NUMERALS.index(word)


def column_name(cursor: Cursor) -> str | None:
    """Read a column's name, in quotes or bare."""
    quoted = cursor.take_kind("string")
    if quoted is not None:
        return quoted.plain if quoted.plain in cursor.names else None
    cursor.take("the")
    return cursor.take_one_of(cursor.names)


def column(cursor: Cursor) -> Term | None:
    """Read a column."""
    name = cursor.attempt(column_name)
    return None if name is None else Cell(name)


def items(cursor: Cursor) -> Items | None:
    """Read `the integers in the sequence`, `the first three integers` or `a, b and c`."""
    cursor.take("all of|all")
    return cursor.first(_part, _whole, _listed)


def _part(cursor: Cursor) -> Items | None:
    cursor.take("the")
    side = cursor.take("first|last")
    count = cursor.attempt(number) if side else None
    if side is None or count is None or not 0 < count < 1000 or not cursor.take(NOUNS):
        return None
    source(cursor)
    return Items((), None, int(count)) if side == "first" else Items((), -int(count), None)


def _whole(cursor: Cursor) -> Items | None:
    if cursor.take("the sequence"):
        return WHOLE
    cursor.take("the")
    if not cursor.take(NOUNS):
        return None
    return source(cursor)


def _listed(cursor: Cursor) -> Items | None:
    names: list[str] = []
    mark = cursor.position
    while (name := cursor.attempt(column_name)) is not None:
        names.append(name)
        mark = cursor.position
        if not cursor.take(", and|, or|,|and|or"):
            break
    cursor.position = mark
    return Items(tuple(names)) if names else None


def source(cursor: Cursor) -> Items:
    """Read `in the sequence` or `among a, b and c`; without such words it is the whole sequence."""
    named = cursor.attempt(_named_source)
    return named or WHOLE


def _named_source(cursor: Cursor) -> Items | None:
    return cursor.attempt(items) if cursor.take("in|of|among") else None
