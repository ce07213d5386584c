"""Bars by step in little space: the ESS, or what tells how a run without weights goes, with one caption."""

from dataclasses import dataclass
from functools import partial

from vpp.data.dataset import Dataset
from vpp.inspection.slots import judged_of
from vpp.posterior.weights import ess
from vpp.runs.view import RunView, StepView
from vpp.settings import ESS_SHARE, Config
from vpp.wording.markup import text
from vpp.wording.progress import batch_errors
from vpp.wording.words import counted, fixed, number, percent, shortest

WIDTH, HEIGHT = 380, 64
"""Units of the drawing, which is stretched to its place."""
RING = 9
"""Largest diameter of a ring, in pixels."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Bars:
    """A number between 0 and 1 by step, and a caption."""

    name: str
    values: dict[int, float]
    words: str
    """Caption: the number at the step shown."""
    rings: tuple[int, ...] = ()
    limit: float | None = None
    """Height of the threshold."""


def bars_html(view: RunView, config: Config, dataset: Dataset, step: int | None) -> str:
    """Draw the number that tells how a run goes, a bar a step and one for the end; that of `step` is inked.

    ESS as a share of K; without weights the accepted share of the proposals, or the error on the batch.
    step: None is the end.
    """
    if config.is_weighted:
        bars = _ess_bars(view, config, step)
    elif config.is_filtered:
        bars = _acceptance_bars(view, step)
    else:
        bars = _error_bars(view, config, dataset, step)
    total = max(view.total_steps, 1 + max(bars.values, default=0))
    shown = view.total_steps if step is None else step
    label = f"{bars.name} by step: {_range_words(bars)}. {bars.words}."
    return (
        f'<figure class="bars"><svg viewBox="0 0 {WIDTH} {HEIGHT}" preserveAspectRatio="none" role="img" '
        f'aria-label="{text(label)}">{_bars_svg(bars, total, shown)}</svg>'
        f'<figcaption class="cap">{text(bars.words)}</figcaption></figure>'
    )


def _ess_bars(view: RunView, config: Config, step: int | None) -> _Bars:
    made = {n: at.reweighted for n, at in view.steps.items() if at.reweighted}
    end = {view.total_steps: ess(view.weights) / view.size} if view.has_ended and view.weights else {}
    return _Bars(
        name="ESS as a share of K",
        values={n: weighed.ess / len(weighed.weights) for n, weighed in made.items()} | end,
        words=_ess_words(view, config, step),
        rings=tuple(n for n in made if view.steps[n].resampled),
        limit=ESS_SHARE,
    )


def _ess_words(view: RunView, config: Config, step: int | None) -> str:
    """`ESS 4.7 of 10 · below 5, so resampled`."""
    at = None if step is None else view.steps.get(step, StepView(step=step))
    weights = view.weights if at is None else at.reweighted.weights if at.reweighted else ()
    if not weights:
        return "No weights yet"
    value = at.reweighted.ess if at and at.reweighted else ess(weights)
    below = shortest(round(ESS_SHARE * len(weights), 1))
    if at is None:
        limit = " at the end"
    else:
        limit = f" · below {below}, so resampled" if at.resampled else f" · resamples below {below}"
    return f"ESS {fixed(value, 1)} of {len(weights)}{limit}"


def _acceptance_bars(view: RunView, step: int | None) -> _Bars:
    counts = {n: at.once("judged", partial(judged_of, at)) for n, at in view.steps.items()}
    judged = {n: pair for n, pair in counts.items() if pair[1]}
    taken, total = (sum(pair[i] for pair in judged.values()) for i in (0, 1))
    words = (
        f"{percent(taken / total)} of {counted(total, 'proposal')} accepted, whole run" if total else "None judged yet"
    )
    if step is not None and total:
        accepted, n = judged.get(step, (0, 0))
        here = f"{accepted} of {counted(n, 'proposal')} accepted" if n else "No proposal judged"
        words = f"{here} at step {step} · whole run {percent(taken / total)}"
    return _Bars(name="Accepted share of the proposals", values={n: a / b for n, (a, b) in judged.items()}, words=words)


def _error_bars(view: RunView, config: Config, dataset: Dataset, step: int | None) -> _Bars:
    errors = batch_errors(view, config, dataset)
    at = max(errors.by_step, default=None) if step is None else step
    is_label = dataset.task == "classification"
    words = "No error yet"
    if at in errors.by_step:
        error = errors.by_step[at]
        shown = f"{percent(error)} wrong" if is_label else f"Off by {number(error, 3)} (root mean square)"
        words = f"{shown} on the batch of step {at}"
    values = {n: error / errors.top if errors.top else 0.0 for n, error in errors.by_step.items()}
    return _Bars(name="Error on the batch", values=values, words=words)


def _range_words(bars: _Bars) -> str:
    """`from 23 % to 100 %; resampled at 3 steps`."""
    if not bars.values:
        return "no step yet"
    low, high = min(bars.values.values()), max(bars.values.values())
    resampled = f"; resampled at {counted(len(bars.rings), 'step')}" if bars.limit else ""
    return f"from {percent(low)} to {percent(high)}{resampled}"


def _bars_svg(bars: _Bars, total: int, shown: int) -> str:
    pitch = WIDTH / total
    gap = min(3.0, 0.3 * pitch)

    def bar(step: int) -> str:
        height = bars.values[step] * (HEIGHT - 2)
        return f"M{step * pitch:.2f},{HEIGHT - 2}h{pitch - gap:.2f}v{-height:.2f}h{gap - pitch:.2f}z"

    done = "".join(bar(step) for step in bars.values if step != shown)
    now = bar(shown) if shown in bars.values else ""
    # A line of no length with round ends is a disc, whatever the stretch.
    discs = "".join(f"M{(step + 0.5) * pitch - gap / 2:.2f},6h0" for step in bars.rings)
    size = f'style="--d:{max(3.0, min(RING, 1.5 * pitch)):.1f}px"'
    rings = f'<path class="ring" d="{discs}" {size}/><path class="hole" d="{discs}" {size}/>' if discs else ""
    y = (1 - (bars.limit or 0)) * (HEIGHT - 2)
    limit = f'<path class="limit" d="M0,{y:.1f}H{WIDTH}"/>' if bars.limit else ""
    axis = f'<path class="axis" d="M0,{HEIGHT - 1}H{WIDTH}"/>'
    return f'<path class="done" d="{done}"/><path class="now" d="{now}"/>{axis}{limit}{rings}'
