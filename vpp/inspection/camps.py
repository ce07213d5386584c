"""Camps: the particles that give the same answer to a point, or stand on the same side of its mean."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from vpp.inspection.points import Point

ABOVE, BELOW, AT = "above the mean", "below the mean", "at the mean"
SAME = 1e-9
"""Numbers this close, relative to the larger, are the same."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Camp:
    """One side of a disagreement."""

    name: str
    """The label it gives; for regression which side of the weighted mean it is on."""
    slots: tuple[int, ...]
    """Heaviest first; particles of weight zero have no voice and are in no camp."""
    weight: float
    """Summed, of all the weight."""
    is_even: bool
    """Whether all in it weigh the same."""

    @property
    def speaker(self) -> int:
        """The heaviest particle."""
        return self.slots[0]


def camps(point: Point, weights: Sequence[float]) -> tuple[Camp, ...]:
    """The vote's outcome first, then by weight; for regression by weight alone. weights: (K,)."""
    sides: dict[str, list[int]] = {}
    for slot in heaviest_first(weights):
        name = _side(point, slot)
        if name is not None and weights[slot] > 0:
            sides.setdefault(name, []).append(slot)
    found = [_camp(name, slots, weights) for name, slots in sides.items()]
    return tuple(sorted(found, key=lambda camp: (camp.name != point.prediction, -camp.weight)))


def heaviest_first(weights: Sequence[float]) -> list[int]:
    """Slots by weight, equal ones by number."""
    return sorted(range(len(weights)), key=lambda slot: (-weights[slot], slot))


def _camp(name: str, slots: Sequence[int], weights: Sequence[float]) -> Camp:
    held = [weights[slot] for slot in slots]
    even = math.isclose(held[0], held[-1], rel_tol=SAME)
    return Camp(name=name, slots=tuple(slots), weight=math.fsum(held), is_even=even)


def _side(point: Point, slot: int) -> str | None:
    """What camp a particle is in by its answer; None for an abstention."""
    said, mean = point.votes[slot], point.prediction
    if said is None or mean is None:
        return None
    if isinstance(said, str) or isinstance(mean, str):
        return str(said)
    if math.isclose(said, mean, rel_tol=SAME):
        return AT
    return ABOVE if said > mean else BELOW
