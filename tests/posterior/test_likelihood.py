"""The two likelihoods against literal sums (Eq. 5 and 6), and tau from the data."""

import math
import statistics

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vpp.posterior.likelihood import (
    GaussianLikelihood,
    ZeroOneLikelihood,
    auto_tau,
    correct,
    least_tau,
    regression_errors,
)

numbers = st.floats(-1e3, 1e3)
labels = st.sampled_from(["a", "b", "c"])


def rows_of(values):
    """Pairs of an answer, which may be an abstention, and a target."""
    return st.lists(st.tuples(st.none() | values, values), max_size=12)


@settings(deadline=None)
@given(rows_of(numbers), st.floats(1e-3, 1e3), st.floats(0, 100))
def test_regression_equals_the_literal_sum_of_eq_5(rows, tau, target_range):
    likelihood = GaussianLikelihood(tau=tau, abstention_error=target_range)
    terms = likelihood.terms([f for f, _ in rows], [y for _, y in rows])
    literal = [-((target_range if f is None else y - f) ** 2) / (2 * tau) for f, y in rows]
    assert terms.tolist() == pytest.approx(literal, rel=1e-12)


@settings(deadline=None)
@given(rows_of(labels), st.floats(1e-6, 0.9))
def test_classification_equals_the_literal_sum_of_eq_6(rows, epsilon):
    terms = ZeroOneLikelihood(epsilon=epsilon).terms([f for f, _ in rows], [y for _, y in rows])
    literal = [math.log(1 - epsilon) if f is not None and f == y else math.log(epsilon) for f, y in rows]
    assert terms.tolist() == pytest.approx(literal, rel=1e-9)


def test_a_prediction_too_far_off_for_floating_point_counts_as_minus_infinity():
    terms = GaussianLikelihood(tau=1.0, abstention_error=1.0).terms([1e200, 0.0], [0.0, 0.0])
    assert terms.tolist() == [-math.inf, 0.0]


def test_answers_and_targets_must_be_as_many():
    with pytest.raises(ValueError, match="zip"):
        ZeroOneLikelihood(epsilon=0.05).terms(["a"], ["a", "b"])
    # (1,) against (3,) would broadcast
    for answers in ([1.0, 2.0], [1.0]):
        with pytest.raises(ValueError, match="predictions for 3 targets"):
            GaussianLikelihood(tau=1.0, abstention_error=1.0).terms(answers, [1.0, 2.0, 3.0])


def test_a_row_without_a_target_has_no_error():
    with pytest.raises(ValueError, match="without a target"):
        regression_errors([1.0, 2.0], [1.0, None], abstention_error=1.0)


def test_errors_are_prediction_minus_target():
    assert regression_errors([3.0, None, 1.0], [1.0, 1.0, 4.0], abstention_error=9.0).tolist() == [2.0, 9.0, -3.0]


def test_labels_are_right_only_when_they_are_the_target():
    assert correct(["a", "b", None, "A"], ["a", "a", "a", "a"]).tolist() == [True, False, False, False]


@settings(deadline=None)
@given(st.lists(numbers, min_size=1, max_size=15), st.lists(numbers, min_size=4, max_size=30, unique=True))
def test_auto_tau_is_the_larger_of_the_robust_variance_and_its_floor(errors, targets):
    median = statistics.median(errors)
    mad = 1.4826 * statistics.median(abs(e - median) for e in errors)
    q25, _, q75 = statistics.quantiles(targets, n=4, method="inclusive")
    assert auto_tau(errors, targets) == pytest.approx(max(mad, 0.01 * (q75 - q25)) ** 2, rel=1e-6, abs=1e-299)


def test_auto_tau_falls_back_to_the_range_where_the_quartiles_coincide():
    assert auto_tau([0.0], [5.0] * 9 + [105.0]) == pytest.approx(1.0)


def test_auto_tau_of_a_constant_target_is_floored_at_a_hundredth_of_it():
    assert auto_tau([0.0, 0.0], [5.0, 5.0]) == pytest.approx(0.05**2)
    assert auto_tau([0.0], [0.0, 0.0]) == pytest.approx(1e-12)


def test_auto_tau_of_a_target_that_is_mostly_one_value_sees_the_rows_that_differ():
    """Nine of ten zero: quartiles and MAD are 0; one miss of 50 has a mean square of 250."""
    assert auto_tau([0.0] * 9 + [-50.0], [0.0] * 90 + [50.0] * 10) == pytest.approx(250.0)
    assert auto_tau([0.0] * 10, [0.0] * 90 + [50.0] * 10) == pytest.approx(0.5**2)
    assert least_tau([0.0] * 90 + [50.0] * 10) == pytest.approx(0.5**2)


@pytest.mark.parametrize("unit", [1e-200, 1e-160, 1e160, 1e300])
def test_auto_tau_is_a_positive_number_in_any_unit(unit):
    tau = auto_tau([unit, -unit, 0.0], [0.0, unit, 2 * unit])
    assert 0 < tau < math.inf


def test_labels_that_share_epsilon_make_the_masses_of_all_labels_sum_to_one():
    labels = ("a", "b", "c", "d")
    shared = ZeroOneLikelihood(epsilon=0.2, n_shares=3)
    masses = [np.exp(shared.terms([label], ["a"])[0]) for label in labels]
    assert sum(masses) == pytest.approx(1.0)
    assert masses[0] == pytest.approx(0.8)


@pytest.mark.parametrize("n_shares", [1, 4])
def test_the_usual_term_is_that_of_the_noise_as_supposed(n_shares):
    zero_one = ZeroOneLikelihood(epsilon=0.1, n_shares=n_shares)
    assert zero_one.terms(["a"] * 9 + ["b"], ["a"] * 10).mean() == pytest.approx(zero_one.usual_term)
    gaussian = GaussianLikelihood(tau=4.0, abstention_error=1.0)
    assert gaussian.terms([2.0, -2.0], [0.0, 0.0]).mean() == pytest.approx(gaussian.usual_term)
