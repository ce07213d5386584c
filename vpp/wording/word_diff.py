"""Changes from one hypothesis to the next, word by word."""

import re
from collections import Counter
from collections.abc import Sequence
from difflib import SequenceMatcher
from functools import lru_cache
from typing import Literal

from vpp.wording.markup import text

REWRITTEN_BELOW = 0.5
MOST_PAIRS = 100_000
"""Most pairs of equal words, one from each side, for an exact diff; above it frequent words are ignored."""


Change = tuple[Literal["kept", "added", "removed"], str]
"""What became of some words, and the words."""


@lru_cache(maxsize=256)
def changes(before: str, after: str) -> tuple[Change, ...]:
    """Return the changes from `before` to `after`; removed words come before those added in their place.

    Cached, since a card asks several times: whether to mark words, which, and how many were kept.
    """
    old, new = _words(before), _words(after)
    runs: list[Change] = []
    for tag, i, j, k, m in SequenceMatcher(a=old, b=new, autojunk=_pairs(old, new) > MOST_PAIRS).get_opcodes():
        if tag == "equal":
            runs.append(("kept", " ".join(new[k:m])))
            continue
        if i < j:
            runs.append(("removed", " ".join(old[i:j])))
        if k < m:
            runs.append(("added", " ".join(new[k:m])))
    return tuple(runs)


def kept_share(before: str, after: str) -> float:
    """Fraction of `before`'s words that `after` keeps in order; 1 where `before` has none."""
    old = _words(before)
    kept = sum(len(words.split()) for kind, words in changes(before, after) if kind == "kept")
    return kept / len(old) if old else 1.0


def is_rewritten(before: str, after: str) -> bool:
    """True if so little is kept that a diff would only confuse."""
    return kept_share(before, after) < REWRITTEN_BELOW


def diff_html(before: str, after: str) -> str:
    """Return `after` with added words underlined and removed ones struck."""
    tags = {"kept": ("", ""), "added": ("<ins>", "</ins>"), "removed": ("<del>", "</del>")}
    return " ".join(f"{tags[kind][0]}{text(words)}{tags[kind][1]}" for kind, words in changes(before, after))


def _pairs(old: Sequence[str], new: Sequence[str]) -> int:
    """Number of pairs of equal words, one from each side: the cost of comparing them."""
    counts = Counter(new)
    return sum(counts[word] for word in old)


def _words(sentence: str) -> list[str]:
    return re.findall(r"\S+", sentence)
