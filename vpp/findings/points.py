"""Answers to rows: their scores, votes and sides, calibrated doubt, and the information of a row's label."""

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from statistics import pstdev
from typing import Any, Literal, TypeVar

from vpp.data.dataset import Dataset, Row
from vpp.events import Evaluated, Scored, Votes, mixture_of
from vpp.posterior.calibration import Conformal, RejectOption, miss, weight_ahead
from vpp.posterior.disagreement import (
    is_uncertain,
    label_information,
    number_information,
    predictive_interval,
    vote_entropy,
    weighted_spread,
)
from vpp.posterior.likelihood import GaussianLikelihood, Noise, RowLikelihood, correct
from vpp.posterior.metric import balanced_accuracy, mean_absolute_error, mean_squared_error, r_squared, wilson
from vpp.posterior.prediction import Answer, Mixture, Value, decide, leader, silent_weight, vote_shares
from vpp.problem import Prediction, integrated, likelihood_of
from vpp.runs.asking import Answers, average_answers
from vpp.runs.view import RunView
from vpp.settings import Config
from vpp.show.words import counted, integer, number, percent


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """Answers to n rows against their targets: `n_correct` for classification, `mse` for regression."""

    n: int
    n_correct: int | None = None
    """Correct answers; an abstention is wrong. None for regression."""
    mse: float | None = None
    """Mean squared error in squared units of the target; None for classification.

    An abstention counts as an error of the range of the training targets.
    """
    n_abstained: int = 0
    balanced: float | None = None
    """Mean recall of the labels that occur."""
    mae: float | None = None
    """Mean absolute error, in the target's unit."""
    r2: float | None = None
    """None for labels, and if all targets are equal."""

    @property
    def value(self) -> float:
        if self.n_correct is not None:
            return self.n_correct / self.n
        return self.mse if self.mse is not None else 0.0

    @property
    def error(self) -> float:
        return self.value if self.n_correct is None else 1 - self.value


def rows_by_id(dataset: Dataset) -> Mapping[int, Row]:
    return {row.id: row for row in dataset.labelled}


def score(answers: Sequence[Value | None], rows: Sequence[Row], dataset: Dataset) -> Score:
    targets = [row.target for row in rows if row.target is not None]
    n_abstained = sum(answer is None for answer in answers)
    if dataset.task == "classification":
        n_correct, balanced = int(correct(answers, targets).sum()), balanced_accuracy(answers, targets)
        return Score(n=len(rows), n_correct=n_correct, n_abstained=n_abstained, balanced=balanced)
    span = dataset.target_range
    mse = mean_squared_error(answers, targets, abstention_error=span)
    mae = mean_absolute_error(answers, targets, abstention_error=span)
    r2 = r_squared(answers, targets, abstention_error=span)
    return Score(n=len(rows), mse=mse, n_abstained=n_abstained, mae=mae, r2=r2)


def noise(answers: Sequence[Answer], rows: Sequence[Row], dataset: Dataset) -> Noise:
    """A sentence's noise, estimated from its answers to rows with a target; whatever noise its likelihood was given."""
    return integrated(dataset).noise(answers, [row.target for row in rows])


def averaged_score(evaluated: Evaluated, dataset: Dataset) -> Score:
    return score(evaluated.averaged, rows_of(evaluated, dataset), dataset)


def rows_of(evaluated: Evaluated, dataset: Dataset) -> tuple[Row, ...]:
    by_id = rows_by_id(dataset)
    return tuple(by_id[row] for row in evaluated.rows)


def final_answers(
    view: RunView, dataset: Dataset, split: Literal["train", "test"]
) -> tuple[tuple[Row, ...], tuple[tuple[Answer, ...], ...]] | None:
    """(N,) rows and (K, N) answers by slot; None unless the whole last population was evaluated on the split."""
    evaluated = view.evaluations.get(split)
    if evaluated is None:
        return None
    by_text = dict(zip(evaluated.hypotheses, evaluated.answers, strict=True))
    population = [state.hypothesis for state in view.population]
    if not set(population) <= set(by_text):
        return None
    return rows_of(evaluated, dataset), tuple(by_text[hypothesis] for hypothesis in population)


def laws_of(view: RunView, dataset: Dataset, config: Config) -> tuple[RowLikelihood, ...]:
    """(K,) each particle's law of one more row, given its answers to the training rows; before these, the prior's."""
    likelihood = likelihood_of(dataset, config)
    rows, answers = final_answers(view, dataset, "train") or ((), ((),) * view.size)
    targets = [row.target for row in rows]
    return tuple(likelihood.predictive(each, targets) for each in answers)


def weighed_log_likelihoods(view: RunView) -> tuple[float | None, ...]:
    """(K,) natural log-likelihoods behind the current weights; None if the method has none.

    They belong to the last texts if those were rescored, else to their ancestors.
    """
    if view.final and len(view.final_scores) == view.size:
        return tuple(view.final_scores[slot].log_likelihood for slot in range(view.size))
    return tuple(state.log_likelihood for state in view.population)


def right_words(score: Score | None, row: str) -> str:
    """`right on 47 of 50 training rows`, or `off by 1.2 on 50 training rows`: root mean squared error."""
    if score is None:
        return ""
    rows = counted(score.n, row)
    if score.n_correct is not None:
        return f"right on {integer(score.n_correct)} of {rows}"
    return f"off by {number(math.sqrt(score.mse or 0.0), 3)} on {rows}"


def score_text(score: Score) -> str:
    """`98.3 %`, or the mean squared error."""
    if score.n_correct is not None:
        return percent(score.n_correct / score.n, decimals=1)
    return number(score.mse or 0.0)


def other_scores_text(score: Score) -> str:
    """Figures shown next to the metric: `balanced 95.1 %`, or `MAE 0.81, R² 0.92` for numbers."""
    if score.balanced is not None:
        return f"balanced {percent(score.balanced, decimals=1)}"
    if score.mae is None:
        return ""
    return f"MAE {number(score.mae)}" + ("" if score.r2 is None else f", R² {number(score.r2, 3)}")


K = TypeVar("K", bound=Hashable)
V = TypeVar("V")
RecordedAnswers = dict[str, dict[int, Value | None]]
"""Answer by hypothesis id and row id."""


def recorded_answers(events: Iterable[Evaluated | Scored]) -> RecordedAnswers:
    known: RecordedAnswers = {}
    for event in events:
        hypotheses = (event.hypothesis,) if isinstance(event, Scored) else event.hypotheses
        predictions = (event.predictions,) if isinstance(event, Scored) else event.predictions
        for hypothesis, votes in zip(hypotheses, predictions, strict=True):
            known.setdefault(hypothesis, {}).update(zip(event.rows, votes, strict=True))
    return known


def grouped(pairs: Iterable[tuple[K, V]]) -> dict[K, list[V]]:
    groups: dict[K, list[V]] = {}
    for key, value in pairs:
        groups.setdefault(key, []).append(value)
    return groups


def totals(pairs: Iterable[tuple[K, float]]) -> dict[K, float]:
    return {key: sum(weights) for key, weights in grouped(pairs).items()}


# Votes

DIGITS = 12
"""Decimals of weight shares, so that sums of the same weights in another order are equal."""
ABOVE, BELOW, AT = "above the mean", "below the mean", "at the mean"
SAME = 1e-9
SURE = 0.95
"""Share of the weight that makes an answer sure; with less behind a label, the hypotheses are split."""
RANGE = 0.9
"""Weight of the hypotheses' central range of numbers."""
CLOSE = 0.1
"""The same for numbers: the largest spread, in standard deviations of the training targets."""
APART = 0.5
"""Spread in the same unit from which the answer to a new row is “I don't know”."""
FITS, SURER, LESS = "fits", "surer than right", "less sure than right"


@dataclass(frozen=True, kw_only=True)
class Point:
    row: Row
    votes: Votes
    """(K,) by slot; for graded answers the likeliest labels."""
    answers: tuple[Answer, ...]
    """(K,) answers that the mixture averages: `votes`, or graded answers."""
    mixture: Mixture
    prediction: Value | None
    """Recorded prediction: the likeliest label, or the weighted mean. None if all particles abstain."""
    reject: RejectOption = RejectOption()
    scale: float = 0.0
    """Standard deviation of the training targets of a regression, in their unit."""
    said: tuple[Prediction, ...] = ()
    """(K,) answers with their explanations, of a row that a person asks about."""
    bits: float = 0.0
    """Expected information gain of the true answer about the hypothesis, if it was asked for."""

    @property
    def is_label(self) -> bool:
        return bool(self.mixture.classes)

    @cached_property
    def weights(self) -> tuple[float, ...]:
        """(K,); with the constant answer's they sum to 1."""
        return self.mixture.weights[: len(self.votes)]

    @cached_property
    def shares(self) -> tuple[tuple[str, float], ...]:
        """Probability of each label, or its weight in the vote, the largest first; empty for regression."""
        shares = self.mixture.shares(self.answers) if self.is_label else {}
        return tuple((str(label), share) for label, share in shares.items())

    @cached_property
    def leader(self) -> Value | None:
        """The label with more weight than every other; None at a tie, if all abstain, and for regression."""
        return leader(dict(self.shares))

    @cached_property
    def decision(self) -> Value | None:
        """The answer; None is “I don’t know”, and for regression."""
        return self.reject.decide(dict(self.shares)) if self.is_label else None

    @cached_property
    def abstained(self) -> float:
        """Weight without a label: of particles without a readable answer, and of probability on no label."""
        return silent_weight(self.answers, self.weights)

    @cached_property
    def doubt(self) -> float:
        """Vote entropy in bits; for regression the weighted standard deviation, infinite if all abstain."""
        return (
            vote_entropy(self.answers, self.weights)
            if self.is_label
            else weighted_spread(*self.mixture.numbers(self.votes))
        )

    @cached_property
    def interval(self) -> tuple[float, float] | None:
        """Central 90 % of the predictive law; None for classification."""
        return None if self.is_label else predictive_interval(*self.mixture.numbers(self.votes), self.mixture.noise)

    @cached_property
    def is_uncertain(self) -> bool:
        """True unless the votes are unanimous (Section 5.3) and, if answers are graded, clear."""
        is_graded = any(isinstance(answer, dict) for answer in self.answers)
        is_clear = not is_graded or decide(dict(self.shares), clear=self.reject.clear) is not None
        return is_uncertain(self.votes, self.weights) or not is_clear

    @cached_property
    def is_split(self) -> bool:
        """True if no label has `SURE` of the weight of the hypotheses that answered, or if numbers spread widely."""
        if not self.is_label:
            return self.doubt > CLOSE * self.scale
        votes = vote_shares(self.votes, self.weights).values()
        return max(votes, default=0.0) < SURE * math.fsum(votes) - SAME or not votes

    @property
    def behind(self) -> float:
        """Share of the vote's winner in all weight, abstentions included; 0 for regression."""
        total = math.fsum(share for _, share in self.shares) + (0.0 if self.mixture.noise else self.abstained)
        return round(self.shares[0][1] / total, DIGITS) if total > 0 and self.shares else 0.0

    @property
    def confidence(self) -> float | None:
        """The same of those that answered; None if it is 0, and for regression."""
        answered = math.fsum(share for _, share in self.shares)
        return round(self.shares[0][1] / answered, DIGITS) if answered > 0 else None

    @property
    def is_undecided(self) -> bool:
        """True if the answer is “I don’t know”; always False for regression."""
        return self.is_label and self.decision is None

    @property
    def is_right(self) -> bool:
        return self.decision is not None and self.decision == self.row.target

    @property
    def is_wrong(self) -> bool:
        """True if the vote decides for another label; an undecided row is neither right nor wrong."""
        return self.decision is not None and self.decision != self.row.target


def figures(point: Point) -> dict[str, Any]:
    """Return the answer in numbers for other programs; None is unknown, or “I don’t know”."""
    doubt = point.doubt if math.isfinite(point.doubt) else None
    low, high = point.interval or (None, None)
    own: dict[str, Any] = {"spread": doubt, "low": low, "high": high}
    if point.is_label:
        share = dict(point.shares).get(str(point.prediction), 0.0)
        own = {"decision": point.decision, "share": share, "entropy_bits": doubt}
    possible = {"possible": possible_labels(point) or possible_range(point)} if point.reject.conformal else {}
    return {"prediction": point.prediction, **own, "abstained": point.abstained, **possible}


def voices(point: Point) -> tuple[int, ...]:
    """Slots that hold weight and answered, heaviest first."""
    slots = heaviest_first(point.weights)
    return tuple(slot for slot in slots if point.votes[slot] is not None and point.weights[slot] > 0)


def is_unknown(point: Point) -> bool:
    """True if the answer to a new row is “I don't know”: no label decides, or numbers spread widely."""
    if point.is_label or not voices(point):
        return not voices(point) or point.is_undecided
    return point.doubt > 0 and point.doubt > APART * point.scale


def points(evaluated: Evaluated, dataset: Dataset, reject: RejectOption | None = None) -> list[Point]:
    """The rows, the most divided first."""
    mixture = mixture_of(evaluated.weights, evaluated.noise, evaluated.constant, dataset.classes)
    votes_by_row, answers_by_row = (zip(*each, strict=True) for each in (evaluated.predictions, evaluated.answers))
    by_row = zip(rows_of(evaluated, dataset), votes_by_row, answers_by_row, evaluated.averaged, strict=True)
    make = partial(Point, mixture=mixture, reject=reject or RejectOption(), scale=target_spread(dataset))
    unsorted = [make(row=row, votes=votes, answers=said, prediction=answer) for row, votes, said, answer in by_row]
    return sorted(unsorted, key=lambda point: (-point.doubt, not point.is_undecided, point.row.id))


def evaluated_points(evaluated: Evaluated, view: RunView, config: Config, dataset: Dataset) -> list[Point]:
    """The same, decided by the run's rule for “I don’t know”."""
    return points(evaluated, dataset, reject_option(view, config, dataset, of=evaluated))


def sides(point: Point) -> dict[str, list[int]]:
    """Return the slots with weight by their answer to the row, the heaviest side first, as in the vote.

    A side is a label, or where a number lies from the weighted mean; its slots are heaviest first.
    """
    groups = grouped((_side(point, slot), slot) for slot in heaviest_first(point.weights) if point.weights[slot] > 0)
    found = {name: slots for name, slots in groups.items() if name is not None}
    place = {label: i for i, (label, _) in enumerate(point.shares)}
    return dict(sorted(found.items(), key=lambda side: (place.get(side[0], 0), -weight_of(point, side[1]))))


def weight_of(point: Point, slots: Iterable[int]) -> float:
    return math.fsum(point.weights[slot] for slot in slots)


def heaviest_first(weights: Sequence[float]) -> list[int]:
    """Slots by descending weight; ties by number."""
    return sorted(range(len(weights)), key=lambda slot: (-weights[slot], slot))


def _side(point: Point, slot: int) -> str | None:
    vote, mean = point.votes[slot], point.prediction
    if vote is None or mean is None:
        return None
    if isinstance(vote, str) or isinstance(mean, str):
        return str(vote)
    if math.isclose(vote, mean, rel_tol=SAME):
        return AT
    return ABOVE if vote > mean else BELOW


def votes_on(answers: Answers, reject: RejectOption | None = None, *, scale: float = 0.0) -> tuple[Point, ...]:
    """(N,) points in the order of the rows asked about. scale: of the dataset, by `target_spread`."""
    by_row = zip(answers.rows, zip(*answers.predictions, strict=True), average_answers(answers), strict=True)
    return tuple(
        Point(
            row=row,
            votes=tuple(each.value for each in said),
            mixture=answers.mixture,
            prediction=prediction,
            reject=reject or RejectOption(),
            answers=tuple(each.answer for each in said),
            scale=scale,
            said=said,
        )
        for row, said, prediction in by_row
    )


def target_spread(dataset: Dataset) -> float:
    """Standard deviation of the training targets of a regression, in their unit; 0 for labels."""
    targets = [row.target for row in dataset.train if isinstance(row.target, float)]
    return pstdev(targets) if targets and dataset.task == "regression" else 0.0


def reject_option(view: RunView, config: Config, dataset: Dataset, *, of: Evaluated | Answers | None) -> RejectOption:
    """The run's rule for “I don’t know”, calibrated if these votes are of the step and weights of the calibration."""
    reject = RejectOption(clear=1 - config.abstention_cost)
    found = view.evaluations.get("calibration")
    if (
        found is None
        or of is None
        or found.step != view.last_step
        or (of.step, of.weights) != (found.step, found.weights)
    ):
        return reject
    scores = tuple(
        weight_ahead(dict(point.shares), dataset.classes)[str(point.row.target)]
        if point.is_label
        else miss(point.interval, float(point.row.target or 0.0))
        for point in points(found, dataset)
    )
    by_group = dataset.provenance.split.startswith("group:")
    conformal = Conformal(scores=scores, classes=dataset.classes, level=config.coverage, by_group=by_group)
    reject = replace(reject, conformal=conformal)
    decided = [point for point in points(found, dataset, reject) if point.decision is not None]
    return replace(reject, n_decided=len(decided), n_right=sum(point.is_right for point in decided))


def possible_labels(point: Point) -> tuple[str, ...]:
    """Empty without a calibration, and for regression."""
    return point.reject.possible(dict(point.shares)) if point.is_label else ()


def possible_range(point: Point) -> tuple[float, float] | None:
    """None without a calibration, and for labels."""
    conformal = point.reject.conformal
    return None if conformal is None or point.is_label else conformal.interval(point.interval)


def holds_truth(point: Point) -> bool:
    """True if the truth is a possible label; for numbers, if it is in the possible range, or in the interval."""
    if point.is_label:
        return point.row.target in possible_labels(point)
    low, high = possible_range(point) or point.interval or (-math.inf, math.inf)
    return low <= float(point.row.target or 0.0) <= high


@dataclass(frozen=True, slots=True, kw_only=True)
class Confidence:
    """How sure the answers to n rows are, beside how often they are right: the likeliest labels, or the ranges."""

    judgement: str
    sure: float
    """Mean probability of the likeliest label, or the level of the ranges."""
    n: int
    n_right: int
    wrong: float | None = None
    """Mean probability of the answers that are wrong; None without one, and for numbers."""
    words: str


def confidence(points: Sequence[Point]) -> Confidence | None:
    """Judge the answers to the test rows; None if no row has one. points: at least one."""
    n, wrong = len(points), list[float]()
    if points[0].is_label:
        led = [(point, share) for point in points if (share := point.confidence) is not None]
        if not led:
            return None
        n, n_right = len(led), sum(point.shares[0][0] == point.row.target for point, _ in led)
        sure, wrong = math.fsum(share for _, share in led) / n, [share for point, share in led if point.is_wrong]
        words = f"{percent(sure)} sure on average and right on {percent(n_right / n)}"
        if any(point.is_undecided for point in points):
            right = f"right on {percent(n_right / n)} of all {counted(n, 'row')}"
            words = f"{percent(sure)} sure on average of its likeliest label, which is {right}"
    else:
        conformal, n_right = points[0].reject.conformal, sum(map(holds_truth, points))
        sure = conformal.level if conformal else RANGE
        words = f"{percent(sure)} ranges hold the truth on {integer(n_right)} of {counted(n, 'row')}"
    low, high = wilson(n_right, n)
    # Rule of three: n rows without a mistake still allow an error of 3 / n.
    surer = min(sure, max(SURE, 1 - 3 / n)) > high
    judgement, mean = SURER if surer else LESS if sure < low else FITS, math.fsum(wrong) / max(1, len(wrong))
    return Confidence(judgement=judgement, sure=sure, n=n, n_right=n_right, wrong=mean if wrong else None, words=words)


def calibration_result(points: Sequence[Point]) -> dict[str, Any] | None:
    """The calibration and how often it holds on the test rows, in JSON types. points: all test rows, at least one."""
    if (doubt := points[0].reject.conformal) is None:
        return None
    threshold = doubt.threshold if math.isfinite(doubt.threshold) else "Infinity"
    held = {"test_rows": len(points), "truth_possible": sum(map(holds_truth, points))}
    return {"level": doubt.level, "rows": doubt.n, "threshold": threshold, **held}


def log_score(points: Sequence[Point]) -> float | None:
    """Mean natural log of the probability of the true label; None for numbers. points: all, at least one."""
    if not points[0].is_label:
        return None
    shares = [dict(point.shares).get(str(point.row.target), 0.0) for point in points]
    return math.fsum(math.log(share) if share > 0 else -math.inf for share in shares) / len(shares)


def undecided_result(points: Sequence[Point]) -> dict[str, Any] | None:
    """The test rows whose answer is “I don’t know”, in JSON types; None for numbers. points: all, at least one."""
    rows = sorted(point.row.id for point in points if point.is_undecided)
    return {"count": len(rows), "rows": rows} if points[0].is_label else None


def questions(answers: Answers, view: RunView, config: Config, dataset: Dataset) -> tuple[Point, ...]:
    """Return the rows asked about, by the expected information gain of their label, the most informative first."""
    laws, asked = laws_of(view, dataset, config), votes_on(answers, scale=target_spread(dataset))
    found = [replace(point, bits=_bits(point, laws, dataset)) for point in asked]
    return tuple(sorted(found, key=lambda point: (-point.bits, point.row.id)))


def _bits(point: Point, laws: Sequence[RowLikelihood], dataset: Dataset) -> float:
    total = math.fsum(point.weights)  # below 1 if a constant answer holds the rest
    among = [weight / total if total > 0 else 1 / len(point.weights) for weight in point.weights]
    if point.is_label:
        return label_information(point.answers, among, dataset.classes, laws)
    pairs = zip(laws, among, strict=True)
    tau = math.fsum(weight * law.tau for law, weight in pairs if isinstance(law, GaussianLikelihood))
    return number_information(point.votes, among, tau=tau)
