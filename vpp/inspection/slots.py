"""Slots from step to step: resampling copies them, a shrinking K numbers them anew, newcomers join at a step's end."""

from vpp.events import INITIAL_STEP
from vpp.runs.view import RunView, StepView


def heirs(at: StepView, slot: int) -> tuple[int, ...]:
    """The slots that hold what `slot` held as the step began, before they are rewritten; none where it left no copy."""
    if at.resampled is None:
        return (slot,)
    return tuple(k for k, ancestor in enumerate(at.resampled.ancestors) if ancestor == slot)


def kept_as(at: StepView, slot: int) -> tuple[int, ...]:
    """The slots that a rewritten slot has at the step's end: its own, unless K shrank."""
    if at.shrunk is None:
        return (slot,)
    return tuple(k for k, ancestor in enumerate(at.shrunk.ancestors) if ancestor == slot)


def rewritten_as(at: StepView, slot: int) -> int | None:
    """The slot in which the step rewrote what stands in `slot` at its end; None for a newcomer."""
    if slot in at.joined:
        return None
    return at.shrunk.ancestors[slot] if at.shrunk else slot


def came_from(at: StepView, slot: int, *, size_before: int | None = None) -> int | None:
    """The slot at the step before of what stands in `slot` at the step's end; None where nobody came before it.

    size_before: K at the step before, 0 where that step is lost; asked for where this one is torn.
    """
    if at.is_torn:
        parent = at.population[slot].parent
        return parent if at.step != INITIAL_STEP and 0 <= parent < (size_before or 0) else None
    before = rewritten_as(at, slot)
    if before is None or at.step == INITIAL_STEP:
        return None
    return at.resampled.ancestors[before] if at.resampled else before


def grew_at(view: RunView) -> list[int]:
    """Steps at whose end newcomers joined."""
    return [at.step for at in view.finished_steps if at.joined]


def shrank_at(view: RunView) -> list[int]:
    """Steps at whose end all agreed and K fell."""
    return [at.step for at in view.finished_steps if at.shrunk]


def why_grew(at: StepView) -> str:
    """The sign of a population too small: few sentences where at most half differ, else its weights' low ESS."""
    before = [state.hypothesis for k, state in enumerate(at.population) if k not in at.joined]
    return "few different sentences" if 2 * len(set(before)) <= len(before) else "a low ESS"
