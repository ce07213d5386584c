"""Weights are as sure as the data allow: of sentences with weight 0.9, nine in ten are the right one."""

import numpy as np
import pytest

from vpp.posterior.likelihood import IntegratedGaussian, IntegratedZeroOne, Likelihood, ZeroOneLikelihood
from vpp.posterior.weights import normalise

TABLES, SENTENCES, ROWS = 5_000, 6, 30
NOISES = (0.0, 0.05, 0.1, 0.2, 0.3)
BINS = np.linspace(0, 1, 6)
FEWEST = 400
"""Weights of a bin that is judged: the standard error of its share is under 0.025, so of five right bins one in 3,000
lies 0.1 off."""


def weights_and_truth(likelihood: Likelihood) -> tuple[np.ndarray, np.ndarray]:
    """(T, K) weights, and whether each is of the true sentence.

    Sentences answer alike on most rows; one of them, each with the same chance, makes the labels of its table, and a
    share of these is flipped.
    """
    rng = np.random.default_rng(0)
    weights, truth = [], []
    for table in range(TABLES):
        common = rng.integers(0, 2, ROWS)
        answers = np.where(rng.random((SENTENCES, ROWS)) < 0.1, 1 - common, common)
        true = int(rng.integers(SENTENCES))
        noise = NOISES[table % len(NOISES)]
        labels = np.where(rng.random(ROWS) < noise, 1 - answers[true], answers[true])
        targets = [str(label) for label in labels]
        log_lik = [likelihood.log_likelihood([str(answer) for answer in each], targets) for each in answers]
        weights.append(normalise(log_lik))
        truth.append(np.arange(SENTENCES) == true)
    return np.array(weights), np.array(truth)


def bins(likelihood: Likelihood) -> list[tuple[float, float]]:
    """Mean weight, and share of true sentences, of each bin with rows enough, the surest last."""
    weights, truth = weights_and_truth(likelihood)
    place = np.digitize(weights, BINS[1:-1])
    members = [place == each for each in range(len(BINS) - 1)]
    return [(weights[each].mean(), truth[each].mean()) for each in members if each.sum() >= FEWEST]


def test_weights_are_calibrated_at_any_noise_if_it_is_integrated_out() -> None:
    pairs = bins(IntegratedZeroOne())
    assert len(pairs) == len(BINS) - 1
    assert all(abs(weight - share) < 0.1 for weight, share in pairs), pairs


def test_weights_of_a_noise_that_is_given_are_too_sure() -> None:
    """One in ten of the sentences with nearly all weight is wrong; the share's standard error is under 0.01."""
    weight, share = bins(ZeroOneLikelihood(epsilon=0.05))[-1]
    assert weight > 0.97
    assert share < 0.93


@pytest.mark.parametrize("noise", NOISES)
def test_the_interval_of_the_noise_holds_the_noise(noise: float) -> None:
    rng = np.random.default_rng(1)
    likelihood, hits = IntegratedZeroOne(), 0
    for _ in range(200):
        answers = ["b" if wrong else "a" for wrong in rng.random(100) < noise]
        estimate = likelihood.noise(answers, ["a"] * 100)
        hits += (estimate.low <= noise or noise == 0) and noise <= estimate.high
    assert hits >= 170


def test_the_noise_of_numbers_is_found_in_their_unit() -> None:
    errors = np.random.default_rng(2).normal(0, 3.0, 400).tolist()
    estimate = IntegratedGaussian(scale=1.0, abstention_error=1.0).noise(errors, [0.0] * 400)
    assert estimate.low < 3.0 < estimate.high
    assert estimate.high < 1.25 * estimate.low
