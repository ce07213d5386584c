"""What a rule is: a table of phrasings, each with its English and its Python, and rules that are made of them.

A phrase is written by its format, read by an expression made from the format (`reading.py`), and run as its Python. So
a rule's program and its answers cannot differ. A test of a missing cell, or of one of another kind, fails.
"""

import json
import math
import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from vpp.demo.prompt import Column

Value = float | str | tuple[float, ...] | None
"""A number, a text, a sequence of numbers, or None for a missing cell."""
Row = dict[str, Value]
"""Cells by column name."""

# --- cells ---------------------------------------------------------------------------------------------------

_NUMBER = r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?"
_SEQUENCE = re.compile(rf"[\[(]?\s*{_NUMBER}(?:[\s,;]+{_NUMBER})+\s*[\])]?")
_WITH_UNIT = re.compile(rf"({_NUMBER}) [^\s\d]{{1,12}}")
_LONGEST_SEQUENCE = 2000


def read_number(text: str) -> float | None:
    """Parse a finite number; None if `text` is not one."""
    number = float(text) if re.fullmatch(_NUMBER, text) else math.inf
    return number if math.isfinite(number) else None


def read_value(text: str) -> Value:
    """Parse a cell: `missing`, a number with or without a unit, several numbers, or else a text, as a code like 007."""
    text = text.strip()
    if text in ("missing", ""):
        return None
    with_unit = _WITH_UNIT.fullmatch(text)
    number = read_number(with_unit[1] if with_unit else text.replace("−", "-"))
    if number is not None:
        return text if re.fullmatch(r"0\d+", text) else number
    if len(text) <= _LONGEST_SEQUENCE and _SEQUENCE.fullmatch(text):
        return tuple(map(float, re.findall(_NUMBER, text)))
    return text


@lru_cache(maxsize=8192)
def read_row(text: str) -> Row:
    return {name: read_value(value) for name, value in map(_split_line, text.split("\n")) if name}


def _split_line(line: str) -> tuple[str, str]:
    name, _, value = line.rpartition(": ")
    if not name or (value.strip() != "missing" and read_number(value.strip()) is None):
        name, _, value = line.partition(":")
    return name.strip(), value


def columns_of(rows: Sequence[Row]) -> tuple[Column, ...]:
    """Return the columns that the rows have, as arguments of a program."""
    return tuple(_column(f"c{at}", name, [row.get(name) for row in rows]) for at, name in enumerate(rows[0]))


def _column(alias: str, name: str, cells: list[Value]) -> Column:
    kinds = {type(cell) for cell in cells if cell is not None}
    return Column(alias, name, "text" if str in kinds else "numbers" if tuple in kinds else "number", (), None in cells)


# --- phrases -------------------------------------------------------------------------------------------------


class Phrase(NamedTuple):
    """A way to say something. A slot is the kind of its part, as in `{V} is {K}`."""

    gives: str
    """Kind of what it says: V a value, K a check of a value, P a point, C a condition."""
    words: str
    """Format in English."""
    code: str
    """Format in Python. {0} is the first part, {it} the value that a check is about, x_ a free variable."""
    needs: str = ""
    """Test in Python without which it has no value."""
    binds: int = 0
    """0 if it is closed. Else a part that binds as loosely stands in brackets; 2 is a minus sign, 7 are `and`, `or`."""


SOME = "len({0}) > 0"
SUM, PRODUCT = Phrase("V", "the sum of {L}", "sum({0})"), Phrase("V", "the product of {L}", "math.prod({0})")
LARGEST = Phrase("V", "the largest number among {L}", "max({0})", SOME)
SMALLEST = Phrase("V", "the smallest number among {L}", "min({0})", SOME)
RANGE = Phrase("V", "the range of {L}", "(max({0}) - min({0}))", SOME)
DISTINCT = Phrase("V", "the number of distinct numbers among {L}", "len({{x_ for x_ in {0}}})")
PLACES = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "last")
ITEMS = tuple(
    Phrase("V", f"the {word} number among {{L}}", f"{{0}}[{at}]", f"len({{0}}) > {max(at, 0)}")
    for word, at in zip(PLACES, (*range(7), -1), strict=True)
)
COUNT = Phrase("V", "the number of {D}s among {L}", "sum(x_ == {0} for x_ in {1})")
EVENS = Phrase("V", "the number of even numbers among {L}", "sum(x_ % 2 == 0 for x_ in {0})")
ODDS = Phrase("V", "the number of odd numbers among {L}", "sum(x_ % 2 == 1 for x_ in {0})")
PASSING = Phrase("V", "the number of numbers that are {K} among {L}", "sum({0} for x_ in {1})")
POINT = Phrase("P", "({V}, {V})", "[{0}, {1}]")
RADIUS = Phrase("V", "the distance from the origin to the point {P}", "math.dist([0, 0], {0})")
DISTANCE = Phrase("V", "the distance from {P} to the point {P}", "math.dist({0}, {1})")
SIN, COS = Phrase("V", "sin({V})", "math.sin({0})"), Phrase("V", "cos({V})", "math.cos({0})")
POWER = Phrase("V", "{V}^{D}", "{0} ** {1}", binds=1)
NEGATIVE = Phrase("V", "-{V}", "-{0}", binds=2)
TIMES, OVER = Phrase("V", "{V} * {V}", "{0} * {1}", "", 3), Phrase("V", "{V} / {V}", "{0} / {1}", "{1} != 0", 3)
PLUS, MINUS = Phrase("V", "{V} + {V}", "{0} + {1}", "", 4), Phrase("V", "{V} - {V}", "{0} - {1}", "", 4)
TERMS = (
    SUM, PRODUCT, LARGEST, SMALLEST, RANGE, DISTINCT, *ITEMS, RADIUS, DISTANCE, SIN, COS,
    Phrase("V", "the average of {L}", "(sum({0}) / len({0}))", SOME), Phrase("V", "the length of {L}", "len({0})"),
    Phrase("V", "sqrt({V})", "math.sqrt({0})", "{0} >= 0"), Phrase("V", "log({V})", "math.log({0})", "{0} > 0"),
    Phrase("V", "exp({V})", "math.exp({0})", "{0} <= 709"), Phrase("V", "abs({V})", "abs({0})"),
    COUNT, EVENS, ODDS, PASSING, POWER, NEGATIVE,
    Phrase("V", "the number of numbers that are not {K} among {L}", "sum(not {0} for x_ in {1})"),
)  # fmt: skip

ABOVE, BELOW = Phrase("K", "greater than {V}", "{it} > {0}"), Phrase("K", "less than {V}", "{it} < {0}")
AT_LEAST, AT_MOST = Phrase("K", "at least {V}", "{it} >= {0}"), Phrase("K", "at most {V}", "{it} <= {0}")
EQUAL = Phrase("K", "equal to {V}", "{it} == {0}")
EVEN, ODD = Phrase("K", "even", "{it} % 2 == 0"), Phrase("K", "odd", "{it} % 2 == 1")
DIVISIBLE = Phrase("K", "divisible by {D}", "{it} % {0} == 0", "{0} != 0")
CONTAIN = Phrase("K", "contain the text {W}", "{0} in {it}.casefold()")
ABSENT = Phrase("K", "missing", "{it} is None")
ONE_OF = Phrase("K", "{W}", "")
CHECKS = (
    Phrase("K", "between {V} and {V}", "{0} <= {it} <= {1}"),
    ABOVE, BELOW, AT_LEAST, AT_MOST, DIVISIBLE, EVEN, ODD, CONTAIN, ABSENT, EQUAL,
)  # fmt: skip

IS, IS_NOT = Phrase("C", "{V} is {K}", "", binds=5), Phrase("C", "{V} is not {K}", "", binds=6)
ARRANGEMENTS = (
    Phrase("C", "{L} are in ascending order", "{0} == sorted({0})", binds=5),
    Phrase("C", "{L} are in descending order", "{0} == sorted({0}, reverse=True)", binds=5),
    Phrase("C", "{L} are all different", "len({{x_ for x_ in {0}}}) == len({0})", binds=5),
    Phrase("C", "{L} are a palindrome", "{0} == {0}[::-1]", binds=5),
    Phrase("C", "{L} have equal neighbours", "any({0}[x_] == {0}[x_ + 1] for x_ in range(len({0}) - 1))", binds=5),
)
NOT = Phrase("C", "not ({C})", "not ({0})", binds=6)
AND, OR = Phrase("C", "{C} and {C}", "and", binds=7), Phrase("C", "{C} or {C}", "or", binds=7)

SLOT = re.compile(r"\{([A-Z])\}")

# --- parts of a rule -----------------------------------------------------------------------------------------


class Part(NamedTuple):
    """A part of a rule, in English and in Python."""

    kind: str
    """As `Phrase.gives`; or D a number, X a cell, L a list of numbers, S a label, categories or a piece of text."""
    words: str
    code: str
    """Empty for a check, which is about a value."""
    needs: tuple[str, ...] = ()
    """Tests in Python without which it has no value."""
    binds: int = 0
    """Of its Python, as `Phrase.binds`."""
    value: Any = None
    """The number; the cell's column; the label; texts and numbers of a choice; the fewest numbers of a list."""
    phrase: Phrase | None = None
    parts: "tuple[Part, ...]" = ()


_PLAIN_NAME = re.compile(r"[A-Za-z]\w*(?: \w+)*(?: \([^().\n\"]*\))?")
_CLAUSES = "if output otherwise always one of the numbers last"
_PHRASES = (*TERMS, *CHECKS, IS, IS_NOT, *ARRANGEMENTS, NOT, AND, OR)
WORDS_OF_RULES = frozenset(re.findall("[a-z]+", " ".join([_CLAUSES, *(phrase.words for phrase in _PHRASES)])))
"""A name or a label that holds one is written in quotes, and is read as such only there."""


def quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def is_plain(text: str) -> bool:
    """Return whether a name or a label holds no word of rules."""
    return text == "a" or WORDS_OF_RULES.isdisjoint(re.findall(r"\w+", text.lower()))


def say_number(value: float) -> str:
    """Write the shortest decimal that reads back as the number."""
    if value == int(value) and abs(value) < 1e15:
        return str(int(value))
    text = repr(value)
    return format(value, "f").rstrip("0") if "e-" in text and float(format(value, "f")) == value else text


def _listed(words: Sequence[str], joint: str) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} {joint} {words[-1]}"


def number(value: float) -> Part:
    text = say_number(value)
    return Part("D", text, text, binds=2 if value < 0 else 0, value=float(value))


def cell(column: Column) -> Part:
    is_plainly_said = column.name in ("a", "y") or (is_plain(column.name) and _PLAIN_NAME.fullmatch(column.name))
    words = column.name if is_plainly_said else quoted(column.name)
    return Part("X", words, column.alias, (f"{column.alias} is not None",) if column.may_miss else (), value=column)


def label(text: str) -> Part:
    """Return a label, or another text in quotes."""
    is_plainly_said = re.fullmatch(r"\w+", text) and WORDS_OF_RULES.isdisjoint([text.lower()])
    return Part("S", text if is_plainly_said else quoted(text), quoted(text), value=text)


def choice(*values: str | float) -> Part:
    """Return categories, of which a value is one, or a piece of text."""
    words = [quoted(value) if isinstance(value, str) else say_number(value) for value in values]
    return Part("S", ("one of " if len(words) > 1 else "") + _listed(words, "or"), "", value=values)


def items(columns: Sequence[Column], names: Sequence[str] = (), start: int = 0, stop: int = 0) -> Part:
    """Return numbers of a row: a column's list, or else the columns of numbers, without missing ones; or a slice."""
    by_name = {column.name: column for column in columns}
    some = [by_name[name] for name in names] or list(columns)
    lists = [column for column in some if column.kind == "numbers"]
    numbers = [column for column in some if column.kind == "number"]
    code, least = f"[{', '.join(column.alias for column in numbers)}]", sum(not column.may_miss for column in numbers)
    if least < len(numbers):
        code = f"[x_ for x_ in {code} if x_ is not None]"
    if lists:
        code, least = (f"({lists[0].alias} or {code})", 0) if lists[0].may_miss else (lists[0].alias, 1)
    if start or stop:
        code, least = f"{code}[{start or ''}:{stop or ''}]", min(least, abs(stop or start))
    which = f"last {-start} " if start else f"first {stop} " if stop else ""
    words = _listed([cell(column).words for column in some], "and") if names else f"the {which}numbers"
    return Part("L", words, code, value=least)


def node(phrase: Phrase, *parts: Part | float) -> Part:
    """Make a part of a phrase and its parts."""
    some = tuple(one if isinstance(one, Part) else number(one) for one in parts)
    binds = [one.phrase.binds if one.phrase else one.binds for one in some]
    texts = [
        _in_brackets(one.words, inner, phrase, at) for at, (one, inner) in enumerate(zip(some, binds, strict=True))
    ]
    words = SLOT.sub("{}", phrase.words).format(*texts).replace(" among the numbers", "")
    words = words.replace("is not contain ", "does not contain ").replace("is contain ", "contains ")
    if phrase in (IS, IS_NOT):
        code, needs = _test(some[1], some[0])
        every = " and ".join((*needs, code))
        code = every if phrase == IS else f"not ({every})" if needs else f"not {every}"
        return Part("C", words, code, (), 7 if phrase == IS and needs else 5, None, phrase, some)
    if phrase.gives == "K":
        return Part("K", words, "", phrase=phrase, parts=some)
    # In a number of numbers that pass a check, the check is about each of them.
    code, needs = _python(phrase, tuple(node(IS, _ITEM, one) if one.kind == "K" else one for one in some))
    return Part(phrase.gives, words, code, needs, phrase.binds, None, phrase, some)


_ITEM = Part("V", "it", "x_")


def _in_brackets(text: str, inner: int, phrase: Phrase, at: int) -> str:
    """Put a part of a phrase in brackets if it binds more loosely, or as loosely and is not the first of a sum."""
    is_loose = inner >= phrase.binds if at or phrase.binds in (1, 2, 7) else inner > phrase.binds
    return f"({text})" if phrase.binds and inner and is_loose else text


def _kind(part: Part) -> str:
    return part.value.kind if part.kind == "X" else "number"


def _python(phrase: Phrase, parts: tuple[Part, ...], it: Part | None = None) -> tuple[str, tuple[str, ...]]:
    """Fill a phrase's Python. it: the value that a check is about. Returns what it needs as well."""
    values = parts if it is None else (*parts, it)
    texts = [one.code for one in values]
    if phrase == EQUAL and {_kind(one) for one in values} == {"text"}:
        texts = [f"{text}.casefold()" for text in texts]
    elif any(_kind(one) != "number" for one in values):
        return "False", ("False",)
    texts = [
        _in_brackets(text, one.binds, phrase, at) for at, (text, one) in enumerate(zip(texts, values, strict=True))
    ]
    known = [f"len({one.code}) > {at}" for one in parts if one.kind == "L" for at in range(one.value)]
    needs = [need for one in values for need in one.needs] + [phrase.needs.format(*texts)]
    about = "" if it is None else f"({it.code})" if it.binds > 3 else texts[-1]
    code = phrase.code.format(*texts, it=about)
    needs = list(dict.fromkeys(need for need in needs if need and need not in known))
    item = re.fullmatch(r"\[(\w+(?:, \w+)*)\]\[(-?\d+)\]", code)
    return code if needs or item is None else item[1].split(", ")[int(item[2])], tuple(needs)


def _test(check: Part, it: Part) -> tuple[str, tuple[str, ...]]:
    """Return a check of a value in Python, and what it needs. Texts are compared in any case, or as stated."""
    if check.phrase == ABSENT:
        return " or ".join(need.replace("is not None", "is None") for need in it.needs) or "False", ()
    if check.phrase not in (ONE_OF, CONTAIN):
        return _python(check.phrase or EQUAL, check.parts, it)
    texts = [say_number(one) if isinstance(one, float) else one for one in check.parts[0].value]
    folded, is_text, code = [text.casefold() for text in texts], _kind(it) == "text", it.code
    if check.phrase == CONTAIN:
        return (CONTAIN.code.format(quoted(folded[0]), it=code), it.needs) if is_text else ("False", ())
    spelled = [one for one in it.value.values if one.casefold() in folded] if is_text else []
    if not is_text:
        found = map(read_number, texts) if _kind(it) == "number" else ()
        values = [say_number(one) for one in found if one is not None]
    elif {one.casefold() for one in spelled} == set(folded):
        values = list(map(quoted, spelled))
    else:
        values, code = list(map(quoted, folded)), f"{code}.casefold()"
    if not values:
        return "False", ()
    # None equals nothing, so a cell that is compared as it is needs no other test.
    test = f"== {values[0]}" if len(values) == 1 else f"in ({', '.join(values)})"
    return f"{code} {test}", () if code.isidentifier() else it.needs


def check(term: Part, phrase: Phrase, *parts: Part | float) -> Part:
    """Return the condition that a value passes a check."""
    return node(IS, term, node(phrase, *parts))


def joined(word: Phrase, parts: Sequence[Part]) -> Part:
    """Join conditions by AND or OR."""
    flat = tuple(dict.fromkeys(one for part in parts for one in (part.parts if part.phrase == word else (part,))))
    if len(flat) == 1:
        return flat[0]
    texts = [
        f"({one.code})" if one.binds == 7 and (word == OR or one.phrase in (AND, OR)) else one.code for one in flat
    ]
    words = [f"({one.words})" if one.phrase in (AND, OR) else one.words for one in flat]
    joint = f" {word.code} "
    return Part("C", joint.join(words), joint.join(dict.fromkeys(texts)), (), 7, None, word, flat)


def conditions_in(part: Part) -> list[Part]:
    """List the conditions that are joined in a condition, also under a `not`."""
    if part.phrase not in (AND, OR, NOT):
        return [part]
    return [one for each in part.parts for one in conditions_in(each)]


def terms_in(formula: Part) -> list[Part]:
    """List the terms of a sum without their coefficients; a constant is a term of its own."""
    if formula.phrase in (PLUS, MINUS, NEGATIVE):
        return [term for part in formula.parts for term in terms_in(part)]
    if formula.phrase == TIMES and formula.parts[0].kind == "D":
        return terms_in(formula.parts[1])
    return [formula]


def total(parts: Sequence[tuple[float, Part | None]]) -> Part:
    """Return the sum of coefficient times term; None stands for 1."""
    whole: Part | None = None
    for weight, term in parts:
        size = weight if whole is None else abs(weight)
        if term is None or size not in (1, -1):
            scaled = number(size) if term is None else node(TIMES, size, term)
        else:
            scaled = term if size == 1 else node(NEGATIVE, term)
        if weight or term is None:
            whole = scaled if whole is None else node(MINUS if weight < 0 else PLUS, whole, scaled)
    return whole or number(0)


# --- rules ---------------------------------------------------------------------------------------------------


class Case(NamedTuple):
    condition: Part | None
    """None for all other rows."""
    outcome: Part
    """A label, or the term for a number."""


class Rule(NamedTuple):
    """A list of cases of a table. The first that holds decides; if none does, the answer is left open."""

    columns: tuple[Column, ...]
    cases: tuple[Case, ...]

    def say(self) -> str:
        """Write the rule in a sentence."""
        opening = "always output" if len(self.cases) == 1 and self.cases[0].outcome.kind == "S" else "output"
        clauses = [
            (f"if {condition.words}, output " if condition else f"{opening} ") + outcome.words
            for condition, outcome in self.cases
        ]
        text = "; otherwise, ".join(clauses)
        return f"{text[0].upper()}{text[1:]}."

    def program(self, guess: str) -> str:
        """Write the rule as a function `predict`. guess: in Python, where the rule gives nothing."""
        lines = list[str]()
        for condition, outcome in self.cases:
            value = f"{outcome.code} if {' and '.join(outcome.needs)} else {guess}" if outcome.needs else outcome.code
            lines += [f"    if {condition.code}:", f"        return {value}"] if condition else [f"    return {value}"]
        if not self.cases or self.cases[-1].condition:
            lines.append(f"    return {guess}")
        body = "\n".join(lines)
        words = set(re.findall(r'"(?:[^"\\]|\\.)*"|[^\W\d]\w*', body))  # a text is one word
        names = ", ".join(column.alias for column in self.columns if column.alias in words)
        opening = "import math\n\n\n" if "math." in body else ""
        return f"{opening}def predict({names}):\n{body}"

    def answer(self, row: Row) -> Value:
        """Return a label or a number; None if the rule leaves it open or the number cannot be computed."""
        return compiled(self)(row)


@lru_cache(maxsize=4096)
def compiled(rule: Rule) -> Callable[[Row], Value]:
    """Return the rule's program as a function of a row; None where the rule gives nothing."""
    variables: dict[str, Any] = {}
    exec(rule.program("None"), variables)  # noqa: S102, its text is made here
    predict = variables["predict"]
    wanted = predict.__code__.co_varnames[: predict.__code__.co_argcount]
    names = [column.name for column in rule.columns if column.alias in wanted]

    def answer(row: Row) -> Value:
        try:
            cells = (row.get(name) for name in names)
            value = predict(*(list(cell) if isinstance(cell, tuple) else cell for cell in cells))
        except (ArithmeticError, AttributeError, TypeError, ValueError):
            return None
        return value if isinstance(value, str | None) else float(value) if math.isfinite(value) else None

    return answer
