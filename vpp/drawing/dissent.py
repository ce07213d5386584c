"""Disagreement of the particles in sentences and numbers, and whether it means error."""

import math
from collections.abc import Callable, Iterator, Sequence

from vpp.data.dataset import Dataset
from vpp.drawing.matrix import code_legend
from vpp.events import Evaluated
from vpp.findings.points import Point, SpreadReliability, VoteReliability, spread_reliability, vote_reliability
from vpp.findings.result import held_by
from vpp.posterior.calibration import BINS, RiskCoverage
from vpp.posterior.metric import label_figures, number_figures, wilson
from vpp.runs.reader import Snapshot
from vpp.runs.view import RunView
from vpp.settings import Config
from vpp.show.blocks import Metric, count_metric
from vpp.show.words import (
    EQUAL,
    NBSP,
    ROW_OF,
    capitalised,
    counted,
    fixed,
    in_words,
    integer,
    interval_text,
    number,
    percent,
    share_words,
    uncertain_sentence,
)
from vpp.wording.brief import other_metrics, voting
from vpp.wording.verdicts import abstention_verdict, follows_verdict, miss_verdict, promised_metric, spread_verdict


def saying(rows: Sequence[Point], test: Evaluated, config: Config) -> str:
    """Sentence that says what the page shows. rows: all points, most uncertain first."""
    if len(test.weights) == 1 and rows[0].reject.conformal:
        return f"There is one hypothesis. {_possible_sentence(rows) if rows[0].is_label else ''}".strip()
    if len(test.weights) == 1 and not test.shares:
        return "There is one hypothesis: it cannot disagree with itself, and says nothing of how sure it is."
    if test.metric == "mse":
        # Numbers hardly ever agree to the digit: the widest spread is the news.
        row, spread = rows[0].row.id, rows[0].doubt
        if math.isinf(spread):
            nobody = "nobody with weight" if config.is_weighted else "nobody"
            return f"On row {row} {nobody} gave a readable answer: nothing is known there."
        if spread == 0:
            return "Practically all of the weight says the same on every row."
        return f"The answers spread most on row {row}: a standard deviation of {number(spread)}."
    doubtful = sum(point.is_uncertain for point in rows)
    disagree = uncertain_sentence(doubtful, len(rows), row=ROW_OF[test.split])
    if rows[0].reject.conformal:
        return f"{disagree} {_possible_sentence(rows)}"
    is_clear = not doubtful and not any(point.is_undecided for point in rows)
    return disagree if is_clear else f"{disagree} {_unknown_words(rows, held_by(config, test.noise))}"


def _possible_sentence(rows: Sequence[Point]) -> str:
    unknown = sum(point.is_undecided for point in rows)
    if not unknown:
        return "Every row is decided: one label alone is possible."
    on = "On every row" if unknown == len(rows) else f"On {in_words(unknown)} of {in_words(len(rows))}"
    return f"{on} several labels are possible: the answer is “I don’t know”."


def _unknown_words(rows: Sequence[Point], held: str) -> str:
    """Sentence on the rows whose answer is “I don’t know”, with the rule."""
    answering = f"{held} that answered" if any(point.abstained for point in rows) else held
    least = share_words(rows[0].reject.clear)
    unknown = sum(point.is_undecided for point in rows)
    if not unknown:
        return f"None is “I don’t know”: every answer has at least {least} of the {answering}."
    return f"On {in_words(unknown)} of them no label has {least} of the {answering}: the answer is “I don’t know”."


def in_dispute(rows: Sequence[Point]) -> list[Point]:
    """Rows on which the particles disagree, or their numbers spread; those that nobody answered come last."""
    apart = (
        point for point in rows if (point.is_uncertain or point.is_undecided if point.is_label else point.doubt > 0)
    )
    return sorted(apart, key=lambda point: math.isinf(point.doubt))


def decided_words(rows: Sequence[Point]) -> str:
    """`27 of 30 decided rows right · “I don’t know” on 10 of 40`; empty for numbers. rows: all points."""
    if not rows or not rows[0].is_label:
        return ""
    n_decided, n_right = sum(not point.is_undecided for point in rows), sum(point.is_right for point in rows)
    if n_decided == len(rows):
        return f"{integer(n_right)} of {counted(n_decided, 'row')} right"
    unknown = f"“I don’t know” on {integer(len(rows) - n_decided)} of {integer(len(rows))}"
    return f"{integer(n_right)} of {counted(n_decided, 'decided row')} right · {unknown}" if n_decided else unknown


def asked_words(test: Evaluated, view: RunView, *, live: bool) -> str:
    when = "before the first step" if test.step < 0 else f"after step {test.step}"
    evaluated = f"The {ROW_OF[test.split]}s as answered {when}."
    if not live:
        return evaluated
    now = view.last_step
    at = f" The run is at step {now}." if now is not None and now > test.step else ""
    return f"{evaluated}{at} They are asked again at the end; this page follows."


def order_words(test: Evaluated) -> str:
    are_equal = max(test.weights) - min(test.weights) < EQUAL
    return f"most uncertain first · columns by {'share' if are_equal else 'weight'}"


def metrics(rows: Sequence[Point], test: Evaluated, snapshot: Snapshot, dataset: Dataset) -> list[Metric]:
    """Figures of an evaluation. rows: at least one point."""
    config, size = snapshot.spec.config, len(test.weights)
    predictions, truths = [point.prediction for point in rows], [point.row.target or 0.0 for point in rows]
    silent, asked = sum(vote is None for point in rows for vote in point.votes), sum(len(point.votes) for point in rows)
    abstained = count_metric("Abstained", silent, asked, abstention_verdict(silent, asked))
    if dataset.task == "regression":
        miss = miss_verdict(test.value, [float(truth) for truth in truths])
        error = f"Of the {f'{voting(config, size)} mean' if size > 1 else 'one hypothesis'}. {miss}"
        others = number_figures(predictions, truths, abstention_error=dataset.target_range)
        return [
            Metric(name="Mean squared error", value=number(test.value), words=error),
            mean_doubt(rows, lambda spread: spread_verdict(spread, test.value)),
            abstained,
            *_promised(rows),
            *other_metrics(others),
        ]
    return [*decided_metrics(rows), *_promised(rows), abstained, *other_metrics(label_figures(predictions, truths))]


def _promised(rows: Sequence[Point]) -> list[Metric]:
    return [promised_metric(rows, rows[0].reject.conformal)] if rows[0].reject.conformal else []


def decided_metrics(rows: Sequence[Point]) -> Iterator[Metric]:
    """Accuracy on decided rows, and their share: coverage. rows: at least one, with labels."""
    n_decided, n_right = sum(not point.is_undecided for point in rows), sum(point.is_right for point in rows)
    if n_decided:
        right = f"{percent(n_right / n_decided, 1)}; that means {interval_text(n_right, n_decided)} (Wilson, 95 %)."
        yield count_metric("Decided rows right", n_right, n_decided, right)
    else:
        yield Metric(name="Decided rows right", value="–", words="No row is decided.")
    coverage = f"Coverage {percent(n_decided / len(rows))}. The answer to the others is “I don’t know”."
    yield count_metric("Rows decided", n_decided, len(rows), coverage)


def mean_doubt(rows: Sequence[Point], verdict: Callable[[float], str]) -> Metric:
    """Mean vote entropy or spread of the rows that a particle with weight answered. verdict: sentence on the mean."""
    is_label = rows[0].is_label
    name = "Mean vote entropy" if is_label else "Mean spread"
    finite = [point.doubt for point in rows if math.isfinite(point.doubt)]
    if not finite:
        return Metric(name=name, value="–", words="No particle answered any row.")
    mean = math.fsum(finite) / len(finite)
    value, scale = (fixed(mean), "bits") if is_label else (number(mean), "")
    return Metric(name=name, value=value, scale=scale, words=verdict(mean))


def vote_legend(labels: Sequence[str]) -> str:
    signs = code_legend(labels)
    cells = "Faint = with the majority; full = dissent; grey = tie; hatched = no readable answer."
    return f"{cells} {signs}." if signs else cells


def number_legend(unit: float, held: str) -> str:
    """Caption on how to read the cells of numbers. held: what a share is a share of."""
    ink = f"More ink: further from the mean, black from four times the usual distance of {number(unit, 2)} on. "
    return (
        f"Each cell is a particle’s answer. {ink if unit else ''}Hatched: no readable answer. At the right the mean, "
        f"and the range that holds 90 % of the {held}: how far they differ; noise not included."
    )


def merged_words(n_columns: int, size: int) -> str:
    return (
        f"{capitalised(in_words(size))} particles answer the rows in {counted(n_columns, 'way')}: one column "
        f"per way; ×2{NBSP}={NBSP}two particles."
    )


# Calibration: whether uncertainty means error


NOT_ALONE = "One hypothesis is never in doubt, so it cannot be judged whether doubt means error."
NOT_EQUAL = "Every answer is as sure as the next, so it cannot be judged whether doubt means error."
EQUAL_ERRORS = "All errors are the same, so nothing tells whether a wide spread goes with a large error."
NO_ANSWER = "No particle answered any row, so there is nothing to compare with the truth."
NO_GAIN = 0.05
"""Share of the way from a random order to the best one below which an order is no better than random."""


Judged = tuple[VoteReliability | SpreadReliability, str, list[Metric]]
"""What agreement is worth, in one sentence, and in figures."""


def judged(rows: Sequence[Point], dataset: Dataset, held: str) -> Judged:
    """Compare agreement with the truth. rows: of more than one particle. held: what a share is a share of."""
    if dataset.task == "regression":
        spreads = spread_reliability(rows, dataset)
        return spreads, spread_saying(spreads), spread_metrics(spreads, held)
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
    brier = _beside_even(result.brier, 1 - 1 / n_labels, n_labels)
    return [
        _area_metric(result, lambda value: fixed(value, 3)),
        _calibration_metric(result),
        Metric(name="Brier score", value=fixed(result.brier, 3), scale="of 2", words=brier),
        _log_metric(result, n_labels, held),
    ]


def _calibration_metric(result: VoteReliability) -> Metric:
    """Calibration error, and over- or underconfidence if it exceeds the 95 % Wilson interval."""
    name = f"Calibration error, {BINS} bins"
    if not result.bins:
        return Metric(name=name, value="–", words="No row has a leading label.")
    n, right = sum(each.n for each in result.bins), sum(each.n_right for each in result.bins)
    sure = math.fsum(each.n * each.confidence for each in result.bins) / n
    low, high = wilson(right, n)
    alike = f"{counted(n, 'row')} cannot tell the two apart"
    verdict = "surer than right" if sure > high else "less sure than right" if sure < low else alike
    words = f"{percent(sure, 1)} sure on average, {percent(right / n, 1)} right: {verdict}."
    return Metric(name=name, value=fixed(result.calibration_error, 3), scale="of 1", words=words)


def _beside_even(value: float, even: float, n_labels: int) -> str:
    how = "Better than" if value < even else "No better than"
    return f"{how} a vote split evenly over {counted(n_labels, 'label')}, {fixed(even, 3)}."


def _log_metric(result: VoteReliability, n_labels: int, held: str) -> Metric:
    if result.log_score is None or result.n_infinite:
        words = f"None of the {held} backs the truth on {counted(result.n_infinite, 'row')}"
        others = integer(result.n - result.n_infinite)
        rest = "" if result.log_score is None else f"; {fixed(result.log_score, 3)} on the other {others}"
        return Metric(name="Log score", value="∞", scale="bits", words=f"{words}{rest}.")
    words = _beside_even(result.log_score, math.log2(n_labels), n_labels)
    return Metric(name="Log score", value=fixed(result.log_score, 3), scale="bits", words=words)


# Numbers


def spread_saying(result: SpreadReliability) -> str:
    if not result.is_equally_sure:
        return _spread_verdict(result)
    spread = result.spreads[0]
    if math.isinf(spread):
        return NO_ANSWER
    return f"The spread is {number(spread)} on every row, so it does not tell where the mean is far off."


def _spread_verdict(result: SpreadReliability) -> str:
    rho = result.rank_correlation
    return EQUAL_ERRORS if rho is None else follows_verdict(rho, result.n)


def spread_metrics(result: SpreadReliability, held: str) -> list[Metric]:
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
            words=NOT_EQUAL if result.is_equally_sure else _spread_verdict(result),
        ),
        _area_metric(result, number),
    ]


def _area_metric(result: VoteReliability | SpreadReliability, text: Callable[[float], str]) -> Metric:
    name, curve = "Area under the risk curve", result.curve
    if result.is_equally_sure:
        return Metric(name=name, value="–", words=NOT_EQUAL)
    random, best = text(curve.area_random), text(curve.area_best)
    words = f"{capitalised(order_verdict(curve))}: {random} at random, {best} at best."
    return Metric(name=name, value=text(curve.area), words=words)


def order_verdict(curve: RiskCoverage) -> str:
    room = curve.area_random - curve.area_best
    if not math.isfinite(room) or room <= 0:
        return "no order would do better or worse"
    gain = (curve.area_random - curve.area) / room
    if abs(gain) < NO_GAIN:
        return "the order is no better than a random one"
    if gain < 0:
        return "the order is worse than a random one"
    return f"{percent(gain)} of the way from a random order to the best possible"
