"""What the demo model and the samplers must reach together, through the command line; `make bench` prints the table.

The runs are deterministic, seeds 0 to 4: a failure is a change of behaviour, not of luck.
"""

from pathlib import Path
from statistics import mean

import pytest

from tests import bench

RULES = ("sum-parity", "contains-zero")
SEEDS = 5


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> list[bench.Outcome]:
    folder = tmp_path_factory.mktemp("bench")
    return [
        *bench.measure((*RULES, "two-circles"), ("vml", "smc"), SEEDS, folder),
        *bench.measure(("iris", "penguins", "gapminder"), ("smc",), SEEDS, folder),
    ]


def reached_by(outcomes: list[bench.Outcome], name: str, method: str) -> list[float]:
    found = [o.test for o in outcomes if (o.name, o.method) == (name, method)]
    assert len(found) == SEEDS
    return found


@pytest.mark.parametrize("name", [*RULES, "two-circles"])
def test_smc_finds_the_rule(outcomes: list[bench.Outcome], name: str) -> None:
    assert mean(reached_by(outcomes, name, "smc")) >= 0.95


def test_a_single_hypothesis_fails_visibly_on_some_seeds(outcomes: list[bench.Outcome]) -> None:
    assert min(value for name in RULES for value in reached_by(outcomes, name, "vml")) < 0.8


@pytest.mark.parametrize("name", ["iris", "penguins", "gapminder"])
def test_smc_is_near_a_small_tree_and_far_above_the_majority(outcomes: list[bench.Outcome], name: str) -> None:
    data = [bench.dataset(Path(o.folder)) for o in outcomes if o.name == name]
    reached = mean(reached_by(outcomes, name, "smc"))
    assert reached >= mean(map(bench.tree, data)) - 0.10
    assert reached >= mean(map(bench.majority, data)) + 0.10
