"""A number as a model writes it: 1,234.5, 1.2e-5, 1.2 × 10⁻⁵, −3, ٣٫٥."""

import math
import re
import unicodedata

from vpp.data.lines import without_invisible

_SIGNS = str.maketrans({**dict.fromkeys("−–‒﹣－", "-"), "٫": ".", "٬": ",", "⁠": None})
_SUPERSCRIPT = re.compile("[⁺⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+")
_GROUPED = re.compile(r"(?<=\d)[,_' ’](?=\d)")
_THOUSANDS = re.compile(r"[+-]?\d{1,3}(?P<mark>[,_' ’])\d{3}(?:(?P=mark)\d{3})*(?:\.\d*)?(?:[eE][+-]?\d+)?", re.ASCII)
_LAKHS = re.compile(r"[+-]?\d{1,2}(?:,\d{2})+,\d{3}(?:\.\d*)?", re.ASCII)
_POWER = re.compile(r"(?<!\s)\s*(?:×|x|\*|·|\\times|\\cdot)\s*10\s*(?:\^|\*\*)\s*\{?([+-]?\d{1,6})\}?$", re.ASCII)
_DECIMAL = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)
_LONGEST = 400
"""Characters of a number."""


def read_float(text: str) -> float | None:
    """The number that `text` writes and nothing else; inf for inf, nan and a number too large; None for the rest."""
    plain = _plain(text)
    if _THOUSANDS.fullmatch(plain) or _LAKHS.fullmatch(plain):
        plain = _GROUPED.sub("", plain)
    if _DECIMAL.fullmatch(plain):
        return float(plain)
    return math.inf if plain.lower().lstrip("+-") in ("inf", "infinity", "nan", "∞") else None


def _plain(text: str) -> str:
    """ASCII digits, signs and powers, where there are such in `text`."""
    raised = _SUPERSCRIPT.sub(lambda power: "^" + power[0], without_invisible(text[:_LONGEST]))
    narrow = unicodedata.normalize("NFKC", raised).replace("{,}", ",").replace("\\,", " ")
    digits = "".join(str(unicodedata.decimal(c)) if c.isdecimal() and not c.isascii() else c for c in narrow)
    return _POWER.sub(r"e\1", digits.translate(_SIGNS)).strip()
