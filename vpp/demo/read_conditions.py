"""Grammar of conditions: `the sum is even and at most 26`, `the sequence contains no 0`, `x < 3 or y is missing`."""

from collections.abc import Callable

from vpp.demo.lexer import Cursor
from vpp.demo.read_items import items, number
from vpp.demo.read_terms import counted_items, equality, plain_check, term, value_check
from vpp.demo.rule import All, Any, Condition, Every, Is, Not, Pattern
from vpp.demo.terms import EVEN, ODD, WHOLE, Check, Compare, Fails, Number, Tally


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
    first = cursor.attempt(part)
    parts = [first] if first is not None else []
    while parts:
        mark = cursor.position
        more = cursor.attempt(part) if cursor.take(joints) else None
        if more is None:
            cursor.position = mark
            break
        parts.append(more)
    return None if not parts else parts[0] if len(parts) == 1 else whole(tuple(parts))


def _part(cursor: Cursor) -> Condition | None:
    if cursor.take("not"):
        inner = cursor.attempt(_part)
        return None if inner is None else Not(inner)
    return cursor.first(
        _bracketed, _neighbours, _order, _repetition, _quantified, _contains, _even_number, _comparison, _elided
    )


def _bracketed(cursor: Cursor) -> Condition | None:
    inner = cursor.attempt(condition) if cursor.take("(") else None
    return inner if inner is not None and cursor.take(")") else None


# --- comparisons --------------------------------------------------------------------------------------------

_COPULA = "is|are"


def _comparison(cursor: Cursor) -> Condition | None:
    """Read a term and its check; remember the term for an elided subject."""
    subject = cursor.attempt(term)
    check = None if subject is None else cursor.attempt(_judgement)
    if subject is None or check is None:
        return None
    if not isinstance(subject, Number):
        cursor.subject = subject
    return Is(subject, check)


def _judgement(cursor: Cursor) -> Check | None:
    """Read a check after its subject: `is even`, `> 3`, `is not Biscoe`, `does not contain "a"`."""
    if cursor.take("does not|do not"):
        check = cursor.attempt(plain_check)
        return None if check is None else Fails(check)
    copula = cursor.take(_COPULA)
    is_denied = cursor.take("not") is not None
    check = cursor.attempt(plain_check)
    if check is None and copula is not None:
        check = cursor.first(value_check, equality)
    return None if check is None else Fails(check) if is_denied else check


def _elided(cursor: Cursor) -> Condition | None:
    """Read `… and at most 26`: a check of the last subject."""
    if cursor.subject is None:
        return None
    copula = cursor.take(_COPULA)
    is_denied = copula is not None and cursor.take("not") is not None
    check = cursor.attempt(plain_check)
    if check is None and copula is not None:
        check = cursor.attempt(value_check)
    return None if check is None else Is(cursor.subject, Fails(check) if is_denied else check)


# --- order and repetition -----------------------------------------------------------------------------------

_ORDERS = {
    "in strictly increasing order": "increasing", "strictly increasing": "increasing",
    "in strictly decreasing order": "decreasing", "strictly decreasing": "decreasing",
    "in ascending order": "ascending", "in increasing order": "ascending", "sorted": "ascending",
    "in descending order": "descending", "in decreasing order": "descending",
    "all different": "distinct", "all distinct": "distinct", "all the same": "identical", "all equal": "identical",
    "a palindrome": "palindrome",
}  # fmt: skip
_ADJACENT = "neighbours|neighbors|adjacent integers|adjacent numbers|adjacent values|adjacent digits"
_EQUAL = "are equal|are the same"
_SPLIT_PAIR = (
    "exactly two identical integers that are not adjacent and are separated by at least one different integer"
    "|exactly two identical integers that are not adjacent"
)
_REPEATED = "a repeated integer|a repeated number|a repeated digit|a repeated value|a duplicate|duplicates"


def _neighbours(cursor: Cursor) -> Condition | None:
    amount = cursor.take("no two|two")
    if amount is None or not cursor.take(_ADJACENT) or not cursor.take(_EQUAL):
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


def _repetition(cursor: Cursor) -> Condition | None:
    verb = cursor.take("the sequence contains|the sequence has|the sequence does not contain")
    if verb is None:
        return None
    if cursor.take(_SPLIT_PAIR):
        condition: Condition = Pattern("split pair", WHOLE)
    elif cursor.take(_REPEATED):
        condition = Not(Pattern("distinct", WHOLE))
    else:
        return None
    return Not(condition) if "not" in verb else condition


# --- counts -------------------------------------------------------------------------------------------------

_BOUNDS = {"at least": ">=", "at most": "<=", "more than": ">", "fewer than": "<", "exactly": "="}


def _quantified(cursor: Cursor) -> Condition | None:
    """Read `all integers are even`, `any of a, b and c is 0`, `at least two of the integers are odd`."""
    every = cursor.take("all|every one of|every|each of|each")
    count = None if every else cursor.attempt(_count)
    if every is None and count is None:
        return None
    cursor.take("of")
    among = cursor.attempt(items)
    check = cursor.attempt(_judgement) if among is not None and cursor.sees("is|are|equals") else None
    if among is None or check is None:
        return None
    return Every(among, check) if count is None else Is(Tally(among, check), count)


def _count(cursor: Cursor) -> Check | None:
    """Read a required number: `at least two`, `no`, `any`, `exactly one`."""
    if cursor.take("no|none"):
        return Compare("=", Number(0.0))
    if cursor.take("any|some|a|an"):
        return Compare(">=", Number(1.0))
    bound = cursor.take("|".join(_BOUNDS))
    required = cursor.attempt(number)
    if required is None or required < 0 or required % 1:
        return None
    return Compare(_BOUNDS[bound or "at least"], Number(required))


def _contains(cursor: Cursor) -> Condition | None:
    """Read `the sequence contains at least one 0`, `there are exactly two even integers`."""
    verb = cursor.take("the sequence contains|the sequence has|the sequence does not contain|there is|there are")
    if verb is None:
        return None
    condition = cursor.first(_counted, _uncounted)
    return condition and (Not(condition) if "not" in verb else condition)


def _even_number(cursor: Cursor) -> Condition | None:
    """Read `x is an even number` as `x contains at least one even number`, which answers and explains differently.

    Proposals depend on this reading, so another one needs another version of the demo model.
    """
    among = cursor.attempt(items)
    if among is None or not cursor.take("is|are"):
        return None
    is_denied = cursor.take("not") is not None
    kind = cursor.take("an even number|an odd number")
    if kind is None:
        return None
    contained = Is(Tally(among, EVEN if "even" in kind else ODD), Compare(">=", Number(1.0)))
    return Not(contained) if is_denied else contained


def _counted(cursor: Cursor) -> Condition | None:
    count = cursor.attempt(_count)
    return None if count is None else _tallied(cursor, count)


def _uncounted(cursor: Cursor) -> Condition | None:
    return _tallied(cursor, Compare(">=", Number(1.0)))


def _tallied(cursor: Cursor, count: Check) -> Condition | None:
    counted = cursor.attempt(counted_items)
    check, among = counted or (None, WHOLE)
    return None if check is None else Is(Tally(among, check), count)
