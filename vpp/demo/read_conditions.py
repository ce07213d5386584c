"""Grammar of conditions and checks: `the sum is even and at most 26`, `the sequence contains no 0`, `y is missing`.

Each function reads one form at the cursor: see `Cursor`.
"""

from collections.abc import Callable

from vpp.demo.lexer import Cursor
from vpp.demo.read_items import NOUNS, column_name, items, number
from vpp.demo.read_terms import COMPARISONS, comparison, remainder, sign, tally, term
from vpp.demo.rule import All, Any, Condition, Is, Not, Pattern
from vpp.demo.terms import WHOLE, Absent, Between, Check, Compare, Fails, Holds, Number, OneOf, Tally

# --- joined conditions --------------------------------------------------------------------------------------


def condition(cursor: Cursor) -> Condition | None:
    """Read parts joined by `or`; `and` binds closer."""
    cursor.take("either")
    return _joined(cursor, _conjunction, ", or|or", Any)


def _conjunction(cursor: Cursor) -> Condition | None:
    return _joined(cursor, _part, "and|, and|but", All)


def _joined(
    cursor: Cursor,
    part: Callable[[Cursor], Condition | None],
    joints: str,
    whole: Callable[[tuple[Condition, ...]], Condition],
) -> Condition | None:
    parts: list[Condition] = []
    mark = cursor.position
    while (one := cursor.attempt(part)) is not None:
        parts.append(one)
        mark = cursor.position
        if not cursor.take(joints):
            break
    cursor.position = mark
    return None if not parts else parts[0] if len(parts) == 1 else whole(tuple(parts))


def _part(cursor: Cursor) -> Condition | None:
    if cursor.take("not"):
        inner = cursor.attempt(_part)
        return None if inner is None else Not(inner)
    return cursor.first(_bracketed, _neighbours, _order, _quantified, _contains, _comparison, _elided)


def _bracketed(cursor: Cursor) -> Condition | None:
    inner = cursor.attempt(condition) if cursor.take("(") else None
    return inner if inner is not None and cursor.take(")") else None


def _comparison(cursor: Cursor) -> Condition | None:
    """Read a term and its check; remember the term for an elided subject."""
    subject = cursor.attempt(term)
    check = None if subject is None else cursor.attempt(_judgement)
    if subject is None or check is None:
        return None
    cursor.subject = subject
    return Is(subject, check)


def _elided(cursor: Cursor) -> Condition | None:
    """Read `… and at most 26`: a check of the last subject."""
    check = None if cursor.subject is None else cursor.first(remainder, comparison, _denied)
    return None if cursor.subject is None or check is None else Is(cursor.subject, check)


# --- checks of one value ------------------------------------------------------------------------------------

_COPULA = "is|are"
_VERBS = f"{_COPULA}|contains|does not|{COMPARISONS}"
_ENDS_TEXT = (
    "and|or|nor|neither|both|then|otherwise|else|if|when|unless|because|while|output|predict|answer|return|say|is|are|but"
    "|not|only|the|in|of|to|than|at|by|with|as|that|which|from|about|more|less|fewer|greater|larger|smaller|higher|lower"
)
"""Words that no unquoted category holds, so that a wording which cannot be read is no category."""


def _judgement(cursor: Cursor) -> Check | None:
    """Read a check after its subject: `is even`, `> 3`, `is not Biscoe`, `does not contain "a"`."""
    if cursor.take("does not"):
        check = cursor.attempt(_contained)
        return None if check is None else Fails(check)
    if cursor.take(_COPULA):
        return cursor.first(_denied, _property)
    return cursor.first(_contained, remainder, comparison, _text_comparison)


def _denied(cursor: Cursor) -> Check | None:
    check = cursor.attempt(_property) if cursor.take("not") else None
    return None if check is None else Fails(check)


def _property(cursor: Cursor) -> Check | None:
    """Read a check after `is`."""
    return cursor.first(
        remainder, _between, _one_of, _missing, comparison, _text_comparison, _or_more, _values, _equality
    )


def _contained(cursor: Cursor) -> Check | None:
    piece = cursor.take_kind("string") if cursor.take("contains the text|contains|contain") else None
    return None if piece is None else Holds(piece.plain)


def _between(cursor: Cursor) -> Check | None:
    opening = cursor.take("strictly between|between")
    low = cursor.attempt(term) if opening else None
    high = cursor.attempt(term) if low is not None and cursor.take("and") else None
    return None if low is None or high is None else Between(low, high, opening == "between")


def _one_of(cursor: Cursor) -> Check | None:
    return _choice(cursor, ", or|, and|,|or|and") if cursor.take("one of") else None


def _missing(cursor: Cursor) -> Check | None:
    return Absent() if cursor.take("missing") else None


def _text_comparison(cursor: Cursor) -> Check | None:
    """Read `= Biscoe` or `!= Biscoe`."""
    compared = sign(cursor)
    value = cursor.attempt(_value) if compared in {"=", "!="} else None
    if value is None:
        return None
    return OneOf((value,)) if compared == "=" else Fails(OneOf((value,)))


def _or_more(cursor: Cursor) -> Check | None:
    value = cursor.attempt(number)
    side = cursor.take("or more|or less") if value is not None else None
    return None if value is None or side is None else Compare(">=" if side == "or more" else "<=", Number(value))


def _equality(cursor: Cursor) -> Check | None:
    other = cursor.attempt(term)
    return None if other is None else Compare("=", other)


def _values(cursor: Cursor) -> Check | None:
    """Read one or several values: `3`, `3 or 4`, `"Biscoe"`, `Biscoe or Dream`."""
    check = _choice(cursor, ", or|or")
    return None if cursor.sees("+|-|*|/|^") else check


def _choice(cursor: Cursor, joints: str) -> Check | None:
    """Read joined values; the one after `and` or `or` is the last. The subject of a further condition is none."""
    values: list[str | float] = []
    mark = cursor.position
    joint: str | None = ","
    while joint is not None:
        value = cursor.attempt(_value)
        if value is None or (values and cursor.sees(_VERBS)):
            break
        values.append(value)
        mark = cursor.position
        joint = cursor.take(joints if joint == "," else joint)
    cursor.position = mark
    if len(values) == 1 and isinstance(values[0], float):
        return Compare("=", Number(values[0]))
    return OneOf(tuple(values)) if values else None


def _value(cursor: Cursor) -> str | float | None:
    quoted = cursor.take_kind("string")
    return cursor.first(_separate_number, _words) if quoted is None else quoted.plain


def _separate_number(cursor: Cursor) -> str | float | None:
    value = number(cursor)
    is_part_of_word = cursor.here.kind == "word" and cursor.here.start == cursor.before.end
    return None if is_part_of_word else value


def _words(cursor: Cursor) -> str | float | None:
    """Read the words of a category up to one that belongs to the rule; a column's name is no category."""
    start, end = cursor.here.start, -1
    mark = cursor.position
    if cursor.attempt(column_name) is not None:
        return None
    cursor.position = mark
    while cursor.here.kind in {"word", "number"} or (cursor.here.plain in {"-", "/", "&"} and end >= 0):
        if cursor.sees(_ENDS_TEXT):
            break
        end = cursor.here.end
        cursor.position += 1
    return None if end < 0 else cursor.text[start:end]


# --- order and repetition -----------------------------------------------------------------------------------

_ORDERS = {
    "in strictly increasing order": "increasing", "strictly increasing": "increasing",
    "in strictly decreasing order": "decreasing", "strictly decreasing": "decreasing",
    "in ascending order": "ascending", "in increasing order": "ascending",
    "in descending order": "descending", "in decreasing order": "descending",
    "all different": "distinct", "all distinct": "distinct", "all the same": "identical", "all equal": "identical",
    "a palindrome": "palindrome",
}  # fmt: skip
_CONTAINED = {
    "exactly two identical integers that are not adjacent": Pattern("split pair", WHOLE),
    "exactly two identical numbers that are not adjacent": Pattern("split pair", WHOLE),
    **{f"a repeated {noun}": Not(Pattern("distinct", WHOLE)) for noun in NOUNS.split("|")},
}


def _neighbours(cursor: Cursor) -> Condition | None:
    """Read `two neighbours are equal` or `no two neighbours are equal`."""
    amount = cursor.take("no two|two")
    if amount is None or not cursor.take("neighbours are equal|neighbors are equal"):
        return None
    equal = Pattern("neighbours equal", WHOLE)
    return equal if amount == "two" else Not(equal)


def _order(cursor: Cursor) -> Condition | None:
    ordered = cursor.attempt(items)
    copula = cursor.take(_COPULA) if ordered is not None else None
    is_denied = copula is not None and cursor.take("not") is not None
    kind = cursor.take("|".join(_ORDERS)) if copula is not None else None
    if ordered is None or kind is None:
        return None
    pattern = Pattern(_ORDERS[kind], ordered)
    return Not(pattern) if is_denied else pattern


# --- counts -------------------------------------------------------------------------------------------------

_BOUNDS = {"at least": ">=", "at most": "<=", "more than": ">", "fewer than": "<", "exactly": "="}


def _quantified(cursor: Cursor) -> Condition | None:
    """Read `all integers are even`, `any of a, b and c is 0`, `at least two of the integers are odd`."""
    every = cursor.take("all|every one of|every|each of|each")
    count = Compare("=", Number(0.0)) if every else cursor.attempt(_count)
    cursor.take("of")
    among = None if count is None else cursor.attempt(items)
    check = None if among is None else cursor.attempt(_judgement)
    if count is None or among is None or check is None:
        return None
    return Is(Tally(among, Fails(check) if every else check), count)


def _count(cursor: Cursor) -> Check | None:
    """Read a required number: `at least two`, `no`, `any`, `exactly one`."""
    if cursor.take("no|none"):
        return Compare("=", Number(0.0))
    if cursor.take("any"):
        return Compare(">=", Number(1.0))
    bound = cursor.take("|".join(_BOUNDS))
    required = cursor.attempt(number) if bound else None
    return None if bound is None or required is None else Compare(_BOUNDS[bound], Number(required))


def _contains(cursor: Cursor) -> Condition | None:
    """Read `the sequence contains at least one 0`, `there is no 0 in the sequence`, `the sequence contains a 0`."""
    verb = cursor.take("the sequence contains|the sequence does not contain|there is|there are")
    if verb is None:
        return None
    pattern = cursor.take("|".join(_CONTAINED))
    inner = cursor.first(_counted, _occurring) if pattern is None else _CONTAINED[pattern]
    return Not(inner) if inner is not None and "not" in verb else inner


def _counted(cursor: Cursor) -> Condition | None:
    count = cursor.attempt(_count)
    counted = None if count is None else cursor.attempt(tally)
    return None if count is None or counted is None else Is(counted, count)


def _occurring(cursor: Cursor) -> Condition | None:
    cursor.take("a|an")
    counted = cursor.attempt(tally)
    return None if counted is None else Is(counted, Compare(">=", Number(1.0)))
