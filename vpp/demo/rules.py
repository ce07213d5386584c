"""The table of phrases, and rules made of its phrases.

A phrase is written by its format, read by an expression made from the format (`reading.py`), translated by its Python,
and answers rows by its function. A check of a missing cell fails.
"""

import json
import math
import operator
import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import pairwise
from statistics import fmean
from typing import Any, Literal, NamedTuple

Kind = Literal["number", "numbers", "text", "unknown"]
"""What the cells of a column hold: `numbers` is a list of numbers, `unknown` stands for a column without any."""
Value = float | str | tuple[float, ...] | None
"""A number, a text, a sequence of numbers, or None for a missing cell."""
Row = dict[str, Value]
"""Cells by column name."""


class Column(NamedTuple):
    """A column as an argument of a program."""

    alias: str
    name: str
    """As rules call it."""
    kind: Kind
    values: tuple[str, ...]
    """All texts, if they are stated."""
    may_miss: bool


# --- cells ---------------------------------------------------------------------------------------------------

_NUMBER = r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?"
_SEQUENCE = re.compile(rf"[\[(]?\s*{_NUMBER}(?:[\s,;]+{_NUMBER})+\s*[\])]?")
_LINE = re.compile(r"(.+): (missing|[-+]?[.\d]\S*)|(.*?):(.*)")
"""A name may have a colon if the cell is a number or missing."""
_WITH_UNIT = re.compile(rf"({_NUMBER})(?: [^\s\d]{{1,12}})?")


def read_number(text: str) -> float | None:
    """Parse a finite number; None if `text` is not one."""
    number = float(text) if re.fullmatch(_NUMBER, text) else math.inf
    return number if math.isfinite(number) else None


def read_value(text: str) -> Value:
    """Parse a cell: `missing`, a number with or without a unit, several numbers, or else a text, as a code like 007."""
    text = text.strip()
    if text in ("missing", ""):
        return None
    if _SEQUENCE.fullmatch(text):
        return tuple(map(float, re.findall(_NUMBER, text)))
    match = _WITH_UNIT.fullmatch(text.replace("−", "-"))
    number = read_number(match[1]) if match and not re.fullmatch(r"0\d+", text) else None
    return text if number is None else number


@lru_cache(maxsize=8192)
def read_row(text: str) -> Row:
    lines = [match.groups("") for line in text.split("\n") if (match := _LINE.fullmatch(line))]
    cells = {(name or other).strip(): read_value(number or value) for name, number, other, value in lines}
    return {name: cell for name, cell in cells.items() if name}


_KINDS: dict[type, Kind] = {str: "text", tuple: "numbers", float: "number"}


def columns_of(rows: Sequence[Row]) -> tuple[Column, ...]:
    """Return the columns that the rows have, as arguments of a program."""
    columns = list[Column]()
    for at, name in enumerate(rows[0]):
        cells = [row.get(name) for row in rows]
        kind = next((kind for of, kind in _KINDS.items() if of in map(type, cells)), "unknown")
        texts = sorted({cell for cell in cells if isinstance(cell, str)})
        columns.append(Column(f"c{at}", name, kind, tuple(texts), None in cells))
    return tuple(columns)


# --- phrases -------------------------------------------------------------------------------------------------


class Phrase(NamedTuple):
    """A way to say something. A slot is the kind of its part, as in `{V} is {K}`."""

    gives: str
    """Kind of what it says: V a number, K a check of a number, N numbers that pass a check, C a condition."""
    code: str
    """Format in Python. {0} is the first part, {it} the number that a check is about, x_ a free variable."""
    function: Callable[..., Any]
    """Value, given those of its parts. A check takes the number first, and is a function for what it is part of."""
    binds: int = 0
    """0 if it is closed. Else a part that binds as loosely stands in brackets; 2 is a minus sign, 7 are `and`, `or`."""


PLACES = {"first": 0, "second": 1, "third": 2, "fourth": 3, "fifth": 4, "last": -1}
IS, NOT, AND, OR, ABSENT = "{V} is {K}", "not ({C})", "{C} and {C}", "{C} or {C}", "{X} is missing"
COUNT = "the number of {N} among {L}"
DISTANCE = "the distance from ({V}, {V}) to the point ({V}, {V})"
ONE_OF, POWER, NEGATIVE = "{X} is {W}", "{V}^{D}", "-{V}"
PHRASES = {
    "{V} + {V}": Phrase("V", "{0} + {1}", operator.add, 4), "{V} - {V}": Phrase("V", "{0} - {1}", operator.sub, 4),
    "{V} * {V}": Phrase("V", "{0} * {1}", operator.mul, 3), "{V} / {V}": Phrase("V", "{0} / {1}", operator.truediv, 3),
    NEGATIVE: Phrase("V", "-{0}", operator.neg, 2), POWER: Phrase("V", "{0} ** {1}", operator.pow, 1),
    **{f"{name}({{V}})": Phrase("V", f"math.{name}({{0}})", getattr(math, name))
       for name in ("sin", "cos", "sqrt", "log", "exp")},
    "abs({V})": Phrase("V", "abs({0})", abs),
    DISTANCE: Phrase("V", "math.dist([{0}, {1}], [{2}, {3}])", lambda a, b, x, y: math.hypot(x - a, y - b)),
    **{f"the {place} number among {{L}}": Phrase("V", f"{{0}}[{at}]", operator.itemgetter(at))
       for place, at in PLACES.items()},
    "the sum of {L}": Phrase("V", "sum({0})", sum),
    "the product of {L}": Phrase("V", "math.prod({0})", math.prod),
    "the average of {L}": Phrase("V", "(sum({0}) / len({0}))", fmean),
    "the largest number among {L}": Phrase("V", "max({0})", max),
    "the smallest number among {L}": Phrase("V", "min({0})", min),
    "the range of {L}": Phrase("V", "(max({0}) - min({0}))", lambda some: max(some) - min(some)),
    "the length of {L}": Phrase("V", "len({0})", len),
    "the number of distinct numbers among {L}": Phrase("V", "len(set({0}))", lambda some: len(set(some))),
    COUNT: Phrase("V", "sum({0} for x_ in {1})", lambda check, some: sum(map(check, some))),
    "{D}s": Phrase("N", "{it} == {0}", operator.eq),
    "even numbers": Phrase("N", "{it} % 2 == 0", lambda it: it % 2 == 0),
    "odd numbers": Phrase("N", "{it} % 2 == 1", lambda it: it % 2 == 1),
    "numbers that are {K}": Phrase("N", "{0}", lambda it, check: check(it)),
    "numbers that are not {K}": Phrase("N", "not {0}", lambda it, check: not check(it)),
    "between {V} and {V}": Phrase("K", "{0} <= {it} <= {1}", lambda it, low, high: low <= it <= high),
    "greater than {V}": Phrase("K", "{it} > {0}", operator.gt), "less than {V}": Phrase("K", "{it} < {0}", operator.lt),
    "at least {V}": Phrase("K", "{it} >= {0}", operator.ge), "at most {V}": Phrase("K", "{it} <= {0}", operator.le),
    "divisible by {D}": Phrase("K", "{it} % {0} == 0", lambda it, by: it % by == 0),
    "even": Phrase("K", "{it} % 2 == 0", lambda it: it % 2 == 0),
    "odd": Phrase("K", "{it} % 2 == 1", lambda it: it % 2 == 1),
    "equal to {V}": Phrase("K", "{it} == {0}", operator.eq),
    IS: Phrase("C", "{1}", lambda it, check: check(it), 5),
    ABSENT: Phrase("C", "{0} is None", lambda it: it is None, 5),
    ONE_OF: Phrase("C", "{0}", lambda it, some: _key(it) in map(_key, some), 5),
    "{T} contains the text {W}":
        Phrase("C", "{1} in {0}.casefold()", lambda it, some: _key(some[0]) in it.casefold(), 5),
    "{L} are in ascending order":
        Phrase("C", "{0} == sorted({0})", lambda some: all(x <= y for x, y in pairwise(some)), 5),
    "{L} are in descending order":
        Phrase("C", "{0} == sorted({0})[::-1]", lambda some: all(x >= y for x, y in pairwise(some)), 5),
    "{L} are all different": Phrase("C", "len(set({0})) == len({0})", lambda some: len(set(some)) == len(some), 5),
    "{L} are a palindrome": Phrase("C", "{0} == {0}[::-1]", lambda some: some == some[::-1], 5),
    "{L} have equal neighbours":
        Phrase("C", "any({0}[x_] == {0}[x_ + 1] for x_ in range(len({0}) - 1))",
               lambda some: any(x == y for x, y in pairwise(some)), 5),
    NOT: Phrase("C", "not ({0})", operator.not_),
    AND: Phrase("C", "and", lambda *some: all(some), 7), OR: Phrase("C", "or", lambda *some: any(some), 7),
}  # fmt: skip
"""All phrases; the key of each is its format in English."""
SLOT = re.compile(r"\{([A-Z])\}")
_CLAUSES = "if when then output answer predict return say otherwise else always one numbers last"
WORDS_OF_RULES = frozenset(re.findall("[a-z]+", f"{_CLAUSES} {' '.join(PHRASES)}"))
_JOINTS = frozenset(re.findall(r"\w+", "a an and are if is not of or otherwise output than the to"))
_NAME = re.compile(r"[A-Za-z]\w*(?: \w+)*(?: \([^().\n\"]*\))?")


def _key(value: str | float) -> str:
    return value.casefold() if isinstance(value, str) else say_number(value)


# --- parts of a rule -----------------------------------------------------------------------------------------


class Part(NamedTuple):
    """A part of a rule, in English and in Python."""

    kind: str
    """As `Phrase.gives`; or D a number, X a cell, L a list of numbers, S a label, W texts or numbers to choose from."""
    words: str
    code: str
    needs: tuple[str, ...] = ()
    """Tests in Python without which it has no value, or does not hold."""
    binds: int = 0
    value: Any = None
    """The number; the cell's column; the label; what to choose from; columns, begin and end of a list."""
    phrase: str = ""
    """Key of PHRASES."""
    parts: "tuple[Part, ...]" = ()

    @property
    def test(self) -> str:
        """A condition in Python, with what it needs."""
        return " and ".join((*self.needs, self.code))

    def of(self, row: Row) -> Any:
        """Return the value for a row, None if a cell is missing; a function of a number for a check."""
        if self.kind == "X":
            return row.get(self.value.name)
        if self.kind == "L":
            columns, start, stop = self.value
            cells: list[Any] = [one for column in columns if (one := row.get(column.name)) is not None]
            is_list = columns[0].kind == "numbers"
            return list(cells[0] if cells and is_list else cells)[start:stop] if cells or not is_list else None
        if not self.phrase:
            return self.value
        function, values = PHRASES[self.phrase].function, [part.of(row) for part in self.parts]
        if self.kind in "KN":
            return lambda it: it is not None and None not in values and function(it, *values)
        if None in values and self.phrase != ABSENT:
            return False if self.kind == "C" else None
        return function(*values)


def quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def is_plain(name: str) -> bool:
    """Return whether a name cannot be taken for words of a rule. Any other is written and read in quotes."""
    words = set(re.findall(r"\w+", name.lower()))
    is_own = _NAME.fullmatch(name) and words - WORDS_OF_RULES and words.isdisjoint(_JOINTS)
    return name in ("a", "y") or bool(is_own)


def say_number(value: float) -> str:
    """Write the shortest decimal that reads back as the number."""
    return repr(value + 0.0).removesuffix(".0")


def _listed(words: Sequence[str], joint: str) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} {joint} {words[-1]}"


def number(value: float) -> Part:
    text = say_number(value)
    return Part("D", text, text, binds=2 if value < 0 else 0, value=float(value))


def cell(column: Column) -> Part:
    needs = (f"{column.alias} is not None",) if column.may_miss else ()
    return Part("X", column.name if is_plain(column.name) else quoted(column.name), column.alias, needs, value=column)


def label(text: str) -> Part:
    """Return a label, or another text in quotes."""
    is_word = re.fullmatch(r"\w+", text) and text.lower() not in WORDS_OF_RULES
    return Part("S", text if is_word else quoted(text), quoted(text), value=text)


def choice(*values: str | float) -> Part:
    """Return categories, of which a value is one, or a piece of text."""
    words = [quoted(value) if isinstance(value, str) else say_number(value) for value in values]
    text = ("one of " if len(words) > 1 else "") + _listed(words, "or")
    return Part("W", text, quoted(_key(values[0])), value=values)


def items(columns: Sequence[Column], names: Sequence[str] = (), start: int = 0, stop: int = 0) -> Part:
    """Return numbers of a row: a column's list, or else the columns of numbers, without missing ones; or a slice."""
    some = [column for name in names for column in columns if column.name == name] or list(columns)
    lists = [column for column in some if column.kind == "numbers"][:1]
    numbers = lists or [column for column in some if column.kind == "number"]
    code = lists[0].alias if lists else f"[{', '.join(column.alias for column in numbers)}]"
    if not lists and any(column.may_miss for column in numbers):
        code = f"[x_ for x_ in {code} if x_ is not None]"
    code += f"[{start or ''}:{stop or ''}]" if start or stop else ""
    which = f"last {-start} " if start else f"first {stop} " if stop else ""
    words = _listed([cell(column).words for column in some], "and") if names else f"the {which}numbers"
    needs = cell(lists[0]).needs if lists else ()
    return Part("L", words, code, needs, value=(tuple(numbers), start or None, stop or None))


def node(words: str, *parts: Part | float) -> Part:
    """Make a part of a phrase and its parts, of which AND and OR have any number."""
    phrase, some = PHRASES[words], tuple(one if isinstance(one, Part) else number(one) for one in parts)
    needs = tuple(dict.fromkeys(need for one in some for need in one.needs))
    text, code, codes = SLOT.sub("{}", words), phrase.code, [one.code for one in some]
    if words == COUNT:
        codes[0] = codes[0].replace("{it}", "x_")
    elif words == IS:
        codes[1] = codes[1].replace("{it}", f"({codes[0]})" if some[0].binds > 3 else codes[0])
    elif words == ONE_OF:
        codes = [_membership(some[0].value, some[1].value)]
    elif words == NOT:
        codes = [some[0].test]
    elif words == OR:
        codes = [f"({one.test})" if one.needs else one.code for one in some]
    if words in (NOT, OR, ABSENT) or (words == ONE_OF and some[0].value.values):
        needs = ()
    if words in (AND, OR):
        text = code = f" {code} ".join(["{}"] * len(some))
    text = text.format(*_in_brackets(phrase, [one.words for one in some], some)).replace(" among the numbers", "")
    code = code.format(*_in_brackets(phrase, codes, some), it="{it}")
    return Part(phrase.gives, text, code, needs, phrase.binds, None, words, some)


def _membership(cell: Column, options: Sequence[str | float]) -> str:
    """Return a test in Python. Texts are compared as their column states them, or in any case."""
    keys, code = list(map(_key, options)), cell.alias
    texts = [say_number(one) for one in map(read_number, keys) if one is not None]
    if cell.kind == "text":
        texts = [quoted(one) for one in cell.values or keys if one.casefold() in keys]
        code = cell.alias if cell.values else f"{cell.alias}.casefold()"
    if len(texts) == 1:
        return f"{code} == {texts[0]}"
    return f"{code} in ({', '.join(texts)})" if texts else "False"


def _in_brackets(phrase: Phrase, texts: Sequence[str], parts: Sequence[Part]) -> list[str]:
    """Put parts in brackets that bind more loosely than the phrase, or as loosely and are not the first of a sum."""
    most = [phrase.binds - (at > 0 or phrase.binds in (1, 2, 7)) if phrase.binds else 9 for at in range(len(texts))]
    return [f"({text})" if parts[at].binds > most[at] else text for at, text in enumerate(texts)]


def joined(word: str, parts: Sequence[Part]) -> Part:
    """Join conditions by AND or OR."""
    some = dict.fromkeys(one for part in parts for one in (part.parts if part.phrase == word else (part,)))
    return node(word, *some) if len(some) > 1 else next(iter(some))


def leaves(condition: Part) -> list[Part]:
    """List the conditions that are joined in a condition, also under a `not`."""
    is_joint = condition.phrase in (AND, OR, NOT)
    return [one for each in condition.parts for one in leaves(each)] if is_joint else [condition]


def total(parts: Sequence[tuple[float, Part | None]]) -> Part:
    """Return the sum of coefficient times term, None for 1, from the first positive one on if there is one."""
    whole: Part | None = None
    some = [part for part in parts if part[0]]
    first = next((part for part in some if part[0] > 0), None)
    for weight, term in sorted(some, key=lambda part: part is not first):
        size = abs(weight) if whole else weight
        scaled = number(size) if term is None else term if size == 1 else node("{V} * {V}", size, term)
        whole = node("{V} - {V}" if weight < 0 else "{V} + {V}", whole, scaled) if whole else scaled
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
        opening = "always output" if len(self.cases) == 1 and self.cases[0].outcome.kind in "SD" else "output"
        clauses = [
            (f"if {condition.words}, output " if condition else f"{opening} ") + outcome.words
            for condition, outcome in self.cases
        ]
        text = "; otherwise, ".join(clauses)
        return f"{text[0].upper()}{text[1:]}."

    def program(self, guess: str) -> str:
        """Write the rule as a function `predict`. guess: in Python, where the rule gives nothing."""
        lines = list[str]()
        for condition, outcome in (*self.cases, Case(None, Part("S", "", guess))):
            value = f"{outcome.code} if {' and '.join(outcome.needs)} else {guess}" if outcome.needs else outcome.code
            lines += [f"    if {condition.test}:", f"        return {value}"] if condition else [f"    return {value}"]
            if condition is None:
                break
        body = "\n".join(lines)
        words = set(re.findall(r'"(?:[^"\\]|\\.)*"|[^\W\d]\w*', body))  # a text is one word
        names = ", ".join(column.alias for column in self.columns if column.alias in words)
        return f"{'import math' + 3 * chr(10) if 'math' in words else ''}def predict({names}):\n{body}"

    def answer(self, row: Row) -> float | str | None:
        """Return a label or a number; None if the rule leaves it open or the number cannot be computed."""
        try:
            outcome = next((outcome for condition, outcome in self.cases if not condition or condition.of(row)), None)
            value = outcome.of(row) if outcome else None
            if isinstance(value, int | float):
                return float(value) if math.isfinite(value) else None
            return value if isinstance(value, str) else None
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError, RecursionError):
            return None  # the row does not fit, or brackets are nested too deep
