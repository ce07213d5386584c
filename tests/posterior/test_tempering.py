"""Carried weights, the next exponent, the evidence: against sums written out, and against faults known of others."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vpp.posterior.weights import carried_log_weights, ess, log_mean_weight, next_exponent, normalise

UNEVEN = np.array([-1.0, -2.5, -9.0, -30.0])
"""Log-likelihoods far from symmetric: a wrong sign shows."""

log_liks = st.lists(st.floats(-500, 0), min_size=2, max_size=12).map(np.array)


def ess_at(log_w, log_lik, exponent, previous):
    return ess(normalise(carried_log_weights(log_w, log_lik, exponent=exponent, previous=previous)))


def test_the_weights_of_two_steps_are_those_of_one_and_a_better_hypothesis_gains_weight():
    half = carried_log_weights(np.zeros(4), UNEVEN, exponent=0.3, previous=0.0)
    assert carried_log_weights(half, UNEVEN, exponent=1.0, previous=0.3) == pytest.approx(UNEVEN)
    w = normalise(carried_log_weights(np.zeros(4), UNEVEN, exponent=0.5, previous=0.1))
    assert w == pytest.approx(np.exp(0.4 * UNEVEN) / np.exp(0.4 * UNEVEN).sum())
    assert w.tolist() == sorted(w, reverse=True)


def test_no_step_leaves_the_weights_alone_even_where_nothing_explains_the_data():
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


def test_hypotheses_that_cannot_be_told_apart_go_to_the_end_at_once():
    assert next_exponent(np.zeros(3), np.full(3, -7.0), previous=0.0, ceiling=1.0, target=2.9) == 1.0
    assert next_exponent([0.0], [-7.0], previous=0.0, ceiling=0.5, target=0.5) == 0.5
    assert next_exponent(np.zeros(4), UNEVEN, previous=1.0, ceiling=1.0, target=2.0) == 1.0


def test_where_no_step_keeps_the_ess_the_exponent_still_moves():
    log_lik = np.array([-np.inf, -np.inf, -np.inf, -1.0])
    found = next_exponent(np.zeros(4), log_lik, previous=0.25, ceiling=1.0, target=2.0)
    assert 0.25 < found < 0.2501
