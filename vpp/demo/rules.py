"""What a rule is: a table of phrases, each with its English and its Python, and the rules that are made of them.

A phrase is written by its format, read by an expression made from the format (`reading.py`), and answers rows by an
interpreter of its Python. So a rule's program and its answers cannot differ. A test of a missing cell, or of one of
another kind, fails.
"""

import ast
import json
import math
import operator
import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from vpp.demo.prompt import Column, Kind

Value = float | str | tuple[float, ...] | None
"""A number, a text, a sequence of numbers, or None for a missing cell."""
Row = dict[str, Value]
"""Cells by column name."""

# --- cells ---------------------------------------------------------------------------------------------------

_NUMBER = r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?"
_SEQUENCE = re.compile(rf"[\[(]?\s*{_NUMBER}(?:[\s,;]+{_NUMBER})+\s*[\])]?")
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
    return {name: read_value(value) for name, value in map(_split_line, text.split("\n")) if name}


def _split_line(line: str) -> tuple[str, str]:
    name, _, value = line.rpartition(": ")
    if not name or (value.strip() != "missing" and read_number(value.strip()) is None):
        name, _, value = line.partition(":")
    return name.strip(), value


def columns_of(rows: Sequence[Row]) -> tuple[Column, ...]:
    """Return the columns that the rows have, as arguments of a program."""
    columns = list[Column]()
    for name in rows[0]:
        cells = [row.get(name) for row in rows]
        texts = sorted({cell for cell in cells if isinstance(cell, str)})
        kind: Kind = "text" if texts else "numbers" if any(isinstance(cell, tuple) for cell in cells) else "number"
        columns.append(Column(f"c{len(columns)}", name, kind, tuple(texts), None in cells))
    return tuple(columns)


# --- phrases -------------------------------------------------------------------------------------------------


class Phrase(NamedTuple):
    """A way to say something. A slot is the kind of its part, as in `{V} is {K}`."""

    gives: str
    """Kind of what it says: V a value, K a check of a value, C a condition."""
    words: str
    """Format in English."""
    code: str
    """Format in Python. {0} is the first part, {it} the value that a check is about, x_ a free variable."""
    needs: str = ""
    """Test in Python without which it has no value."""
    binds: int = 0
    """0 if it is closed. Else a part that binds as loosely stands in brackets; 2 is a minus sign, 7 are `and`, `or`."""


SOME = "len({0}) > 0"
PLACES = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "last")
ITEMS = tuple(
    Phrase("V", f"the {word} number among {{L}}", f"{{0}}[{at}]", f"len({{0}}) > {max(at, 0)}")
    for word, at in zip(PLACES, (*range(7), -1), strict=True)
)
SUM, PRODUCT = Phrase("V", "the sum of {L}", "sum({0})"), Phrase("V", "the product of {L}", "math.prod({0})")
LARGEST = Phrase("V", "the largest number among {L}", "max({0})", SOME)
SMALLEST = Phrase("V", "the smallest number among {L}", "min({0})", SOME)
COUNT = Phrase("V", "the number of {D}s among {L}", "sum(x_ == {0} for x_ in {1})")
EVENS = Phrase("V", "the number of even numbers among {L}", "sum(x_ % 2 == 0 for x_ in {0})")
PASSING = Phrase("V", "the number of numbers that are {K} among {L}", "sum({0} for x_ in {1})")
RADIUS = Phrase("V", "the distance from the origin to the point ({V}, {V})", "math.dist([0, 0], [{0}, {1}])")
DISTANCE = Phrase("V", "the distance from ({V}, {V}) to the point ({V}, {V})", "math.dist([{0}, {1}], [{2}, {3}])")
SIN, COS = Phrase("V", "sin({V})", "math.sin({0})"), Phrase("V", "cos({V})", "math.cos({0})")
POWER = Phrase("V", "{V}^{D}", "{0} ** {1}", binds=1)
NEGATIVE = Phrase("V", "-{V}", "-{0}", binds=2)
TIMES, OVER = Phrase("V", "{V} * {V}", "{0} * {1}", "", 3), Phrase("V", "{V} / {V}", "{0} / {1}", "{1} != 0", 3)
PLUS, MINUS = Phrase("V", "{V} + {V}", "{0} + {1}", "", 4), Phrase("V", "{V} - {V}", "{0} - {1}", "", 4)
TERMS = (
    SUM, PRODUCT, LARGEST, SMALLEST, *ITEMS, RADIUS, DISTANCE, SIN, COS, COUNT, EVENS, PASSING, POWER, NEGATIVE,
    Phrase("V", "the range of {L}", "(max({0}) - min({0}))", SOME),
    Phrase("V", "the average of {L}", "(sum({0}) / len({0}))", SOME),
    Phrase("V", "the length of {L}", "len({0})"),
    Phrase("V", "the number of distinct numbers among {L}", "len(set({0}))"),
    Phrase("V", "the number of odd numbers among {L}", "sum(x_ % 2 == 1 for x_ in {0})"),
    Phrase("V", "the number of numbers that are not {K} among {L}", "sum(not {0} for x_ in {1})"),
    Phrase("V", "sqrt({V})", "math.sqrt({0})", "{0} >= 0"), Phrase("V", "log({V})", "math.log({0})", "{0} > 0"),
    Phrase("V", "exp({V})", "math.exp({0})", "{0} <= 709"), Phrase("V", "abs({V})", "abs({0})"),
)  # fmt: skip

ABOVE, BELOW = Phrase("K", "greater than {V}", "{it} > {0}"), Phrase("K", "less than {V}", "{it} < {0}")
AT_LEAST, AT_MOST = Phrase("K", "at least {V}", "{it} >= {0}"), Phrase("K", "at most {V}", "{it} <= {0}")
BOUNDS, EQUAL = (ABOVE, BELOW, AT_LEAST, AT_MOST), Phrase("K", "equal to {V}", "{it} == {0}")
EVEN, ODD = Phrase("K", "even", "{it} % 2 == 0"), Phrase("K", "odd", "{it} % 2 == 1")
DIVISIBLE = Phrase("K", "divisible by {D}", "{it} % {0} == 0", "{0} != 0")
CONTAIN = Phrase("K", "contain the text {W}", "{0} in {it}.casefold()")
ABSENT, ONE_OF = Phrase("K", "missing", "{it} is None"), Phrase("K", "{W}", "")
BETWEEN = Phrase("K", "between {V} and {V}", "{0} <= {it} <= {1}")
CHECKS = (BETWEEN, *BOUNDS, DIVISIBLE, EVEN, ODD, CONTAIN, ABSENT, EQUAL)

IS, IS_NOT = Phrase("C", "{V} is {K}", "", binds=5), Phrase("C", "{V} is not {K}", "not ({0})", binds=5)
ARRANGEMENTS = (
    Phrase("C", "{L} are in ascending order", "{0} == sorted({0})", binds=5),
    Phrase("C", "{L} are in descending order", "{0} == sorted({0})[::-1]", binds=5),
    Phrase("C", "{L} are all different", "len(set({0})) == len({0})", binds=5),
    Phrase("C", "{L} are a palindrome", "{0} == {0}[::-1]", binds=5),
    Phrase("C", "{L} have equal neighbours", "any({0}[x_] == {0}[x_ + 1] for x_ in range(len({0}) - 1))", binds=5),
)
NOT = Phrase("C", "not ({C})", "not ({0})", binds=5)
AND, OR = Phrase("C", "{C} and {C}", "and", binds=7), Phrase("C", "{C} or {C}", "or", binds=7)

SLOT = re.compile(r"\{([A-Z])\}")
_PHRASES = (*TERMS, *CHECKS, IS, IS_NOT, *ARRANGEMENTS, NOT, AND, OR)
_CLAUSES = "if output otherwise always one of the numbers last"
WORDS_OF_RULES = frozenset(re.findall("[a-z]+", " ".join([_CLAUSES, *(phrase.words for phrase in _PHRASES)])))
"""A name or a label that holds one is written in quotes, and is read as such only there."""

# --- parts of a rule -----------------------------------------------------------------------------------------


class Part(NamedTuple):
    """A part of a rule, in English and in Python."""

    kind: str
    """As `Phrase.gives`; or D a number, X a cell, L a list of numbers, S a label, W texts or numbers to choose from."""
    words: str
    code: str = ""
    """Empty for a check, which is about a value."""
    needs: tuple[str, ...] = ()
    """Tests in Python without which it has no value, or does not hold."""
    binds: int = 0
    """As `Phrase.binds`."""
    value: Any = None
    """The number; the cell's column; the label; what to choose from; the fewest numbers of a list."""
    phrase: Phrase | None = None
    parts: "tuple[Part, ...]" = ()

    @property
    def type(self) -> str:
        return self.value.kind if self.kind == "X" else "number"

    @property
    def test(self) -> str:
        """A condition in Python, with what it needs."""
        return " and ".join((*self.needs, self.code))


_PLAIN_NAME = re.compile(r"[A-Za-z]\w*(?: \w+)*(?: \([^().\n\"]*\))?")


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
    needs = (f"{column.alias} is not None",) if column.may_miss else ()
    return Part("X", column.name if is_plainly_said else quoted(column.name), column.alias, needs, value=column)


def label(text: str) -> Part:
    """Return a label, or another text in quotes."""
    is_plainly_said = re.fullmatch(r"\w+", text) and text.lower() not in WORDS_OF_RULES
    return Part("S", text if is_plainly_said else quoted(text), quoted(text), value=text)


def choice(*values: str | float) -> Part:
    """Return categories, of which a value is one, or a piece of text."""
    words = [quoted(value) if isinstance(value, str) else say_number(value) for value in values]
    return Part("W", ("one of " if len(words) > 1 else "") + _listed(words, "or"), value=values)


def items(columns: Sequence[Column], names: Sequence[str] = (), start: int = 0, stop: int = 0) -> Part:
    """Return numbers of a row: a column's list, or else the columns of numbers, without missing ones; or a slice."""
    by_name = {column.name: column for column in columns}
    some = [by_name[name] for name in names] or list(columns)
    lists = [cell(column) for column in some if column.kind == "numbers"][:1]
    numbers = [column for column in some if column.kind == "number"]
    code, least = f"[{', '.join(column.alias for column in numbers)}]", sum(not column.may_miss for column in numbers)
    if least < len(numbers):
        code = f"[x_ for x_ in {code} if x_ is not None]"
    code, least, needs = (lists[0].code, 1, lists[0].needs) if lists else (code, least, ())
    if start or stop:
        code, least = f"{code}[{start or ''}:{stop or ''}]", min(least, abs(stop or start))
    which = f"last {-start} " if start else f"first {stop} " if stop else ""
    words = _listed([cell(column).words for column in some], "and") if names else f"the {which}numbers"
    return Part("L", words, code, needs, value=least)


_ITEM = Part("V", "it", "x_")
_PLAIN = ((" among the numbers", ""), ("is not contain", "does not contain"), ("is contain", "contains"))
"""What is said in other words."""


def node(phrase: Phrase, *parts: Part | float) -> Part:
    """Make a part of a phrase and its parts."""
    some = [one if isinstance(one, Part) else number(one) for one in parts]
    words = SLOT.sub("{}", phrase.words).format(*_in_brackets(phrase, [one.words for one in some], some))
    for clumsy, plain in _PLAIN:
        words = words.replace(clumsy, plain)
    code, needs = "", tuple[str, ...]()
    if phrase == IS:
        code, needs = _test(some[1], some[0])
    elif phrase in (IS_NOT, NOT):
        code = phrase.code.format(some[0].test if phrase == NOT else node(IS, *some).test)
    elif phrase.gives != "K":
        # In a number of numbers that pass a check, the check is about each of them.
        code, needs = _python(phrase, [node(IS, _ITEM, one) if one.kind == "K" else one for one in some])
    return Part(phrase.gives, words, code, needs, phrase.binds, None, phrase, tuple(some))


def _in_brackets(phrase: Phrase, texts: Sequence[str], parts: Sequence[Part]) -> list[str]:
    """Put parts in brackets that bind more loosely than the phrase, or as loosely and are not the first of a sum."""
    firm = [phrase.binds - (at > 0 or phrase.binds in (1, 2, 7)) for at in range(len(texts))]
    return [
        f"({text})" if phrase.binds and part.binds > most else text
        for text, part, most in zip(texts, parts, firm, strict=True)
    ]


def _python(phrase: Phrase, parts: Sequence[Part], *it: Part) -> tuple[str, tuple[str, ...]]:
    """Fill a phrase's Python. it: the value that a check is about. Returns what it needs as well."""
    values = [*parts, *it]
    texts = _in_brackets(phrase, [one.code for one in values], values)
    if phrase == EQUAL and all(one.type == "text" for one in values):
        texts = [f"{text}.casefold()" for text in texts]
    elif any(one.type != "number" for one in values):
        return "False", ("False",)
    known = [f"len({one.code}) > {at}" for one in parts if one.kind == "L" for at in range(one.value)]
    needs = dict.fromkeys([*(need for one in values for need in one.needs), phrase.needs.format(*texts)])
    code = phrase.code.format(*texts, it=f"({it[0].code})" if it and it[0].binds > 3 else texts[-1])
    return code, tuple(need for need in needs if need and need not in known)


def _test(check: Part, it: Part) -> tuple[str, tuple[str, ...]]:
    """Return a check of a value in Python, and what it needs. Texts are compared in any case, or as a column states."""
    if check.phrase == ABSENT:
        return (ABSENT.code.format(it=it.code) if it.kind == "X" and it.needs else "False"), ()
    if check.phrase not in (ONE_OF, CONTAIN):
        return _python(check.phrase or EQUAL, check.parts, it)
    texts = [say_number(one) if isinstance(one, float) else one.casefold() for one in check.parts[0].value]
    if check.phrase == CONTAIN:
        return (CONTAIN.code.format(quoted(texts[0]), it=it.code), it.needs) if it.type == "text" else ("False", ())
    values, code, needs = [say_number(one) for one in map(read_number, texts) if one is not None], it.code, it.needs
    if it.type == "text" and it.value.values:
        spelled = {one.casefold(): one for one in it.value.values}
        # None equals nothing, so a cell that is compared as it is needs no other test.
        values, needs = [quoted(spelled.get(text, text)) for text in texts], ()
    elif it.type == "text":
        values, code = list(map(quoted, texts)), f"{it.code}.casefold()"
    if len(values) < 2:
        return (f"{code} == {values[0]}", needs) if values else ("False", ())
    return f"{code} in ({', '.join(values)})", needs


def check(term: Part, phrase: Phrase, *parts: Part | float) -> Part:
    """Return the condition that a value passes a check."""
    return node(IS, term, node(phrase, *parts))


def joined(word: Phrase, parts: Sequence[Part]) -> Part:
    """Join conditions by AND or OR."""
    flat = tuple(dict.fromkeys(one for part in parts for one in (part.parts if part.phrase == word else (part,))))
    if len(flat) == 1:
        return flat[0]
    needs = tuple(dict.fromkeys(need for one in flat for need in one.needs)) if word == AND else ()
    codes = [one.code if word == AND else one.test for one in flat]
    codes = [f"({code})" if word == OR and " and " in code else code for code in codes]
    joint, words = f" {word.code} ", _in_brackets(word, [one.words for one in flat], flat)
    code = joint.join(dict.fromkeys(_in_brackets(word, codes, flat) if word == AND else codes))
    return Part("C", joint.join(words), code, needs, word.binds, None, word, flat)


def leaves(condition: Part) -> list[Part]:
    """List the conditions that are joined in a condition, also under a `not`."""
    if condition.phrase not in (AND, OR, NOT):
        return [condition]
    return [one for each in condition.parts for one in leaves(each)]


def total(parts: Sequence[tuple[float, Part | None]]) -> Part:
    """Return the sum of coefficient times term, None for 1, from the first positive one on if there is one."""
    first = next((part for part in parts if part[0] > 0), None)
    whole: Part | None = None
    for weight, term in sorted((part for part in parts if part[0]), key=lambda part: part is not first):
        size = abs(weight) if whole else weight
        scaled = number(size) if term is None else term if abs(size) == 1 else node(TIMES, size, term)
        scaled = node(NEGATIVE, scaled) if size == -1 and term else scaled
        whole = node(MINUS if weight < 0 else PLUS, whole, scaled) if whole else scaled
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
        for condition, outcome in (*self.cases, Case(None, Part("S", "", guess))):
            value = f"{outcome.code} if {' and '.join(outcome.needs)} else {guess}" if outcome.needs else outcome.code
            lines += [f"    if {condition.test}:", f"        return {value}"] if condition else [f"    return {value}"]
            if condition is None:
                break
        body = "\n".join(lines)
        words = set(re.findall(r'"(?:[^"\\]|\\.)*"|[^\W\d]\w*', body))  # a text is one word
        names = ", ".join(column.alias for column in self.columns if column.alias in words)
        opening = "import math\n\n\n" if "math." in body else ""
        return f"{opening}def predict({names}):\n{body}"

    def answer(self, row: Row) -> Value:
        """Return a label or a number; None if the rule leaves it open or the number cannot be computed."""
        names = {column.alias: row.get(column.name) for column in self.columns}
        cells = {alias: list(cell) if isinstance(cell, tuple) else cell for alias, cell in names.items()}
        try:
            decided = (outcome for condition, outcome in self.cases if not condition or function(condition.test)(cells))
            outcome = next(decided, None)
            if outcome and all(function(need)(cells) for need in outcome.needs):
                value = function(outcome.code)(cells)
                is_number = isinstance(value, int | float) and math.isfinite(value)
                return float(value) if is_number else value if isinstance(value, str) else None
        except (ArithmeticError, AttributeError, SyntaxError, TypeError, ValueError):
            pass  # the row does not fit, or brackets are nested too deep
        return None


# --- an interpreter of the Python of phrases -----------------------------------------------------------------

_OPERATORS: dict[type[ast.AST], Callable[..., Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.Pow: operator.pow, ast.Mod: operator.mod, ast.USub: operator.neg, ast.Not: operator.not_, ast.Lt: operator.lt,
    ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge, ast.Eq: operator.eq, ast.NotEq: operator.ne,
    ast.Is: operator.is_, ast.IsNot: operator.is_not, ast.In: lambda one, some: one in some,
}  # fmt: skip
_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "abs": abs, "any": any, "cos": math.cos, "dist": math.dist, "exp": math.exp, "len": len, "log": math.log,
    "max": max, "min": min, "prod": math.prod, "range": range, "set": set, "sin": math.sin, "sorted": sorted,
    "sqrt": math.sqrt, "sum": sum,
}  # fmt: skip
Function = Callable[[dict[str, Any]], Any]
"""Value of an expression, given those of its names."""


@lru_cache(maxsize=8192)
def function(code: str) -> Function:
    """Read an expression of phrases' Python."""
    return _function(ast.parse(code, mode="eval").body)


def _function(node: ast.expr) -> Function:
    apply: Callable[..., Any]
    match node:
        case ast.Constant(value=value):
            return lambda _: value
        case ast.Name(id=name):
            return operator.itemgetter(name)
        case ast.GeneratorExp(elt=each, generators=[loop]) | ast.ListComp(elt=each, generators=[loop]):
            return _loop(_function(each), loop)
        case ast.BoolOp(op=sign, values=some):
            parts, join = list(map(_function, some)), all if isinstance(sign, ast.And) else any
            return lambda names: join(part(names) for part in parts)
        case ast.Compare(left=first, ops=signs, comparators=others):
            tests = [_OPERATORS[type(sign)] for sign in signs]
            apply, some = lambda *values: all(map(_call, tests, values, values[1:])), [first, *others]
        case ast.Call(func=ast.Attribute(value=text, attr="casefold")):
            apply, some = str.casefold, [text]
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name), args=some):
            apply = _FUNCTIONS[name]
        case ast.UnaryOp(op=sign, operand=one):
            apply, some = _OPERATORS[type(sign)], [one]
        case ast.BinOp(left=one, op=sign, right=other):
            apply, some = _OPERATORS[type(sign)], [one, other]
        case ast.Subscript(value=one, slice=at):
            apply, some = operator.getitem, [one, at]
        case ast.Slice(lower=low, upper=high, step=step):
            apply, some = slice, [end or ast.Constant(None) for end in (low, high, step)]
        case ast.List(elts=some) | ast.Tuple(elts=some):
            apply, some = lambda *values: list(values), some
        case _:
            raise ValueError(ast.unparse(node))
    parts = list(map(_function, some))
    return lambda names: apply(*[part(names) for part in parts])


def _call(apply: Callable[..., Any], *values: Any) -> Any:
    return apply(*values)


def _loop(value: Function, loop: ast.comprehension) -> Function:
    name, some, tests = ast.unparse(loop.target), _function(loop.iter), list(map(_function, loop.ifs))

    def run(names: dict[str, Any]) -> list[Any]:
        every = ({**names, name: one} for one in some(names))
        return [value(inner) for inner in every if all(test(inner) for test in tests)]

    return run
