"""The table of phrases, and rules made of its phrases.

A phrase is written by its format, and read by an expression made from the format (`reading.py`). Its Python is its
program, and answers rows. A check of a missing cell fails.
"""

import json
import math
import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from types import FunctionType
from typing import Any, Literal, NamedTuple

Kind = Literal["number", "numbers", "text", "unknown"]
"""Type of a column's cells. `numbers`: each cell is a list of numbers. `unknown`: every cell is missing."""
Value = float | str | list[float] | None
"""A number, a text, a sequence of numbers, or None for a missing cell."""
Row = dict[str, Value]
"""Cells by column name."""


class Column(NamedTuple):
    """A column as an argument of a program."""

    alias: str
    name: str
    """The column's name in rules."""
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
        return list(map(float, re.findall(_NUMBER, text)))
    match = _WITH_UNIT.fullmatch(text.replace("−", "-"))
    number = read_number(match[1]) if match and not re.fullmatch(r"0\d+", text) else None
    return text if number is None else number


@lru_cache(maxsize=8192)
def read_row(text: str) -> Row:
    lines = [match.groups("") for line in text.split("\n") if (match := _LINE.fullmatch(line))]
    cells = {(name or other).strip(): read_value(number or value) for name, number, other, value in lines}
    return {name: cell for name, cell in cells.items() if name}


_KINDS: dict[type, Kind] = {str: "text", list: "numbers", float: "number"}


def columns_of(rows: Sequence[Row]) -> tuple[Column, ...]:
    """Return the columns that the rows have, as arguments of a program."""
    columns = list[Column]()
    for at, name in enumerate(rows[0]):
        cells = [row.get(name) for row in rows]
        kind: Kind = next((kind for of, kind in _KINDS.items() if of in map(type, cells)), "unknown")
        texts = sorted({cell for cell in cells if isinstance(cell, str)})
        columns.append(Column(f"c{at}", name, kind, tuple(texts), None in cells))
    return tuple(columns)


# --- phrases -------------------------------------------------------------------------------------------------


PLACES = {"first": 0, "second": 1, "third": 2, "fourth": 3, "fifth": 4, "last": -1}
IS, NOT, AND, OR, ABSENT = "{V} is {K}", "not ({C})", "{C} and {C}", "{C} or {C}", "{X} is missing"
COUNT = "the number of {N} among {L}"
DISTANCE = "the distance from ({V}, {V}) to the point ({V}, {V})"
ONE_OF, POWER, NEGATIVE = "{X} is {W}", "{V}^{D}", "-{V}"
PHRASES = {
    "V": {
        "{V} + {V}": "{0} + {1}", "{V} - {V}": "{0} - {1}", "{V} * {V}": "{0} * {1}", "{V} / {V}": "{0} / {1}",
        NEGATIVE: "-{0}", POWER: "{0} ** {1}", "abs({V})": "abs({0})",
        **{f"{name}({{V}})": f"math.{name}({{0}})" for name in ("sin", "cos", "sqrt", "log", "exp")},
        DISTANCE: "math.dist([{0}, {1}], [{2}, {3}])",
        **{f"the {place} number among {{L}}": f"{{0}}[{at}]" for place, at in PLACES.items()},
        "the sum of {L}": "sum({0})",
        "the product of {L}": "math.prod({0})",
        "the average of {L}": "(sum({0}) / len({0}))",
        "the largest number among {L}": "max({0})",
        "the smallest number among {L}": "min({0})",
        "the range of {L}": "(max({0}) - min({0}))",
        "the length of {L}": "len({0})",
        "the number of distinct numbers among {L}": "len(set({0}))",
        COUNT: "sum({0} for x_ in {1})",
    },
    "N": {
        "{D}s": "{it} == {0}", "even numbers": "{it} % 2 == 0", "odd numbers": "{it} % 2 == 1",
        "numbers that are {K}": "{0}", "numbers that are not {K}": "not {0}",
    },
    "K": {
        "between {V} and {V}": "{0} <= {it} <= {1}", "equal to {V}": "{it} == {0}",
        "greater than {V}": "{it} > {0}", "less than {V}": "{it} < {0}",
        "at least {V}": "{it} >= {0}", "at most {V}": "{it} <= {0}",
        "even": "{it} % 2 == 0", "odd": "{it} % 2 == 1", "divisible by {D}": "{it} % {0} == 0",
    },
    "C": {
        IS: "{1}", ABSENT: "{0} is None", ONE_OF: "{0}", NOT: "not ({0})", AND: "and", OR: "or",
        "{T} contains the text {W}": "{1} in {0}.casefold()",
        "{L} are in ascending order": "{0} == sorted({0})",
        "{L} are in descending order": "{0} == sorted({0})[::-1]",
        "{L} are all different": "len(set({0})) == len({0})",
        "{L} are a palindrome": "{0} == {0}[::-1]",
        "{L} have equal neighbours": "any({0}[x_] == {0}[x_ + 1] for x_ in range(len({0}) - 1))",
    },
}  # fmt: skip
"""All phrases: V numbers, N numbers that pass a check, K checks of a number, C conditions; in English and in Python.

A slot in English, as in `{V} is {K}`, is the kind of a part. In Python {0} is the first part, {it} the number that a
check is about, x_ a free variable.
"""
_KIND = {words: kind for kind, some in PHRASES.items() for words in some}
_BINDS = {"{V} + {V}": 4, "{V} - {V}": 4, "{V} * {V}": 3, "{V} / {V}": 3, NEGATIVE: 2, POWER: 1, AND: 7, OR: 7}
"""How loosely a phrase binds its parts: one that binds as loosely stands in brackets. 2 is a minus sign."""
SLOT = re.compile(r"\{([A-Z])\}")
_CLAUSES = "if when then output answer predict return say otherwise else always one numbers last"
WORDS_OF_RULES = frozenset(re.findall("[a-z]+", f"{_CLAUSES} {' '.join(_KIND)}"))
_JOINTS = frozenset(re.findall(r"\w+", "a an and are if is not of or otherwise output than the to"))
_NAME = re.compile(r"[A-Za-z]\w*(?: \w+)*(?: \([^().\n\"]*\))?")


def _key(value: str | float) -> str:
    return value.casefold() if isinstance(value, str) else say_number(value)


def _function(words: str, code: str) -> Callable[..., Any]:
    """Compile a phrase's Python, a constant of this module, to a function of a check's number and of its parts' values.

    A part that is a check is a function of a number.
    """
    it = {COUNT: "x_", IS: "p[0]"}.get(words, "it")
    calls = {"K": f"({it})", "N": f"({it})", "W": "[0]"}
    values = [f"p[{at}]{calls.get(slot, '')}" for at, slot in enumerate(SLOT.findall(words))]
    source = "key(p[0]) in p[1]" if words == ONE_OF else code.format(*values, it="it")
    [body, *_] = compile(f"lambda it, *p: {source}", "phrase", "eval").co_consts
    return FunctionType(body, {"math": math, "key": _key})


_FUNCTIONS = {
    words: _function(words, code) for some in PHRASES.values() for words, code in some.items() if words not in (AND, OR)
}

# --- parts of a rule -----------------------------------------------------------------------------------------


class Part(NamedTuple):
    """A part of a rule, in English and in Python."""

    kind: str
    """A key of PHRASES, or D: number, X: cell, L: list of numbers, S: label, W: texts or numbers of a choice."""
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
        """Return the value for a row, or whether a condition holds; None if it cannot be computed."""
        try:
            return self._value(row)
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError, RecursionError):
            return None  # the row does not fit, or brackets are nested too deep

    def _value(self, row: Row) -> Any:
        if self.kind == "X":
            return row.get(self.value.name)
        if self.kind == "L":
            columns, start, stop = self.value
            cells: list[Any] = [one for column in columns if (one := row.get(column.name)) is not None]
            is_list = columns[0].kind == "numbers"
            return list(cells[0] if cells and is_list else cells)[start:stop] if cells or not is_list else None
        if not self.phrase:
            return tuple(map(_key, self.value)) if self.kind == "W" else self.value
        if self.phrase in (AND, OR):  # as in Python, parts are worked out until one decides
            return (all if self.phrase == AND else any)(part._value(row) for part in self.parts)
        function, values = _FUNCTIONS[self.phrase], [part._value(row) for part in self.parts]
        if self.kind in "KN":
            return lambda it: it is not None and None not in values and function(it, *values)
        if None in values and self.phrase != ABSENT:
            return False if self.kind == "C" else None
        return function(None, *values)


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


def items(columns: Sequence[Column], cells: Sequence[Part] = (), end: str = "", count: int = 0) -> Part:
    """Return numbers of a row: a column's list, or else the columns of numbers, without missing ones.

    end: `first` or `last`, if only so many of them count.
    """
    some = [one.value for one in cells] or columns
    lists = [cell(column) for column in some if column.kind == "numbers"][:1]
    numbers = [column for column in some if column.kind == "number"]
    code = lists[0].code if lists else f"[{', '.join(column.alias for column in numbers)}]"
    if not lists and any(column.may_miss for column in numbers):
        code = f"[x_ for x_ in {code} if x_ is not None]"
    start, stop = (None, count) if end == "first" else (-count or None, None)
    code += f"[{start or ''}:{stop or ''}]" if end else ""
    which = f"{end} {count} " if end else ""
    words = _listed([one.words for one in cells], "and") if cells else f"the {which}numbers"
    columns = tuple(one.value for one in lists) or tuple(numbers)
    return Part("L", words, code, lists[0].needs if lists else (), value=(columns, start, stop))


def node(words: str, *parts: Part | float) -> Part:
    """Make a part from a phrase and the parts for its slots. AND and OR take two parts or more."""
    kind, some = _KIND[words], tuple(one if isinstance(one, Part) else number(one) for one in parts)
    needs = tuple(dict.fromkeys(need for one in some for need in one.needs))
    text, code, codes = SLOT.sub("{}", words), PHRASES[kind][words], [one.code for one in some]
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
    text = text.format(*_in_brackets(words, [one.words for one in some], some)).replace(" among the numbers", "")
    code = code.format(*_in_brackets(words, codes, some), it="{it}")
    return Part(kind, text, code, needs, _BINDS.get(words, 0), None, words, some)


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


def _in_brackets(words: str, texts: Sequence[str], parts: Sequence[Part]) -> list[str]:
    """Put parts in brackets that bind more loosely than the phrase, or as loosely and are not the first of a sum."""
    binds = _BINDS.get(words, 10)
    most = [binds - (at > 0 or binds in (1, 2, 7)) for at in range(len(texts))]
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
        """Return a label or a number; None if the rule leaves it open or it cannot be computed."""
        for condition, outcome in self.cases:
            holds = condition.of(row) if condition else True
            if holds:
                value = outcome.of(row)
                if isinstance(value, int | float):
                    return float(value) if math.isfinite(value) else None
                return value if isinstance(value, str) else None
            if holds is None:
                break
        return None
