"""On the tasks with a rule, a population finds what a single hypothesis may miss."""

from statistics import mean

import pytest

from tests.figures.reached import reached

RULES = ("sum-parity", "contains-zero")


@pytest.mark.parametrize("name", [*RULES, "two-circles"])
def test_smc_finds_the_rule(name: str) -> None:
    assert mean(reached(name, "smc")) >= 0.95


def test_a_single_hypothesis_fails_visibly_on_some_seeds() -> None:
    assert min(value for name in RULES for value in reached(name, "vml")) < 0.8
