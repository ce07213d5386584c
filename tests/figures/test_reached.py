"""Accuracies of the demo model with the samplers; `make bench-demo` prints all of them.

The runs are deterministic, seeds 0 to 2 of the bench's five: a failure is a change of behaviour, not of luck.
"""

from statistics import mean

import pytest

from tests.performance.demo import reached, simple_accuracies
from vpp.settings import Method

SEEDS = range(3)
RULES = ("sum-parity", "contains-zero")


def accuracies(name: str, method: Method) -> list[float]:
    return [reached(name, method, seed).test for seed in SEEDS]


@pytest.mark.parametrize("name", [*RULES, "two-circles"])
def test_smc_finds_the_rule(name: str) -> None:
    assert mean(accuracies(name, "smc")) >= 0.95


def test_a_single_hypothesis_fails_visibly_on_some_seeds() -> None:
    assert min(value for name in RULES for value in accuracies(name, "vml")) < 0.8


@pytest.mark.parametrize("name", ["iris", "penguins", "gapminder"])
def test_smc_is_near_a_small_tree_and_far_above_a_constant(name: str) -> None:
    accuracy, simple = mean(accuracies(name, "smc")), simple_accuracies(name, SEEDS)
    assert accuracy >= simple["tree"] - 0.10
    assert accuracy >= simple["constant"] + 0.10
