"""The two likelihoods against literal sums (Eq. 5 and 6), and tau from the data."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from vpp.posterior import likelihood as likelihoods
from vpp.posterior.likelihood import (
    GaussianLikelihood,
    IntegratedGaussian,
    IntegratedZeroOne,
    ZeroOneLikelihood,
    correct,
    integrated_gaussian,
    regression_errors,
)

numbers = st.floats(-1e3, 1e3)
labels = st.sampled_from(["a", "b", "c"])


def rows_of(values):
    """Pairs of an answer, which may be an abstention, and a target."""
    return st.lists(st.tuples(st.none() | values, values), max_size=12)


@given(rows_of(numbers), st.floats(1e-3, 1e3), st.floats(0, 100))
def test_regression_equals_the_literal_sum_of_eq_5(rows, tau, target_range):
    likelihood = GaussianLikelihood(tau=tau, abstention_error=target_range)
    terms = likelihood.terms([f for f, _ in rows], [y for _, y in rows])
    literal = [-((target_range if f is None else y - f) ** 2) / (2 * tau) for f, y in rows]
    assert terms.tolist() == pytest.approx(literal, rel=1e-12)


@given(rows_of(labels), st.floats(1e-6, 0.9))
def test_classification_equals_the_literal_sum_of_eq_6(rows, epsilon):
    terms = ZeroOneLikelihood(epsilon=epsilon).terms([f for f, _ in rows], [y for _, y in rows])
    literal = [math.log(1 - epsilon) if f is not None and f == y else math.log(epsilon) for f, y in rows]
    assert terms.tolist() == pytest.approx(literal, rel=1e-9)


def test_a_prediction_too_far_off_for_floating_point_counts_as_minus_infinity_and_only_the_target_is_right():
    terms = GaussianLikelihood(tau=1.0, abstention_error=1.0).terms([1e200, 0.0], [0.0, 0.0])
    assert terms.tolist() == [-math.inf, 0.0]
    assert regression_errors([3.0, None, 1.0], [1.0, 1.0, 4.0], abstention_error=9.0).tolist() == [2.0, 9.0, -3.0]
    assert correct(["a", "b", None, "A"], ["a", "a", "a", "a"]).tolist() == [True, False, False, False]


def test_answers_and_targets_must_be_as_many_and_no_target_missing():
    with pytest.raises(ValueError, match="zip"):
        ZeroOneLikelihood(epsilon=0.05).terms(["a"], ["a", "b"])
    # (1,) against (3,) would broadcast
    for answers in ([1.0, 2.0], [1.0]):
        with pytest.raises(ValueError, match="predictions for 3 targets"):
            GaussianLikelihood(tau=1.0, abstention_error=1.0).terms(answers, [1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match="without a target"):
        regression_errors([1.0, 2.0], [1.0, None], abstention_error=1.0)


def by_sum(log_p, grid):
    """log of the integral of exp(log_p) over an even grid."""
    return float(np.logaddexp.reduce(log_p) + math.log(grid[1] - grid[0]))


EPSILONS = (np.arange(20_000) + 0.5) / 20_000
PRIOR_OF_EPSILON = 8 * np.log(1 - EPSILONS) + math.log(9)
"""Beta(1, 9)."""


@given(st.lists(st.sampled_from(["a", "b", "c"]), max_size=30))
def test_labels_with_their_noise_integrated_out_are_the_integral(answers):
    n_right = answers.count("a")
    rows = n_right * np.log(1 - EPSILONS) + (len(answers) - n_right) * np.log(EPSILONS / 2)
    log_lik = IntegratedZeroOne(n_shares=2).log_likelihood(answers, ["a"] * len(answers))
    assert log_lik == pytest.approx(by_sum(rows + PRIOR_OF_EPSILON, EPSILONS), abs=1e-3)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30))
def test_graded_labels_with_their_noise_integrated_out_are_the_integral(shares):
    likelihood, answers = IntegratedZeroOne(n_shares=1), [{"a": share, "b": 1 - share} for share in shares]
    rows = sum(np.log(share * (1 - EPSILONS) + (1 - share) * EPSILONS) for share in shares)
    log_lik = likelihood.log_likelihood(answers, ["a"] * len(answers))
    assert log_lik == pytest.approx(by_sum(rows + PRIOR_OF_EPSILON, EPSILONS), abs=1e-3)


def test_certain_grades_are_labels_and_a_silence_is_a_blind_guess():
    targets, fixed = ["a"] * 6, ZeroOneLikelihood(epsilon=0.1, n_shares=2)
    labels, grades = ["a", "a", None, "b", "a", "a"], [{"a": 1.0}, {"a": 1.0}, None, {"b": 1.0}, {"a": 1.0}, {"a": 1.0}]
    assert fixed.terms(grades, targets) == pytest.approx(fixed.terms(labels, targets), rel=1e-12)
    likelihood = IntegratedZeroOne(n_shares=1)
    assert likelihood.log_likelihood(grades, targets) == pytest.approx(likelihood.log_likelihood(labels, targets))
    # half right and half wrong: a + w = 2.5 and b + r = 13.5 of 16
    assert likelihood.noise(labels, targets).estimate == pytest.approx(2.5 / 16)
    silent, right, wrong = (likelihood.log_likelihood(["a"] * 5 + [each], targets) for each in (None, "a", "b"))
    assert wrong < silent < right


@pytest.mark.parametrize("likelihood", [ZeroOneLikelihood(epsilon=0.05, n_shares=2), IntegratedZeroOne(n_shares=2)])
def test_a_grade_that_vanishes_becomes_an_abstention_without_a_jump(likelihood):
    log_lik = [likelihood.log_likelihood([grade, {"a": 0.9}], ["a"] * 2) for grade in ({"a": 1e-9}, {"b": 1e-9}, None)]
    assert log_lik == pytest.approx([log_lik[-1]] * 3, abs=1e-6)


@given(st.lists(st.sampled_from(["a", "b", None]), max_size=20))
def test_the_law_of_one_more_label_is_the_ratio_of_two_integrals(answers):
    likelihood, targets = IntegratedZeroOne(n_shares=1), ["a"] * len(answers)
    law, before = likelihood.predictive(answers, targets), likelihood.log_likelihood(answers, targets)
    for more in ("a", "b"):
        after = likelihood.log_likelihood([*answers, more], [*targets, "a"])
        assert law.terms([more], ["a"])[0] == pytest.approx(after - before, abs=1e-9)


TAUS = np.linspace(-14, 14, 20_000)
"""Logarithms of tau."""


@given(st.lists(st.floats(-5, 5), max_size=20), st.floats(0.05, 5))
def test_numbers_with_their_noise_integrated_out_are_the_integral(errors, scale):
    likelihood, tau = IntegratedGaussian(scale=scale, abstention_error=1.0), np.exp(TAUS)
    rows = sum((-0.5 * np.log(2 * math.pi * tau) - error**2 / (2 * tau) for error in errors), start=0 * tau)
    # InvGamma(1, scale), times tau for the logarithmic grid
    prior = math.log(scale) - 2 * TAUS - scale / tau + TAUS
    log_lik = likelihood.log_likelihood(errors, [0.0] * len(errors))
    assert log_lik == pytest.approx(by_sum(rows + prior, TAUS), abs=1e-3)


@pytest.mark.parametrize("noise", [0.0, 0.05, 0.1, 0.2, 0.3])
def test_the_interval_of_the_noise_holds_the_noise(noise):
    """200 tables of 100 rows; the mass is 95 %."""
    rng, likelihood, hits = np.random.default_rng(1), IntegratedZeroOne(), 0
    for _ in range(200):
        answers = ["b" if wrong else "a" for wrong in rng.random(100) < noise]
        estimate = likelihood.noise(answers, ["a"] * 100)
        hits += (estimate.low <= noise or noise == 0) and noise <= estimate.high
    assert hits >= 170


def test_the_interval_of_the_noise_of_numbers_holds_its_mass():
    noise = IntegratedGaussian(scale=1.0, abstention_error=1.0).noise([1.0, -1.0, 2.0, 0.0], [0.0] * 4)
    density = np.exp(-3 * TAUS - 4 / np.exp(TAUS))  # InvGamma(3, 4), on the logarithmic grid
    tails = (density[np.exp(TAUS) < noise.low**2].sum(), density[np.exp(TAUS) > noise.high**2].sum())
    assert tails == pytest.approx([0.025 * density.sum()] * 2, rel=1e-2)


@pytest.mark.parametrize("unit", [1e-200, 1e-160, 1.0, 1e160, 1e300])
@pytest.mark.parametrize("targets", [(0.0, 1.0, 2.0), (5.0, 5.0), (0.0, 0.0), (*[0.0] * 9, 1.0)])
def test_the_likelihood_of_numbers_is_finite_or_minus_infinity_in_any_unit(unit, targets):
    likelihood = integrated_gaussian([unit * target for target in targets])
    assert 0 < likelihood.scale < math.inf
    for answers in ((unit, -unit), (None, unit), ()):
        log_lik = likelihood.log_likelihood(answers, [0.0] * len(answers))
        assert log_lik < math.inf
        assert 0 < likelihood.predictive(answers, [0.0] * len(answers)).tau < math.inf


@pytest.mark.parametrize(
    ("answer", "right"), [("a", 0.8), ({"a": 1.0}, 0.8), ({"a": 0.5, "b": 0.3, "c": 0.2}, 0.5 * 0.8 + 0.5 * 0.2 / 3)]
)
def test_labels_that_share_epsilon_make_the_masses_of_all_labels_sum_to_one(answer, right):
    shared, labels = ZeroOneLikelihood(epsilon=0.2, n_shares=3), ["a", "b", "c", "d"]
    masses = np.exp(shared.terms([answer] * 4, labels))
    assert (masses.sum(), masses[0]) == pytest.approx((1, right), rel=1e-12)


def test_rows_of_any_noise_are_as_probable_under_priors_like_this_one_and_a_nat_less_under_the_uniform(monkeypatch):
    """The mean of log p(D | theta) over the errors of 50 to 200 rows with 0 to 30 % of the labels flipped."""

    def evidence(prior, n):
        monkeypatch.setattr(likelihoods, "ERROR_PRIOR", prior)
        each = [IntegratedZeroOne().log_likelihood(["a"] * n, ["a"] * (n - w) + ["b"] * w) for w in range(n + 1)]
        return np.mean([binom.pmf(range(n + 1), n, flips) @ each for flips in (0, 0.05, 0.1, 0.2, 0.3)])

    for n in (50, 100, 200):
        chosen, *others, uniform = [evidence(prior, n) for prior in ((1, 9), (1, 5), (0.7, 5), (1, 1))]
        assert others == pytest.approx([chosen] * 2, abs=0.11)
        assert 0.9 < chosen - uniform < 1.1
