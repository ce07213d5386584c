"""Figures of answers, paired differences of losses and the sign test: by hand, and against scikit-learn."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, binomtest, wilcoxon
from sklearn.metrics import balanced_accuracy_score, mean_absolute_error, mean_squared_error, r2_score

from vpp.posterior import metric

LABELS = st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("abc")), min_size=1, max_size=40)
NUMBERS = st.lists(st.tuples(st.integers(-9, 9), st.integers(-9, 9)), min_size=2, max_size=40)
SCALES = st.sampled_from([1e-9, 1.0, 1e12, 1e150])


def test_a_rare_label_counts_as_much_as_a_common_one_and_an_abstention_is_wrong():
    assert metric.balanced_accuracy(["a"] * 10, ["a"] * 8 + ["b"] * 2) == 0.5
    assert metric.balanced_accuracy(["a", None, "b", "b"], ["a", "a", "b", "b"]) == 0.75


@given(LABELS)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_balanced_accuracy_is_scikit_learns(pairs):
    answers, targets = zip(*pairs, strict=True)
    assert metric.balanced_accuracy(answers, targets) == pytest.approx(balanced_accuracy_score(targets, answers))


def errors_of(answers, targets, **of):
    return [
        each(answers, targets, **of)
        for each in (metric.mean_squared_error, metric.mean_absolute_error, metric.r_squared)
    ]


@given(NUMBERS, SCALES)
def test_errors_of_numbers_are_scikit_learns_at_any_scale(pairs, scale):
    answers, targets = ([scale * v for v in each] for each in zip(*pairs, strict=True))
    mse, mae, r2 = errors_of(answers, targets, abstention_error=1.0)
    assert mse == pytest.approx(mean_squared_error(targets, answers), rel=1e-9)
    assert mae == pytest.approx(mean_absolute_error(targets, answers), rel=1e-9)
    if len(set(targets)) == 1:
        assert r2 is None
    elif scale < 1e100:
        assert r2 == pytest.approx(r2_score(targets, answers), rel=1e-9, abs=1e-9)


def test_an_abstention_is_off_by_the_range_and_the_largest_errors_warn_of_nothing():
    assert errors_of([1.0, None], [1.0, 5.0], abstention_error=4.0) == [8.0, 2.0, -1.0]
    assert errors_of([1.5e308] * 2, [0.0, 0.0], abstention_error=1.0) == [math.inf, math.inf, None]


def test_a_difference_is_of_the_same_rows_one_by_one_and_infinite_losses_warn_of_nothing():
    difference = metric.paired_difference([1, 0, 0, 0], [0, 0, 1, 1])
    assert (difference.n, difference.mean, difference.better, difference.worse) == (4, -0.25, 2, 1)
    difference = metric.paired_difference([math.inf, 1.0, math.inf], [math.inf, 2.0, 7.0])
    assert math.isnan(difference.mean)
    assert (difference.better, difference.worse, difference.p) == (1, 1, 1.0)


def test_the_sizes_of_differences_count_where_they_vary_and_p_is_corrected_for_the_choice():
    """Worse on 38 rows of 60, by far, and better on 22, by little: no clear difference by the signs alone."""
    differences, zeros = [*map(float, range(1, 39)), *([-0.5] * 22)], [0.0] * 60
    assert 0.05 < metric.paired_difference(np.sign(differences), zeros).p == pytest.approx(binomtest(22, 60).pvalue)
    difference = metric.paired_difference(differences, zeros, best_of=3)
    assert 0.001 > difference.p == pytest.approx(3 * wilcoxon(differences).pvalue)
    assert (difference.better, difference.worse) == (22, 38)


@given(st.integers(0, 30), st.integers(0, 30))
def test_the_sign_test_is_the_exact_two_sided_one(better, worse):
    p = binomtest(better, better + worse).pvalue if better + worse else 1.0
    assert metric.sign_test(better, worse) == pytest.approx(p, rel=1e-12)


def test_the_best_of_a_hundred_equal_texts_is_seldom_called_better():
    """A vote and 100 texts err on 30 % of 40 rows: uncorrected, some text is called better in 32 % of the runs."""
    n_runs = 400
    wrong = np.random.default_rng(0).random((n_runs, 101, 40)) < 0.3
    better, worse = (wrong[:, :1] & ~wrong[:, 1:]).sum(2), (~wrong[:, :1] & wrong[:, 1:]).sum(2)
    best = [
        (b[i], w[i]) for b, w in zip(better.tolist(), worse.tolist(), strict=True) for i in [np.subtract(b, w).argmax()]
    ]
    corrected, alone = (sum(metric.sign_test(b, w, best_of=n) < metric.CHANCE for b, w in best) for n in (100, 1))
    # At a rate of 5 %, more alarms than this have a probability below one in a million.
    assert corrected <= binom.isf(1e-6, n_runs, 0.05) < alone
