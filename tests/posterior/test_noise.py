"""The noise of a sentence, estimated with an interval."""

import numpy as np
import pytest

from vpp.posterior.likelihood import IntegratedGaussian, IntegratedZeroOne


@pytest.mark.parametrize("noise", [0.0, 0.05, 0.1, 0.2, 0.3])
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
