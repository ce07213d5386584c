"""The judgement of `make soak`: a steady rise is told from noise."""

import random

import pytest

from tests.soak.trend import trend

TIMES = [10.0 * i for i in range(180)]


def noisy(seed: int, an_hour: float) -> list[float]:
    """Memory that wanders by some MB, and rises by so much an hour."""
    numbers, level, found = random.Random(seed), 0.0, []
    for at in TIMES:
        level = 0.9 * level + numbers.gauss(0, 1)
        found.append(300 + level + an_hour * at / 3600)
    return found


def test_a_line_has_its_slope_and_no_error() -> None:
    found = trend(TIMES, [300 + at / 60 for at in TIMES])
    assert found.slope == pytest.approx(60)
    assert found.error == pytest.approx(0, abs=1e-6)


@pytest.mark.parametrize("seed", range(20))
def test_a_rise_is_told_from_noise(seed: int) -> None:
    assert trend(TIMES, noisy(seed, 0)).least < 10
    assert trend(TIMES, noisy(seed, 60)).least > 10


def test_two_measurements_are_no_trend() -> None:
    with pytest.raises(ValueError, match="2 values"):
        trend([0, 10], [1, 2])
