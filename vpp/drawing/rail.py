"""A run in little space: the step band, and bars by step as SVG."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from math import ceil

from vpp.data.dataset import Dataset
from vpp.findings.slots import judged_of
from vpp.posterior.weights import ess
from vpp.runs.view import RunView, StepView, resampled_at
from vpp.settings import ESS_SHARE, Config
from vpp.show.markup import badge, text
from vpp.show.words import counted, fixed, number, percent, shortest
from vpp.wording.progress import batch_errors

# The step band: progress and resampling in one row of marks, and the ESS where the page is narrow


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
    return f'<span class="height">ESS by step, of {config.size}</span>{badge("copy", "resampled")}'


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
    if not view.ess_by_step:
        done = sum(at.step >= 0 for at in view.finished_steps)
        return f"{done} of {view.total_steps} steps are complete"
    resampled = ", ".join(map(str, resampled_at(view))) or "no step"
    return f"Effective sample size by step, {view.ess_by_step[-1]:.1f} at the last; resampled at {resampled}"


# Bars by step: the ESS, or what tells how a run without weights goes


WIDTH, BARS_HEIGHT = 380, 64
"""Units of a drawing, pixels where it has its full width; the bars are stretched to their place."""
RING = 9


@dataclass(frozen=True, slots=True, kw_only=True)
class Bars:
    """Shares by step, from 0 to 1, with a ring at some steps and a line at `limit`."""

    name: str
    values: dict[int, float]
    words: str
    rings: tuple[int, ...] = ()
    limit: float | None = None


def bars_html(view: RunView, config: Config, dataset: Dataset, step: int | None) -> str:
    """Draw the number that tells how a run goes, a bar a step and one for the end; that of `step` is inked.

    ESS as a share of K; without weights the accepted share of the proposals, or the error on the batch.
    step: None is the end.
    """
    if config.is_weighted:
        bars = ess_bars(view, step)
    else:
        bars = _acceptance_bars(view, step) if config.is_filtered else _error_bars(view, config, dataset, step)
    total = max(view.total_steps, 1 + max(bars.values, default=0))
    shown = view.total_steps if step is None else step
    span = "no step yet"
    if values := bars.values.values():
        resampled = f"; resampled at {counted(len(bars.rings), 'step')}" if bars.limit else ""
        span = f"from {percent(min(values))} to {percent(max(values))}{resampled}"
    label = f"{bars.name} by step: {span}. {bars.words}."
    return (
        f'<figure class="bars"><svg viewBox="0 0 {WIDTH} {BARS_HEIGHT}" preserveAspectRatio="none" role="img" '
        f'aria-label="{text(label)}">{_bars_svg(bars, total, shown)}</svg>'
        f'<figcaption class="cap">{text(bars.words)}</figcaption></figure>'
    )


def ess_bars(view: RunView, step: int | None) -> Bars:
    """ESS over K by step; after an end the weights of the end too, at `view.total_steps`. step: None is the end."""
    past = {n: at.reweighted for n, at in view.steps.items() if at.reweighted}
    last, n = (view.final.ess, view.n_unique) if view.final else (ess(view.weights) if view.weights else 0.0, view.size)
    end = {view.total_steps: last / view.size} if view.has_ended and view.weights else {}
    at = None if step is None else view.steps.get(step, StepView(step=step))
    weights = view.weights if at is None else at.reweighted.weights if at.reweighted else ()
    words = "No weights yet"
    if weights:
        below = shortest(round(ESS_SHARE * len(weights), 1))
        limit = f" · below {below}, so resampled" if at and at.resampled else f" · resamples below {below}"
        value, of = (at.reweighted.ess, len(weights)) if at and at.reweighted else (last, n)
        words = f"ESS {fixed(value, 1)} of {of}{limit if at else ' at the end'}"
    return Bars(
        name="ESS as a share of K",
        values={n: weighed.ess / len(weighed.weights) for n, weighed in past.items()} | end,
        words=words,
        rings=tuple(n for n in past if view.steps[n].resampled),
        limit=ESS_SHARE,
    )


def _acceptance_bars(view: RunView, step: int | None) -> Bars:
    counts = {n: at.once("judged", partial(judged_of, at)) for n, at in view.steps.items()}
    judged = {n: pair for n, pair in counts.items() if pair[1]}
    taken, total = (sum(pair[i] for pair in judged.values()) for i in (0, 1))
    whole = percent(taken / total) if total else ""
    words = f"{whole} of {counted(total, 'proposal')} accepted, whole run" if total else "None judged yet"
    if step is not None and total:
        accepted, n = judged.get(step, (0, 0))
        here = f"{accepted} of {counted(n, 'proposal')} accepted" if n else "No proposal judged"
        words = f"{here} at step {step} · whole run {whole}"
    return Bars(name="Accepted share of the proposals", values={n: a / b for n, (a, b) in judged.items()}, words=words)


def _error_bars(view: RunView, config: Config, dataset: Dataset, step: int | None) -> Bars:
    errors = batch_errors(view, config, dataset)
    is_label = dataset.task == "classification"
    top = 1.0 if is_label else max(errors.values(), default=1.0) or 1.0
    at = max(errors, default=None) if step is None else step
    words = "No error yet"
    if at in errors:
        off = f"{percent(errors[at])} wrong" if is_label else f"Off by {number(errors[at], 3)} (root mean square)"
        words = f"{off} on the batch of step {at}"
    values = {n: error / top for n, error in errors.items()}
    return Bars(name="Error on the batch", values=values, words=words)


def _bars_svg(bars: Bars, total: int, shown: int) -> str:
    pitch = WIDTH / total
    gap = min(3.0, 0.3 * pitch)

    def bar(step: int) -> str:
        height = bars.values[step] * (BARS_HEIGHT - 2)
        return f"M{step * pitch:.2f},{BARS_HEIGHT - 2}h{pitch - gap:.2f}v{-height:.2f}h{gap - pitch:.2f}z"

    done = "".join(bar(step) for step in bars.values if step != shown)
    now = bar(shown) if shown in bars.values else ""
    # A line of no length with round ends is a disc, whatever the stretch.
    discs = "".join(f"M{(step + 0.5) * pitch - gap / 2:.2f},6h0" for step in bars.rings)
    size = f'style="--d:{max(3.0, min(RING, 1.5 * pitch)):.1f}px"'
    rings = f'<path class="ring" d="{discs}" {size}/><path class="hole" d="{discs}" {size}/>' if discs else ""
    y = (1 - (bars.limit or 0)) * (BARS_HEIGHT - 2)
    limit = f'<path class="limit" d="M0,{y:.1f}H{WIDTH}"/>' if bars.limit else ""
    axis = f'<path class="axis" d="M0,{BARS_HEIGHT - 1}H{WIDTH}"/>'
    return f'<path class="done" d="{done}"/><path class="now" d="{now}"/>{axis}{limit}{rings}'
