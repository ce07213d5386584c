"""What stands for a missing cell, and where such a word is a label all the same."""

import re
from collections import Counter

MISSING = frozenset(
    {"", "na", "n/a", "n.a.", "#n/a", "#na", "#n/a n/a", "<na>", "nan", "-nan", "1.#qnan", "-1.#ind", "null", "<null>"}
    | {"(null)", "\\n", "none", "missing", "(blank)", "?", "-", "--", "---", "–", "—", ".", ".."}
    | {"k.a.", "k. a.", "keine angabe", "n.d.", "n. d."}
    | {"#value!", "#div/0!", "#ref!", "#name?", "#num!", "#null!"}
)
"""In lower case."""

_SIGNS = re.compile(r"[+±/-]+")
_PAIR = re.compile(r"[A-Z]{2}")
_WORD = re.compile(r"[^\W\d_].*")
FEWEST_OTHERS = 2
MOST_OTHERS = 50
"""A word for a missing cell is a label only beside so many others."""


def cell(text: str) -> str | None:
    """The text without outer blanks; None where it stands for a missing cell."""
    stripped = text.strip()
    return None if stripped.lower() in MISSING else stripped


def labels_among(counts: Counter[str]) -> frozenset[str]:
    """Words for a missing cell that are labels of this column, given how often each text without blanks stands in it.

    `None` is one among two or more other words that repeat; `NA` among codes of two capitals; `-` among signs.
    """
    doubtful = {text for text in counts if text in _RULES}
    if not doubtful:
        return frozenset()
    others = {text: n for text, n in counts.items() if text.lower() not in MISSING}
    return frozenset(text for text in doubtful if _RULES[text](others))


def _among_words(others: dict[str, int]) -> bool:
    repeated = 2 * len(others) <= sum(others.values())
    return FEWEST_OTHERS <= len(others) <= MOST_OTHERS and repeated and all(map(_WORD.fullmatch, others))


def _among_pairs(others: dict[str, int]) -> bool:
    return len(others) >= FEWEST_OTHERS and all(map(_PAIR.fullmatch, others))


def _among_signs(others: dict[str, int]) -> bool:
    return bool(others) and all(map(_SIGNS.fullmatch, others))


_RULES = {"None": _among_words, "none": _among_words, "NONE": _among_words, "NA": _among_pairs, "-": _among_signs}
