"""Origins: which step brought in each sentence of a hypothesis."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from vpp.inspection.genealogy import Ancestor

ABBREVIATIONS = frozenset(("e.g", "i.e", "vs", "cf", "approx", "fig", "eq", "dr", "mr", "mrs"))
"""What a full stop after does not end a sentence, in lower case without it."""
END = re.compile(r"""(?<![.!?])[.!?]+["'”’)\]]*\s+""")
"""Signs that may end a sentence, what closes with it, and the space after: 3.5 holds none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """A sentence and since when it has stood."""

    sentence: str
    step: int
    """The step that brought it in, to stand ever since; -1 is the first hypothesis."""


def origins(ancestry: Sequence[Ancestor], *, seed_text: str = "") -> tuple[Origin, ...]:
    """Each sentence of the last text, without the seed sentence, with the earliest step since which it has stood

    without a break; what was dropped and written again counts from then. ancestry: oldest first, at least one.
    """
    told = _by_step(ancestry, seed_text)
    newest = sentences(_said(ancestry[-1].text, seed_text))
    return tuple(Origin(sentence=each, step=_since(_key(each), told)) for each in newest)


def sentences(text: str) -> tuple[str, ...]:
    """A text's sentences in order. A line's end ends one too; abbreviations, decimals and the numbers of a list do not,

    nor a stop before a small letter.
    """
    return tuple(sentence for line in text.splitlines() for sentence in _of_line(line.strip()) if sentence)


def _of_line(line: str) -> list[str]:
    found, begin = [], 0
    for end in END.finditer(line):
        if _ends(line[begin : end.start()], line[end.end() :]):
            found.append(line[begin : end.end()].strip())
            begin = end.end()
    return [*found, line[begin:].strip()]


def _ends(before: str, after: str) -> bool:
    """Whether signs that may end a sentence do, between what stands before and after them."""
    word = re.split(r"[\s(\[“\"']", before)[-1].lower()
    numbers = before.strip().isdigit() or (word in ("no", "nos") and after[:1].isdigit())
    return not (after[:1].islower() or word in ABBREVIATIONS or numbers)


def _by_step(ancestry: Sequence[Ancestor], seed_text: str) -> list[tuple[int, frozenset[str]]]:
    """(Step, its text's sentences) wherever the text changed, newest first."""
    changed = [each for each in reversed(ancestry) if each.changed]
    return [(each.step, frozenset(map(_key, sentences(_said(each.text, seed_text))))) for each in changed]


def _said(text: str, seed_text: str) -> str:
    """Without the seed sentence, unless there is nothing else."""
    return text.removeprefix(seed_text).strip() or text


def _since(sentence: str, told: Sequence[tuple[int, frozenset[str]]]) -> int:
    since = told[0][0]
    for step, said in told:
        if sentence not in said:
            break
        since = step
    return since


def _key(sentence: str) -> str:
    """Equal for sentences that differ in spacing alone."""
    return " ".join(sentence.split())
