"""Comparisons of written with derived values: counts of places that hold, and faults with both values."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, get_args

TOLERANCE = 1e-9
"""Relative tolerance of floats; the absolute tolerance is a thousandth of it."""

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
    "decisions",
    "populations",
    "predictions",
    "exports",
]
CLAIMS: tuple[Claim, ...] = get_args(Claim)


@dataclass(frozen=True, slots=True, kw_only=True)
class At:
    """Place of a written value."""

    line: int
    """Line of events.jsonl, from 1; 0 for run.json, data.csv and exports."""
    step: int | None = None
    slot: int | None = None
    file: str = ""
    """Name of an export; empty for other places."""


FILES = At(line=0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """A written value that differs from the derived one."""

    claim: Claim
    at: At
    what: str
    """Name of the value."""
    written: object
    follows: object
    """Derived value."""


@dataclass(slots=True)
class Ledger:
    """Collects comparisons."""

    faults: list[Fault] = field(default_factory=list)
    unchecked: dict[str, int] = field(default_factory=dict)
    """Count by reason why something was not checked."""
    _places: dict[Claim, set[At]] = field(default_factory=dict)
    _broken: dict[Claim, set[At]] = field(default_factory=dict)

    def compare(self, claim: Claim, at: At, what: str, *, written: object, follows: object) -> None:
        """Compare a written with a derived value; a place holds if all comparisons there do."""
        self._places.setdefault(claim, set()).add(at)
        if not is_same(written, follows):
            self._broken.setdefault(claim, set()).add(at)
            self.faults.append(Fault(claim=claim, at=at, what=what, written=written, follows=follows))

    def skip(self, why: str) -> None:
        """Record that something could not be checked."""
        self.unchecked[why] = self.unchecked.get(why, 0) + 1

    def counts(self) -> dict[Claim, tuple[int, int]]:
        """(places that hold, places checked) by claim, in the order of CLAIMS."""
        return {
            claim: (len(self._places[claim]) - len(self._broken.get(claim, ())), len(self._places[claim]))
            for claim in CLAIMS
            if claim in self._places
        }


def is_same(written: object, follows: object) -> bool:
    """True for equal values, floats to the tolerance; a list equals a tuple of the same items."""
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
