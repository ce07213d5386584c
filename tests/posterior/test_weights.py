"""Weights (Eq. 10), resampling, tempering and the accept step (Eq. 9): by hand and against sums written out."""

import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from vpp.posterior.weights import (
    accepts,
    carried_log_weights,
    ess,
    log_acceptance,
    log_mean_weight,
    next_exponent,
    normalise,
    systematic_resample,
    tempered_log_weights,
)

log_weights = st.lists(st.floats(-1e6, 0), min_size=1, max_size=20)


@given(st.lists(st.floats(-300, 0), min_size=1, max_size=12), st.floats(1, 10))
def test_weights_equal_the_literal_exponentials(log_lik, beta):
    powers = [math.exp(x / beta) for x in log_lik]
    literal = [p / sum(powers) for p in powers]
    assert normalise(tempered_log_weights(log_lik, beta=beta)) == pytest.approx(literal, rel=1e-9, abs=1e-15)


@given(st.lists(st.floats(-50, 0), min_size=1, max_size=12), st.floats(-1e6, 1e6))
def test_a_constant_added_to_every_log_likelihood_changes_no_weight(log_lik, constant):
    # log-likelihoods near 1e6 carry an absolute rounding error of about 1e-10
    shifted = normalise(np.array(log_lik) + constant)
    assert shifted == pytest.approx(normalise(log_lik), rel=1e-8, abs=1e-12)


def test_a_hopeless_particle_beside_a_good_one_weighs_nothing_and_where_all_are_none_is_preferred():
    assert normalise([-1e6, 0.0]).tolist() == normalise([-math.inf, -5.0]).tolist() == [0.0, 1.0]
    for size in (1, 3):
        assert normalise(tempered_log_weights([-math.inf] * size, beta=2)).tolist() == [1 / size] * size


@given(log_weights)
def test_weights_sum_to_one_and_keep_the_order_of_the_log_weights_and_their_ess_lies_between_one_and_k(log_w):
    weights = normalise(log_w)
    assert weights.sum() == pytest.approx(1, abs=1e-12)
    assert (weights >= 0).all()
    assert (np.diff(weights[np.argsort(log_w, kind="stable")]) >= 0).all()
    assert 1 - 1e-12 <= ess(weights) <= len(log_w) * (1 + 1e-12)


def test_ess_is_one_over_the_sum_of_squares_and_of_m_equal_voices_among_k_exactly_m():
    assert ess([0.5, 0.25, 0.25]) == pytest.approx(1 / (0.25 + 0.0625 + 0.0625), rel=1e-15)
    for size in range(1, 31):
        for silent in (0, 1, size):
            assert ess(normalise([-3.7] * size + [-math.inf] * silent)) == size, (size, silent)


ALMOST_ONE = math.nextafter(1.0, 0.0)

uniforms = st.floats(0, 1, exclude_max=True)
shares = st.lists(st.integers(0, 9), min_size=1, max_size=12).filter(any)
"""Weights as whole parts, so that K w is an exact fraction."""


def counts(weights, *, u):
    ancestors = systematic_resample(weights, u=u)
    assert len(ancestors) == len(weights)
    return np.bincount(ancestors, minlength=len(weights))


@given(shares, uniforms)
@example([1, 1, 1], ALMOST_ONE)
def test_every_particle_gets_floor_or_ceil_of_k_w_copies(parts, u):
    weights = np.array(parts) / sum(parts)
    expected = len(parts) * weights
    copies = counts(weights, u=u)
    # A pointer that falls on an edge may be rounded to either side of it.
    assert (copies >= np.floor(expected - 1e-9)).all() or on_an_edge(parts, u)
    assert (copies <= np.ceil(expected + 1e-9)).all() or on_an_edge(parts, u)


def on_an_edge(parts, u):
    """Whether a pointer lies within rounding of an edge between two particles."""
    edges = np.cumsum(parts) / sum(parts) * len(parts) - u
    return bool((np.abs(edges - np.round(edges)) < 1e-9).any())


@given(shares)
def test_copies_averaged_over_a_grid_of_u_equal_k_w_exactly(parts):
    # Edges lie at multiples of 1 / sum(parts): mid-points of a grid that fine never touch one.
    grid = [(i + 0.5) / sum(parts) for i in range(sum(parts))]
    total = sum(counts(parts, u=u) for u in grid)
    assert total.tolist() == [part * len(parts) for part in parts]


@pytest.mark.parametrize("size", [1, 2, 3, 7, 9, 10, 1000])
def test_equal_weights_copy_each_particle_once_and_a_pointer_that_rounds_up_to_one_names_the_last(size):
    for u in (1e-9, 0.3, 1 - 1e-9):
        assert systematic_resample([1 / size] * size, u=u).tolist() == list(range(size))
    # (K - 1 + u) / K is 1.0 in floating point for the largest u below 1, and the running sum of ten ends below 1.
    assert systematic_resample(np.full(size, 1 / size), u=ALMOST_ONE)[-1] == size - 1
    assert np.cumsum([0.1] * 10)[-1] < 1


@given(st.lists(st.just(0.0) | st.floats(0, 1), min_size=1, max_size=30).filter(any), uniforms)
@example([1e-20, 1.0, 1e-20], ALMOST_ONE)
@example([0.1] * 10 + [0.0], ALMOST_ONE)
@example([0.0, 1.0, 0.0, 0.0], 0.0)
def test_ancestors_are_ascending_slots_with_weight(weights, u):
    ancestors = systematic_resample(weights, u=u)
    assert all(weights[a] > 0 for a in ancestors)
    assert (np.diff(ancestors) >= 0).all()
    assert 0 <= ancestors.min() <= ancestors.max() < len(weights)


REFUSED = (
    *(("undefined", lambda bad=bad: normalise([0.0, bad])) for bad in (math.nan, math.inf)),
    *(("NaN", lambda pair=pair: log_acceptance(*pair)) for pair in ((math.nan, 0.0), (0.0, math.nan))),
    ("NaN", lambda: log_acceptance(math.nan, -math.inf)),
    *(
        ("weights must be", lambda bad=bad: systematic_resample(bad, u=0.5))
        for bad in ([], [0.0, 0.0], [0.5, -0.1], [math.nan, 1.0], [math.inf, 1.0])
    ),
)


@pytest.mark.parametrize(("words", "call"), REFUSED)
def test_weights_that_are_no_distribution_nan_and_plus_infinity_are_refused(words, call):
    with pytest.raises(ValueError, match=words):
        call()


UNEVEN = np.array([-1.0, -2.5, -9.0, -30.0])
"""Log-likelihoods far from symmetric: a wrong sign shows."""

log_liks = st.lists(st.floats(-500, 0), min_size=2, max_size=12).map(np.array)


def ess_at(log_w, log_lik, exponent, previous):
    return ess(normalise(carried_log_weights(log_w, log_lik, exponent=exponent, previous=previous)))


def test_carried_weights_of_two_steps_are_those_of_one_and_no_step_leaves_them_alone():
    half = carried_log_weights(np.zeros(4), UNEVEN, exponent=0.3, previous=0.0)
    assert carried_log_weights(half, UNEVEN, exponent=1.0, previous=0.3) == pytest.approx(UNEVEN)
    w = normalise(carried_log_weights(np.zeros(4), UNEVEN, exponent=0.5, previous=0.1))
    assert w == pytest.approx(np.exp(0.4 * UNEVEN) / np.exp(0.4 * UNEVEN).sum())
    # -inf times no step would be NaN
    log_w = np.array([-1.0, 0.0])
    kept = carried_log_weights(log_w, np.array([-np.inf, -3.0]), exponent=0.4, previous=0.4)
    assert kept.tolist() == log_w.tolist()
    assert kept is not log_w


@given(log_liks)
def test_the_mean_weight_is_the_mean_of_the_weights(log_w):
    assert log_mean_weight(log_w - 1e6) == pytest.approx(log_mean_weight(log_w) - 1e6, abs=1e-6)
    shifted = log_w - log_w.max()
    assert math.exp(log_mean_weight(shifted)) == pytest.approx(np.exp(shifted).mean())
    assert log_mean_weight([-np.inf, -np.inf]) == -np.inf
    assert log_mean_weight([-np.inf, 0.0]) == pytest.approx(math.log(0.5))


@given(log_liks, st.floats(0.1, 0.95), st.floats(0.0, 0.9))
def test_the_next_exponent_keeps_the_ess_at_its_target_and_no_later_one_does(log_lik, fraction, previous):
    target, none = fraction * log_lik.size, np.zeros(log_lik.size)
    found = next_exponent(none, log_lik, previous=previous, ceiling=1.0, target=target)
    assert previous < found <= 1.0
    if found == 1.0:
        assert ess_at(none, log_lik, 1.0, previous) >= target
    else:
        assert ess_at(none, log_lik, found, previous) == pytest.approx(target, rel=1e-6)
        assert ess_at(none, log_lik, min(1.0, found * 1.01 + 1e-3), previous) < target


def test_the_next_exponent_looks_at_the_carried_weights_not_at_the_step_alone():
    log_w = np.array([0.0, -1.0, -1.5, -2.0])
    assert ess(normalise(log_w)) > 2.4
    found = next_exponent(log_w, UNEVEN, previous=0.2, ceiling=1.0, target=2.0)
    assert ess_at(log_w, UNEVEN, found, 0.2) == pytest.approx(2.0)
    alone = next_exponent(np.zeros(4), UNEVEN, previous=0.2, ceiling=1.0, target=2.0)
    assert alone > found + 0.05, "and the step alone would have gone further"


def test_hypotheses_that_cannot_be_told_apart_go_to_the_end_and_where_no_step_keeps_the_ess_the_exponent_moves():
    assert next_exponent(np.zeros(3), np.full(3, -7.0), previous=0.0, ceiling=1.0, target=2.9) == 1.0
    assert next_exponent([0.0], [-7.0], previous=0.0, ceiling=0.5, target=0.5) == 0.5
    assert next_exponent(np.zeros(4), UNEVEN, previous=1.0, ceiling=1.0, target=2.0) == 1.0

    log_lik = np.array([-np.inf, -np.inf, -np.inf, -1.0])
    found = next_exponent(np.zeros(4), log_lik, previous=0.25, ceiling=1.0, target=2.0)
    assert 0.25 < found < 0.2501


@pytest.mark.parametrize("u", [0.0, 5e-324, 1e-300, 0.5, ALMOST_ONE])
def test_out_of_the_impossible_every_way_leads_and_into_it_none_and_a_tie_is_always_accepted(u):
    assert log_acceptance(-1e6, -math.inf) == log_acceptance(-math.inf, -math.inf) == 0.0
    assert log_acceptance(-math.inf, -1e6) == -math.inf
    assert not accepts(-math.inf, u=u)
    assert accepts(log_acceptance(-3.7, -3.7), u=u)


@given(st.floats(-300, 0), st.floats(-300, 0), st.floats(1e-6, 1), st.floats(0, 1, exclude_max=True))
def test_alpha_is_the_capped_likelihood_ratio_and_accepting_means_u_below_it(proposal, current, alpha, u):
    ratio = math.exp(log_acceptance(proposal, current))
    assert ratio == pytest.approx(min(1.0, math.exp(proposal) / math.exp(current)), rel=1e-9)
    if abs(u - alpha) > 1e-12:
        assert accepts(math.log(alpha), u=u) == (u < alpha)
