"""Rows with the particles' answers: votes and camps, reliability on rows with a target, and calibrated doubt."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from statistics import pstdev
from typing import Any

from vpp.data.dataset import Dataset, Row
from vpp.events import Evaluated, Votes, mixture_of
from vpp.findings.ideas import merge_ideas
from vpp.findings.scores import laws_of, rows_by_id
from vpp.findings.slots import behaviour, grouped
from vpp.posterior.calibration import (
    Bin,
    Conformal,
    RejectOption,
    RiskCoverage,
    answered_shares,
    brier,
    calibration_error,
    log_score,
    miss,
    rank_correlation,
    reliability,
    risk_coverage,
    weight_ahead,
)
from vpp.posterior.disagreement import (
    entropy,
    is_uncertain,
    label_information,
    number_information,
    vote_entropy,
    weighted_interval,
    weighted_spread,
    weights_after,
)
from vpp.posterior.likelihood import GaussianLikelihood, RowLikelihood, settled_errors
from vpp.posterior.prediction import (
    Answer,
    Mixture,
    Value,
    decide,
    leader,
    leaders,
    settled,
    silent_weight,
    vote_shares,
)
from vpp.problem import Prediction
from vpp.runs.asking import Answers, averages_asked
from vpp.runs.view import RunView
from vpp.settings import Config

DIGITS = 12
"""Decimals of weight shares, so that sums of the same weights in another order are equal."""
ABOVE, BELOW, AT = "above the mean", "below the mean", "at the mean"
SAME = 1e-9
"""Relative tolerance within which numbers are equal."""
NEARLY_ALL = 0.9
"""Least share of the answering weight for a nearly unanimous vote."""
CLOSE, APART = 0.1, 0.5
"""The same thresholds for numbers: spread in standard deviations of the training targets."""


@dataclass(frozen=True, kw_only=True)
class Point:
    """One row and the particles' answers to it."""

    row: Row
    votes: Votes
    """(K,) by slot; for graded answers the likeliest labels."""
    answers: tuple[Answer, ...]
    """(K,) answers that the mixture averages: `votes`, or graded answers."""
    mixture: Mixture
    prediction: Value | None
    """Recorded prediction: the likeliest label, or the weighted mean. None if all particles abstain."""
    reject: RejectOption = RejectOption()

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
        """Central 90 % of the weight, without noise; None for classification."""
        return None if self.is_label else weighted_interval(*self.mixture.numbers(self.votes))

    @cached_property
    def is_uncertain(self) -> bool:
        """True unless the votes are unanimous (Section 5.3) and, if answers are graded, clear."""
        is_graded = any(isinstance(answer, dict) for answer in self.answers)
        is_clear = not is_graded or decide(dict(self.shares), clear=self.reject.clear) is not None
        return is_uncertain(self.votes, self.weights) or not is_clear

    @property
    def behind(self) -> float:
        """Share of the vote's winner in all weight, abstentions included; 0 for regression."""
        total = math.fsum(share for _, share in self.shares) + (0.0 if self.mixture.noise else self.abstained)
        return round(self.shares[0][1] / total, DIGITS) if total > 0 and self.shares else 0.0

    @property
    def confidence(self) -> float | None:
        """Share of the vote's winner in the weight of those that answered; None if it is 0, and for regression."""
        answered = math.fsum(share for _, share in self.shares)
        return round(self.shares[0][1] / answered, DIGITS) if answered > 0 else None

    @property
    def certainty(self) -> float:
        """Share of the vote's winner, or minus the spread; larger is surer.

        Rounded, so that rows with equal votes are equally certain.
        """
        if self.is_label:
            return self.behind
        return -settled(self.doubt, of=max((abs(float(vote)) for vote in self.votes if vote is not None), default=0.0))

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


def points(evaluated: Evaluated, dataset: Dataset, reject: RejectOption | None = None) -> list[Point]:
    """The rows, those that the particles disagree on most first."""
    mixture = mixture_of(evaluated.weights, evaluated.noise, evaluated.constant, dataset.classes)
    votes_by_row, answers_by_row = (zip(*each, strict=True) for each in (evaluated.predictions, evaluated.answers))
    by_row = zip(evaluated.rows, votes_by_row, answers_by_row, evaluated.averaged, strict=True)
    rows, reject = rows_by_id(dataset), reject or RejectOption()
    unsorted = [
        Point(row=rows[row], votes=votes, answers=answers, mixture=mixture, prediction=prediction, reject=reject)
        for row, votes, answers, prediction in by_row
    ]
    return sorted(unsorted, key=lambda p: (-p.doubt if p.is_label else p.certainty, not p.is_undecided, p.row.id))


@dataclass(frozen=True, slots=True, kw_only=True)
class Camp:
    """One side of a disagreement, or a column of the disagreement matrix."""

    name: str
    """Label, or side of the weighted mean; empty for a column."""
    slots: tuple[int, ...]
    """Heaviest first; in a side only slots with positive weight."""
    weight: float
    is_even: bool
    """True if all members have equal weight."""

    @property
    def speaker(self) -> int:
        return self.slots[0]


def camps(point: Point, weights: Sequence[float]) -> tuple[Camp, ...]:
    """Group the particles by their answer, the heaviest camp first, as in the vote."""
    sides = grouped((_side(point, slot), slot) for slot in heaviest_first(weights) if weights[slot] > 0)
    groups = [_camp(name, slots, weights) for name, slots in sides.items() if name is not None]
    place = {label: i for i, (label, _) in enumerate(point.shares)}
    return tuple(sorted(groups, key=lambda camp: (place.get(camp.name, 0), -camp.weight)))


def heaviest_first(weights: Sequence[float]) -> list[int]:
    """Slots by descending weight; ties by number."""
    return sorted(range(len(weights)), key=lambda slot: (-weights[slot], slot))


def _camp(name: str, slots: Sequence[int], weights: Sequence[float]) -> Camp:
    own = [weights[slot] for slot in slots]
    even = math.isclose(own[0], own[-1], rel_tol=SAME)
    return Camp(name=name, slots=tuple(slots), weight=math.fsum(own), is_even=even)


def _side(point: Point, slot: int) -> str | None:
    vote, mean = point.votes[slot], point.prediction
    if vote is None or mean is None:
        return None
    if isinstance(vote, str) or isinstance(mean, str):
        return str(vote)
    if math.isclose(vote, mean, rel_tol=SAME):
        return AT
    return ABOVE if vote > mean else BELOW


def by_answers(evaluated: Evaluated) -> tuple[Camp, ...]:
    by_weight = heaviest_first(evaluated.weights)
    alike = grouped((behaviour(evaluated.predictions[slot]), slot) for slot in by_weight)
    merged = [_camp("", slots, evaluated.weights) for slots in alike.values()]
    return tuple(sorted(merged, key=lambda column: (-column.weight, column.slots)))


@dataclass(frozen=True, kw_only=True)
class Vote(Point):
    """One row with the answers of K particles and their explanations."""

    said: tuple[Prediction, ...]
    """(K,) by slot."""

    @property
    def voices(self) -> tuple[int, ...]:
        return tuple(
            slot for slot in heaviest_first(self.weights) if self.votes[slot] is not None and self.weights[slot] > 0
        )

    @property
    def dissenters(self) -> tuple[int, ...]:
        """Slots that voted for another label than the leading one, heaviest first; empty at a tie and for numbers."""
        return tuple(slot for slot in self.voices if self.leader not in (self.votes[slot], None))

    def agreement(self, scale: float = 0.0) -> int:
        """Grade the agreement: 3 unanimous, 2 nearly unanimous, 1 divided, 0 “I don’t know”.

        scale: for numbers, the standard deviation of the training targets.
        """
        if self.prediction is None or not self.voices or self.is_undecided:
            return 0
        if self.doubt == 0:
            return 3
        if self.confidence is not None:
            return 1 + (self.confidence >= NEARLY_ALL)
        return (self.doubt <= APART * scale) + (self.doubt <= CLOSE * scale)


def votes_on(answers: Answers, reject: RejectOption | None = None) -> tuple[Vote, ...]:
    """(N,) votes in the order of the rows asked about."""
    by_row = zip(answers.rows, zip(*answers.predictions, strict=True), averages_asked(answers), strict=True)
    return tuple(
        Vote(
            row=row,
            votes=tuple(each.value for each in said),
            mixture=answers.mixture,
            prediction=prediction,
            reject=reject or RejectOption(),
            answers=tuple(each.answer for each in said),
            said=said,
        )
        for row, said, prediction in by_row
    )


def target_spread(dataset: Dataset) -> float:
    """Standard deviation of the training targets of a regression, in their unit; 0 for labels."""
    targets = [row.target for row in dataset.train if isinstance(row.target, float)]
    return pstdev(targets) if targets and dataset.task == "regression" else 0.0


def known_row(row: Row, dataset: Dataset) -> Row | None:
    return next((known for known in dataset.labelled if known.inputs == row.inputs), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Hits:
    n_right: int
    n: int

    @classmethod
    def of(cls, points: Sequence[Point]) -> "Hits":
        return cls(n_right=sum(point.is_right for point in points), n=len(points))


@dataclass(frozen=True, slots=True, kw_only=True)
class VoteReliability:
    n: int
    is_equally_sure: bool
    """True if all points are equally certain, so that `curve` carries no information."""
    curve: RiskCoverage
    """Error rate of the leading labels by coverage; certainty is their share of all weight."""
    unanimous: Hits
    divided: Hits
    """Hits on uncertain points (Section 5.3) that are decided."""
    n_undecided: int
    """Uncertain points that are not."""
    bins: tuple[Bin, ...]
    """Reliability bins by confidence, without the rows on which no label leads."""
    n_without_leader: int
    """Ties, and rows on which all abstained."""
    n_all_abstained: int
    calibration_error: float
    """Expected calibration error over `bins`."""
    brier: float
    """Mean Brier score of the vote shares, 0 to 2; a row on which all abstained counts 1."""
    log_score: float | None
    """Mean log score in bits over the rows on which the target has weight; None if there are none."""
    n_infinite: int
    """Rows on which the target has no weight: their log score is infinite."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SpreadReliability:
    n: int
    is_equally_sure: bool
    curve: RiskCoverage
    """Squared error by coverage; certainty is minus the spread."""
    n_covered: int
    """Targets inside the central 90 % of the particles' weight; rows on which all abstained are not covered."""
    spreads: tuple[float, ...]
    """(N,) weighted standard deviation of the answers; infinite if all abstained."""
    rank_correlation: float | None
    """Spearman's correlation of spreads and absolute errors of the mean; None if either is constant."""


def vote_reliability(points: Sequence[Point]) -> VoteReliability:
    shares = [answered_shares(dict(point.shares)) for point in points]
    truths = [point.row.target for point in points]
    logs = [log_score(share, truth) for share, truth in zip(shares, truths, strict=True)]
    finite = [value for value in logs if math.isfinite(value)]
    led = [point for point in points if point.leader is not None and point.confidence is not None]
    bins = reliability([point.confidence or 0.0 for point in led], [point.leader == point.row.target for point in led])
    divided = [point for point in points if point.is_uncertain]
    return VoteReliability(
        n=len(points),
        is_equally_sure=is_equally_sure(points),
        curve=risk_coverage([point.certainty for point in points], list(map(loss, points))),
        unanimous=Hits.of([point for point in points if not point.is_uncertain]),
        divided=Hits.of([point for point in divided if not point.is_undecided]),
        n_undecided=sum(point.is_undecided for point in divided),
        bins=bins,
        n_without_leader=len(points) - len(led),
        n_all_abstained=sum(point.confidence is None for point in points),
        calibration_error=calibration_error(bins),
        brier=math.fsum(brier(share, truth) for share, truth in zip(shares, truths, strict=True)) / len(points),
        log_score=math.fsum(finite) / len(finite) if finite else None,
        n_infinite=len(logs) - len(finite),
    )


def spread_reliability(points: Sequence[Point], dataset: Dataset) -> SpreadReliability:
    truths = [point.row.target for point in points]
    errors = settled_errors([p.prediction for p in points], truths, abstention_error=dataset.target_range)
    intervals = [(truth, each.interval) for each in points if each.interval and (truth := each.row.target) is not None]
    off = [abs(float(error)) for error in errors]
    return SpreadReliability(
        n=len(points),
        is_equally_sure=is_equally_sure(points),
        curve=risk_coverage([point.certainty for point in points], [error * error for error in off]),
        n_covered=sum(low <= float(truth) <= high for truth, (low, high) in intervals),
        spreads=tuple(point.doubt for point in points),
        rank_correlation=rank_correlation([-point.certainty for point in points], off),
    )


def is_equally_sure(points: Sequence[Point]) -> bool:
    """True if all points are equally certain, so that certainty carries no information."""
    return len({point.certainty for point in points}) < 2


def loss(point: Point) -> float:
    """Chance that the label with the most weight is wrong, one of those tied drawn at random; 1 if all abstain."""
    tied = leaders(dict(point.shares))
    return 1 - (point.row.target in tied) / max(1, len(tied))


def reject_option(view: RunView, config: Config, dataset: Dataset, *, of: Evaluated | Answers | None) -> RejectOption:
    """The run's rule for “I don’t know”, calibrated if these votes are of the step and weights of the calibration."""
    reject = RejectOption(clear=1 - config.abstention_cost)
    found = view.evaluated.get("calibration")
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
    hits = Hits.of([point for point in points(found, dataset, reject) if point.decision is not None])
    return replace(reject, n_decided=hits.n, n_right=hits.n_right)


def possible_labels(point: Point) -> tuple[str, ...]:
    """Empty without a calibration, and for regression."""
    return point.reject.possible(dict(point.shares)) if point.is_label else ()


def possible_range(point: Point) -> tuple[float, float] | None:
    """None without a calibration, and for labels."""
    conformal = point.reject.conformal
    return None if conformal is None or point.is_label else conformal.interval(point.interval)


def holds_truth(point: Point) -> bool:
    if (ends := possible_range(point)) is not None:
        return ends[0] <= float(point.row.target or 0.0) <= ends[1]
    return point.row.target in possible_labels(point)


def calibration_result(view: RunView, config: Config, dataset: Dataset) -> dict[str, Any] | None:
    """The calibration and how often it holds on the test rows, in JSON types; `threshold` may be Infinity, a text."""
    test = view.evaluated.get("test")
    reject = reject_option(view, config, dataset, of=test)
    if (doubt := reject.conformal) is None or test is None:
        return None
    rows = points(test, dataset, reject)
    return {
        "level": doubt.level,
        "rows": doubt.n,
        "threshold": doubt.threshold if math.isfinite(doubt.threshold) else "Infinity",
        "test_rows": len(rows),
        "truth_possible": sum(map(holds_truth, rows)),
    }


# Most informative labels to collect: expected information gain of each row, and the effect of each true answer


REACH = 2.0
"""Standard deviations of the noise, sqrt(tau), beyond which a number contradicts a prediction."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Consequence:
    answer: Value
    """A label that some particle predicts, or the number at the centre of a camp."""
    behind: float
    """Weight of the particles that agree with it."""
    contradicted: float
    against: tuple[int, ...]
    """Slots of the contradicted particles with positive weight."""
    weights: tuple[float, ...]
    """(K,) posterior weights after this answer."""


@dataclass(frozen=True, kw_only=True)
class Question(Point):
    """A candidate row for labelling: votes, expected information gain, and the effect of each true answer."""

    bits: float
    """Expected information gain of the true answer about the hypothesis."""
    consequences: tuple[Consequence, ...]
    """Sorted by the weight behind the answer, greatest first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Contender:
    """A competing hypothesis: particles with the same answers, in one wording or several."""

    text: str
    slots: tuple[int, ...]
    weight: float

    def weight_after(self, consequence: Consequence) -> float:
        return sum(consequence.weights[slot] for slot in self.slots)


def questions(answers: Answers, view: RunView, config: Config, dataset: Dataset) -> tuple[Question, ...]:
    unsorted = [question_of(vote, view, config, dataset) for vote in votes_on(answers)]
    return tuple(sorted(unsorted, key=lambda question: (-question.bits, question.row.id)))


def question_of(point: Point, view: RunView, config: Config, dataset: Dataset) -> Question:
    laws = laws_of(view, dataset, config)
    votes, weights, reach = point.votes, point.weights, 0.0
    among = shares_of(weights)
    answers: list[Value]
    if point.is_label:
        bits = label_information(point.answers, among, dataset.classes, laws)
        answers = [label for label, share in vote_shares(votes, weights).items() if share > 0]
    else:
        tau = _mean_tau(laws, view.weights)
        reach = REACH * math.sqrt(tau)
        bits = number_information(votes, among, tau=tau)
        answers = list(middles(votes, weights, reach=reach))
    every = [_consequence(answer, point, laws, reach) for answer in answers]
    return Question(
        **{f.name: getattr(point, f.name) for f in fields(Point)},
        bits=bits,
        consequences=tuple(sorted(every, key=lambda each: -each.behind)),
    )


def shares_of(weights: Sequence[float]) -> list[float]:
    """Weights rescaled to sum to 1, since a constant answer may hold the rest."""
    total = math.fsum(weights)
    return [weight / total for weight in weights] if total > 0 else [1 / len(weights)] * len(weights)


def tau_of(view: RunView, config: Config, dataset: Dataset) -> float | None:
    """Noise variance of a number: given, or the weighted mean of the particles' estimates; None for classification."""
    return None if dataset.task == "classification" else _mean_tau(laws_of(view, dataset, config), view.weights)


def _mean_tau(laws: Sequence[RowLikelihood], weights: Sequence[float]) -> float:
    pairs = zip(laws, shares_of(weights), strict=True)
    return math.fsum(weight * law.tau for law, weight in pairs if isinstance(law, GaussianLikelihood))


def middles(votes: Votes, weights: Sequence[float], *, reach: float) -> tuple[Value, ...]:
    """Centres of camps of numbers: the heaviest prediction, then the heaviest further than `reach` from all before."""
    centres: list[float] = []
    for value in [float(value) for value, share in vote_shares(votes, weights).items() if share > 0]:
        if all(abs(value - centre) > reach for centre in centres):
            centres.append(value)
    return tuple(centres)


def _consequence(answer: Value, point: Point, laws: Sequence[RowLikelihood], reach: float) -> Consequence:
    weights = point.weights
    answered = {slot: vote for slot, vote in enumerate(point.votes) if vote is not None and weights[slot] > 0}
    against = tuple(slot for slot, vote in answered.items() if is_contradicted(vote, answer, reach=reach))
    return Consequence(
        answer=answer,
        behind=math.fsum(weights[slot] for slot in answered if slot not in against),
        contradicted=math.fsum(weights[slot] for slot in against),
        against=against,
        weights=tuple(weights_after(point.answers, weights, answer, laws).tolist()),
    )


def is_contradicted(vote: Value, answer: Value, *, reach: float) -> bool:
    """True if the answer contradicts the vote: another label, or a number further away than `reach`."""
    if isinstance(vote, str) or isinstance(answer, str):
        return vote != answer
    return abs(vote - answer) > reach


def contenders(answers: Answers, view: RunView, dataset: Dataset) -> tuple[Contender, ...]:
    """Return the ideas, split by their answers to these rows, heaviest first.

    Group by equal texts instead of ideas if the run has continued since the rows were asked about.
    """
    merged = merge_ideas(view, dataset)
    is_current = answers.texts == tuple(view.texts[state.hypothesis] for state in view.population)
    ideas = map(merged.of_slot, range(len(answers.texts))) if merged is not None and is_current else answers.texts
    said = (behaviour(p.value for p in predictions) for predictions in answers.predictions)
    groups = grouped((key, slot) for slot, key in enumerate(zip(ideas, said, strict=True)))
    unsorted = []
    for slots in groups.values():
        first = max(slots, key=lambda slot: (answers.weights[slot], -slot))
        weight = sum(answers.weights[slot] for slot in slots)
        unsorted.append(Contender(text=answers.texts[first], slots=tuple(slots), weight=weight))
    return tuple(sorted(unsorted, key=lambda contender: (-contender.weight, contender.slots)))


def most_bits(rivals: Sequence[Contender], dataset: Dataset) -> float:
    """Upper bound of the information gain: the entropy of the contenders' weights, and log2 C for C labels."""
    among = float(entropy(shares_of([contender.weight for contender in rivals])))
    return min(among, math.log2(len(dataset.classes))) if dataset.task == "classification" else among


def calls_to_ask(view: RunView, config: Config, *, n_rows: int) -> int:
    """Most learner calls for asking the last population about `n_rows` rows; equal texts are asked once."""
    return view.n_unique * config.learner_samples * n_rows
