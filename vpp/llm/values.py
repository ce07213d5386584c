"""Reads a label or a number from the few words in which an answer gives it."""

import math
import re
from collections.abc import Iterator

from vpp.data.answers import match_label, peel, read_decimal_comma, read_float, without_noun
from vpp.llm.table_words import shortened

Bounds = tuple[float, float]
"""The lowest and the highest likely number."""


class Unreadable(Exception):
    """A value that is neither label nor number as asked; its text says why."""


def label_in(value: str, classes: tuple[str, ...]) -> str:
    """Return the class that `value` names. Raises Unreadable."""
    named = match_label(value, classes)
    if not named:
        raise Unreadable(f"{_quoted(value)} is none of the labels {_listed(classes)}")
    if len(named) > 1:
        raise Unreadable(f"{_quoted(value)} could be any of the labels {_listed(named)}")
    return named[0]


def number_in(value: str, unit: str, expected: Bounds | None = None) -> float:
    """Return the number that `value` writes. Raises Unreadable.

    expected: a comma is unreadable if the number is within these bounds only with a decimal comma.
    """
    layers = peel(value)
    for layer in (*layers, *without_noun(layers)):
        for words in (layer, *_result(layer), *_before_its_word(layer)):
            if (number := _read_with(words, unit, expected)) is not None:
                return _finite(number, value)
    raise Unreadable(f"{_quoted(value)} is not a number{_why(value)}")


# --- numbers ------------------------------------------------------------------------------------------------------

_HEDGE = re.compile(r"(?:about|approximately|approx\.?|around|roughly|circa|ca\.|nearly)\s+", re.IGNORECASE)
_CURRENCIES = ("$", "€", "£", "¥")
"""Ignored around a number if the target has no unit of its own."""
_OPERATOR = re.compile(r"[-+*/^=≈×·÷−()]")
_TERM = re.compile(r"\s*+[\w.]*+\s*+")
_EQUATION_LIMIT = 200
"""Characters of an equation."""
_WITH_WORD = re.compile(r"(?P<number>\S{1,30})\s\((?P<word>[A-Za-z][A-Za-z -]{1,30})\)")
_UNITS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen"
)
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
_WORDS = dict(zip((*_UNITS.split(), *_TENS.split()), (*range(20), *range(20, 100, 10)), strict=True))
_DECIMAL_COMMA = re.compile(r"[+\-−]?\d+,\d+", re.ASCII)
_WITH_WORDS = re.compile(r"[+\-−]?[\d.,]*\d[\d.,]*\s*[^\d\s].{0,60}", re.ASCII)


def _read_with(layer: str, unit: str, expected: Bounds | None) -> float | None:
    """Return the number of a layer, without a hedge before it and without its unit."""
    bare = _HEDGE.sub("", layer)
    forms = (bare, *(form for mark in ((unit,) if unit else _CURRENCIES) for form in _without(bare, mark)))
    for form in forms:
        if (number := read_float(form)) is not None:
            _check_comma(form, number, expected)
            return number
    return None


def _check_comma(form: str, number: float, expected: Bounds | None) -> None:
    """Raise Unreadable for `3,141` if 3.141 is likely and 3141 is not."""
    decimal = read_decimal_comma(form)
    if decimal is None or expected is None:
        return
    low, high = expected
    if low <= decimal <= high and not low <= number <= high:
        readings = f"{_quoted(form)} may be {decimal:g} or {number:g}"
        raise Unreadable(f"{readings}: write a point before decimals, and no comma")


def _without(bare: str, mark: str) -> Iterator[str]:
    """Yield `bare` without a unit at its ends, and without one between its sign and its digits."""
    if mark in bare:
        yield bare.removesuffix(mark).removeprefix(mark).strip()
        yield re.sub(rf"^([+\-−])\s?{re.escape(mark)}\s*", r"\1", bare)


def _result(layer: str) -> Iterator[str]:
    """Yield the right side of `y = 3.5` or `x = 2*3 = 6`, if the left side has only names and arithmetic."""
    equation = layer[:_EQUATION_LIMIT]
    place = max(equation.rfind("="), equation.rfind("≈"))
    left = equation[: max(place, 0)].rstrip()
    is_term = left[-1:].isalnum() or left.endswith((")", "_"))
    if is_term and all(_TERM.fullmatch(term) for term in _OPERATOR.split(left)):
        yield equation[place + 1 :].strip()


def _before_its_word(layer: str) -> Iterator[str]:
    """Yield the digits of `5 (five)`, if the word means the same number."""
    spelt = _WITH_WORD.fullmatch(layer)
    words = re.split("[ -]", spelt["word"].lower()) if spelt else []
    value = sum(_WORDS.get(word, math.nan) for word in words)
    if spelt and read_float(spelt["number"]) == value:
        yield spelt["number"]


def _why(value: str) -> str:
    """Say how to correct a value that is almost a number."""
    layer = peel(value)[-1]
    if _DECIMAL_COMMA.fullmatch(layer):
        return ": write a point before the decimals"
    return " alone: write nothing after it" if _WITH_WORDS.fullmatch(layer) else ""


def _finite(number: float, value: str) -> float:
    if not math.isfinite(number):
        raise Unreadable(f"{_quoted(value)} is not a finite number")
    return number


# --- reasons ------------------------------------------------------------------------------------------------------


def _listed(labels: tuple[str, ...]) -> str:
    shown = ", ".join(map(shortened, labels[:10]))
    return f"{shown}, …" if len(labels) > 10 else shown


def _quoted(value: str) -> str:
    return f"'{shortened(value.strip(), 80)}'"
