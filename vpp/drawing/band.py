"""The step band: progress and resampling in one row of marks, and the ESS where the page is narrow."""

from collections.abc import Mapping
from math import ceil

from vpp.inspection.slots import grew_at, shrank_at
from vpp.posterior.weights import ess
from vpp.runs.view import RunView, StepView, resampled_at
from vpp.settings import Config
from vpp.wording.markup import badge, text

WIDTHS = {"wide": 960, "mid": 576, "tick": 216}
"""Pixels for the numbers of a band, by the class of those shown there. A phone has 288: it keeps its numbers apart."""
STRIDES = (1, 5, 10, 25, 50, 100, 250, 500)


def band_html(view: RunView, *, shown: int | None, has_end: bool = False) -> str:
    """Draw a mark per step, `shown` inked; with weights its height on narrow pages is ESS over K.

    has_end: whether a last mark stands for the end of the run; it is inked if `shown` is None.
    """
    marks = [_mark(view.steps.get(step), is_shown=step == shown) for step in range(view.total_steps)]
    seen = {name: steps_numbered(view.total_steps, width, has_end=has_end) for name, width in WIDTHS.items()}
    numbers = [_number(step, view.total_steps, seen, is_shown=step == shown) for step in range(view.total_steps)]
    if has_end:
        share = ess(view.weights) / len(view.weights) if view.weights and view.ess_by_step else None
        marks.append(_drawn(share, " now" if shown is None else ""))
        numbers.append(f'<div class="n {" ".join(WIDTHS)}{" now" if shown is None else ""}">end</div>')
    kind = f"band{' ess' if view.ess_by_step else ''}{' ended' if has_end else ''}"
    body = "".join((*marks, *numbers))
    return f'<div class="{kind}" style="--n:{len(marks)}" role="img" aria-label="{text(_label(view))}">{body}</div>'


def key_html(config: Config) -> str:
    if not config.is_weighted:
        return ""
    of = "as a share of K" if config.particles_max else f"of {config.size}"
    return f'<span class="height">ESS by step, {of}</span>{badge("copy", "resampled")}'


def _mark(at: StepView | None, *, is_shown: bool) -> str:
    if at is None or not (at.reweighted or at.finished):
        return '<div class="b"></div>'
    share = at.reweighted.ess / len(at.reweighted.weights) if at.reweighted else None
    return _drawn(share, (" rs" if at.resampled else "") + (" now" if is_shown else ""))


def _drawn(share: float | None, kinds: str) -> str:
    height = "" if share is None else f' style="--e:{share:.3f}"'
    return f'<div class="b done{kinds}"><u{height}></u></div>'


def steps_numbered(total: int, width: int, *, has_end: bool) -> frozenset[int]:
    """Return the steps whose numbers fit into `width` pixels: all, or every fifth, tenth ..., and the last.

    If only some fit, the word for the end takes the place of the last number.
    """
    digits, last = len(str(total - 1)), total - 1
    room = ceil(total * (7 * digits + 4) / width)  # in columns
    every = next((stride for stride in STRIDES if stride >= room), room)
    shown = frozenset(step for step in range(0, total, every) if last - step >= room)
    return shown if has_end and every > 1 else shown | {last}


def _number(step: int, total: int, seen: Mapping[str, frozenset[int]], *, is_shown: bool) -> str:
    kinds = [name for name, steps in seen.items() if step in steps]
    kinds += (["last"] if step == total - 1 else []) + (["now"] if is_shown else [])
    return f'<div class="{" ".join(("n", *kinds))}">{step}</div>'


def _label(view: RunView) -> str:
    changes = (("grew", grew_at(view)), ("shrank", shrank_at(view)))
    sizes = "".join(f"; K {verb} at {', '.join(map(str, steps))}" for verb, steps in changes if steps)
    if not view.ess_by_step:
        done = sum(at.step >= 0 for at in view.finished_steps)
        return f"{done} of {view.total_steps} steps are complete{sizes}"
    resampled = ", ".join(map(str, resampled_at(view))) or "no step"
    return f"Effective sample size by step, {view.ess_by_step[-1]:.1f} at the last; resampled at {resampled}{sizes}"
