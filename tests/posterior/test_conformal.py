"""Split-conformal prediction: its definition by p-values, and its coverage over splits, for bad posteriors too."""

import math
from collections.abc import Sequence
from math import inf

import numpy as np
import pytest
from scipy.stats import beta, betabinom, halfnorm, kstest

from vpp.data.dataset import SplitRule
from vpp.data.split import Pool, SplitPlan, group_split
from vpp.posterior.calibration import Conformal, answered_shares, miss, weight_ahead
from vpp.posterior.disagreement import weighted_interval
from vpp.posterior.prediction import Value, vote_shares

LABELS = ("a", "b", "c")
Votes = Sequence[Value | None]


@pytest.mark.parametrize(
    ("votes", "weights", "ahead"),
    [
        (("a", "b", "a", "c"), (0.4, 0.3, 0.1, 0.2), (0, 0.5, 0.8)),
        (("a", "b", "c"), (0.4, 0.4, 0.2), (0, 0, 0.8)),  # a tie
        (("a", None), (0.4, 0.6), (0, 0.6, 0.6)),  # the silent weight is shared by all
        ((None, None), (0.4, 0.6), (0, 0, 0)),
    ],
)
def test_the_weight_ahead_of_a_label_is_that_of_all_heavier_ones(
    votes: Votes, weights: Sequence[float], ahead: Sequence[float]
) -> None:
    assert [*weight_ahead(vote_shares(votes, weights), LABELS).values()] == pytest.approx(ahead)


def test_shares_are_of_the_weight_that_answered_and_a_miss_is_the_distance_negative_inside() -> None:
    assert answered_shares({"yes": 0.45, "no": 0.05}) == pytest.approx({"yes": 0.9, "no": 0.1})
    assert answered_shares({}) == answered_shares({"yes": 0.0}) == {}
    assert [miss((4, 5), target) for target in (3, 7, 4.5)] == [1, 2, -0.5]


@pytest.mark.parametrize(("level", "least"), [(0.9, 9), (0.8, 4), (0.95, 19), (0.99, 99)])
def test_too_few_rows_leave_everything_possible(level: float, least: int) -> None:
    few, enough = (Conformal(scores=(0.0,) * n, classes=LABELS, level=level) for n in (least - 1, least))
    assert (few.least_rows, few.threshold, enough.threshold) == (least, inf, 0.0)
    assert few.labels({"a": 1.0}) == LABELS
    assert few.interval((1.0, 2.0)) == (-inf, inf)
    assert few.coverage_band() == (1.0, 1.0)


def test_a_narrowed_interval_keeps_one_number_and_nothing_is_known_where_nobody_answers() -> None:
    assert miss(None, 3.0) == inf
    assert Conformal(scores=(1.0,) * 20).interval(None) == (-inf, inf)
    narrow = Conformal(scores=(-1.0,) * 20)
    assert narrow.interval((0.0, 6.0)) == (1.0, 5.0)
    assert narrow.interval((0.0, 1.0)) == (0.5, 0.5)


def p_value(scores: Sequence[float], score: float) -> float:
    """The definition: the share of the n + 1 rows that are at least as strange as the new one."""
    return (1 + sum(each >= score - 1e-9 for each in scores)) / (len(scores) + 1)


@pytest.mark.parametrize("n", [5, 9, 10, 37, 40, 99])
def test_a_label_is_possible_if_its_p_value_exceeds_the_risk_or_the_vote_is_not_clear(n: int) -> None:
    rng = np.random.default_rng(n)
    scores = tuple(rng.integers(0, 6, n) / 5)
    conformal = Conformal(scores=scores, classes=LABELS)
    for _ in range(50):
        weights = rng.dirichlet(np.ones(5)).tolist()
        votes = rng.choice(LABELS, 5).tolist()
        ahead = weight_ahead(vote_shares(votes, weights), LABELS)
        by_definition = tuple(c for c in LABELS if p_value(scores, ahead[c]) > 0.1 + 1e-12 or ahead[c] < 2 / 3 - 1e-9)
        assert conformal.labels(vote_shares(votes, weights)) == by_definition


N, TESTED, SPLITS = 40, 60, 200


def coverage(scores: Sequence[float], rng: np.random.Generator) -> float:
    """Mean share of 60 test rows whose score is possible by 40 others, over 200 draws of both from one pool."""
    held = 0
    for _ in range(SPLITS):
        order = rng.permutation(len(scores))[: N + TESTED]
        conformal = Conformal(scores=tuple(scores[i] for i in order[:N]))
        held += sum(scores[i] <= conformal.threshold for i in order[N:])
    return held / (SPLITS * TESTED)


def band(sigmas: float) -> tuple[float, float]:
    """The exact mean coverage of distinct scores, and five deviations of the mean of all splits around it."""
    rank = Conformal(scores=(0.0,) * N).rank
    law = betabinom(TESTED, rank, N + 1 - rank)
    mean, off = law.mean() / TESTED, sigmas * law.std() / TESTED / math.sqrt(SPLITS)
    return mean - off, mean + off


def numbers(rng: np.random.Generator, *, error: float) -> list[float]:
    """Misses of a posterior over numbers whose particles are all off by about `error`."""
    truth = rng.normal(size=400)
    particles = truth[:, None] + error + rng.normal(scale=0.3, size=(400, 8))
    weights = [1 / 8] * 8
    return [miss(weighted_interval(said, weights), y) for said, y in zip(particles.tolist(), truth, strict=True)]


@pytest.mark.parametrize("error", [0.0, 3.0, 100.0])
def test_ranges_hold_the_truth_as_often_as_promised_however_bad_the_posterior(error: float) -> None:
    rng = np.random.default_rng(7)
    low, high = band(5)
    assert low < coverage(numbers(rng, error=error), rng) < high


def ahead_of_truth(rng: np.random.Generator, *, right: float) -> list[float]:
    """Scores of a posterior over labels whose particles are right with this probability, else wrong."""
    scores = []
    for truth in rng.choice(LABELS, 400).tolist():
        weights = rng.dirichlet(np.ones(8)).tolist()
        others = [label for label in LABELS if label != truth]
        votes = [truth if rng.random() < right else str(rng.choice(others)) for _ in range(8)]
        scores.append(weight_ahead(vote_shares(votes, weights), LABELS)[truth])
    return scores


@pytest.mark.parametrize("right", [0.0, 0.4, 0.9])
def test_labels_hold_the_truth_at_least_as_often_as_promised_however_bad_the_posterior(right: float) -> None:
    rng = np.random.default_rng(11)
    found = coverage(ahead_of_truth(rng, right=right), rng)
    assert found > band(5)[0]
    if right == 0.4:
        assert found < 0.95, "sets of every label would hold the truth always; few votes tie here"


def test_the_coverage_of_rows_of_new_groups_follows_its_law_after_a_split_by_group() -> None:
    """1,000 tables of 50 groups of 10 rows: group effects N(0, 1), noise N(0, 0.3). False alarm 1e-6.

    40 rows from groups shared with the test rows cover 76 to 98 % of such rows, where 82 to 97 % are promised.
    """
    rng, plan = np.random.default_rng(13), SplitPlan(rule=SplitRule(kind="group", column="g"), calibration_size=40)
    groups, found = {i: f"{i % 50}" for i in range(500)}, []
    pool = Pool(file="", strata=dict.fromkeys(groups, ""), keys=groups)
    for _ in range(1000):
        scores = np.abs(np.tile(rng.normal(size=50), 10) + 0.3 * rng.normal(size=500))
        split = group_split(pool, plan, rng)
        conformal = Conformal(scores=tuple(scores[list(split.calibration)]))
        found.append(halfnorm.cdf(conformal.threshold, scale=math.hypot(1, 0.3)))
    assert conformal.n == 10
    assert kstest(found, beta(conformal.rank, conformal.n + 1 - conformal.rank).cdf).pvalue > 1e-6


def test_the_band_of_coverage_is_that_of_the_order_statistic() -> None:
    rng = np.random.default_rng(3)
    uniform = np.sort(rng.random((20_000, N)), axis=1)
    conformal = Conformal(scores=(0.0,) * N)
    low, high = conformal.coverage_band()
    share = float(np.mean((uniform[:, conformal.rank - 1] >= low) & (uniform[:, conformal.rank - 1] <= high)))
    assert abs(share - 0.9) < 5 * math.sqrt(0.09 / 20_000)
