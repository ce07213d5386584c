"""Origins: which step brought in each sentence of a hypothesis."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from vpp.inspection.genealogy import Node

ABBREVIATIONS = frozenset(("e.g", "i.e", "vs", "cf", "approx", "fig", "eq", "dr", "mr", "mrs"))
"""Abbreviations whose full stop does not end a sentence; lower case, without the stop."""
END = re.compile(r"""(?<![.!?])[.!?]+["'”’)\]]*\s+""")
"""Possible end of a sentence: marks, closing quotes and brackets, and the space after; 3.5 has none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """A sentence and the step that introduced it."""

    sentence: str
    step: int
    """Step since which every text has had it; -1 is the first hypothesis."""


def origins(ancestry: Sequence[Node], *, seed_text: str = "") -> tuple[Origin, ...]:
    """Return each sentence of the last text, without the seed sentence, and the step since which it is present.

    A sentence that was dropped and written again counts from its return. ancestry: oldest first, at least one.
    """
    by_step = _by_step(ancestry, seed_text)
    newest = sentences(_own_text(ancestry[-1].text, seed_text))
    return tuple(Origin(sentence=each, step=_since(_key(each), by_step)) for each in newest)


def sentences(text: str) -> tuple[str, ...]:
    """Split a text into sentences; a line break ends one too.

    Abbreviations, decimals, list numbers and stops before a lower-case letter do not end a sentence.
    """
    return tuple(sentence for line in text.splitlines() for sentence in _of_line(line.strip()) if sentence)


def _of_line(line: str) -> list[str]:
    parts, begin = [], 0
    for end in END.finditer(line):
        if _ends(line[begin : end.start()], line[end.end() :]):
            parts.append(line[begin : end.end()].strip())
            begin = end.end()
    return [*parts, line[begin:].strip()]


def _ends(before: str, after: str) -> bool:
    """True if the marks between `before` and `after` end a sentence."""
    word = re.split(r"[\s(\[“\"']", before)[-1].lower()
    numbers = before.strip().isdigit() or (word in ("no", "nos") and after[:1].isdigit())
    return not (after[:1].islower() or word in ABBREVIATIONS or numbers)


def _by_step(ancestry: Sequence[Node], seed_text: str) -> list[tuple[int, frozenset[str]]]:
    changed = [each for each in reversed(ancestry) if each.changed]
    return [(each.step, frozenset(map(_key, sentences(_own_text(each.text, seed_text))))) for each in changed]


def _own_text(text: str, seed_text: str) -> str:
    """The text without the seed sentence, unless nothing else is left."""
    return text.removeprefix(seed_text).strip() or text


def _since(sentence: str, by_step: Sequence[tuple[int, frozenset[str]]]) -> int:
    since = by_step[0][0]
    for step, present in by_step:
        if sentence not in present:
            break
        since = step
    return since


def _key(sentence: str) -> str:
    """Key that is equal for sentences that differ only in spacing."""
    return " ".join(sentence.split())
