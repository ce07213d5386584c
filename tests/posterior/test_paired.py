"""Paired differences of losses and the sign test."""

import math

import numpy as np
import pytest
from scipy.stats import binom

from vpp.posterior.metric import CHANCE, paired_difference, sign_test


def test_a_difference_is_of_the_same_rows_one_by_one() -> None:
    found = paired_difference([1, 0, 0, 0], [0, 0, 1, 1])
    # Differences 1, 0, -1, -1: mean -1/4; squares about the mean 25/16 + 1/16 + 9/16 + 9/16 = 11/4, over 3, root of
    # that over root of 4.
    assert (found.n, found.mean, found.better, found.worse) == (4, -0.25, 2, 1)
    assert found.standard_error == pytest.approx(math.sqrt(11 / 12) / 2)
    assert paired_difference([1.0], [0.5]).standard_error is None


def test_infinite_losses_warn_of_nothing() -> None:
    found = paired_difference([math.inf, 1.0], [math.inf, 2.0])
    assert math.isnan(found.mean)
    assert (found.better, found.worse) == (1, 0)


@pytest.mark.parametrize(
    ("better", "worse", "p"),
    [
        (0, 0, 1.0),
        (1, 0, 1.0),  # 2 * 1/2
        (3, 0, 0.25),  # 2 * 1/8
        (5, 2, 2 * (1 + 7 + 21) / 128),
        (2, 2, 1.0),  # 2 * (1 + 4 + 6) / 16 is more than 1
        (10, 0, 2 / 1024),
    ],
)
def test_the_sign_test_is_the_exact_two_sided_one(better: int, worse: int, p: float) -> None:
    assert sign_test(better, worse) == pytest.approx(p, rel=1e-12)


def test_the_best_of_a_hundred_equal_texts_is_seldom_called_better() -> None:
    """A vote and 100 texts err on 30 % of 40 rows: uncorrected, some text is called better in 32 % of the runs."""
    n_runs = 400
    wrong = np.random.default_rng(0).random((n_runs, 101, 40)) < 0.3
    better, worse = (wrong[:, :1] & ~wrong[:, 1:]).sum(2), (~wrong[:, :1] & wrong[:, 1:]).sum(2)
    best = [
        (b[i], w[i]) for b, w in zip(better.tolist(), worse.tolist(), strict=True) for i in [np.subtract(b, w).argmax()]
    ]
    corrected, alone = (sum(sign_test(b, w, best_of=n) < CHANCE for b, w in best) for n in (100, 1))
    # At a rate of 5 %, more alarms than this have a probability below one in a million.
    assert corrected <= binom.isf(1e-6, n_runs, 0.05) < alone
