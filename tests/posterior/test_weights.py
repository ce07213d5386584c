"""Tempered weights, normalising, effective sample size (Eq. 10)."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vpp.posterior.weights import ess, normalise, tempered_log_weights

log_weights = st.lists(st.floats(-1e6, 0), min_size=1, max_size=20)


@settings(deadline=None)
@given(st.lists(st.floats(-300, 0), min_size=1, max_size=12), st.floats(1, 10))
def test_weights_equal_the_literal_exponentials(log_lik, beta):
    powers = [math.exp(x / beta) for x in log_lik]
    literal = [p / sum(powers) for p in powers]
    assert normalise(tempered_log_weights(log_lik, beta=beta)) == pytest.approx(literal, rel=1e-9, abs=1e-15)


@settings(deadline=None)
@given(st.lists(st.floats(-50, 0), min_size=1, max_size=12), st.floats(-1e6, 1e6))
def test_a_constant_added_to_every_log_likelihood_changes_no_weight(log_lik, constant):
    # log-likelihoods near 1e6 carry an absolute rounding error of about 1e-10
    shifted = normalise(np.array(log_lik) + constant)
    assert shifted == pytest.approx(normalise(log_lik), rel=1e-8, abs=1e-12)


def test_a_hopeless_particle_beside_a_good_one_weighs_nothing_and_where_all_are_none_is_preferred():
    assert normalise([-1e6, 0.0]).tolist() == normalise([-math.inf, -5.0]).tolist() == [0.0, 1.0]
    for size in (1, 3):
        assert normalise(tempered_log_weights([-math.inf] * size, beta=2)).tolist() == [1 / size] * size


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_nan_and_plus_infinity_are_refused(bad):
    with pytest.raises(ValueError, match="undefined"):
        normalise([0.0, bad])


@settings(deadline=None)
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
