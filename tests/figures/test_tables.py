"""On real tables a population does about as well as a small tree."""

from pathlib import Path
from statistics import mean

import pytest

from tests.figures.reached import SEEDS, reached_by
from tests.performance.demo import Outcome, dataset, majority, measure, tree

TABLES = ("iris", "penguins", "gapminder")


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> list[Outcome]:
    return measure(TABLES, ("smc",), SEEDS, tmp_path_factory.mktemp("bench"))


@pytest.mark.parametrize("name", TABLES)
def test_smc_is_near_a_small_tree_and_far_above_the_majority(outcomes: list[Outcome], name: str) -> None:
    data = [dataset(Path(o.folder)) for o in outcomes if o.name == name]
    reached = mean(reached_by(outcomes, name, "smc"))
    assert reached >= mean(map(tree, data)) - 0.10
    assert reached >= mean(map(majority, data)) + 0.10
