"""Clauses of a hypothesis: the parts that can be left out one at a time, by punctuation and conjunctions alone."""

import re
from dataclasses import dataclass

MOST = 12
"""Most clauses of a sentence that are tried; later ones are ignored."""
_PART = re.compile(
    r"(?<!\be\.g\.)(?<!\bi\.e\.)(?<=[.;])\s{1,4}|,\s{1,4}(?=(?:otherwise|else|unless|except|but)\b)|\n+", re.IGNORECASE
)
_CONDITION = re.compile(
    r"\b(?:if|when|where|unless)\s{1,4}(?P<all>.{1,400}?)(?=,|;|\bthen\b|\.\s|\.$|$)", re.IGNORECASE
)
_BETWEEN = re.compile(r"\bbetween\s{1,4}[^,;]{1,40}?\s{1,4}and\b", re.IGNORECASE)
_ASKS = re.compile(
    r"[<>=≤≥]|\b(?:is|are|was|were|be|has|have|had|contains?|holds?|equals?|exceeds?|mentions?|above|below|over|under|least"
    r"|most|more|less|fewer|greater|higher|lower|between|begins?|ends?|starts?)\b",
    re.IGNORECASE,
)
"""A word without which a part between “and” or “or” is a value, not a condition."""
_JOINT = re.compile(
    r",?\s{1,4}(?:and|or)\s{1,4}(?!(?:more|less|fewer|higher|lower|above|below|over|under|greater|earlier|later|equal)\b)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Clause:
    """A part of a sentence, and the sentence without it."""

    start: int
    end: int
    """Its place in the sentence."""
    text: str
    without: str


def clauses(sentence: str) -> tuple[Clause, ...]:
    """Return the clauses in order; empty if only the whole could be left out.

    Parts end at a full stop, a semicolon or before “otherwise”. Where “and” or “or” joins conditions, each condition is
    a clause in place of its part. A list of values is not cut.
    """
    parts = _spans(sentence, _PART)
    found = [clause for start, end in parts for clause in _within(sentence, start, end, is_alone=len(parts) == 1)]
    return tuple(found[:MOST]) if len(found) > 1 else ()


def _spans(text: str, separator: re.Pattern[str]) -> list[tuple[int, int]]:
    """Return the places of the parts between separators, empty ones left out."""
    cuts = [(match.start(), match.end()) for match in separator.finditer(text)]
    starts, ends = [0, *(end for _, end in cuts)], [*(start for start, _ in cuts), len(text)]
    return [(start, end) for start, end in zip(starts, ends, strict=True) if text[start:end].strip(" .;,")]


def _within(sentence: str, start: int, end: int, *, is_alone: bool) -> list[Clause]:
    """Return the joined conditions of a part, or the part itself."""
    condition = _CONDITION.search(sentence, start, end)
    if condition:
        # “between 2 and 8” is one condition: its “and” is hidden, length kept.
        hidden = _BETWEEN.sub(lambda match: match[0][:-3] + "~~~", condition["all"])
        operands = _spans(hidden, _JOINT)
        if len(operands) > 1 and all(_ASKS.search(hidden[first:last]) for first, last in operands):
            base = condition.start("all")
            return [_operand(sentence, base, operands, place) for place in range(len(operands))]
    return [] if is_alone else [_clause(sentence, start, end, start, end)]


def _operand(sentence: str, base: int, operands: list[tuple[int, int]], place: int) -> Clause:
    """Return a condition; without it, the conjunction before it goes too, or that behind the first."""
    start, end = (base + each for each in operands[place])
    first, last = (start, base + operands[1][0]) if place == 0 else (base + operands[place - 1][1], end)
    return _clause(sentence, start, end, first, last)


def _clause(sentence: str, start: int, end: int, first: int, last: int) -> Clause:
    rest = re.sub(r"\s+", " ", sentence[:first] + (" " if first == start else "") + sentence[last:]).strip()
    rest = re.sub(r"\s([,;.])", r"\1", rest).rstrip(",; ")
    if rest and rest[-1] not in ".!?":
        rest += "."
    return Clause(start=start, end=end, text=sentence[start:end], without=rest)
