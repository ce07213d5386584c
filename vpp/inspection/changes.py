"""What is another thing about each particle than a step before: its weight, its place among the others, its words."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from vpp.events import INITIAL_STEP
from vpp.inspection.slots import came_from
from vpp.runs.view import RunView, StepView


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """Of one particle, since the step before; None and False where nothing is known or nothing changed."""

    weight: float | None = None
    """As it was before: what the step before left it, equal for all after resampling."""
    place: int | None = None
    """As it was before, 1 the heaviest; none among equals."""
    copied: int | None = None
    """The particle that resampling copied it from."""
    is_new: bool = False
    """Whether another text stands there."""


UNCHANGED = Change()


def changes(view: RunView, step: int, weights: Sequence[float]) -> Mapping[int, Change]:
    """By slot, for the particles weighed at `step`; the end of a run is the step after its last.

    weights: (K,) as shown now.
    """
    before = view.steps.get(step - 1)
    if before is None or not before.finished:
        return {}
    earlier = before.weights
    return {
        slot: Change(
            weight=earlier[slot] if slot < len(earlier) else None,
            place=_place_before(before, slot),
            copied=_copied(before, slot),
            is_new=_is_new(before, slot),
        )
        for slot in range(len(weights))
    }


def place(weights: Sequence[float], slot: int) -> int | None:
    """One more than the particles that are heavier; None where another is just as heavy."""
    if sum(math.isclose(weight, weights[slot], abs_tol=1e-9) for weight in weights) > 1:
        return None
    return 1 + sum(weight > weights[slot] for weight in weights)


def _place_before(before: StepView, slot: int) -> int | None:
    """None after the first draw and for newcomers, who had no place."""
    origin = came_from(before, slot) if before.step != INITIAL_STEP else None
    if before.reweighted is None or origin is None:
        return None
    return place(before.reweighted.weights, origin)


def _copied(before: StepView, slot: int) -> int | None:
    """None where it goes on under its own number."""
    if before.resampled is None:
        return None
    origin = came_from(before, slot)
    return None if origin in (slot, None) else origin


def _is_new(before: StepView, slot: int) -> bool:
    """Of the first draw nothing is: all would be."""
    origin = came_from(before, slot)
    if origin is None or origin not in before.scored:
        return slot in before.joined
    return before.population[slot].hypothesis != before.scored[origin].hypothesis
