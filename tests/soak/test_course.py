import random

from tests.soak.course import trend

TIMES = [10.0 * i for i in range(180)]


def noisy(seed: int, an_hour: float) -> list[float]:
    """Return memory that wanders by some MB and rises by a rate."""
    numbers, level, values = random.Random(seed), 0.0, []
    for at in TIMES:
        level = 0.9 * level + numbers.gauss(0, 1)
        values.append(300 + level + an_hour * at / 3600)
    return values


def test_a_steady_rise_is_distinguished_from_noise() -> None:
    assert max(trend(TIMES, noisy(seed, 0)).least for seed in range(20)) < 10
    assert min(trend(TIMES, noisy(seed, 60)).least for seed in range(20)) > 10
