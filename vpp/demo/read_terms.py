"""Grammar of terms: formulas, sums, counts and distances.

Each function reads one form at the cursor: see `Cursor`.
"""

from collections.abc import Callable
from typing import TypeVar

from vpp.demo.lexer import Cursor, TooTangled
from vpp.demo.read_items import NOUNS, column, items, number, source
from vpp.demo.terms import (
    EVEN,
    FUNCTIONS,
    ODD,
    WHOLE,
    Arithmetic,
    Check,
    Compare,
    Distance,
    Fails,
    Fold,
    Function,
    Item,
    Multiple,
    Number,
    Tally,
    Term,
)

P = TypeVar("P")

# --- formulas -----------------------------------------------------------------------------------------------

_LONGEST_FORMULA = 400
"""Tokens of a formula."""


def term(cursor: Cursor) -> Term | None:
    """Read a sum of products."""
    start = cursor.position
    result = _chain(cursor, _product, "+|-")
    if cursor.position - start > _LONGEST_FORMULA:
        raise TooTangled
    return result


def _chain(cursor: Cursor, part: Callable[[Cursor], Term | None], signs: str) -> Term | None:
    left = cursor.attempt(part)
    while left is not None:
        mark = cursor.position
        sign = cursor.take(signs)
        right = cursor.attempt(part) if sign else None
        if right is None:
            cursor.position = mark
            break
        left = Arithmetic(sign, left, right)  # type: ignore[arg-type]
    return left


def _product(cursor: Cursor) -> Term | None:
    return _chain(cursor, _signed, "*|/")


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
    base = cursor.attempt(_atom)
    exponent = cursor.attempt(_signed) if base is not None and cursor.take("^") else None
    return base if base is None or exponent is None else Arithmetic("^", base, exponent)


def _atom(cursor: Cursor) -> Term | None:
    return cursor.first(_brackets, _function, _phrase, _constant, column)


def _constant(cursor: Cursor) -> Term | None:
    value = cursor.attempt(number)
    return None if value is None else Number(value)


def _brackets(cursor: Cursor) -> Term | None:
    inner = cursor.attempt(term) if cursor.take("(") else None
    return inner if inner is not None and cursor.take(")") else None


def _function(cursor: Cursor) -> Term | None:
    name = cursor.take("|".join(FUNCTIONS))
    argument = cursor.attempt(_brackets) if name else None
    return None if name is None or argument is None else Function(name, argument)


# --- terms in words -----------------------------------------------------------------------------------------

_ORDINALS = {"first": 0, "second": 1, "third": 2, "fourth": 3, "fifth": 4, "sixth": 5, "seventh": 6, "last": -1}
_FOLDS = {
    "digit sum": "sum", "sum": "sum", "total": "sum", "product": "product", "mean": "mean", "average": "mean",
    "largest": "max", "smallest": "min", "range": "range", "length": "length",
}  # fmt: skip


def _phrase(cursor: Cursor) -> Term | None:
    cursor.take("the")
    return cursor.first(_distinct, _number_of, _distance, _item, _extreme, _fold)


def _distinct(cursor: Cursor) -> Term | None:
    if not cursor.take("number of distinct") or not cursor.take(NOUNS):
        return None
    return Fold("distinct", source(cursor))


def _number_of(cursor: Cursor) -> Term | None:
    return cursor.attempt(tally) if cursor.take("number of") else None


def _item(cursor: Cursor) -> Term | None:
    word = cursor.take("|".join(_ORDINALS))
    if word is None or not cursor.take(NOUNS):
        return None
    return Item(source(cursor), _ORDINALS[word])


def _extreme(cursor: Cursor) -> Term | None:
    """Read `the largest integer`."""
    word = cursor.take("largest|smallest")
    if word is None or not cursor.take(NOUNS):
        return None
    return Fold(_FOLDS[word], source(cursor))


def _fold(cursor: Cursor) -> Term | None:
    """Read `sum of a and b`, or `the sum` of the sequence, if no column is called so."""
    has_article = cursor.before.plain == "the"
    word = cursor.take("|".join(_FOLDS))
    if word is None:
        return None
    if cursor.take("of"):
        among = cursor.attempt(items)
        return None if among is None else Fold(_FOLDS[word], among)
    return Fold(_FOLDS[word], WHOLE) if has_article and word not in cursor.names else None


def _distance(cursor: Cursor) -> Term | None:
    """Read `distance from the origin to the point (x, y)`, or only `from the origin to (x, y)`."""
    if not cursor.take("distance from"):
        return None
    at_origin = cursor.take("the origin")
    centre = (0.0, 0.0) if at_origin else cursor.attempt(_constants)
    point = cursor.attempt(_columns) if cursor.take("to the point|to") else None
    return None if centre is None or point is None else Distance(point, centre)


def _constants(cursor: Cursor) -> tuple[float, ...] | None:
    return _bracketed(cursor, number)


def _columns(cursor: Cursor) -> tuple[Term, ...] | None:
    return _bracketed(cursor, column)


def _bracketed(cursor: Cursor, part: Callable[[Cursor], P | None]) -> tuple[P, ...] | None:
    """Read parts in brackets, with commas between them."""
    parts: list[P] = []
    is_open = cursor.take("(") is not None
    while is_open and (one := cursor.attempt(part)) is not None:
        parts.append(one)
        is_open = cursor.take(",") is not None
    return tuple(parts) if len(parts) > 1 and cursor.take(")") else None


# --- counts -------------------------------------------------------------------------------------------------


def tally(cursor: Cursor) -> Tally | None:
    """Read counted items: `even integers in the sequence`, `0s`, `integers that are greater than 5`."""
    check = cursor.first(_kind, _equal, _qualified)
    return None if check is None else Tally(source(cursor), check)


def _kind(cursor: Cursor) -> Check | None:
    word = cursor.take("even|odd")
    if word is None or not cursor.take(NOUNS):
        return None
    return EVEN if word == "even" else ODD


def _equal(cursor: Cursor) -> Check | None:
    value = cursor.attempt(number)
    if value is None:
        return None
    cursor.take("s")
    return None if cursor.sees(NOUNS) else Compare("=", Number(value))


def _qualified(cursor: Cursor) -> Check | None:
    if not cursor.take(NOUNS):
        return None
    cursor.take("that are|that is")
    is_denied = cursor.take("not") is not None
    check = cursor.first(remainder, comparison)
    return check if check is None or not is_denied else Fails(check)


# --- checks of numbers, which counts need too ----------------------------------------------------------------

_SIGNS = {
    ">=": ">=", "at least": ">=", "greater than or equal to": ">=",
    "<=": "<=", "at most": "<=", "less than or equal to": "<=", "no more than": "<=",
    ">": ">", "greater than": ">", "more than": ">", "larger than": ">", "above": ">", "over": ">",
    "<": "<", "less than": "<", "smaller than": "<", "below": "<", "under": "<",
    "=": "=", "equal to": "=", "equals": "=", "!=": "!=",
}  # fmt: skip
COMPARISONS = "|".join(_SIGNS)


def sign(cursor: Cursor) -> str | None:
    """Read a comparison's sign, or words for it."""
    words = cursor.take(COMPARISONS)
    return None if words is None else _SIGNS[words]


def comparison(cursor: Cursor) -> Check | None:
    """Read `> 3` or `at most a + b`."""
    compared = sign(cursor)
    other = cursor.attempt(term) if compared else None
    return None if compared is None or other is None else Compare(compared, other)


def remainder(cursor: Cursor) -> Check | None:
    """Read `even`, `a multiple of 3` or `leaves a remainder of 1 when divided by 3`."""
    word = cursor.take("even|odd|an even number|an odd number")
    if word is not None:
        return EVEN if "even" in word else ODD
    left: float | None = 0.0
    if cursor.take("leaves a remainder of"):
        left = cursor.attempt(number)
        opened = cursor.take("when divided by")
    else:
        opened = cursor.take("divisible by|a multiple of")
    divisor = cursor.attempt(number) if opened else None
    if divisor is None or left is None or not 1 <= divisor < 1e9 or divisor % 1:
        return None
    return Multiple(int(divisor), int(left))
