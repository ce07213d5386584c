"""Columns of the disagreement matrix: one a particle, or one for all particles with the same answers."""

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from vpp.events import Evaluated
from vpp.inspection.behaviour import behaviour
from vpp.inspection.camps import heaviest_first


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """Particles that stand as one."""

    slots: tuple[int, ...]
    """Heaviest first; the first one's answers are shown."""
    weight: float
    """Summed."""


def by_particle(weights: Sequence[float]) -> tuple[Column, ...]:
    """One a particle, heaviest first. weights: (K,)."""
    return tuple(Column(slots=(slot,), weight=weights[slot]) for slot in heaviest_first(weights))


def by_answers(evaluated: Evaluated) -> tuple[Column, ...]:
    """One for all particles with the same answers on every evaluated row, heaviest first."""
    alike: dict[Hashable, list[int]] = {}
    for slot in heaviest_first(evaluated.weights):
        alike.setdefault(behaviour(evaluated.predictions[slot]), []).append(slot)
    merged = [
        Column(slots=tuple(slots), weight=math.fsum(evaluated.weights[slot] for slot in slots))
        for slots in alike.values()
    ]
    return tuple(sorted(merged, key=lambda column: (-column.weight, column.slots)))
