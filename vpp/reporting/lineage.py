"""Slots from step to step: resampling copies them, a shrinking K numbers them anew, newcomers join at a step's end."""

from vpp.reporting.words import listed
from vpp.runs.view import RunView, StepView
from vpp.settings import Config


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


def sizes_told(view: RunView, *, until: int | None = None) -> list[str]:
    """What K did and why, in order, up to the end of step `until`: `grew at step 5: a low ESS`."""
    changes: dict[tuple[str, str], list[int]] = {}
    for at in view.finished_steps:
        if (at.joined or at.shrunk) and (until is None or at.step <= until):
            change = ("grew", why_grew(at)) if at.joined else ("fell", "all agreed")
            changes.setdefault(change, []).append(at.step)
    return [
        f"{verb} at step{'s' if len(steps) > 1 else ''} {listed(steps)}: {why}"
        for (verb, why), steps in changes.items()
    ]


def sizes_text(view: RunView, config: Config) -> str:
    """`10`, or where K has changed `4 at first, 8 now`."""
    sizes = view.size_by_step or [config.size]
    return str(sizes[0]) if sizes[0] == sizes[-1] else f"{sizes[0]} at first, {sizes[-1]} now"
