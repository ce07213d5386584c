"""What a rule is: a table of phrasings, each with its English and its Python, and rules that are made of them.

A phrase is written by its format, read by an expression made from the format (`reading.py`), and run as its Python. So
a rule's program and its answers cannot differ. A test of a missing cell, or of one of another kind, fails.
"""

import json
import math
import re
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache, reduce
from typing import Any, NamedTuple

from vpp.demo.prompt import Column

Value = float | str | tuple[float, ...] | None
"""A number, a text, a sequence of numbers, or None for a missing cell."""
Row = dict[str, Value]
"""Cells by column name."""

# --- cells ---------------------------------------------------------------------------------------------------

_NUMBER = r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?"
_IS_NUMBER = re.compile(_NUMBER)
_IS_SEQUENCE = re.compile(rf"[\[(]?\s*{_NUMBER}(?:[\s,;]+{_NUMBER})+\s*[\])]?")
_WITH_UNIT = re.compile(
    rf"({_NUMBER}) (?:[%‰°]|[A-Z]{{0,3}}[$€£¥₹₽₩₺₴₪₫฿₦₱₡₲₵₸₮₭₾₿¢]|°?[^\W\d_]{{1,8}}[²³.]?(?:/[^\W\d_]{{1,4}}[²³]?)?)"
)
_CODE = re.compile(r"0\d+")
_MISSING = "missing"
_LONGEST_SEQUENCE = 2000


def read_number(text: str) -> float | None:
    """Parse a finite number; None if `text` is not one."""
    number = float(text) if _IS_NUMBER.fullmatch(text) else math.inf
    return number if math.isfinite(number) else None


def read_value(text: str) -> Value:
    """Parse a cell: `missing`, a number with or without a unit, several numbers, or else a text, as a code like 007."""
    text = text.strip()
    if text == _MISSING or not text:
        return None
    with_unit = _WITH_UNIT.fullmatch(text)
    number = read_number(with_unit[1] if with_unit else text.replace("−", "-"))
    if number is not None:
        return text if _CODE.fullmatch(text) else number
    if len(text) <= _LONGEST_SEQUENCE and _IS_SEQUENCE.fullmatch(text):
        return tuple(float(part) for part in _IS_NUMBER.findall(text))
    return text


@lru_cache(maxsize=8192)
def read_row(text: str) -> Row:
    return {name: read_value(value) for name, value in map(_split_line, text.split("\n")) if name}


def _split_line(line: str) -> tuple[str, str]:
    name, _, value = line.rpartition(": ")
    if not name or (value.strip() != _MISSING and read_number(value.strip()) is None):
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
    """Format in Python. {0} is the first part, {it} the value that a check is about, {x} a free variable."""
    needs: tuple[str, ...] = ()
    """Tests in Python without which it has no value."""
    binds: int = 0
    """0 if it is closed. Else a part that binds as loosely stands in brackets; 2 is a minus sign, 7 are `and`, `or`."""


def _of(word: str, code: str, needs: str = "len({0}) > 0") -> Phrase:
    return Phrase("V", f"the {word} of {{L}}", code, (needs,) if needs else ())


def _item(word: str, at: int) -> Phrase:
    return Phrase("V", f"the {word} number among {{L}}", f"{{0}}[{at}]", (f"len({{0}}) > {max(at, 0)}",))


def _function(name: str, needs: str = "", code: str = "") -> Phrase:
    return Phrase("V", f"{name}({{V}})", f"{code or f'math.{name}'}({{0}})", (needs,) if needs else ())


def _tally(counted: str, test: str) -> Phrase:
    slot = len(re.findall(r"{\w}", counted))
    return Phrase("V", f"the number of {counted} among {{L}}", f"sum({test} for {{x}} in {{{slot}}})")


def _arrangement(words: str, code: str) -> Phrase:
    return Phrase("C", words, code, binds=5)


SUM, PRODUCT = _of("sum", "sum({0})", ""), _of("product", "math.prod({0})")
AVERAGE, RANGE = _of("average", "(sum({0}) / len({0}))"), _of("range", "(max({0}) - min({0}))")
LENGTH = _of("length", "len({0})", "")
LARGEST = Phrase("V", "the largest number among {L}", "max({0})", ("len({0}) > 0",))
SMALLEST = Phrase("V", "the smallest number among {L}", "min({0})", ("len({0}) > 0",))
DISTINCT = Phrase("V", "the number of distinct numbers among {L}", "len({{{x} for {x} in {0}}})")
PLACES = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "last")
ITEMS = tuple(map(_item, PLACES, (*range(7), -1)))
COUNT, EVENS, ODDS = (
    _tally("{D}s", "{x} == {0}"), _tally("even numbers", "{x} % 2 == 0"), _tally("odd numbers", "{x} % 2 == 1")
)  # fmt: skip
PASSING, FAILING = _tally("numbers that are {K}", "{0}"), _tally("numbers that are not {K}", "not {0}")
POINT = Phrase("P", "({V}, {V})", "[{0}, {1}]")
RADIUS = Phrase("V", "the distance from the origin to the point {P}", "math.dist([0, 0], {0})")
DISTANCE = Phrase("V", "the distance from {P} to the point {P}", "math.dist({0}, {1})")
SIN, COS = _function("sin"), _function("cos")
FUNCTIONS = (
    SIN, COS, _function("sqrt", "{0} >= 0"), _function("log", "{0} > 0"), _function("exp", "{0} <= 709"),
    _function("abs", code="abs"),
)  # fmt: skip
POWER = Phrase("V", "{V}^{D}", "{0} ** {1}", binds=1)
NEGATIVE = Phrase("V", "-{V}", "-{0}", binds=2)
TIMES, OVER = Phrase("V", "{V} * {V}", "{0} * {1}", binds=3), Phrase("V", "{V} / {V}", "{0} / {1}", ("{1} != 0",), 3)
PLUS, MINUS = Phrase("V", "{V} + {V}", "{0} + {1}", binds=4), Phrase("V", "{V} - {V}", "{0} - {1}", binds=4)

ABOVE, BELOW = Phrase("K", "greater than {V}", "{it} > {0}"), Phrase("K", "less than {V}", "{it} < {0}")
AT_LEAST, AT_MOST = Phrase("K", "at least {V}", "{it} >= {0}"), Phrase("K", "at most {V}", "{it} <= {0}")
BETWEEN = Phrase("K", "between {V} and {V}", "{0} <= {it} <= {1}")
EQUAL = Phrase("K", "equal to {V}", "{it} == {0}")
EVEN, ODD = Phrase("K", "even", "{it} % 2 == 0"), Phrase("K", "odd", "{it} % 2 == 1")
DIVISIBLE = Phrase("K", "divisible by {D}", "{it} % {0} == 0", ("{0} != 0",))
CONTAIN = Phrase("K", "contain the text {W}", "{0} in {it}.casefold()")
ABSENT = Phrase("K", "missing", "{it} is None")
ONE_OF = Phrase("K", "{W}", "")

IS, IS_NOT = Phrase("C", "{V} is {K}", "{1}", binds=5), Phrase("C", "{V} is not {K}", "not {1}", binds=6)
ASCENDING = _arrangement("{L} are in ascending order", "{0} == sorted({0})")
DESCENDING = _arrangement("{L} are in descending order", "{0} == sorted({0}, reverse=True)")
DIFFERENT = _arrangement("{L} are all different", "len({{{x} for {x} in {0}}}) == len({0})")
PALINDROME = _arrangement("{L} are a palindrome", "{0} == {0}[::-1]")
NEIGHBOURS = _arrangement(
    "{L} have equal neighbours", "any({0}[{x}] == {0}[{x} + 1] for {x} in range(len({0}) - 1))"
)  # fmt: skip
NOT = Phrase("C", "not ({C})", "not ({0})", binds=6)
AND, OR = Phrase("C", "{C} and {C}", "and", binds=7), Phrase("C", "{C} or {C}", "or", binds=7)
ARRANGEMENTS = (ASCENDING, DESCENDING, DIFFERENT, PALINDROME, NEIGHBOURS)

TALLIES = (COUNT, EVENS, ODDS, PASSING, FAILING)
TERMS = (SUM, PRODUCT, AVERAGE, RANGE, LENGTH, LARGEST, SMALLEST, DISTINCT, *ITEMS, RADIUS, DISTANCE, *FUNCTIONS)
ARITHMETIC = (POWER, NEGATIVE, TIMES, OVER, PLUS, MINUS)
CHECKS = (BETWEEN, ABOVE, BELOW, AT_LEAST, AT_MOST, DIVISIBLE, EVEN, ODD, CONTAIN, ABSENT, EQUAL)

SLOT = re.compile(r"\{([A-Z])\}")

# --- parts of a rule -----------------------------------------------------------------------------------------


class Number(NamedTuple):
    value: float


class Cell(NamedTuple):
    name: str


class Items(NamedTuple):
    """Numbers of a row: those of columns `names`, or the row's sequence without names; then a slice of them."""

    names: tuple[str, ...] = ()
    start: int | None = None
    stop: int | None = None


class Choice(NamedTuple):
    """Categories, of which a value is one, or pieces of text."""

    values: tuple[str | float, ...]


class Node(NamedTuple):
    phrase: Phrase
    parts: tuple[Any, ...]
    """Parts of the kinds that the phrase's slots say."""


Part = Number | Cell | Items | Choice | Node
WHOLE = Items()


def node(phrase: Phrase, *parts: "Part | float") -> Node:
    return Node(phrase, tuple(Number(float(part)) if isinstance(part, int | float) else part for part in parts))


def check(term: Part, phrase: Phrase, *parts: Part | float) -> Node:
    """Return the condition that a value passes a check."""
    return node(IS, term, node(phrase, *parts))


def joined(word: Phrase, parts: Sequence[Node]) -> Node:
    """Join conditions by AND or OR."""
    flat = list(dict.fromkeys(one for part in parts for one in (part.parts if part.phrase == word else (part,))))
    return Node(word, tuple(flat)) if len(flat) > 1 else flat[0]


def conditions_in(part: Part) -> Iterator[Node]:
    """Yield the conditions that are joined in a condition, also under a `not`."""
    if isinstance(part, Node) and part.phrase in (AND, OR, NOT):
        for one in part.parts:
            yield from conditions_in(one)
    elif isinstance(part, Node):
        yield part


def names_in(part: Part) -> Iterator[str]:
    """Yield the columns that a part names."""
    match part:
        case Cell(name):
            yield name
        case Items(names):
            yield from names
        case Node(_, parts):
            for one in parts:
                yield from names_in(one)


def total(parts: Sequence[tuple[float, Part | None]]) -> Part:
    """Return the sum of coefficient times term; None stands for 1."""

    def scaled(weight: float, term: Part | None) -> Part:
        if term is None or weight in (1, -1):
            return Number(weight) if term is None else term if weight == 1 else node(NEGATIVE, term)
        return node(TIMES, weight, term)

    def add(left: Part, one: tuple[float, Part | None]) -> Part:
        return node(MINUS if one[0] < 0 else PLUS, left, scaled(abs(one[0]), one[1]))

    first, *others = [one for one in parts if one[0] or one[1] is None]
    return reduce(add, others, scaled(*first))


def summands(term: Part) -> list[tuple[float, Part | None]]:
    """Split the term into a sum of coefficient times part; None stands for 1."""
    match term:
        case Number(value):
            return [(value, None)]
        case Node(phrase, (left, right)) if phrase in (PLUS, MINUS):
            return summands(left) + [(weight if phrase == PLUS else -weight, part) for weight, part in summands(right)]
        case Node(phrase, (part,)) if phrase == NEGATIVE:
            return [(-weight, one) for weight, one in summands(part)]
        case Node(phrase, (Number(weight), part) | (part, Number(weight))) if phrase == TIMES:
            return [(weight * own, one) for own, one in summands(part)]
    return [(1.0, term)]


# --- English -------------------------------------------------------------------------------------------------

_PLAIN_NAME = re.compile(r"[A-Za-z]\w*(?: \w+)*(?: \([^().\n\"]*\))?")
_PLAIN_LABEL = re.compile(r"\w+")
PHRASES = (*TERMS, *TALLIES, *ARITHMETIC, *CHECKS, ONE_OF, IS, IS_NOT, *ARRANGEMENTS, NOT, AND, OR)
_CLAUSES = "if output otherwise always one of the numbers last"
WORDS_OF_RULES = frozenset(re.findall("[a-z]+", " ".join([_CLAUSES, *(phrase.words for phrase in PHRASES)])))
"""A name or a label that holds one is written in quotes, and is read as such only there."""


def quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _plain_or_quoted(text: str, plain: re.Pattern[str]) -> str:
    has_word = not WORDS_OF_RULES.isdisjoint(re.findall(r"\w+", text.lower()))
    return text if plain.fullmatch(text) and not has_word else quoted(text)


def say_number(value: float) -> str:
    """Write the shortest decimal that reads back as the number."""
    if value == int(value) and abs(value) < 1e15:
        return str(int(value))
    text = repr(value)
    return format(value, "f").rstrip("0") if "e-" in text and float(format(value, "f")) == value else text


def _listed(words: Sequence[str], joint: str) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} {joint} {words[-1]}"


def binds(part: Part) -> int:
    return part.phrase.binds if isinstance(part, Node) else 2 if isinstance(part, Number) and part.value < 0 else 0


def _in_brackets(text: str, inner: int, phrase: Phrase, at: int) -> str:
    """Put a part of a phrase in brackets if it binds more loosely, or as loosely and is not the first of a sum."""
    is_loose = inner >= phrase.binds if at or phrase.binds in (1, 2, 7) else inner > phrase.binds
    return f"({text})" if phrase.binds and inner and is_loose else text


def say(part: Part) -> str:
    """Write a part in English."""
    match part:
        case Number(value):
            return say_number(value)
        case Cell(name):
            return name if name in {"a", "y"} else _plain_or_quoted(name, _PLAIN_NAME)
        case Items(names, start, stop):
            which = f"last {-start} " if start else f"first {stop} " if stop else ""
            return _listed([say(Cell(name)) for name in names], "and") if names else f"the {which}numbers"
        case Choice(values):
            words = [quoted(value) if isinstance(value, str) else say_number(value) for value in values]
            return ("one of " if len(words) > 1 else "") + _listed(words, "or")
    texts = [_in_brackets(say(one), binds(one), part.phrase, at) for at, one in enumerate(part.parts)]
    if part.phrase in (AND, OR):
        return f" {part.phrase.code} ".join(texts)
    text = SLOT.sub("{}", part.phrase.words).format(*texts).replace(" among the numbers", "")
    return text.replace("is not contain ", "does not contain ").replace("is contain ", "contains ")


# --- Python --------------------------------------------------------------------------------------------------


class Code(NamedTuple):
    """A part in Python."""

    text: str
    kind: str = "number"
    """Of a cell as in its column; `list` of items, `test` of checks and conditions."""
    binds: int = 0
    needs: tuple[str, ...] = ()
    """Tests without which it has no value."""
    spellings: tuple[str, ...] = ()
    """All texts that a cell may be, if they are stated."""
    least: int = 0
    """Fewest numbers of a list."""


Columns = dict[str, Column]
"""By name."""


def python(part: Part, columns: Columns, it: Code | None = None) -> Code:
    """Write a part in Python. it: the value that a check is about."""
    match part:
        case Number(value):
            return Code(say_number(value), binds=binds(part))
        case Cell(name):
            alias, _, kind, spellings, may_miss = columns[name]
            return Code(alias, kind, needs=(f"{alias} is not None",) if may_miss else (), spellings=spellings)
        case Items():
            return _list(part, columns)
        case Node(phrase, (term, test)) if phrase in (IS, IS_NOT):
            code = python(test, columns, python(term, columns))
            every = " and ".join((*code.needs, code.text))
            inner = f"({every})" if code.needs else every
            return Code(every if phrase == IS else f"not {inner}", "test", 7 if phrase == IS and code.needs else 5)
        case Node(phrase, parts) if phrase in (AND, OR):
            codes = [python(one, columns) for one in parts]
            is_nested = [phrase == OR or one.phrase in (AND, OR) for one in parts]
            texts = [
                f"({one.text})" if at and one.binds == 7 else one.text for one, at in zip(codes, is_nested, strict=True)
            ]
            return Code(f" {phrase.code} ".join(dict.fromkeys(texts)), "test", 7)
        case Node(phrase, (Choice(values),)) if it is not None:
            return _membership(phrase, values, it)
        case Node():
            return _filled(part, columns, it)
    raise TypeError(f"{part} is a value only in a check")


def _filled(part: Node, columns: Columns, it: Code | None) -> Code:
    """Fill the phrase's format with the Python of its parts."""
    phrase, aliases = part.phrase, {column.alias for column in columns.values()}
    variable = next(name for name in ("x", "n", "v", "x_") if name not in aliases)
    # In a number of numbers that pass a check, the check is about each of them.
    codes = [python(one, columns, Code(variable)) for one in part.parts]
    values = codes if it is None else [*codes, it]
    if it is not None and phrase == ABSENT:
        return Code(" or ".join(need.replace("is not None", "is None") for need in it.needs) or "False", "test")
    if phrase == EQUAL and {code.kind for code in values} == {"text"}:
        values = [code._replace(text=f"{code.text}.casefold()") for code in values]
    elif any(code.kind in ("text", "numbers") for code in values):
        return Code("False", "test", needs=("False",))
    texts = [_in_brackets(one.text, one.binds, phrase, at) for at, one in enumerate(values)]
    about = "" if it is None else f"({it.text})" if it.binds > 3 else values[-1].text
    needs = [need.format(*texts) for need in phrase.needs]
    known = [f"len({code.text}) > {at}" for code in codes for at in range(code.least)]
    every = dict.fromkeys(
        need for need in (*(one for code in values for one in code.needs), *needs) if need not in known
    )
    text = phrase.code.format(*texts, it=about, x=variable)
    if item := re.fullmatch(r"\[(\w+(?:, \w+)*)\]\[(-?\d+)\]", text):
        text = item[1].split(", ")[int(item[2])]
    return Code(text, "number" if phrase.gives in "VP" else "test", phrase.binds, tuple(every))


def _list(items: Items, columns: Columns) -> Code:
    """Return a list of numbers: a column of lists, or else the columns of numbers, without missing ones."""
    named = [columns[name] for name in items.names] or list(columns.values())
    lists = [column for column in named if column.kind == "numbers"]
    numbers = [column for column in named if column.kind == "number"]
    text, least = f"[{', '.join(column.alias for column in numbers)}]", sum(not column.may_miss for column in numbers)
    if least < len(numbers):
        text = f"[x_ for x_ in {text} if x_ is not None]"
    if lists:
        text, least = (f"({lists[0].alias} or {text})", 0) if lists[0].may_miss else (lists[0].alias, 1)
    if items.start or items.stop:
        text, least = f"{text}[{items.start or ''}:{items.stop or ''}]", min(least, abs(items.stop or items.start or 0))
    return Code(text, "list", least=least)


def _membership(phrase: Phrase, values: tuple[str | float, ...], it: Code) -> Code:
    """Return the test that a value is one of some, or contains a text: in any case, or as spelled if that is stated."""
    texts = [say_number(value) if isinstance(value, float) else value for value in values]
    if it.kind == "number" and phrase == ONE_OF:
        numbers = [read_number(text) for text in texts]
        listed = [say_number(number) for number in numbers if number is not None]
    elif it.kind != "text":
        listed = []
    else:
        folded = [text.casefold() for text in texts]
        if phrase == CONTAIN:
            return Code(phrase.code.format(quoted(folded[0]), it=it.text), "test", needs=it.needs)
        spelled = [one for one in it.spellings if one.casefold() in folded]
        if {one.casefold() for one in spelled} == set(folded):
            listed = [quoted(one) for one in spelled]
        else:
            listed, it = [quoted(one) for one in folded], it._replace(text=f"{it.text}.casefold()")
    if not listed:
        return Code("False", "test")
    # None equals nothing, so a cell that is compared as it is needs no other test.
    test = f"== {listed[0]}" if len(listed) == 1 else f"in ({', '.join(listed)})"
    return Code(f"{it.text} {test}", "test", needs=() if it.text.isidentifier() else it.needs)


# --- rules ---------------------------------------------------------------------------------------------------

Outcome = str | Part
"""A label, or the term for a number."""


class Case(NamedTuple):
    condition: Node
    outcome: Outcome


class Rule(NamedTuple):
    """A list of cases. The first that holds decides, else `otherwise`; None leaves the answer open."""

    cases: tuple[Case, ...]
    otherwise: Outcome | None

    def say(self) -> str:
        """Write the rule in a sentence."""
        clauses = [f"if {say(case.condition)}, output {say_outcome(case.outcome)}" for case in self.cases]
        if self.otherwise is not None:
            opening = "always output" if isinstance(self.otherwise, str) and not self.cases else "output"
            clauses.append(f"{opening} {say_outcome(self.otherwise)}")
        text = "; otherwise, ".join(clauses)
        return f"{text[0].upper()}{text[1:]}."

    def program(self, columns: Sequence[Column], guess: str) -> str:
        """Write the rule as a function `predict`. guess: in Python, where the rule gives nothing."""
        body = "\n".join(self._branches({column.name: column for column in columns}, guess))
        words = set(re.findall(r'"(?:[^"\\]|\\.)*"|[^\W\d]\w*', body))  # a text is one word
        used = ", ".join(column.alias for column in columns if column.alias in words)
        opening = "import math\n\n\n" if "math." in body else ""
        return f"{opening}def predict({used}):\n{body}"

    def _branches(self, columns: Columns, guess: str) -> Iterator[str]:
        """Yield the lines, with a return for each case; a number that cannot be known is the guess."""
        known = list[str]()
        for condition, outcome in (*self.cases, (None, self.otherwise)):
            test = "True" if condition is None else python(condition, columns).text
            alone = f"({test})" if condition is not None and condition.phrase == OR else test
            if outcome is None or isinstance(outcome, str):
                code = Code(guess if outcome is None else quoted(outcome))
            else:
                code = python(outcome, columns)
            needs = [need for need in code.needs if need not in known]
            tests = [one for one in (alone if needs else test, *needs) if one != "True"]
            if "False" not in tests:
                yield (
                    f"    if {' and '.join(tests)}:\n        return {code.text}" if tests else f"    return {code.text}"
                )
            if needs and test != "False":
                yield f"    if {test}:\n        return {guess}" if condition else f"    return {guess}"
            known += [test.replace("is None", "is not None")] if test.endswith(" is None") else []

    def answer(self, row: Row) -> Value:
        """Return a label or a number; None if the rule leaves it open or the number cannot be computed."""
        return compiled(self, columns_of([row]))(row)

    def deciding(self, row: Row) -> Case | None:
        place = self.places().answer(row)
        return self.cases[int(place)] if isinstance(place, float) and place >= 0 else None

    def places(self) -> "Rule":
        """Return the rule whose outcomes are the places of the cases, and -1 for other rows."""
        return Rule(tuple(Case(one.condition, Number(at)) for at, one in enumerate(self.cases)), Number(-1.0))


@lru_cache(maxsize=4096)
def compiled(rule: Rule, columns: tuple[Column, ...]) -> Callable[[Row], Value]:
    """Return the rule's program as a function of a row; None where the rule gives nothing."""
    variables: dict[str, Any] = {}
    exec(rule.program(columns, "None"), variables)  # noqa: S102, its text is made here
    predict = variables["predict"]
    by_alias = {column.alias: column.name for column in columns}
    names = [by_alias[alias] for alias in predict.__code__.co_varnames[: predict.__code__.co_argcount]]

    def answer(row: Row) -> Value:
        try:
            cells = (row.get(name) for name in names)
            value = predict(*(list(cell) if isinstance(cell, tuple) else cell for cell in cells))
        except (ArithmeticError, TypeError, ValueError):
            return None
        return value if isinstance(value, str | None) else float(value) if math.isfinite(value) else None

    return answer


def say_outcome(outcome: Outcome) -> str:
    return _plain_or_quoted(outcome, _PLAIN_LABEL) if isinstance(outcome, str) else say(outcome)
