"""A number as a model writes it: 1,234.5, 1.2e-5, 1.2 × 10⁻⁵, −3, ٣٫٥, 1.234,56.

A comma before three digits separates thousands (3,141 is 3141), except after a group that thousands cannot begin with
(0,500). A decimal comma is read only where the number has another mark for its thousands (1.234,56); 0,5 is not read.
"""

import math
import re
import unicodedata

from vpp.data.lines import without_invisible

_SIGNS = str.maketrans({**dict.fromkeys("−–‒﹣－", "-"), "٫": ".", "٬": ",", "⁠": None})
_SUPERSCRIPT = re.compile(r"(?<=\d)[⁺⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+")
_SUBSCRIPT = re.compile(r"(?<=\d)[₊₋₀-₉]+")
_SIGN_APART = re.compile(r"(?<=^[+-])\s+(?=[\d.])")
_GROUPED = re.compile(r"(?<=\d)[,_' ’](?=\d)")
_FIRST_GROUP = r"[+-]?[1-9]\d{0,2}"
_THOUSANDS = re.compile(
    rf"{_FIRST_GROUP}(?P<mark>[,_' ’])\d{{3}}(?:(?P=mark)\d{{3}})*(?:\.\d*)?(?:[eE][+-]?\d+)?", re.ASCII
)
_LAKHS = re.compile(r"[+-]?[1-9]\d?(?:,\d{2})+,\d{3}(?:\.\d*)?", re.ASCII)
_EITHER_WAY = re.compile(rf"({_FIRST_GROUP}),(\d{{3}})\.?", re.ASCII)
_POINTS = re.compile(rf"{_FIRST_GROUP}(?:\.\d{{3}}){{2,}}", re.ASCII)
_DECIMAL_COMMA = re.compile(
    rf"{_FIRST_GROUP}(?P<mark>[. '’])\d{{3}}(?:(?P=mark)\d{{3}})*,(?:\d{{1,2}}|\d{{4,}})", re.ASCII
)
_POWER = re.compile(r"(?<!\s)\s*(?:×|x|\*|·|\\times|\\cdot)\s*10\s*(?:\^|\*\*)\s*\{?([+-]?\d{1,6})\}?$", re.ASCII)
_BARE_POWER = re.compile(r"^([+-]?)10\s?(?:\^|\*\*)\s?\{?([+-]?\d{1,6})\}?$", re.ASCII)
_DECIMAL = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)
_LONGEST = 400
"""Characters of a number."""


def read_float(text: str) -> float | None:
    """The number that `text` writes and nothing else; inf for inf, nan and a number too large; None for the rest."""
    plain = _plain(text)
    if _THOUSANDS.fullmatch(plain) or _LAKHS.fullmatch(plain):
        plain = _GROUPED.sub("", plain)
    elif _POINTS.fullmatch(plain):
        plain = plain.replace(".", "")
    elif _DECIMAL_COMMA.fullmatch(plain):
        whole, _, decimals = plain.rpartition(",")
        plain = f"{re.sub(r'[^0-9+-]', '', whole)}.{decimals}"
    if _DECIMAL.fullmatch(plain):
        return float(plain)
    return math.inf if plain.lower().lstrip("+-") in ("inf", "infinity", "nan", "∞") else None


def read_decimal_comma(text: str) -> float | None:
    """The number of `3,141` if its comma stands before decimals; None for all that is not written so."""
    groups = _EITHER_WAY.fullmatch(_plain(text))
    return float(f"{groups[1]}.{groups[2]}") if groups else None


def compatible(text: str) -> str:
    """`text` with compatible characters made equal (NFKC), but a power or index after a digit kept: 10² is 10^2."""
    raised = _SUPERSCRIPT.sub(lambda power: "^" + power[0], text)
    return unicodedata.normalize("NFKC", _SUBSCRIPT.sub(lambda index: "_{" + index[0] + "}", raised))


def _plain(text: str) -> str:
    """ASCII digits, signs and powers, where there are such in `text`."""
    narrow = compatible(without_invisible(text[:_LONGEST])).replace("{,}", ",").replace("\\,", " ")
    digits = "".join(str(unicodedata.decimal(c)) if c.isdecimal() and not c.isascii() else c for c in narrow)
    signed = _SIGN_APART.sub("", digits.translate(_SIGNS).strip())
    return _POWER.sub(r"e\1", _BARE_POWER.sub(r"\g<1>1e\2", signed)).strip()
