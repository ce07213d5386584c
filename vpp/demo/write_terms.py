"""Write terms and checks in English, in one of several styles; the reader reads every one of them back."""

import math
import re
from dataclasses import dataclass

from numpy.random import Generator

from vpp.demo.lexer import RESERVED
from vpp.demo.terms import (
    EVEN,
    ODD,
    WHOLE,
    Absent,
    Arithmetic,
    Between,
    Cell,
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


class Unsayable(ValueError):
    """The rule cannot be written."""


@dataclass(frozen=True, slots=True)
class Style:
    """Choices between ways to write the same rule."""

    frame: int = 0
    """Index of the sentence pattern, modulo their number."""
    signs: bool = False
    """Signs as in `x > 3` instead of words."""
    noun: str = "integer"
    """Noun for the members of a sequence."""
    synonym: int = 0
    """Index of the synonym, modulo their number."""
    target: str = ""
    """Name of the target, for `name = formula`; empty to avoid it."""
    names: tuple[str, ...] = ()
    """Columns; a category's name that could be read as one of them is quoted."""

    @classmethod
    def drawn(cls, rng: Generator, nouns: tuple[str, ...], *, target: str, names: tuple[str, ...]) -> "Style":
        """Draw a style with one of the nouns."""
        return cls(
            frame=int(rng.integers(12)),
            signs=bool(rng.random() < 0.25),
            noun=nouns[int(rng.integers(len(nouns)))],
            synonym=int(rng.integers(12)),
            target=target,
            names=names,
        )


PLAIN_NAME = re.compile(r"[A-Za-z]\w*(?: \w+)*(?: \([^()\n\"]*\))?")
_PLAIN_VALUE = re.compile(r"[A-Za-z][A-Za-z0-9_]*(?: [A-Za-z][A-Za-z0-9_]*)*")
_PLAIN_LABEL = re.compile(r"\w+")
COUNTS = {2: "two", 3: "three", 4: "four", 5: "five", 6: "six"}
_ORDINALS = {0: "first", 1: "second", 2: "third", 3: "fourth", 4: "fifth", 5: "sixth", 6: "seventh", -1: "last"}


def quoted(text: str) -> str:
    """Quote the text, with backslashes before quotes and backslashes."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def is_reserved(text: str) -> bool:
    return any(word in RESERVED for word in re.findall(r"\w+", text.lower()))


def say_name(name: str) -> str:
    """Write a column's name; quote it if it could be read as a word of the rule."""
    plain = PLAIN_NAME.fullmatch(name) and (name == "a" or not is_reserved(name))
    return name if plain else quoted(name)


def say_value(value: str | float, style: Style) -> str:
    """Write a category's name or a number."""
    if isinstance(value, float):
        return say_number(value)
    taken = {name.casefold() for name in style.names}.intersection([value.casefold(), *value.casefold().split()])
    return value if _PLAIN_VALUE.fullmatch(value) and not is_reserved(value) and not taken else quoted(value)


def say_label(label: str) -> str:
    """Write a label, quoted unless it is one plain word or a whole number."""
    return label if _PLAIN_LABEL.fullmatch(label) and not is_reserved(label) else quoted(label)


def say_number(value: float) -> str:
    """Write the shortest decimal that reads back as the number; `inf` for infinity."""
    if not math.isfinite(value):
        return repr(value)
    if value == int(value) and abs(value) < 1e15:
        return str(int(value))
    text = repr(value)
    return format(value, "f").rstrip("0") if "e-" in text and float(format(value, "f")) == value else text


def listed(words: list[str], joint: str = "and") -> str:
    """Join words, as in `a, b and c`."""
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} {joint} {words[-1]}"


# --- terms --------------------------------------------------------------------------------------------------


def say_items(items: Items, style: Style) -> str:
    """Write items: `the integers in the sequence`, `a, b and c`, `the first three integers`."""
    if items.names:
        if items.start is not None or items.stop is not None:
            raise Unsayable
        return listed([say_name(name) for name in items.names])
    if items.stop is not None:
        return f"the first {_counted(items.stop)} {style.noun}s"
    if items.start is not None:
        return f"the last {_counted(-items.start)} {style.noun}s"
    return (f"the {style.noun}s in the sequence", f"the {style.noun}s", f"all the {style.noun}s")[style.synonym % 3]


def _counted(count: int) -> str:
    if count < 1:
        raise Unsayable
    return COUNTS.get(count, str(count))


def say_term(term: Term, style: Style) -> str:
    """Write a term; formulas use + - * / ^."""
    match term:
        case Number():
            return say_number(term.value)
        case Cell():
            return say_name(term.name)
        case Input():
            return f"x{term.position + 1}"
        case Arithmetic():
            return _say_arithmetic(term, style)
        case Function():
            return f"{term.name}({say_term(term.argument, style)})"
        case Fold():
            return _say_fold(term, style)
        case Tally():
            return f"the number of {say_filtered(term, style, plural=True)}"
        case Item():
            return _say_item(term, style)
        case Distance():
            return _say_distance(term, style)
    raise Unsayable


def _say_fold(fold: Fold, style: Style) -> str:
    items = say_items(fold.items, style)
    if fold.kind in {"max", "min"}:
        word = "largest" if fold.kind == "max" else "smallest"
        return f"the {word} {style.noun}" if fold.items == WHOLE else f"the {word} of {items}"
    if fold.kind == "distinct":
        tail = "" if fold.items == WHOLE else f" in {items}"
        return f"the number of distinct {style.noun}s{tail}"
    if fold.kind == "length":
        return f"the length of {'the sequence' if fold.items == WHOLE else items}"
    word = {"sum": ("sum", "total", "digit sum")[style.synonym % (3 if style.noun == "digit" else 2)],
            "mean": "average", "product": "product", "range": "range"}[fold.kind]  # fmt: skip
    return f"the {word} of {items}"


def _say_item(item: Item, style: Style) -> str:
    if item.index not in _ORDINALS or item.items != WHOLE:
        raise Unsayable
    return f"the {_ORDINALS[item.index]} {style.noun}"


def _say_distance(distance: Distance, style: Style) -> str:
    point = ", ".join(say_term(term, style) for term in distance.point)
    centre = ", ".join(say_number(number) for number in distance.centre)
    place = "the origin" if not any(distance.centre) and len(distance.centre) == 2 else f"({centre})"
    return f"the distance from {place} to the point ({point})"


_BINDS = {"+": 1, "-": 1, "*": 2, "/": 2, "^": 4}


def _say_arithmetic(term: Arithmetic, style: Style) -> str:
    if term.op == "-" and term.left == Number(0.0):
        return f"-{_inner(term.right, 3, style)}"
    if term.op == "+" and isinstance(term.right, Number) and term.right.value < 0:
        return f"{_inner(term.left, 1, style)} - {say_number(-term.right.value)}"
    if term.op == "*" and isinstance(term.left, Number) and _touches(term.right):
        return f"{say_term(term.left, style)}{say_term(term.right, style)}"
    right = _BINDS[term.op] + (1 if term.op in {"+", "*", "-", "/"} else 0)
    left = _BINDS[term.op] + (1 if term.op == "^" else 0)
    sign = term.op if term.op == "^" else f" {term.op} "
    return f"{_inner(term.left, left, style)}{sign}{_inner(term.right, right, style)}"


def _touches(term: Term) -> bool:
    """Whether a coefficient may precede the term without a sign, as in 3x."""
    base = term.left if isinstance(term, Arithmetic) and term.op == "^" else term
    return isinstance(base, Cell) and len(base.name) == 1 and base.name.isalpha() and base.name not in "aeEs"


def _inner(term: Term, binding: int, style: Style) -> str:
    text = say_term(term, style)
    if isinstance(term, Arithmetic):
        own = 3 if term.op == "-" and term.left == Number(0.0) else _BINDS[term.op]
        return f"({text})" if own < binding else text
    return f"({text})" if isinstance(term, Number) and term.value < 0 and binding > 1 else text


# --- checks -------------------------------------------------------------------------------------------------

_COMPARED: dict[str, tuple[str, ...]] = {
    ">": ("is greater than", "is above", "is more than"),
    ">=": ("is at least", "is greater than or equal to", "is at least"),
    "<": ("is less than", "is below", "is under"),
    "<=": ("is at most", "is less than or equal to", "is no more than"),
}


def say_check(check: Check, style: Style) -> str:
    """Write a check as it follows its subject: `is even`, `> 3`, `is not Biscoe`."""
    match check:
        case Compare(sign="=" | "!="):
            return _say_equality(check, style)
        case Compare():
            words = check.sign if style.signs else _COMPARED[check.sign][style.synonym % 3]
            return f"{words} {say_term(check.other, style)}"
        case Between():
            kind = "between" if check.inclusive else "strictly between"
            return f"is {kind} {say_term(check.low, style)} and {say_term(check.high, style)}"
        case Multiple():
            return _say_multiple(check, style)
        case OneOf():
            return _say_one_of(check, style)
        case Holds():
            return f"contains the text {quoted(check.piece)}"
        case Absent():
            return "is missing"
        case Fails():
            return _denied(say_check(check.check, style))
    raise Unsayable


def _say_equality(check: Compare, style: Style) -> str:
    other = say_term(check.other, style)
    if style.signs:
        return f"{check.sign} {other}"
    return f"is equal to {other}" if check.sign == "=" else f"is not equal to {other}"


def _say_multiple(check: Multiple, style: Style) -> str:
    if check in (EVEN, ODD):
        word = "even" if check == EVEN else "odd"
        return f"is an {word} number" if style.synonym % 3 == 2 else f"is {word}"
    if check.remainder == 0:
        return f"is {('divisible by', 'a multiple of')[style.synonym % 2]} {check.of}"
    return f"leaves a remainder of {check.remainder} when divided by {check.of}"


def _say_one_of(check: OneOf, style: Style) -> str:
    values = [say_value(value, style) for value in check.values]
    return f"is {values[0]}" if len(values) == 1 else f"is one of {listed(values, 'or')}"


def _denied(text: str) -> str:
    if text.startswith("is ") and not text.startswith("is not "):
        return f"is not {text[3:]}"
    raise Unsayable


def say_filtered(tally: Tally, style: Style, *, plural: bool) -> str:
    """Write the counted items: `even integers`, `0s`, `integers greater than 5 among a, b and c`."""
    noun = style.noun + ("s" if plural else "")
    match tally.check:
        case Compare(sign="=", other=Number(value=value)):
            words = say_number(value) + ("s" if plural else "")
        case Multiple() as check if check in (EVEN, ODD):
            words = f"{'even' if check == EVEN else 'odd'} {noun}"
        case Compare() as check if check.sign != "=":
            words = f"{noun} that {'are' if plural else 'is'} {_bare(say_check(check, Style(synonym=style.synonym)))}"
        case Multiple() as check if check.remainder == 0:
            words = f"{noun} divisible by {check.of}"
        case _:
            raise Unsayable
    return words if tally.items == WHOLE else f"{words} among {say_items(tally.items, style)}"


def _bare(text: str) -> str:
    return text.removeprefix("is ")
