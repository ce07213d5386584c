"""Grammar of terms and checks: formulas, sums, counts and distances; `even`, `at most 26`, `Biscoe or Dream`.

Each function reads one form at the cursor: see `Cursor`.
"""

from collections.abc import Callable
from typing import TypeVar

from vpp.demo.lexer import Cursor, TooTangled
from vpp.demo.read_items import NOUNS, NUMERALS, column, column_name, items, number, source
from vpp.demo.terms import (
    EVEN,
    FUNCTIONS,
    ODD,
    WHOLE,
    Absent,
    Arithmetic,
    Between,
    Check,
    Compare,
    Distance,
    Fails,
    Fold,
    Function,
    Holds,
    Input,
    Item,
    Items,
    Multiple,
    Number,
    OneOf,
    Tally,
    Term,
)

P = TypeVar("P")

# --- formulas -----------------------------------------------------------------------------------------------

_FUNCTIONS = {name: name for name in FUNCTIONS} | {"ln": "log", "square root of": "sqrt", "absolute value of": "abs"}
_SIGNS = {"plus": "+", "minus": "-", "times": "*", "divided by": "/"}
_LONGEST_FORMULA = 400
"""Tokens of a formula."""


def term(cursor: Cursor) -> Term | None:
    """Read a sum of products."""
    start = cursor.position
    result = _chain(cursor, _product, "+|-|plus|minus")
    if cursor.position - start > _LONGEST_FORMULA:
        raise TooTangled
    return result


def _chain(cursor: Cursor, part: Callable[[Cursor], Term | None], signs: str) -> Term | None:
    left = cursor.attempt(part)
    while left is not None:
        mark = cursor.position
        sign = cursor.take(signs)
        right = cursor.attempt(part) if sign else None
        if sign is None or right is None:
            cursor.position = mark
            break
        left = Arithmetic(_SIGNS.get(sign, sign), left, right)  # type: ignore[arg-type]
    return left


def _product(cursor: Cursor) -> Term | None:
    left = _chain(cursor, _signed, "*|/|times|divided by")
    while left is not None and _touches(cursor):
        right = cursor.attempt(_power)
        if right is None:
            break
        left = Arithmetic("*", left, right)
    return left


def _touches(cursor: Cursor) -> bool:
    """Whether a factor follows its coefficient without a sign, as in 3x or 2(x + 1)."""
    close = cursor.before.end == cursor.here.start and (cursor.before.kind == "number" or cursor.before.plain == ")")
    factor = cursor.here.kind in {"word", "string"} or cursor.here.plain == "("
    return (close and factor and cursor.here.plain != "s") or (
        cursor.before.kind == "number" and cursor.here.plain in {"sin", "cos", "sqrt"}
    )


def _signed(cursor: Cursor) -> Term | None:
    if cursor.take("-|minus|negative"):
        inner = cursor.attempt(_signed)
        if isinstance(inner, Number):
            return Number(-inner.value)
        return inner and Arithmetic("-", Number(0.0), inner)
    cursor.take("+")
    return cursor.attempt(_power)


def _power(cursor: Cursor) -> Term | None:
    base = cursor.attempt(_atom)
    while base is not None:
        if cursor.take("squared|²"):
            base = Arithmetic("^", base, Number(2.0))
        elif cursor.take("cubed|³"):
            base = Arithmetic("^", base, Number(3.0))
        elif cursor.sees("^") and (exponent := cursor.attempt(_exponent)):
            base = Arithmetic("^", base, exponent)
        else:
            break
    return base


def _exponent(cursor: Cursor) -> Term | None:
    cursor.take("^")
    return cursor.attempt(_signed)


def _atom(cursor: Cursor) -> Term | None:
    cursor.take("approximately|about|exactly")
    return cursor.first(_digits, _own_column, _brackets, _function, _phrase, column, _radius, _numeral)


def _digits(cursor: Cursor) -> Term | None:
    token = cursor.take_kind("number")
    return None if token is None else Number(float(token.plain))


def _own_column(cursor: Cursor) -> Term | None:
    """Read a column, unless the words begin a phrase such as `the sum of`."""
    name = cursor.attempt(column)
    return None if cursor.sees("of|between|from|among|(") else name


def _brackets(cursor: Cursor) -> Term | None:
    inner = cursor.attempt(term) if cursor.take("(") else None
    return inner if inner is not None and cursor.take(")") else None


def _function(cursor: Cursor) -> Term | None:
    cursor.take("the")
    name = cursor.take("|".join(_FUNCTIONS))
    argument = cursor.first(_brackets, _product) if name else None
    return None if name is None or argument is None else Function(_FUNCTIONS[name], argument)


def _radius(cursor: Cursor) -> Term | None:
    return cursor.radius if cursor.take("the radius") else None


def _numeral(cursor: Cursor) -> Term | None:
    word = cursor.take("|".join(NUMERALS))
    return Number(NUMERALS[word]) if word else None


# --- terms in words -----------------------------------------------------------------------------------------

_ORDINALS = {"first": 0, "second": 1, "third": 2, "fourth": 3, "fifth": 4, "sixth": 5, "seventh": 6, "last": -1}
_FOLDS = {
    "digit sum": "sum", "sum": "sum", "total": "sum", "product": "product", "mean": "mean", "average": "mean",
    "largest": "max", "maximum": "max", "smallest": "min", "minimum": "min", "range": "range", "length": "length",
}  # fmt: skip


def _phrase(cursor: Cursor) -> Term | None:
    cursor.take("the")
    return cursor.first(_tally, _distinct, _distance, _item, _fold)


def _tally(cursor: Cursor) -> Term | None:
    if not cursor.take("number of"):
        return None
    counted = cursor.attempt(counted_items)
    if counted is None:
        return None
    check, among = counted
    return Fold("length", among) if check is None else Tally(among, check)


def _distinct(cursor: Cursor) -> Term | None:
    if cursor.take("number of distinct|number of different") and cursor.take(NOUNS):
        among = cursor.attempt(source)
        return Fold("distinct", among or WHOLE)
    return None


def _item(cursor: Cursor) -> Term | None:
    word = cursor.take("|".join(_ORDINALS))
    if word is None or not cursor.take(NOUNS + "|one"):
        return None
    among = cursor.attempt(source)
    return Item(among or WHOLE, _ORDINALS[word])


def _fold(cursor: Cursor) -> Term | None:
    word = cursor.take("|".join(_FOLDS))
    if word is None:
        return None
    kind = _FOLDS[word]
    if kind in {"max", "min"}:
        cursor.take(NOUNS)
    if cursor.take("of|among|in"):
        folded = cursor.attempt(items)
        return None if folded is None else Fold(kind, folded)
    return Fold(kind, WHOLE)


def _distance(cursor: Cursor) -> Term | None:
    """Read `distance from the origin to the point (x, y)`; the point is the first two inputs if none is named."""
    centre = cursor.attempt(fixed_point) if cursor.take("distance from|euclidean distance from") else None
    if centre is None or not cursor.take("to"):
        return None
    is_named = cursor.take("the input point|the point|the input") is not None
    point = cursor.attempt(_point) or ((Input(0), Input(1)) if is_named else None)
    cursor.attempt(_calculation)
    return None if point is None else Distance(point, centre)


def fixed_point(cursor: Cursor) -> tuple[float, ...] | None:
    """Read `the origin` or `(0.5, -1)`."""
    if cursor.take("the origin"):
        cursor.attempt(fixed_point)
        return (0.0, 0.0)
    return _bracketed(cursor, number)


def _point(cursor: Cursor) -> tuple[Term, ...] | None:
    """Read a point of columns: `(x, y)`."""
    return _bracketed(cursor, column)


def _bracketed(cursor: Cursor, part: Callable[[Cursor], P | None]) -> tuple[P, ...] | None:
    if not cursor.take("("):
        return None
    parts = [cursor.attempt(part)]
    while cursor.take(","):
        parts.append(cursor.attempt(part))
    known = tuple(one for one in parts if one is not None)
    return known if cursor.take(")") and len(known) == len(parts) and len(parts) > 1 else None


def _calculation(cursor: Cursor) -> Term | None:
    """Read `, calculated as √(x² + y²),`, which repeats the definition of the distance."""
    cursor.take(",")
    repeated = cursor.attempt(term) if cursor.take("calculated as") else None
    return repeated if cursor.take(",") else None


# --- counted items: `even integers in the sequence`, `0s`, `integers that are greater than 5` ----------------

_ADJECTIVES: dict[str, Check] = {
    "even": EVEN,
    "odd": ODD,
    "positive": Compare(">", Number(0.0)),
    "negative": Compare("<", Number(0.0)),
}


def counted_items(cursor: Cursor) -> tuple[Check | None, Items] | None:
    """Read counted items as (check, items); every item counts if the check is None."""
    word = cursor.take("|".join(_ADJECTIVES))
    value = None if word else cursor.attempt(counted_value)
    if value is not None:
        among = cursor.attempt(source)
        return Compare("=", value), among or WHOLE
    if not cursor.take(NOUNS) and word is None:
        return None
    among = cursor.attempt(source)
    after = None
    if cursor.take("that are|that is") or cursor.sees("divisible|greater|less|above|below"):
        after = cursor.attempt(plain_check)
    if word and after:
        return None
    among = among or cursor.attempt(source)
    return _ADJECTIVES[word] if word else after, among or WHOLE


def counted_value(cursor: Cursor) -> Number | None:
    """Read the value of `0s` or `a zero`."""
    if cursor.take("zeros"):
        return Number(0.0)
    value = cursor.attempt(number)
    if value is None:
        return None
    cursor.take("'s|s")
    return None if cursor.sees(NOUNS) else Number(value)


# --- checks: of a value -------------------------------------------------------------------------------------

_COMPARISONS = (
    ("greater than or equal to|at least|no less than|>=", ">="),
    ("less than or equal to|at most|no more than|up to|<=", "<="),
    ("greater than|more than|larger than|higher than|above|over|exceeds|>", ">"),
    ("less than|smaller than|fewer than|lower than|below|under|<", "<"),
    ("different from|!=", "!="),
    ("equal to|equals|=", "="),
)
_ENDS_TEXT = (
    "and|or|then|otherwise|else|if|when|output|predict|answer|return|is|are|but|while|class|label|unless|because|so"
    "|with|,|;|:|(|)|->|=|.|?|!|the|in|of|to|a|an|than|as|that|which|at|not|no|only|both|greater|less|more|even|odd|by"
)
_SUBJECT_OF = "otherwise|if|when|else|is|are|<|>|<=|>=|=|!=|equals|exceeds|contains|has"


def plain_check(cursor: Cursor) -> Check | None:
    """Read a check with words of its own, not a bare value."""
    return cursor.first(_adjective, _remainder, _between, _one_of, _missing, _holds, _comparison, _or_more)


def value_check(cursor: Cursor) -> Check | None:
    """Read equality with one or several values: `3`, `3 or 4`, `"Biscoe"`, `Biscoe or Dream`."""
    values = _choices(cursor, ", or|or")
    if not values or cursor.sees("+|-|*|/|plus|times|minus|^"):
        return None
    return OneOf(values) if len(values) > 1 or isinstance(values[0], str) else Compare("=", Number(values[0]))


def equality(cursor: Cursor) -> Check | None:
    """Read equality with a term: `y + 1`."""
    other = cursor.attempt(term)
    return None if other is None else Compare("=", other)


def _adjective(cursor: Cursor) -> Check | None:
    word = cursor.take("even|odd|an even number|an odd number|positive|negative")
    return None if word is None else next(check for name, check in _ADJECTIVES.items() if name in word)


def _remainder(cursor: Cursor) -> Check | None:
    if cursor.take("divisible by|a multiple of"):
        remainder: float | None = 0.0
    elif cursor.take("leaves a remainder of"):
        remainder = cursor.attempt(number)
        if not cursor.take("when divided by"):
            return None
    else:
        return None
    divisor = cursor.attempt(number)
    if divisor is None or remainder is None or not 1 <= divisor < 1e9 or divisor % 1:
        return None
    return Multiple(int(divisor), int(remainder))


def _between(cursor: Cursor) -> Check | None:
    opening = cursor.take("strictly between|between")
    low = cursor.attempt(term) if opening else None
    high = cursor.attempt(term) if low is not None and cursor.take("and") else None
    return None if low is None or high is None else Between(low, high, opening == "between")


def _one_of(cursor: Cursor) -> Check | None:
    values = _choices(cursor, ", or|, and|,|or|and") if cursor.take("one of|either") else ()
    return OneOf(values) if values else None


def _missing(cursor: Cursor) -> Check | None:
    return Absent() if cursor.take("missing") else None


def _holds(cursor: Cursor) -> Check | None:
    token = cursor.take_kind("string") if cursor.take("contains the text|contains|contain the text|contain") else None
    return None if token is None else Holds(token.plain)


def _comparison(cursor: Cursor) -> Check | None:
    sign = next((sign for phrases, sign in _COMPARISONS if cursor.take(phrases)), None)
    if sign is None:
        return None
    other = cursor.attempt(term)
    if other is not None:
        return Compare(sign, other)
    category = cursor.attempt(_choice) if sign in {"=", "!="} else None
    if category is None:
        return None
    return OneOf((category,)) if sign == "=" else Fails(OneOf((category,)))


def _or_more(cursor: Cursor) -> Check | None:
    value = cursor.attempt(number)
    sign = cursor.take("or more|or less") if value is not None else None
    return None if value is None or sign is None else Compare(">=" if sign == "or more" else "<=", Number(value))


def _choices(cursor: Cursor, closing: str) -> tuple[str | float, ...]:
    """Read values separated by commas; a value after a closing word is the last.

    A value that is the subject of the next clause is left to that clause.
    """
    values: list[str | float] = []
    count, mark = 0, cursor.position
    joint: str | None = closing
    while joint is not None and (value := cursor.attempt(_choice)) is not None:
        if values and cursor.sees(_SUBJECT_OF):
            break
        values.append(value)
        if joint != "," or "," in closing.split("|"):
            count, mark = len(values), cursor.position
        joint = cursor.take(f"{closing}|,")
    cursor.position = mark
    return tuple(values[:count])


def _choice(cursor: Cursor) -> str | float | None:
    token = cursor.take_kind("string")
    if token is not None:
        return token.plain
    value = cursor.attempt(_separate_number)
    return cursor.attempt(_category) if value is None else value


def _separate_number(cursor: Cursor) -> float | None:
    value = number(cursor)
    return None if value is None or _touches(cursor) else value


def _category(cursor: Cursor) -> str | None:
    """Read unquoted words up to one that cannot be part of a category's name."""
    start, end = cursor.here.start, -1
    mark = cursor.position
    if cursor.here.kind != "word" or cursor.attempt(column_name) is not None:
        return None
    cursor.position = mark
    while cursor.here.kind in {"word", "number"} or (cursor.here.plain in {"-", "/", "&", "_"} and end >= 0):
        if cursor.sees(_ENDS_TEXT):
            break
        end = cursor.here.end
        cursor.position += 1
    return None if end < 0 else cursor.text[start:end]
