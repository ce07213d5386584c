"""Grammar of conditions and checks: `the sum is even and at most 26`, `the sequence contains no 0`, `y is missing`."""

from collections.abc import Callable

from vpp.demo.combine import Reader, first, joined, named, seq
from vpp.demo.lexer import Cursor
from vpp.demo.read_terms import COMPARISONS, NOUNS, column_name, comparison, divisibility, items, number, tally, term
from vpp.demo.rule import All, Any, Condition, Is, Not, Pattern
from vpp.demo.terms import WHOLE, Absent, Between, Check, Compare, Fails, Holds, Number, OneOf, Tally

# --- values of categories -----------------------------------------------------------------------------------

_COPULA = "is|are"
_VERBS = f"{_COPULA}|contains|does not|{COMPARISONS}"
_ENDS_TEXT = (
    "and|or|nor|neither|both|then|otherwise|else|if|when|unless|because|while|output|predict|answer|return|say|is|are|but"
    "|not|only|the|in|of|to|than|at|by|with|as|that|which|from|about|more|less|fewer|greater|larger|smaller|higher|lower"
)
"""Words that no unquoted category holds, so that a wording which cannot be read is no category."""


def _string(cursor: Cursor) -> str | None:
    token = cursor.take_kind("string")
    return None if token is None else token.plain


def _separate_number(cursor: Cursor) -> float | None:
    value = number(cursor)
    is_part_of_word = cursor.here.kind == "word" and cursor.here.start == cursor.before.end
    return None if is_part_of_word else value


def _words(cursor: Cursor) -> str | None:
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


_value = first(_string, _separate_number, _words)


def _choice(joints: str) -> Reader:
    """Read `a, b or c`. joints: pattern of what may join two values; a word, once used, joins all that follow.

    A later value before a verb is not read: it is the next condition's subject.
    """

    def read(cursor: Cursor) -> Check | None:
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

    return read


def _values(cursor: Cursor) -> Check | None:
    """Read one or several values: `3`, `3 or 4`, `"Biscoe"`, `Biscoe or Dream`."""
    check: Check | None = cursor.attempt(_choice(", or|or"))
    return None if cursor.sees("+|-|*|/|^") else check


# --- checks of one value ------------------------------------------------------------------------------------


def _span(cursor: Cursor) -> Check | None:
    """Read `12 to 30`, `from 12 to 30` or `12-30`; `30-12` and `12-30*x` are formulas."""
    cursor.take("from")
    low = number(cursor)
    joint = None if low is None else cursor.take("to|-")
    high = None if joint is None else _separate_number(cursor)
    if low is None or high is None or low >= high or cursor.sees("+|-|*|/|^"):
        return None
    return Between(Number(low), Number(high))


_property = first(
    divisibility,
    seq("between", term, "and", term, make=Between),
    _span,
    seq("one of", _choice(", or|, and|,|or|and")),
    seq("missing", make=Absent),
    comparison,
    seq(number, named({"or more": ">=", "or less": "<="}), make=lambda value, sign: Compare(sign, Number(value))),
    _values,
    seq(term, make=lambda other: Compare("=", other)),
)
"""Reads a check after `is`."""
_denied = seq("not", _property, make=Fails)
_contained = seq("contains the text|contains|contain", _string, make=Holds)
_judgement = first(
    seq("does not", _contained, make=Fails),
    seq(_COPULA, first(_denied, _property)),
    _contained,
    divisibility,
    comparison,
    seq("=|equals|equal to", _value, make=lambda value: OneOf((value,))),
    seq("!=", _value, make=lambda value: Fails(OneOf((value,)))),
)
"""Reads a check after its subject: `is even`, `> 3`, `is not Biscoe`, `does not contain "a"`."""

# --- order and repetition -----------------------------------------------------------------------------------

_ORDERS = {
    "in ascending order": "ascending", "in increasing order": "ascending",
    "in descending order": "descending", "in decreasing order": "descending",
    "all different": "distinct", "all distinct": "distinct", "a palindrome": "palindrome",
}  # fmt: skip
_REPETITIONS = {
    "exactly two identical integers that are not adjacent": Pattern("split pair", WHOLE),
    "exactly two identical numbers that are not adjacent": Pattern("split pair", WHOLE),
    **{f"a repeated {noun}": Not(Pattern("distinct", WHOLE)) for noun in NOUNS.split("|")},
}
_EQUAL_NEIGHBOURS = Pattern("neighbours equal", WHOLE)

_neighbours = seq(
    named({"two": _EQUAL_NEIGHBOURS, "no two": Not(_EQUAL_NEIGHBOURS)}), "neighbours are equal|neighbors are equal"
)
_order = first(
    seq(items, _COPULA, named(_ORDERS), make=lambda ordered, kind: Pattern(kind, ordered)),
    seq(items, _COPULA, "not", named(_ORDERS), make=lambda ordered, kind: Not(Pattern(kind, ordered))),
)

# --- counts -------------------------------------------------------------------------------------------------

_NONE, _SOME = Compare("=", Number(0.0)), Compare(">=", Number(1.0))
_BOUNDS = {"at least": ">=", "at most": "<=", "more than": ">", "fewer than": "<", "exactly": "="}

_count = first(
    named({"no": _NONE, "none": _NONE, "any": _SOME}),
    seq(named(_BOUNDS), number, make=lambda sign, required: Compare(sign, Number(required))),
)
"""Reads a required number: `at least two`, `no`, `any`, `exactly one`."""
_quantified = first(
    seq(
        "all|every one of|every|each of|each",
        "of?",
        items,
        _judgement,
        make=lambda among, check: Is(Tally(among, Fails(check)), _NONE),
    ),
    seq(_count, "of?", items, _judgement, make=lambda count, among, check: Is(Tally(among, check), count)),
)
"""Reads `all integers are even`, `any of a, b and c is 0`, `at least two of the integers are odd`."""
_content = first(
    named(_REPETITIONS),
    seq(_count, tally, make=lambda count, counted: Is(counted, count)),
    seq("a|an?", tally, make=lambda counted: Is(counted, _SOME)),
)
_contains = first(
    seq("the sequence does not contain", _content, make=Not), seq("the sequence contains|there is|there are", _content)
)
"""Reads `the sequence contains at least one 0`, `there is no 0 in the sequence`, `the sequence contains a 0`."""

# --- joined conditions --------------------------------------------------------------------------------------


def condition(cursor: Cursor) -> Condition | None:
    """Read parts joined by `or`; `and` binds closer."""
    return _alternatives(cursor)  # type: ignore[no-any-return]


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
    check = None if cursor.subject is None else cursor.first(divisibility, comparison, _denied)
    return None if cursor.subject is None or check is None else Is(cursor.subject, check)


def _part(cursor: Cursor) -> Condition | None:
    return cursor.first(
        seq("not", _part, make=Not), seq("(", condition, ")"),
        _neighbours, _order, _quantified, _contains, _comparison, _elided,
    )  # fmt: skip


def _combined(combine: Callable[[tuple[Condition, ...]], Condition]) -> Callable[[tuple[Condition, ...]], Condition]:
    return lambda parts: parts[0] if len(parts) == 1 else combine(parts)


_alternatives = joined(joined(_part, "and|, and", _combined(All)), ", or|or", _combined(Any))
