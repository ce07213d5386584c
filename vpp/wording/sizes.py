"""What became of K, in words."""

from vpp.inspection.slots import why_grew
from vpp.runs.view import RunView
from vpp.settings import Config
from vpp.wording.words import listed


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
