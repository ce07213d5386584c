"""The seven tasks: exact rules on every row, statistics within stated bounds."""

import io
from collections import Counter

import numpy as np
import pandas as pd
import pytest

from vpp.bench.tasks import TASKS, describe, generate
from vpp.data.build import build_dataset, target_guess
from vpp.data.table import Table
from vpp.errors import InputError

N_SEEDS = 20


def pooled(name: str) -> pd.DataFrame:
    """Rows of N_SEEDS seeds."""
    return pd.concat([pd.read_csv(io.BytesIO(generate(name, seed=seed))) for seed in range(N_SEEDS)])


def assert_mean(values, expected: float, spread: float) -> None:
    """Within 5 standard errors: false alarm 6e-7."""
    assert abs(np.mean(values) - expected) < 5 * spread / np.sqrt(len(values))


def assert_unit_normal(noise) -> None:
    """Mean and variance within 5 standard errors, the latter's being sqrt(2/n): false alarm below 3e-6."""
    assert_mean(noise, 0, 1)
    assert abs(np.var(noise) - 1) < 5 * np.sqrt(2 / len(noise))


def assert_uniform_digits(digits, n_values: int) -> None:
    """Chi-square over the digits: 9 (or 8) degrees of freedom exceed 60 with chance below 2e-9."""
    counts = np.array(list(Counter(np.ravel(digits)).values()))
    assert len(counts) == n_values
    expected = np.size(digits) / n_values
    assert ((counts - expected) ** 2 / expected).sum() < 60


@pytest.mark.parametrize(
    ("name", "first"),
    [
        ("linear", "0.87,7.90"),
        ("poly", "-1.14,6.94"),
        ("sine", "-1.21,1.07"),
        ("two-blobs", "0.87,0.77,1"),
        ("two-circles", "-0.35,-0.91,0"),
        ("sum-parity", "9,6,5,4,1"),
        ("contains-zero", "1,7,4,5,0"),
    ],
)
def test_the_rows_of_a_seed_never_change_and_are_read_back_with_two_decimals(name, first):
    info, content = TASKS[name], generate(name, seed=0)
    _, *lines = content.decode().splitlines()
    assert lines[0] == first
    for line in lines:
        assert "-0.00" not in line
        assert all(cell.lstrip("-").isdigit() or cell[-3] == "." for cell in line.split(","))
    table = Table.read(content, name=f"{name}.csv")
    assert target_guess(table) == info.target
    dataset = build_dataset(table, target=info.target)
    assert (dataset.name, dataset.task, dataset.inputs) == (name, info.task, info.inputs)
    assert (len(dataset.train), len(dataset.test)) == (100, 60)
    assert dataset.classes == (() if info.task == "regression" else ("0", "1"))


@pytest.mark.parametrize(
    ("name", "low", "high", "formula", "noise"),
    [
        ("linear", 0, 2, lambda x: 3 * x + 4, 1.0),
        ("poly", -3, 1, lambda x: 3 * x**2 + x + 2, 1.0),
        ("sine", -3, 3, lambda x: np.sin(x) + 2, 0.01),
    ],
)
def test_regressions_follow_their_formula(name, low, high, formula, noise):
    rows = pooled(name)
    assert rows.x.between(low, high).all()
    assert_mean(rows.x, (low + high) / 2, (high - low) / np.sqrt(12))
    # rounding y to 0.01 adds a variance of 0.01^2 / 12
    assert_unit_normal((rows.y - formula(rows.x)) / np.hypot(noise, 0.01 / np.sqrt(12)))


def test_circles_are_rings_of_known_radius():
    """A point leaves its side of 0.675 with a chance of 8 standard deviations: 1e-15."""
    rows = pooled("two-circles")
    distance = np.hypot(rows.x1, rows.x2)
    assert ((distance < 0.675) == (rows.label == 1)).all()
    for label, radius in ((1, 0.35), (0, 1.0)):
        ring = distance[rows.label == label]
        # noise across the ring adds about noise^2 / (2 radius) to the mean distance; terms beyond it are below 1e-4
        assert abs(ring.mean() - radius - 0.04**2 / (2 * radius)) < 5 * 0.04 / np.sqrt(len(ring)) + 1e-4
        assert abs(ring.std() - 0.04) < 5 * 0.04 / np.sqrt(2 * len(ring)) + 1e-3


def test_blobs_are_unit_gaussians_about_their_centres():
    rows = pooled("two-blobs")
    for label, centre in ((0, -2), (1, 2)):
        for x in ("x1", "x2"):
            assert_unit_normal(rows[rows.label == label][x] - centre)


def test_digits_are_uniform_and_labelled_by_their_rule():
    parity, zeros = pooled("sum-parity"), pooled("contains-zero")
    digits = zeros[list("abcd")]
    assert (parity.label == (parity[list("abcd")].sum(axis=1) % 2 == 0)).all()
    assert (zeros.label == (digits == 0).any(axis=1)).all()
    assert_uniform_digits(parity[list("abcd")], 10)
    assert_uniform_digits(digits[zeros.label == 0], 9)
    # zeros of 4 digits, given that there is one: mean 0.4 / 0.3439, variance 1.5120 - 1.1631^2
    assert_mean((digits[zeros.label == 1] == 0).sum(axis=1), 0.4 / 0.3439, np.sqrt(0.52 / 0.3439 - (0.4 / 0.3439) ** 2))


@pytest.mark.parametrize("name", ["two-blobs", "two-circles", "contains-zero"])
@pytest.mark.parametrize(("train_size", "test_size", "ones"), [(100, 60, 80), (10, 5, 7), (1, 1, 1)])
def test_balanced_tasks_are_balanced_at_any_size(name, train_size, test_size, ones):
    rows = pd.read_csv(io.BytesIO(generate(name, train_size=train_size, test_size=test_size)))
    assert (len(rows), rows.label.sum()) == (train_size + test_size, ones)


def test_a_task_is_described_or_unknown():
    assert describe("linear", seed=7) == "generated: linear (y = 3x + 4 + N(0, 1)), span 0 to 2, seed 7"
    with pytest.raises(InputError, match="there is no task 'lines': pick one of linear, poly, sine"):
        generate("lines")
