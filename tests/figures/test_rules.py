"""On the tasks with a rule, a population finds what a single hypothesis may miss."""

from statistics import mean

import pytest

from tests.figures.reached import SEEDS, reached_by
from tests.performance.demo import Outcome, measure

RULES = ("sum-parity", "contains-zero")


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> list[Outcome]:
    return measure((*RULES, "two-circles"), ("vml", "smc"), SEEDS, tmp_path_factory.mktemp("bench"))


@pytest.mark.parametrize("name", [*RULES, "two-circles"])
def test_smc_finds_the_rule(outcomes: list[Outcome], name: str) -> None:
    assert mean(reached_by(outcomes, name, "smc")) >= 0.95


def test_a_single_hypothesis_fails_visibly_on_some_seeds(outcomes: list[Outcome]) -> None:
    assert min(value for name in RULES for value in reached_by(outcomes, name, "vml")) < 0.8
