"""The step band: progress, ESS and resampling in one row of bars."""

from vpp.inspection.slots import grew_at, shrank_at
from vpp.runs.view import RunView
from vpp.wording.markup import text


def band_html(view: RunView, *, shown: int | None) -> str:
    """A bar a step: its height is ESS over K, or full where the method has no weights; `shown` is inked."""
    steps = range(view.total_steps)
    bars = "".join(_bar(view, step, shown) for step in steps)
    numbers = "".join(_number(step, view.total_steps, shown) for step in steps)
    label = _label(view)
    style = f"--n:{view.total_steps}"
    return f'<div class="band" style="{style}" role="img" aria-label="{text(label)}">{bars}{numbers}</div>'


def _bar(view: RunView, step: int, shown: int | None) -> str:
    at = view.steps.get(step)
    if at is None or not (at.reweighted or at.finished):
        return '<div class="b"></div>'
    height = at.reweighted.ess / len(at.reweighted.weights) if at.reweighted else 1.0
    kinds = "b done" + (" rs" if at.resampled else "") + (" now" if step == shown else "")
    return f'<div class="{kinds}"><u style="--e:{height:.3f}"></u></div>'


def _number(step: int, total: int, shown: int | None) -> str:
    every = 1 if total <= 12 else 5
    kinds = "n" + (" tick" if step % every == 0 or step == total - 1 else "") + (" now" if step == shown else "")
    return f'<div class="{kinds}">{step}</div>'


def _label(view: RunView) -> str:
    resampled = ", ".join(map(str, view.resampled_at)) or "no step"
    if not view.ess_by_step:
        done = sum(at.step >= 0 for at in view.finished_steps)
        return f"{done} of {view.total_steps} steps are whole{_size_changes(view)}"
    last = view.ess_by_step[-1]
    return f"Effective sample size by step, {last:.1f} at the last; resampled at {resampled}{_size_changes(view)}"


def _size_changes(view: RunView) -> str:
    """Where K grew and shrank; empty where it did not."""
    told = (("grew", grew_at(view)), ("shrank", shrank_at(view)))
    return "".join(f"; K {verb} at {', '.join(map(str, steps))}" for verb, steps in told if steps)
