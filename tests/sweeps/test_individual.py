"""Each particle's own metric in a run's result, and what five runs are reported as."""

import math
from typing import Any

import pytest

from vpp.data.build import build_dataset
from vpp.data.dataset import Dataset
from vpp.data.split import SplitPlan
from vpp.data.table import Table
from vpp.data.tasks import generate
from vpp.events import Evaluated
from vpp.runs.summary import own_metrics, picked


def dataset(task: str, target: str) -> Dataset:
    table = Table.read(generate(task, train_size=6, test_size=4), name="t.csv")
    return build_dataset(table, target=target, split=SplitPlan(train_size=6, test_size=4, test_fraction=0.4))


def evaluated(data: Dataset, *predictions: tuple[Any, ...]) -> Evaluated:
    return Evaluated(
        step=0,
        split="test",
        rows=tuple(row.id for row in data.test),
        hypotheses=tuple("ab"[: len(predictions)]),
        predictions=predictions,
        weights=tuple(1 / len(predictions) for _ in predictions),
        metric="accuracy" if data.task == "classification" else "mse",
        value=0.0,
    )


def test_a_particles_accuracy_counts_its_abstentions_as_wrong() -> None:
    data = dataset("sum-parity", "label")
    right = tuple(row.target for row in data.test)
    assert own_metrics(data, evaluated(data, right, (None, *right[1:]))) == [1.0, 0.75]


def test_a_particles_squared_error_takes_an_abstention_as_the_training_range() -> None:
    data = dataset("linear", "y")
    targets = [float(row.target) for row in data.test if row.target is not None]
    train = [float(row.target) for row in data.train if row.target is not None]
    span = max(train) - min(train)
    off_by_two = tuple(y + 2 for y in targets)
    assert own_metrics(data, evaluated(data, off_by_two, (None, *targets[1:]))) == [
        pytest.approx(4.0),
        pytest.approx(span**2 / 4),
    ]


def test_a_run_without_evaluation_has_no_metric() -> None:
    assert own_metrics(dataset("linear", "y"), None) is None
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
