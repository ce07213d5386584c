"""Comparisons of written with derived values: counts of places that hold, and faults with both values."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any, NamedTuple

TOLERANCE = 1e-9
"""Relative tolerance of floats; the absolute tolerance is a thousandth of it."""

CLAIMS = {
    "lines": "each can be read and is in its place; none is missing",
    "data": "data.csv, run.json and run_started are of one run",
    "texts": "ids are the SHA-256 of the right texts, parents the right particles",
    "rows": "batches and scored rows follow from seed and split",
    "answers": "the same as in answers.jsonl",
    "likelihoods": "from answers and targets (Eq. 5 and 6)",
    "tau": "as given, or from the first answers; frozen",
    "tempering": "beta of the schedule, or the exponent result by bisection",
    "weights": "from log-likelihoods (Eq. 10), normalised",
    "ess": "from weights",
    "evidence": "from carried weights",
    "resampling": "only where ESS is low; random number by seed, ancestors by weights",
    "decisions": "random number by seed, log alpha from log-likelihoods (Eq. 9), accepted or not",
    "populations": "text, parent, log-likelihood and log-weight of every slot follow from the step",
    "predictions": "averaged from answers and weights (Eq. 7 and 8); metrics from averages and targets",
    "exports": "posterior.json and predictions.csv agree with the journal",
}
"""What is compared, and how it is derived."""


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


ABSENT = "nothing"
"""Stands for a value that one side lacks; compare it with `is`."""


class Difference(NamedTuple):
    """A written value that differs from the derived one."""

    what: str
    """Name of the value: a field, then the keys and the place in it."""
    written: Any
    follows: Any
    """Derived value."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """A place with at least one difference."""

    claim: str
    at: At
    what: str
    """Name of the first value that differs."""
    written: Any
    follows: Any
    """Derived value."""
    n: int = 1
    """Number of differences within the value that was compared."""


@dataclass(slots=True)
class Ledger:
    """Collects comparisons."""

    faults: list[Fault] = field(default_factory=list)
    unchecked: dict[str, int] = field(default_factory=dict)
    """Count by reason why something was not checked."""
    _places: dict[str, set[At]] = field(default_factory=dict)

    def compare(self, claim: str, at: At, what: str, *, written: object, follows: object) -> None:
        """Compare a written with a derived value; a place holds if all comparisons there do."""
        self.add(claim, at, list(differences(what, written, follows)))

    def add(self, claim: str, at: At, differing: Sequence[Difference]) -> None:
        """Add a comparison that has been made."""
        self._places.setdefault(claim, set()).add(at)
        if differing:
            self.faults.append(Fault(claim=claim, at=at, n=len(differing), **differing[0]._asdict()))

    def skip(self, why: str) -> None:
        """Record that something could not be checked."""
        self.unchecked[why] = self.unchecked.get(why, 0) + 1

    def counts(self) -> dict[str, tuple[int, int]]:
        """(places that hold, places checked) by claim, in the order of CLAIMS."""
        broken = {(fault.claim, fault.at) for fault in self.faults}
        return {
            claim: (sum((claim, at) not in broken for at in self._places[claim]), len(self._places[claim]))
            for claim in CLAIMS
            if claim in self._places
        }


def differences(what: str, written: Any, follows: Any) -> Iterator[Difference]:
    """Yield the values that differ, in order: fields of dataclasses and mappings, items of sequences of equal length.

    Floats differ beyond the tolerance. A list equals a tuple of the same items.
    """
    if is_dataclass(written) and type(written) is type(follows):
        for each in fields(written):
            yield from differences(f"{what} {each.name}", getattr(written, each.name), getattr(follows, each.name))
    elif isinstance(written, Mapping) and isinstance(follows, Mapping):
        for key in dict.fromkeys([*written, *follows]):
            name = f"{what} {key}".lstrip()
            if key in written and key in follows:
                yield from differences(name, written[key], follows[key])
            else:
                yield Difference(name, written.get(key, ABSENT), follows.get(key, ABSENT))
    elif _is_list(written) and _is_list(follows) and len(written) == len(follows):
        if tuple(written) != tuple(follows):
            for place, (one, other) in enumerate(zip(written, follows, strict=True)):
                yield from differences(f"{what}[{place}]", one, other)
    elif not _is_same(written, follows):
        yield Difference(what, written, follows)


def _is_list(value: Any) -> bool:
    return isinstance(value, list | tuple)


def _is_same(written: Any, follows: Any) -> bool:
    """True for equal values, floats to the tolerance."""
    if isinstance(written, bool) or isinstance(follows, bool):
        return written is follows
    if isinstance(written, int | float) and isinstance(follows, int | float):
        both_undefined = math.isnan(written) and math.isnan(follows)
        return both_undefined or math.isclose(written, follows, rel_tol=TOLERANCE, abs_tol=TOLERANCE / 1000)
    return bool(written == follows)
