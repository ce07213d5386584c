"""Camps: particles that give the same answer to a row, or are on the same side of its mean; columns of the matrix."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from vpp.events import Evaluated
from vpp.inspection.points import Point
from vpp.inspection.slots import behaviour, grouped

ABOVE, BELOW, AT = "above the mean", "below the mean", "at the mean"
SAME = 1e-9
"""Relative tolerance within which numbers are equal."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Camp:
    """One side of a disagreement, or a column of the disagreement matrix."""

    name: str
    """Its label; for regression the side of the weighted mean; empty for a column."""
    slots: tuple[int, ...]
    """Heaviest first; in a side only slots with positive weight."""
    weight: float
    """Total weight."""
    is_even: bool
    """True if all members have equal weight."""

    @property
    def speaker(self) -> int:
        return self.slots[0]


def camps(point: Point, weights: Sequence[float]) -> tuple[Camp, ...]:
    """Group the particles by their answer, the heaviest camp first, as in the vote. weights: (K,)."""
    sides = grouped((_side(point, slot), slot) for slot in heaviest_first(weights) if weights[slot] > 0)
    groups = [_camp(name, slots, weights) for name, slots in sides.items() if name is not None]
    place = {label: i for i, (label, _) in enumerate(point.shares)}
    return tuple(sorted(groups, key=lambda camp: (place.get(camp.name, 0), -camp.weight)))


def heaviest_first(weights: Sequence[float]) -> list[int]:
    """Slots by descending weight; ties by number."""
    return sorted(range(len(weights)), key=lambda slot: (-weights[slot], slot))


def _camp(name: str, slots: Sequence[int], weights: Sequence[float]) -> Camp:
    own = [weights[slot] for slot in slots]
    even = math.isclose(own[0], own[-1], rel_tol=SAME)
    return Camp(name=name, slots=tuple(slots), weight=math.fsum(own), is_even=even)


def _side(point: Point, slot: int) -> str | None:
    vote, mean = point.votes[slot], point.prediction
    if vote is None or mean is None:
        return None
    if isinstance(vote, str) or isinstance(mean, str):
        return str(vote)
    if math.isclose(vote, mean, rel_tol=SAME):
        return AT
    return ABOVE if vote > mean else BELOW


def by_particle(weights: Sequence[float]) -> tuple[Camp, ...]:
    """Return one column a particle, heaviest first. weights: (K,)."""
    return tuple(_camp("", [slot], weights) for slot in heaviest_first(weights))


def by_answers(evaluated: Evaluated) -> tuple[Camp, ...]:
    by_weight = heaviest_first(evaluated.weights)
    alike = grouped((behaviour(evaluated.predictions[slot]), slot) for slot in by_weight)
    merged = [_camp("", slots, evaluated.weights) for slots in alike.values()]
    return tuple(sorted(merged, key=lambda column: (-column.weight, column.slots)))
