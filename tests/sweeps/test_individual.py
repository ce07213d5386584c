"""Each particle's own metric in a run's result, and what five runs are reported as."""

import math

import pytest

from tests.reporting.builders import NUMBERS, YES_NO, evaluated
from vpp.runs.summary import own_metrics, picked


def test_a_particles_metric_counts_an_abstention_as_wrong_or_as_the_training_range_off() -> None:
    votes = evaluated(YES_NO, {"a": ["yes", "no", "no"], "b": [None, "no", "no"]}, slots=("a", "b"))
    assert own_metrics(YES_NO, votes) == pytest.approx([1, 2 / 3])
    numbers = evaluated(NUMBERS, {"a": [3.0, 5.0], "b": [None, 3.0]}, slots=("a", "b"))
    assert own_metrics(NUMBERS, numbers) == pytest.approx([4, 4**2 / 2])


def test_a_run_without_evaluation_has_no_metric() -> None:
    assert own_metrics(NUMBERS, None) is None
    assert picked(None, None, is_error=True) == {"oracle_best_test": None, "best_on_train": None}


@pytest.mark.parametrize(
    ("test", "train", "is_error", "oracle", "pick"),
    [
        ([9.0, 2.0, 3.0], [1.0, 8.0, 0.5], True, 2.0, 3.0),
        ([0.5, 1.0, 0.9], [0.8, 0.7, 0.95], False, 1.0, 0.9),
        ([0.5, 1.0, 0.9], [0.9, 0.9, 0.1], False, 1.0, 0.5),
        ([math.inf, math.inf], [math.inf, 1.0], True, "Infinity", "Infinity"),
    ],
)
def test_the_oracle_looks_at_the_test_rows_and_the_user_at_the_training_rows(
    test: list[float], train: list[float], is_error: bool, oracle: object, pick: object
) -> None:
    assert picked(test, train, is_error=is_error) == {"oracle_best_test": oracle, "best_on_train": pick}
