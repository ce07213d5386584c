"""When to trust a posterior: right where it answers, as sure as it is right, and beside the best simple model."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from vpp.findings.baselines import SimpleModel, baselines
from vpp.findings.comparison import Standing, against, standing_of
from vpp.findings.points import Point, holds_truth
from vpp.findings.rows import Rows, possible_words, range_words
from vpp.findings.scores import score
from vpp.posterior.calibration import Conformal, RejectOption
from vpp.posterior.metric import CHANCE, PairedDifference, wilson
from vpp.posterior.prediction import TIE
from vpp.problem import losses_of
from vpp.show.blocks import Metric, Metrics, Note, count_metric
from vpp.show.figures import Kind, Part, PartsBar
from vpp.show.words import counted, integer, interval_text, number, p_text, percent, share_words

FEW_ROWS = 30
"""With 30 rows, a share has an error of up to about 18 points either way."""
FITS, SURER, LESS = "fits", "surer than right", "less sure than right"
NAMES: Mapping[str, str] = {"constant": "always the same answer", "tree": "tree of depth 2", "text": "TF-IDF model"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """Mean probability of the leading label beside how often it is right."""

    sure: float
    n_right: int
    n: int

    @property
    def verdict(self) -> str:
        """Judged by Wilson's 95 % interval of how often it is right."""
        low, high = wilson(self.n_right, self.n)
        return SURER if self.sure > high else LESS if self.sure < low else FITS


def calibration(points: Sequence[Point]) -> Calibration | None:
    """Return None if no row has a leading label."""
    led = [(point, share) for point in points if point.leader is not None and (share := point.confidence) is not None]
    if not led:
        return None
    n_right = sum(point.leader == point.row.target for point, _ in led)
    return Calibration(sure=math.fsum(share for _, share in led) / len(led), n_right=n_right, n=len(led))


@dataclass(frozen=True, slots=True, kw_only=True)
class BestSimple:
    """The best simple model on the same rows."""

    model: SimpleModel
    difference: PairedDifference
    """Losses of the posterior minus those of the model."""


def best_simple(rows: Rows) -> BestSimple | None:
    """Fit the simple models, which takes seconds. None if the answers are to the training rows."""
    dataset, test = rows.dataset, rows.test
    if test.split != "test":
        return None
    by_id = {row.id: row for row in dataset.test}
    tested = tuple(by_id[row] for row in test.rows)
    losses = losses_of(dataset, test.averaged, [row.target for row in tested])
    own = Standing(
        rows=tested, answers=test.averaged, losses=tuple(losses.tolist()), score=score(test.averaged, tested, dataset)
    )
    model = baselines(dataset).best
    difference = against(own, standing_of(model, dataset))
    return BestSimple(model=model, difference=difference) if difference else None


# Four figures


def tiles(rows: Rows, simple: BestSimple | None) -> Metrics:
    points = rows.points
    found = _label_tiles(rows) if points[0].is_label else _number_tiles(points)
    if rows.test.split != "test":
        found = [replace(found[0], words="On the rows that the weights were made from: new rows may differ.")]
    return Metrics((*found, *([_simple_tile(simple)] if simple else [])))


def _label_tiles(rows: Rows) -> list[Metric]:
    points = rows.points
    n, n_answered = len(points), sum(not point.is_undecided for point in points)
    n_right = sum(point.is_right for point in points)
    name = "Right where answered"
    found = [Metric(name=name, value="–", words="No row is answered.")]
    if n_answered:
        words = f"{percent(n_right / n_answered)}; on more such rows {interval_text(n_right, n_answered)}."
        found = [count_metric(name, n_right, n_answered, words)]
    if not rows.is_alone or points[0].reject.conformal:
        others = "The answer to the others is “I don’t know”." if n_answered < n else "None is “I don’t know”."
        found.append(count_metric("Rows answered", n_answered, n, others))
    by = calibration(points)
    if by and (not rows.is_alone or rows.test.shares):
        words = f"{percent(by.sure)} sure on average, right on {percent(by.n_right / by.n)}."
        found.append(Metric(name="Calibration", value=by.verdict, words=f"{words} {_few(n)}".strip()))
    return found


def _few(n: int) -> str:
    return "Few rows: this tells little." if n < FEW_ROWS else ""


def _number_tiles(points: Sequence[Point]) -> list[Metric]:
    off = typical_error(points)
    own = f"Typical distance from the truth; the targets spread by {number(points[0].scale, 3)}."
    found = [Metric(name="Off by", value=number(off, 3), words=own)]
    ranges = [(point.interval, float(point.row.target or 0.0)) for point in points]
    n_inside = sum(low <= truth <= high for (low, high), truth in ((ends or (math.inf, 0.0), y) for ends, y in ranges))
    low, high = wilson(n_inside, len(points))
    verdict = SURER if high < 0.9 else LESS if low > 0.9 else FITS
    words = f"The truth is in the middle 90 % of the answers on {integer(n_inside)} of {counted(len(points), 'row')}."
    if any(point.doubt for point in points):
        found.append(Metric(name="Calibration", value=verdict, words=f"{words} {_few(len(points))}".strip()))
    return found


def typical_error(points: Sequence[Point]) -> float:
    """Root of the mean squared error of the rows that were answered; 0 if none was."""
    off = [
        point.prediction - point.row.target
        for point in points
        if isinstance(point.prediction, float) and isinstance(point.row.target, float)
    ]
    return math.hypot(*off) / math.sqrt(len(off)) if off else 0.0


def _simple_tile(simple: BestSimple) -> Metric:
    model, difference = simple.model, simple.difference
    name = NAMES.get(model.name, f"{model.name} model")
    better, worse = difference.better, difference.worse
    verdict = f"no significant difference (p = {p_text(difference.p)})"
    if difference.p < CHANCE:
        verdict = f"significantly {'worse' if better > worse else 'better'} than these hypotheses"
    words = f"A {name}: {verdict}." if not name.startswith("always") else f"{name.capitalize()}: {verdict}."
    if model.score.n_correct is not None:
        return count_metric("Best simple model", model.score.n_correct, model.score.n, words)
    root = number(math.sqrt(model.score.mse or 0.0), 3)
    return Metric(name="Best simple model", value=root, scale="off", words=words)


# Sure and right


def sure_and_right(rows: Rows) -> tuple[PartsBar | Note, ...]:
    """Return one bar: rows by sure and right; for numbers their spread beside their error. Empty for one hypothesis."""
    if rows.test.split != "test" or (rows.is_alone and not rows.test.shares):
        return ()
    points = rows.points
    return (_four(points),) if points[0].is_label else _spread(points)


def _four(points: Sequence[Point]) -> PartsBar:
    def part(name: str, kind: Kind, *, is_sure: bool, is_right: bool) -> Part:
        n = sum(
            (not point.is_split and not point.is_undecided) == is_sure
            and (point.leader == point.row.target) == is_right
            for point in points
        )
        return Part(name=name, value=counted(n, "row"), size=n, kind=kind)

    return PartsBar(
        name="How sure, and how right",
        parts=(
            part("sure and right", "good", is_sure=True, is_right=True),
            part("sure and wrong", "bad", is_sure=True, is_right=False),
            part("unsure and right", "unsure good", is_sure=False, is_right=True),
            part("unsure and wrong", "unsure bad", is_sure=False, is_right=False),
        ),
    )


def _spread(points: Sequence[Point]) -> tuple[PartsBar | Note, ...]:
    finite = [point.doubt for point in points if math.isfinite(point.doubt)]
    spread = math.fsum(finite) / len(finite) if finite else 0.0
    error = typical_error(points)
    if not max(spread, error):
        return ()
    less, rest = min(spread, error), abs(spread - error)
    name = "error beyond their spread" if error > spread else "spread beyond their error"
    parts = (
        Part(
            name="spread of the answers" if error > spread else "error", value=number(less, 3), size=less, kind="good"
        ),
        Part(name=name, value=number(rest, 3), size=rest, kind="bad" if error > spread else "unsure good"),
    )
    words = (
        "They agree more than they are right, or the rest is noise."
        if error > spread
        else "They disagree at least as much as they are wrong."
    )
    return PartsBar(name="Spread against error", parts=parts), Note(words)


# Calibrated doubt: what decides a row, and what was promised


def calibrated(rows: Rows) -> tuple[Note, ...]:
    """Return the rule, the promise and whether it held; empty without calibration rows."""
    reject = rows.points[0].reject
    if (conformal := reject.conformal) is None:
        return ()
    held = sum(map(holds_truth, rows.points))
    found = f"The truth was possible on {integer(held)} of {counted(len(rows.points), 'row')}."
    return (Note(" ".join(filter(None, (rule_sentence(reject, rows.measure), promise_sentence(conformal), found)))),)


def possible_sentence(point: Point, conformal: Conformal, decimals: int | None) -> str:
    """What is possible, and what that is worth: for one label, how often it was right on the calibration rows."""
    reject = point.reject
    if point.decision is not None:
        right = "No calibration row was decided"
        if n := reject.n_decided:
            right = f"Of such answers to calibration rows, {integer(reject.n_right)} of {integer(n)} were right"
            right += f": that means {interval_text(reject.n_right, n)}"
        return f"Possible: {point.decision} alone. {right}."
    what = possible_words(point) if point.is_label else range_words(point, decimals)
    return f"Possible: {what}. {promise_sentence(conformal)}"


def promise_sentence(conformal: Conformal) -> str:
    rows, level, new = counted(conformal.n, "calibration row"), percent(conformal.level), "similar new rows"
    if conformal.by_group:
        rows, new = f"{rows}, each of another group", "new rows of similar groups"
    if conformal.rank > conformal.n:
        return f"{rows}: too few for {level}, which takes {conformal.least_rows}. So everything stays possible."
    if not math.isfinite(conformal.threshold):
        return f"{rows}: on too many of them no hypothesis answered. So everything stays possible."
    low, high = conformal.coverage_band()
    return (
        f"With {rows}, the truth is possible for at least {level} of {new} on average; one draw of them "
        f"typically gives {percent(low)} to {percent(high)}."
    )


def rule_sentence(reject: RejectOption, measure: str) -> str:
    """Say what decides a row, or by how much a range is widened. measure: what a label's share is a share of."""
    limit = reject.conformal.threshold if reject.conformal else math.inf
    if not math.isfinite(limit):
        return ""
    if reject.conformal and not reject.conformal.classes:
        how = "narrowed" if limit < 0 else "widened"
        return f"The range of the answers is {how} by {number(abs(limit))} at each end."
    if limit >= 1 - TIE:
        return "No vote decides a row: on too many calibration rows no weight was on the truth."
    if limit < reject.clear:
        least = share_words(reject.clear)
        return f"A label decides a row with {least} of the {measure}: the calibration rows ask for no more."
    return f"A label decides a row with more than {percent(limit)} of the {measure}."
