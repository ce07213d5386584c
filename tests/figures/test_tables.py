"""On real tables a population does about as well as a small tree."""

from statistics import mean

import pytest

from tests.figures.reached import SEEDS, dataset, reached
from tests.performance.demo import majority, tree


@pytest.mark.parametrize("name", ["iris", "penguins", "gapminder"])
def test_smc_is_near_a_small_tree_and_far_above_the_majority(name: str) -> None:
    data = [dataset(name, seed) for seed in SEEDS]
    accuracy = mean(reached(name, "smc"))
    assert accuracy >= mean(map(tree, data)) - 0.10
    assert accuracy >= mean(map(majority, data)) + 0.10
