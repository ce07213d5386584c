"""What was compared: every place that holds, and every one that does not, with what is written and what follows."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, get_args

TOLERANCE = 1e-9
"""Floats closer than this, relative to the larger, are equal; below 1 in magnitude, closer than 1e-12."""

Claim = Literal[
    "lines",
    "data",
    "texts",
    "rows",
    "answers",
    "likelihoods",
    "tau",
    "tempering",
    "weights",
    "ess",
    "evidence",
    "resampling",
    "proposals",
    "decisions",
    "size",
    "populations",
    "predictions",
    "metrics",
    "counts",
    "exports",
]
CLAIMS: tuple[Claim, ...] = get_args(Claim)


@dataclass(frozen=True, slots=True, kw_only=True)
class At:
    """Where something is written."""

    line: int
    """Of events.jsonl, from 1; 0 for run.json and data.csv."""
    step: int | None = None
    slot: int | None = None
    file: str = ""
    """An export, instead of a line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """Something that does not follow."""

    claim: Claim
    at: At
    what: str
    """Which value."""
    written: object
    follows: object


@dataclass(slots=True)
class Ledger:
    """Kept while a journal is gone through."""

    faults: list[Fault] = field(default_factory=list)
    unchecked: dict[str, int] = field(default_factory=dict)
    """How many times each reason kept something from being checked."""
    _places: dict[Claim, set[At]] = field(default_factory=dict)
    _broken: dict[Claim, set[At]] = field(default_factory=dict)

    def compare(
        self, claim: Claim, at: At, what: str, *, written: object, follows: object, is_told: bool = True
    ) -> bool:
        """Whether what is written is what follows; a place holds where all that is compared there does.

        is_told: whether a place that holds counts, which it does not where a method has nothing of the kind to tell.
        """
        place = At(line=at.line) if claim == "lines" else at
        holds = is_same(written, follows)
        if is_told or not holds:
            self._places.setdefault(claim, set()).add(place)
        if holds:
            return True
        self._broken.setdefault(claim, set()).add(place)
        self.faults.append(Fault(claim=claim, at=at, what=what, written=written, follows=follows))
        return False

    def skip(self, why: str) -> None:
        """Something could not be checked."""
        self.unchecked[why] = self.unchecked.get(why, 0) + 1

    def counts(self) -> dict[Claim, tuple[int, int]]:
        """(Places that hold, places looked at) of each claim that was looked at, in the order of CLAIMS."""
        return {
            claim: (len(self._places[claim]) - len(self._broken.get(claim, ())), len(self._places[claim]))
            for claim in CLAIMS
            if claim in self._places
        }


def is_same(written: object, follows: object) -> bool:
    """Equal, and to the tolerance where floats are; a list and a tuple of the same are the same."""
    if isinstance(written, bool) or isinstance(follows, bool) or isinstance(written, str) or isinstance(follows, str):
        return type(written) is type(follows) and written == follows
    if isinstance(written, int | float) and isinstance(follows, int | float):
        both_undefined = math.isnan(written) and math.isnan(follows)
        return both_undefined or math.isclose(written, follows, rel_tol=TOLERANCE, abs_tol=TOLERANCE / 1000)
    if isinstance(written, Mapping) and isinstance(follows, Mapping):
        return written.keys() == follows.keys() and all(is_same(written[key], follows[key]) for key in written)
    if isinstance(written, Sequence) and isinstance(follows, Sequence):
        return len(written) == len(follows) and all(map(is_same, written, follows))
    return written == follows
