"""Whether doubt marks error, against brute force and sums worked out by hand."""

import math
from itertools import pairwise, permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import spearmanr

from vpp.posterior.calibration import (
    answered_shares,
    brier,
    calibration_error,
    log_score,
    rank_correlation,
    reliability,
    risk_coverage,
)

certainties = st.sampled_from([0.5, 0.6, 0.9, 1.0])
losses = st.sampled_from([0.0, 1.0]) | st.floats(0, 10)
judged = st.lists(st.tuples(certainties, losses), min_size=1, max_size=6)
shares = st.lists(st.floats(0, 1), min_size=2, max_size=4).filter(lambda weights: sum(weights) > 0.01)


def unzip(pairs):
    return [first for first, _ in pairs], [second for _, second in pairs]


def literal_curve(ordered):
    return [sum(loss for _, loss in ordered[:n]) / n for n in range(1, len(ordered) + 1)]


def every_order_of_equals(pairs):
    return [order for order in permutations(pairs) if all(a[0] >= b[0] for a, b in pairwise(order))]


@settings(deadline=None, max_examples=50)
@given(judged)
def test_the_curve_is_the_mean_over_every_order_of_equally_certain_rows_and_none_is_below_the_best(pairs):
    curves = [literal_curve(order) for order in every_order_of_equals(pairs)]
    found = risk_coverage(*unzip(pairs))
    assert found.risk == pytest.approx(np.mean(curves, axis=0), abs=1e-9)
    assert found.area_best <= found.area + 1e-9
    assert found.area_random == pytest.approx(np.mean([loss for _, loss in pairs]))
    random = np.mean([np.mean(literal_curve(order)) for order in permutations(pairs[:5])])
    assert risk_coverage(*unzip(pairs[:5])).area_random == pytest.approx(random, abs=1e-9)


def test_a_curve_worked_out_by_hand():
    # Two right at 1.0, one of two wrong at 0.9, right at 0.7 and at 0.6.
    found = risk_coverage([1.0, 1.0, 0.9, 0.7, 0.6, 0.9], [0, 0, 0, 0, 0, 1])
    assert found.risk == pytest.approx((0, 0, 1 / 6, 1 / 4, 1 / 5, 1 / 6))
    assert found.area == pytest.approx((1 / 6 + 1 / 4 + 1 / 5 + 1 / 6) / 6)
    assert found.area_best == pytest.approx(1 / 36)
    assert [found.at(share) for share in (0.0, 0.5, 2 / 3, 1.0)] == pytest.approx([0, 1 / 6, 1 / 4, 1 / 6])


def test_a_confidence_at_a_bins_end_lies_in_that_bin():
    found = reliability([k / 10 for k in range(1, 11)], [True] * 10)
    assert [(each.high, each.n) for each in found] == [(pytest.approx(k / 10), 1) for k in range(1, 11)]


def test_bins_and_their_gap_worked_out_by_hand():
    found = reliability([1.0, 1.0, 0.95, 0.7, 0.62], [True, True, False, True, False])
    assert [(each.n, each.n_right) for each in found] == [(2, 1), (3, 2)]
    assert [each.confidence for each in found] == pytest.approx([0.66, 2.95 / 3])
    # 2/5 |1/2 - 0.66| + 3/5 |2/3 - 0.98333|
    assert calibration_error(found) == pytest.approx(0.4 * 0.16 + 0.6 * (2.95 / 3 - 2 / 3))


def test_scores_of_a_vote_worked_out_by_hand():
    vote = answered_shares({"yes": 0.45, "no": 0.05})
    assert vote == pytest.approx({"yes": 0.9, "no": 0.1})
    assert brier(vote, "yes") == pytest.approx(0.02)
    assert brier(vote, "no") == pytest.approx(1.62)
    assert log_score(vote, "no") == pytest.approx(math.log2(10))
    assert log_score({"yes": 1.0}, "yes") == 0


def test_where_all_abstain_the_truth_has_no_share():
    assert answered_shares({}) == answered_shares({"yes": 0.0}) == {}
    assert brier({}, "yes") == 1
    assert log_score({}, "yes") == math.inf
    assert (brier({"no": 1.0}, "yes"), log_score({"no": 1.0}, "yes")) == (2, math.inf)


RANKED = st.integers(-3, 3) | st.just(math.inf)


@given(st.lists(st.tuples(RANKED, RANKED), min_size=2, max_size=12))
def test_the_rank_correlation_is_scipys_and_a_constant_has_none(pairs):
    a, b = unzip(pairs)
    if len(set(a)) > 1 and len(set(b)) > 1:
        assert rank_correlation(a, b) == pytest.approx(spearmanr(a, b).statistic, abs=1e-9)
    else:
        assert rank_correlation(a, b) is None
    assert rank_correlation(a[:1], b[:1]) is None
