"""Grammar of constants, columns and items: `three`, `petal width`, `the first two integers`, `a, b and c`.

Each function reads one form at the cursor: see `Cursor`.
"""

import re

from vpp.demo.lexer import RESERVED, Cursor
from vpp.demo.terms import WHOLE, Cell, Input, Items, Term

# --- constants and columns ----------------------------------------------------------------------------------

NOUNS = "integers|integer|numbers|number|digits|digit|values|value|elements|element|items|item"
_HOLDERS = "sequence|input|list"
NUMERALS = {
    word: float(number)
    for number, word in enumerate(
        ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]
    )
}
_COORDINATE = re.compile(r"x_?(\d)|([xyz])")


def number(cursor: Cursor) -> float | None:
    """Read a constant, in digits or as a word, with its sign."""
    cursor.take("approximately|about|exactly")
    sign = -1.0 if cursor.take("-|minus|negative") else 1.0
    token = cursor.take_kind("number")
    if token is not None:
        return sign * float(token.plain)
    word = cursor.take("|".join(NUMERALS))
    return None if word is None else sign * NUMERALS[word]


def column_name(cursor: Cursor) -> str | None:
    """Read a column's name, in quotes or bare."""
    if cursor.here.kind == "string" and cursor.here.plain in cursor.names:
        cursor.position += 1
        return cursor.before.plain
    cursor.take("the")
    bare = [name for name in cursor.names if not _is_phrase(name)]
    exact = next((name for name in bare if cursor.take_text(name)), None)
    loose = (name for name in bare if name.casefold() != "a" and cursor.take_text(name, any_case=True))
    name = exact or next(loose, None)
    # `first` in `the first integer` is no column, even if a column is called so.
    return None if name is None or (name.casefold() in RESERVED and cursor.sees(NOUNS)) else name


def _is_phrase(name: str) -> bool:
    """Whether a name consists of several words of the rule language, so that it is read only in quotes."""
    words = name.lower().split()
    return len(words) > 1 and all(word in RESERVED for word in words)


def column(cursor: Cursor) -> Term | None:
    """Read a column; x, y, z, x1 or x_2 is a numeric input by position if no column has that name."""
    cursor.take("the value of|value of|the column|column|the feature|feature|variable|the variable")
    name = cursor.attempt(column_name)
    if name is not None:
        return Cell(name)
    match = _COORDINATE.fullmatch(cursor.here.plain) if cursor.here.kind == "word" else None
    position = -1 if match is None else int(match[1]) - 1 if match[1] else "xyz".index(match[2])
    cursor.position += 1
    return Input(position) if position >= 0 else None


# --- items: the sequence, a part of it, or several columns ---------------------------------------------------


def items(cursor: Cursor) -> Items | None:
    """Read `the integers in the sequence`, `the first three integers` or `a, b and c`."""
    cursor.take("all of|all")
    return cursor.first(_listed, _part, _whole)


def _listed(cursor: Cursor) -> Items | None:
    names = [cursor.attempt(column_name)]
    while names[-1] is not None:
        mark = cursor.position
        joined = cursor.take(", and|, or|,|and|or|&")
        name = cursor.attempt(column_name) if joined else None
        if name is None:
            cursor.position = mark
            break
        names.append(name)
    listed = tuple(name for name in names if name is not None)
    is_of_sequence = len(listed) == 1 and cursor.sees("in|of|from|among|within")
    return Items(listed) if listed and not is_of_sequence else None


def _part(cursor: Cursor) -> Items | None:
    cursor.take("the")
    side = cursor.take("first|last")
    count = cursor.attempt(number) if side else None
    if side is None or count is None or not 0 < count < 1000 or not cursor.take(NOUNS):
        return None
    cursor.attempt(source)
    return Items((), None, int(count)) if side == "first" else Items((), -int(count), None)


def _whole(cursor: Cursor) -> Items | None:
    cursor.take("the")
    cursor.attempt(number)
    if not cursor.take(NOUNS):
        return WHOLE if cursor.take(_HOLDERS) else None
    return cursor.attempt(source) or WHOLE


def source(cursor: Cursor) -> Items | None:
    """Read `in the sequence` or `among a, b and c`."""
    if not cursor.take("in|of|among"):
        return None
    return WHOLE if cursor.take("the sequence|the input|the list") else cursor.attempt(items)
