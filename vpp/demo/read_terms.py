"""Grammar of terms: `petal width`, `the first two integers`, formulas, sums, counts and distances."""

from vpp.demo.combine import Reader, first, joined, named, seq
from vpp.demo.lexer import Cursor, TooTangled
from vpp.demo.terms import (
    EVEN,
    FUNCTIONS,
    ODD,
    WHOLE,
    Arithmetic,
    Cell,
    Check,
    Compare,
    Distance,
    Fails,
    Fold,
    Function,
    Item,
    Items,
    Multiple,
    Number,
    Tally,
    Term,
)

NOUNS = "integers|integer|numbers|number|digits|digit|values|value"
_NUMERALS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")

# --- constants, columns and items ---------------------------------------------------------------------------


def number(cursor: Cursor) -> float | None:
    sign = -1.0 if cursor.take("-") else 1.0
    token = cursor.take_kind("number")
    if token is not None:
        return sign * float(token.plain)
    word = cursor.take("|".join(_NUMERALS))
    return None if word is None else sign * _NUMERALS.index(word)


def column_name(cursor: Cursor) -> str | None:
    quoted = cursor.take_kind("string")
    if quoted is not None:
        return quoted.plain if quoted.plain in cursor.names else None
    cursor.take("the")
    return cursor.take_one_of(cursor.names)


_column = seq(column_name, make=Cell)


def items(cursor: Cursor) -> Items | None:
    """Read `the integers in the sequence`, `the first three integers` or `a, b and c`."""
    cursor.take("all of|all")
    return cursor.first(_part, _whole, _listed)


def _source(cursor: Cursor) -> Items:
    """Read `in the sequence` or `among a, b and c`; without such words it is the whole sequence."""
    return cursor.attempt(seq("in|of|among", items)) or WHOLE


def _slice(side: str, count: float, _: Items) -> Items | None:
    if not 0 < count < 1000:
        return None
    return Items((), None, int(count)) if side == "first" else Items((), -int(count), None)


_part = seq("the?", named({"first": "first", "last": "last"}), number, NOUNS, _source, make=_slice)
_whole = first(seq("the sequence", make=lambda: WHOLE), seq("the?", NOUNS, _source))
_listed = joined(column_name, ", and|, or|,|and|or", Items)

# --- formulas -----------------------------------------------------------------------------------------------

_LONGEST_FORMULA = 400
"""Tokens of a formula."""


def term(cursor: Cursor) -> Term | None:
    start = cursor.position
    result = _chain(cursor, lambda part: _chain(part, _signed, "*|/"), "+|-")
    if cursor.position - start > _LONGEST_FORMULA:
        raise TooTangled
    return result


def _chain(cursor: Cursor, part: Reader, signs: str) -> Term | None:
    left: Term | None = cursor.attempt(part)
    while left is not None:
        mark = cursor.position
        sign = cursor.take(signs)
        right = cursor.attempt(part) if sign else None
        if right is None:
            cursor.position = mark
            break
        left = Arithmetic(sign, left, right)  # type: ignore[arg-type]
    return left


def _signed(cursor: Cursor) -> Term | None:
    if not cursor.take("-"):
        return cursor.attempt(_scaled)
    inner = cursor.attempt(_signed)
    if isinstance(inner, Number):
        return Number(-inner.value)
    return inner and Arithmetic("-", Number(0.0), inner)


def _scaled(cursor: Cursor) -> Term | None:
    """Read a power, or a coefficient that touches it, as in 3x or 2(x + 1)."""
    left = cursor.attempt(_power)
    touches = cursor.before.end == cursor.here.start and (cursor.here.kind == "word" or cursor.here.plain == "(")
    right = cursor.attempt(_power) if isinstance(left, Number) and touches else None
    return left if left is None or right is None else Arithmetic("*", left, right)


def _power(cursor: Cursor) -> Term | None:
    base: Term | None = cursor.attempt(_atom)
    exponent = cursor.attempt(_signed) if base is not None and cursor.take("^") else None
    return base if base is None or exponent is None else Arithmetic("^", base, exponent)


def _atom(cursor: Cursor) -> Term | None:
    return cursor.first(_brackets, _function, _phrase, _constant, _column)


_brackets = seq("(", term, ")")
_function = seq(named({name: name for name in FUNCTIONS}), _brackets, make=Function)
_constant = seq(number, make=Number)

# --- checks of numbers --------------------------------------------------------------------------------------

_SIGNS = {
    ">=": ">=", "at least": ">=", "greater than or equal to": ">=",
    "<=": "<=", "at most": "<=", "less than or equal to": "<=", "no more than": "<=",
    ">": ">", "greater than": ">", "more than": ">", "larger than": ">", "above": ">", "over": ">",
    "<": "<", "less than": "<", "smaller than": "<", "below": "<", "under": "<",
    "=": "=", "equal to": "=", "equals": "=", "!=": "!=",
}  # fmt: skip
COMPARISONS = "|".join(_SIGNS)


def _multiple(divisor: float) -> Check | None:
    return Multiple(int(divisor)) if 1 <= divisor < 1e9 and divisor.is_integer() else None


comparison = seq(named(_SIGNS), term, make=Compare)
divisibility = first(
    named({"even": EVEN, "odd": ODD, "an even number": EVEN, "an odd number": ODD}),
    seq("divisible by|a multiple of", number, make=_multiple),
)

# --- counts -------------------------------------------------------------------------------------------------


def _equal(cursor: Cursor) -> Check | None:
    """Read `0s`; the number before a noun is no counted item."""
    value = cursor.attempt(number)
    cursor.take("s")
    return None if value is None or cursor.sees(NOUNS) else Compare("=", Number(value))


_checked = first(divisibility, comparison)
_counted = first(
    seq(named({"even": EVEN, "odd": ODD}), NOUNS),
    _equal,
    seq(NOUNS, "that are|that is?", first(seq("not", _checked, make=Fails), _checked)),
)
tally = seq(_counted, _source, make=lambda check, among: Tally(among, check))
"""Reads counted items: `even integers in the sequence`, `0s`, `integers that are greater than 5`."""

# --- terms in words -----------------------------------------------------------------------------------------

_ORDINALS = {"first": 0, "second": 1, "third": 2, "fourth": 3, "fifth": 4, "sixth": 5, "seventh": 6, "last": -1}
_EXTREMES = {"largest": "max", "smallest": "min"}
_FOLDS = {
    "digit sum": "sum", "sum": "sum", "total": "sum", "product": "product", "mean": "mean", "average": "mean",
    "range": "range", "length": "length", **_EXTREMES,
}  # fmt: skip


def _bare_fold(cursor: Cursor) -> Term | None:
    """Read `the sum` of the sequence, if no column is called so."""
    has_article = cursor.before.plain == "the"
    word = cursor.take("|".join(_FOLDS))
    return None if word is None or not has_article or word in cursor.names else Fold(_FOLDS[word], WHOLE)


def _bracketed(part: Reader) -> Reader:
    return seq("(", joined(part, ",", lambda parts: parts if len(parts) > 1 else None), ")")


_phrase = seq(
    "the?",
    first(
        seq("number of distinct", NOUNS, _source, make=lambda among: Fold("distinct", among)),
        seq("number of", tally),
        seq(
            "distance from",
            first(seq("the origin", make=lambda: (0.0, 0.0)), _bracketed(number)),
            "to the point|to",
            _bracketed(_column),
            make=lambda centre, point: Distance(point, centre),
        ),
        seq(named(_ORDINALS), NOUNS, _source, make=lambda index, among: Item(among, index)),
        seq(named(_EXTREMES), NOUNS, _source, make=Fold),
        seq(named(_FOLDS), "of", items, make=Fold),
        _bare_fold,
    ),
)
