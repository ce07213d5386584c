"""Calibration in sentences and numbers: whether uncertainty means error."""

import math
from collections.abc import Callable, Sequence

from vpp.data.dataset import Dataset
from vpp.inspection.points import (
    Hits,
    Point,
    SpreadReliability,
    Voice,
    VoteReliability,
    spread_reliability,
    vote_reliability,
)
from vpp.posterior.calibration import BINS, RiskCoverage
from vpp.posterior.metric import wilson
from vpp.wording.markup import Metric, count_metric
from vpp.wording.verdicts import DEFAULTS, Thresholds, follows_verdict
from vpp.wording.words import capitalised, counted, fixed, integer, interval_text, number, percent, weight_text

NOT_ALONE = "One hypothesis is never in doubt, so it cannot be judged whether doubt means error."
NOT_EQUAL = "Every answer is as sure as the next, so it cannot be judged whether doubt means error."
EQUAL_ERRORS = "All errors are the same, so nothing tells whether a wide spread goes with a large error."
NO_ANSWER = "No particle answered any row, so there is nothing to compare with the truth."
NO_GAIN = 0.05
"""Share of the way from a random order to the best one below which an order is no better than random."""


Judged = tuple[VoteReliability | SpreadReliability, str, list[Metric]]
"""What agreement is worth, in one sentence, and in figures."""


def judged(rows: Sequence[Point], dataset: Dataset, held: str, *, at: Thresholds = DEFAULTS) -> Judged:
    """Compare agreement with the truth. rows: of more than one particle. held: what a share is a share of."""
    if dataset.task == "regression":
        spreads = spread_reliability(rows, dataset)
        return spreads, spread_saying(spreads, at=at), spread_metrics(spreads, held, at=at)
    votes = vote_reliability(rows)
    return votes, vote_saying(votes), vote_metrics(votes, held, n_labels=len(dataset.classes))


# Labels


def vote_saying(result: VoteReliability) -> str:
    """`Where all agree, 57 of 57 are right; where they differ, 1 of 2 are right and 1 is undecided.`"""
    if result.n_all_abstained == result.n:
        return NO_ANSWER
    agree, differ = (
        [f"{integer(hits.n_right)} of {integer(hits.n)} are right"] if hits.n else []
        for hits in (result.unanimous, result.divided)
    )
    if n := result.n_undecided:
        differ.append(f"{integer(n)} {'is' if n == 1 else 'are'} undecided")
    groups = (("where all agree", agree), ("where they differ", differ))
    return capitalised("; ".join(f"{where}, {' and '.join(said)}" for where, said in groups if said)) + "."


def vote_metrics(result: VoteReliability, held: str, *, n_labels: int) -> list[Metric]:
    """Figures of a classification. n_labels: number of labels of the target."""
    return [
        _hits_metric("Right where all agree", result.unanimous),
        _hits_metric("Right where they differ", result.divided, n_undecided=result.n_undecided),
        _area_metric(result, lambda value: fixed(value, 3)),
        _calibration_metric(result),
        Metric(
            name="Brier score",
            value=fixed(result.brier, 3),
            scale="of 2",
            words=_beside_even(result.brier, 1 - 1 / n_labels, n_labels),
        ),
        _log_metric(result, n_labels, held),
    ]


def _hits_metric(name: str, hits: Hits, *, n_undecided: int = 0) -> Metric:
    undecided = f" {counted(n_undecided, 'more row')} undecided." if n_undecided else ""
    if not hits.n:
        return Metric(name=name, value="–", words=f"There is no such row.{undecided}")
    means = f"That means {interval_text(hits.n_right, hits.n)} (Wilson, 95 %).{undecided}"
    return count_metric(name, hits.n_right, hits.n, means)


def _calibration_metric(result: VoteReliability) -> Metric:
    """Calibration error, and over- or underconfidence if it exceeds the 95 % Wilson interval."""
    name = f"Calibration error, {BINS} bins"
    if not result.bins:
        return Metric(name=name, value="–", words="No row has a leading label.")
    n, right = sum(each.n for each in result.bins), sum(each.n_right for each in result.bins)
    sure = math.fsum(each.n * each.confidence for each in result.bins) / n
    low, high = wilson(right, n)
    verdict = "surer than right" if sure > high else "less sure than right"
    if low <= sure <= high:
        verdict = f"{counted(n, 'row')} cannot tell the two apart"
    words = f"{percent(sure, 1)} sure on average, {percent(right / n, 1)} right: {verdict}."
    return Metric(name=name, value=fixed(result.calibration_error, 3), scale="of 1", words=words)


def _beside_even(value: float, even: float, n_labels: int) -> str:
    how = "Better than" if value < even else "No better than"
    return f"{how} a vote split evenly over {counted(n_labels, 'label')}, {fixed(even, 3)}."


def _log_metric(result: VoteReliability, n_labels: int, held: str) -> Metric:
    n_finite = result.n - result.n_infinite
    if result.log_score is None or result.n_infinite:
        words = f"None of the {held} backs the truth on {counted(result.n_infinite, 'row')}"
        rest = "" if result.log_score is None else f"; {fixed(result.log_score, 3)} on the other {integer(n_finite)}"
        return Metric(name="Log score", value="∞", scale="bits", words=f"{words}{rest}.")
    words = _beside_even(result.log_score, math.log2(n_labels), n_labels)
    return Metric(name="Log score", value=fixed(result.log_score, 3), scale="bits", words=words)


# Numbers


def spread_saying(result: SpreadReliability, *, at: Thresholds = DEFAULTS) -> str:
    if not result.is_equally_sure:
        return _spread_verdict(result, at)
    spread = result.spreads[0]
    if math.isinf(spread):
        return NO_ANSWER
    return f"The spread is {number(spread)} on every row, so it does not tell where the mean is far off."


def _spread_verdict(result: SpreadReliability, at: Thresholds) -> str:
    rho = result.rank_correlation
    return EQUAL_ERRORS if rho is None else follows_verdict(rho, result.n, at=at)


def spread_metrics(result: SpreadReliability, held: str, *, at: Thresholds = DEFAULTS) -> list[Metric]:
    rho, n, n_covered = result.rank_correlation, result.n, result.n_covered
    covered = (
        f"{percent(n_covered / n)}, and {interval_text(n_covered, n)} with these rows (Wilson, 95 %), against 90 % of "
        f"the {held}. Noise is not in the range."
    )
    return [
        count_metric("Truths in the 90 % range", n_covered, n, covered),
        Metric(
            name="Rank correlation",
            value="–" if rho is None else fixed(rho),
            scale="" if rho is None else "of 1",
            words=NOT_EQUAL if result.is_equally_sure else _spread_verdict(result, at),
        ),
        _area_metric(result, number),
    ]


def _area_metric(result: VoteReliability | SpreadReliability, shown: Callable[[float], str]) -> Metric:
    name, curve = "Area under the risk curve", result.curve
    if result.is_equally_sure:
        return Metric(name=name, value="–", words=NOT_EQUAL)
    return Metric(
        name=name,
        value=shown(curve.area),
        words=f"{capitalised(order_verdict(curve))}: {shown(curve.area_random)} at random, "
        f"{shown(curve.area_best)} at best.",
    )


def order_verdict(curve: RiskCoverage) -> str:
    """Verdict on the order by certainty, between a random and the best order."""
    room = curve.area_random - curve.area_best
    if not math.isfinite(room) or room <= 0:
        return "no order would do better or worse"
    gain = (curve.area_random - curve.area) / room
    if abs(gain) < NO_GAIN:
        return "the order is no better than a random one"
    if gain < 0:
        return "the order is worse than a random one"
    return f"{percent(gain)} of the way from a random order to the best possible"


# Particles


def voice_table(voices: Sequence[Voice], *, is_weighted: bool) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    of_numbers = bool(voices) and voices[0].all.mse is not None
    head: tuple[str, ...] = ("contradicted", "against the vote", "right where it answered", "right of all")
    if of_numbers:
        head = ("mean distance from the mean", "MSE where it answered", "MSE of all")
    weight = ("weight",) if is_weighted else ()
    return ("particle", *weight, "answered", *head), [_voice_row(voice, is_weighted=is_weighted) for voice in voices]


VOICES_OF_LABELS = (
    "Contradicted: it answers, and some other particle answers otherwise. Against the vote: it answers, and another "
    "label leads; a tie counts for none. Of all: an abstention is wrong."
)
VOICES_OF_NUMBERS = "Of all: an abstention is off by the range of the training targets."


def _voice_row(voice: Voice, *, is_weighted: bool) -> tuple[str, ...]:
    answered, every, n = voice.answered, voice.all, voice.n
    weight = (weight_text(voice.weight),) if is_weighted else ()
    first = (str(voice.slot), *weight, _share(voice.n_answered, n))
    if every.mse is not None:
        return (*first, _number(voice.distance), _number(answered.mse if answered else None), _number(every.mse))
    right = "–" if answered is None else _share(answered.n_correct or 0, answered.n)
    apart = (_share(voice.n_conflicts or 0, n), _share(voice.n_dissents or 0, n))
    return (*first, *apart, right, _share(every.n_correct or 0, n))


def _number(value: float | None) -> str:
    return "–" if value is None else number(value)


def _share(count: int, n: int) -> str:
    return f"{percent(count / n)} ({integer(count)} of {integer(n)})"
