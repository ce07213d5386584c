"""How far the particles differ, in words and numbers: the head of the Disagreement page and of its matrix."""

import math
from collections.abc import Iterator, Sequence

from vpp.drawing.matrix import code_legend
from vpp.events import Evaluated
from vpp.inspection.points import Point, weakly_backed
from vpp.inspection.votes import CLEAR
from vpp.posterior.metric import Estimate, label_figures, number_figures
from vpp.posterior.prediction import Value
from vpp.runs.view import RunView
from vpp.settings import Config
from vpp.wording.brief import voting
from vpp.wording.counts import r2_text
from vpp.wording.markup import Metric
from vpp.wording.verdicts import (
    DEFAULTS,
    Thresholds,
    abstention_verdict,
    entropy_verdict,
    miss_verdict,
    spread_verdict,
)
from vpp.wording.words import (
    EQUAL,
    capitalised,
    counted,
    fixed,
    in_words,
    integer,
    number,
    percent,
    share_sentence,
    uncertain_sentence,
)

READ = "read the vote before you trust it"
NOBODY = "Nobody with weight answered any row."
ALONE = "There is one hypothesis: it cannot disagree with itself, and says nothing of how sure it is."


def saying(found: Sequence[Point], test: Evaluated, *, at: Thresholds = DEFAULTS) -> str:
    """What the page shows. found: every point, most uncertain first."""
    if len(test.weights) == 1:
        return ALONE
    if test.metric == "mse":
        return _widest(found[0])
    doubtful = [point for point in found if point.is_uncertain]
    return " ".join((uncertain_sentence(len(doubtful), len(found)), *_by_weight(doubtful, at.well_backed)))


def _by_weight(doubtful: Sequence[Point], below: float) -> Iterator[str]:
    """What the count of voices does not tell."""
    n, weak, share = len(doubtful), len(weakly_backed(doubtful, below=below)), percent(below)
    unknown = len(weakly_backed(doubtful, below=CLEAR))
    if n and not weak:
        yield f"On {_of_them(n, n)} at least {share} of the weight backs the answer."
    elif weak:
        yield f"On {_of_them(weak, n)} less than {share} of the weight backs the answer: {READ}."
    if unknown:
        yield f"On {_of_them(unknown, n)} less than two thirds does, and the answer is “I don’t know”."


def _of_them(some: int, n: int) -> str:
    """`it`, `each of them` or `three of them`."""
    if some == n:
        return "it" if n == 1 else "each of them"
    return f"{in_words(some)} of them"


def _widest(widest: Point) -> str:
    """For numbers, which hardly ever agree to the digit."""
    if math.isinf(widest.doubt):
        return f"On row {widest.row.id} nobody with weight gave a readable answer: nothing is known there."
    if widest.doubt == 0:
        return "Practically all of the weight says the same on every test row."
    return f"The answers spread most on row {widest.row.id}: a standard deviation of {number(widest.doubt)}."


def asked_words(test: Evaluated, view: RunView, config: Config, *, live: bool) -> str:
    """Of which step the evaluation is, and when the next comes."""
    when = "before the first step" if test.step < 0 else f"after step {test.step}"
    told = f"The test rows as answered {when}."
    if not live:
        return told
    now = view.last_step
    at = f" The run is at step {now}." if now is not None and now > test.step else ""
    every = "every step" if config.evaluate_every == 1 else f"every {counted(config.evaluate_every, 'step')}"
    again = f"{every} and at the end" if config.evaluate_every else "at the end"
    return f"{told}{at} They are asked again {again}; this page follows."


def order_words(test: Evaluated) -> str:
    """In which order rows and columns stand."""
    are_equal = max(test.weights) - min(test.weights) < EQUAL
    return f"most uncertain first · {'columns by number: each counts alike' if are_equal else 'columns by weight'}"


def vote_strip(found: Sequence[Point], test: Evaluated, config: Config, *, at: Thresholds = DEFAULTS) -> list[Metric]:
    """For labels. found: at least one point."""
    n, weak = len(found), len(weakly_backed(found, below=at.well_backed))
    uncertain = sum(point.is_uncertain for point in found)
    right = sum(not point.is_wrong for point in found)
    return [
        Metric(
            name="Uncertain points", value=integer(uncertain), scale=f"of {integer(n)}", words=_uncertain(uncertain, n)
        ),
        Metric(
            name="Weakly backed",
            value=integer(weak),
            scale=f"of {integer(n)}",
            words=f"{'There' if weak else 'Nowhere'} less than {percent(at.well_backed)} of the weight is behind the "
            f"answer{': read the vote' if weak else ''}.",
        ),
        _entropy(found),
        _abstained(found, at),
        Metric(
            name="Vote accuracy",
            value=percent(test.value, 1),
            words=f"{_of(config, len(test.weights), 'vote')}. {share_sentence(right, n, 'test rows')}",
        ),
        _balanced(found),
    ]


def _balanced(found: Sequence[Point]) -> Metric:
    """The accuracy in which every label counts alike."""
    figures = label_figures([point.prediction for point in found], _truths(found))
    n = counted(len(figures.by_label), "label")
    return Metric(
        name="Balanced accuracy",
        value=percent(figures.balanced.value, 1),
        words=f"Mean of the shares told right of the {n} here{_within(figures.balanced, points=True)}.",
    )


def _truths(found: Sequence[Point]) -> list[Value]:
    return [point.row.target for point in found if point.row.target is not None]


def _within(figure: Estimate, *, points: bool = False) -> str:
    """`, ± 2.3 points (one standard error)`; empty where the rows tell none."""
    error = figure.standard_error
    if not error:
        return ""
    return f", ± {f'{fixed(100 * error, 1)} points' if points else number(error, 2)} (one standard error)"


def _uncertain(uncertain: int, n: int) -> str:
    if not uncertain:
        return "All voices agree on every row."
    if uncertain == n:
        return "Every row has a dissenting voice."
    return f"{percent(uncertain / n)} of the rows have a dissenting voice, however light."


def _entropy(found: Sequence[Point]) -> Metric:
    finite = [point.doubt for point in found if math.isfinite(point.doubt)]
    if not finite:
        return Metric(name="Mean vote entropy", value="–", words=NOBODY)
    mean = math.fsum(finite) / len(finite)
    return Metric(name="Mean vote entropy", value=fixed(mean), scale="bits", words=entropy_verdict(mean))


def number_strip(
    found: Sequence[Point],
    test: Evaluated,
    config: Config,
    *,
    beyond: float,
    tau: float | None = None,
    at: Thresholds = DEFAULTS,
) -> list[Metric]:
    """For regression. found: at least one point. beyond: what an abstention is off by.

    tau: where it decides weights.
    """
    finite = [point.doubt for point in found if math.isfinite(point.doubt)]
    spread = math.fsum(finite) / len(finite) if finite else None
    truths = [float(point.row.target or 0.0) for point in found]
    return [
        Metric(
            name="Mean squared error",
            value=number(test.value),
            words=f"{_of(config, len(test.weights), 'mean')}. {miss_verdict(test.value, truths)}",
        ),
        Metric(
            name="Mean spread",
            value="–" if spread is None else number(spread),
            words=NOBODY if spread is None else spread_verdict(spread, test.value, tau),
        ),
        _abstained(found, at),
        *_beside(found, beyond),
    ]


def _beside(found: Sequence[Point], beyond: float) -> Iterator[Metric]:
    """The other figures of the same means."""
    figures = number_figures([point.prediction for point in found], _truths(found), abstention_error=beyond)
    words = f"How far off it is on average, in the target’s unit{_within(figures.mae)}."
    yield Metric(name="Mean absolute error", value=number(figures.mae.value), words=words)
    if figures.r2 is None:
        yield Metric(name="R²", value="–", words="All truths are equal.")
    else:
        words = f"1 is best; 0 is no better than the truths’ own mean{_within(figures.r2)}."
        yield Metric(name="R²", value=r2_text(figures.r2.value), words=words)


def _of(config: Config, size: int, average: str) -> str:
    kind = voting(config, size)
    return f"Of the {kind} {average}" if kind else "Of the one hypothesis"


def _abstained(found: Sequence[Point], at: Thresholds) -> Metric:
    silent = sum(vote is None for point in found for vote in point.votes)
    asked = sum(len(point.votes) for point in found)
    words = abstention_verdict(silent, asked, at=at)
    return Metric(name="Abstained", value=integer(silent), scale=f"of {integer(asked)}", words=words)


def vote_legend(labels: Sequence[str]) -> str:
    """What the cells of a vote mean."""
    signs = code_legend(labels)
    told = "Quiet cell: agrees with the vote. Inked: dissents. Hatched: no readable answer."
    return f"{told} {signs}." if signs else told


def number_legend(unit: float) -> str:
    """What the cells of numbers mean."""
    ink = f"More ink: further from the mean, black from four times the usual distance of {number(unit, 2)} on. "
    return (
        f"Each cell is a particle’s answer. {ink if unit else ''}Hatched: no readable answer. At the right the mean, "
        "and the range that holds 90 % of the particles’ weight: how far they differ; noise not included."
    )


def merged_words(n_columns: int, size: int) -> str:
    """How many particles stand as one."""
    return (
        f"{capitalised(in_words(size))} particles answer the test rows in {counted(n_columns, 'way')}; a column each, "
        "the weights summed."
    )
