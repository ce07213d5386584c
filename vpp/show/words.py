"""Numbers, counts, lists and short sentences in plain language.

Numbers have a true minus sign; a no-break space precedes a percent sign. Every sentence ends with a full stop.
"""

import math
from collections.abc import Mapping, Sequence

from vpp.posterior.metric import wilson
from vpp.posterior.prediction import Value

NBSP = "\N{NO-BREAK SPACE}"
MINUS = "\N{MINUS SIGN}"
NUMBER_WORDS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
MAJORITY = 0.5
NOTICEABLE = 0.01
"""Least weight of a constant answer that is worth a clause."""
EQUAL = 1e-9
"""Weights closer than this are called equal."""
USUAL_DIGITS = 4
THOUSAND, TEN_THOUSAND, MILLION, MILLIARD, BILLIARD = 1e3, 1e4, 1e6, 1e9, 1e15
SMALLEST = 1e-6


# Numbers


def in_words(n: int) -> str:
    """`six` up to ten, digits with thousands commas beyond."""
    return NUMBER_WORDS[n] if 0 <= n < len(NUMBER_WORDS) else integer(n)


def integer(n: int) -> str:
    """`1,964`, with a true minus sign."""
    return f"{n:,}".replace("-", MINUS)


def counted(n: int, one: str, many: str = "") -> str:
    """`1 row`, `60 rows`; `many` if the plural is not `one` + s."""
    return f"{integer(n)} {one if n == 1 else many or one + 's'}"


def number(value: float, digits: int = USUAL_DIGITS) -> str:
    """Return a number with `digits` significant digits: `1.234`, `12,346`, `3e−9`.

    Below 10^9 all integer digits are kept. With four digits or more, 1,000 to 10^6 keeps a decimal that is not zero,
    so that 2007.5 does not read as a year. Infinity is a sign, NaN is `undefined`.
    """
    if math.isnan(value):
        return "undefined"
    if math.isinf(value):
        return "∞" if value > 0 else f"{MINUS}∞"
    if digits >= USUAL_DIGITS and THOUSAND <= abs(value) < MILLION and not float(value).is_integer():
        shown = f"{value:,.1f}" if abs(value) >= TEN_THOUSAND else f"{value:.1f}"
        return shown.removesuffix(".0").replace("-", MINUS)
    mantissa, _, exponent = f"{value:.{digits}g}".partition("e")
    if exponent and 1 <= abs(value) < MILLIARD:
        return integer(round(value))
    return (f"{mantissa}e{int(exponent)}" if exponent else mantissa).replace("-", MINUS)


def to_spread(value: float, spread: float) -> str:
    """Return a number to a hundredth of its kind's spread, or finer: `2.67` for a spread of 1.5, `251,333` for 60,000.

    Zeros at the end are dropped. Without a spread, or with a tiny or huge one, it is written by `number`.
    """
    if not SMALLEST < spread < MILLIARD or not abs(value) < BILLIARD:
        return number(value)
    decimals = max(0, 2 - math.floor(math.log10(spread)))
    shown = f"{value:{',' if abs(value) >= TEN_THOUSAND else ''}.{decimals}f}"
    shown = shown.rstrip("0").rstrip(".") if decimals else shown
    return shown.replace("-", "" if shown == "-0" else MINUS)


def fixed(value: float, decimals: int = 2) -> str:
    if not math.isfinite(value):
        return number(value)
    shown = f"{value:.{decimals}f}"
    return shown.removeprefix("-") if float(shown) == 0 else shown.replace("-", MINUS)


def p_text(p: float) -> str:
    """`= 0.45`, `= 0.012`, `< 0.001`."""
    return "< 0.001" if p < 0.001 else f"= {fixed(p, 3 if p < 0.1 else 2)}"


def value_text(value: Value | None) -> str:
    """Return an answer or a target: a label's text, all digits of a number, `no answer` for an abstention."""
    if value is None or isinstance(value, str):
        return value or "no answer"
    mantissa, _, exponent = (f"{value:,}" if abs(value) >= TEN_THOUSAND else shortest(value)).partition("e")
    return (f"{mantissa}e{int(exponent)}" if exponent else mantissa.removesuffix(".0")).replace("-", MINUS)


def value_of(value: Value | None) -> str:
    """Return an answer, numbers as `number` does."""
    return number(value) if isinstance(value, float) else value_text(value)


def constant_text(value: Value | None) -> str:
    """Return the answer of a constant: a label in quotes, or the mean of targets."""
    return number(value) if isinstance(value, float) else f"“{value}”"


def shortest(value: float) -> str:
    """The shortest text that reads back as the same number: 3 for 3.0."""
    return str(int(value)) if float(value).is_integer() and abs(value) < 1e16 else repr(float(value))


def percent(fraction: float, decimals: int = 0) -> str:
    """`22 %`. Only exact values read as 0 or 100 %: others are `< 0.1 %` or `> 99.9 %`."""
    shown = f"{100 * fraction:.{decimals}f}"
    if float(shown) in (0, 100) and fraction not in (0, 1):
        end = "< 0.1" if fraction < MAJORITY else "> 99.9"
        return f"{end}{NBSP}%" if decimals else percent(fraction, decimals=1)
    return f"{shown}{NBSP}%"


def seconds(value: float) -> str:
    """`4 s`, `3 min 10 s`, `2 h 05 min`."""
    whole = round(value)
    if whole < 60:
        return f"{whole}{NBSP}s"
    minutes, rest = divmod(whole, 60)
    if minutes < 60:
        return f"{minutes}{NBSP}min {rest:02d}{NBSP}s"
    hours, minutes = divmod(minutes, 60)
    return f"{hours}{NBSP}h {minutes:02d}{NBSP}min"


def listed(items: Sequence[object], *, most: int | None = None) -> str:
    """`0, 2 and 4`; `0, 2 and 9 more` if there are more than `most`."""
    texts = [str(item) for item in items]
    if most is not None and len(texts) > most:
        texts = [*texts[:most], f"{integer(len(texts) - most)} more"]
    return texts[0] if len(texts) == 1 else f"{', '.join(texts[:-1])} and {texts[-1]}" if texts else ""


def from_to(ascending: Sequence[str]) -> str:
    """`2 to 7`, or `2` if both ends read alike."""
    low, high = ascending[0], ascending[-1]
    return low if low == high else f"{low} to {high}"


def nth_step(step: int) -> str:
    """Return `step 4` for the journal's step 3, which counts from 0; `first draw` for -1."""
    return f"step {step + 1}" if step >= 0 else "first draw"


def cut(words: str, most: int) -> str:
    """Return the words, or their beginning and an ellipsis if they have more than `most` characters."""
    return words if len(words) <= most else f"{words[: most - 1].rstrip()}…"


def capitalised(sentence: str) -> str:
    first = sentence[:1]
    return (first.upper() if first.isascii() else first) + sentence[1:]


# Sentences


def interval_text(successes: int, n: int, *, best_of: int = 1) -> str:
    """`94 % to 100 %`: Wilson's 95 % interval."""
    low, high = wilson(successes, n, best_of=best_of)
    return f"{percent(low)} to {percent(high)}"


ROW_OF: Mapping[str, str] = {"test": "test row", "train": "training row"}
