"""Simple models on a run's split, against answers worked out by hand."""

from dataclasses import replace

import pytest

from tests import inspected
from tests.reporting.builders import dataset
from vpp.data.dataset import Column, Dataset, Kind, Row
from vpp.findings.baselines import Baselines, SimpleModel, baselines


def named(found: Baselines) -> dict[str, SimpleModel]:
    return {model.name: model for model in found.models}


def table(cells: dict[str, tuple[Kind, list[str | None]]], targets: list[str | float], *, n_train: int) -> Dataset:
    """Columns of one cell a row; the first `n_train` rows train."""
    rows = tuple(
        Row(id=i, inputs=tuple((name, values[i]) for name, (_, values) in cells.items()), target=target)
        for i, target in enumerate(targets)
    )
    plain = dataset(targets[:n_train], targets[n_train:])
    columns = tuple(Column(name=name, kind=kind, n_missing=0, n_distinct=2) for name, (kind, _) in cells.items())
    return replace(
        plain, columns=(*columns, plain.columns[-1]), inputs=tuple(cells), train=rows[:n_train], test=rows[n_train:]
    )


def test_numbers_by_hand() -> None:
    found = named(baselines(inspected.NUMBERS))
    # The mean of 0, 1, 2, 4 against 1, 3, 5, 2: (0.5625 + 1.5625 + 10.5625 + 0.0625) / 4.
    assert found["constant"].answers == pytest.approx((1.75,) * 4)
    assert found["constant"].score.mse == pytest.approx(3.1875)
    # Least squares through (0, 0), (1, 1), (2, 2), (3, 4): slope 1.3, intercept -0.2.
    assert found["linear"].answers == pytest.approx((5.0, 6.3, 7.6, 8.9))
    assert found["linear"].score.mse == pytest.approx((16 + 10.89 + 6.76 + 47.61) / 4)
    # Row 3 alone is the right-most leaf (squared error 2 on the left, against 2.5 and 4.67 for the other cuts).
    assert found["tree"].answers == pytest.approx((4.0,) * 4)
    assert found["tree"].score.mse == pytest.approx((9 + 1 + 1 + 4) / 4)
    assert baselines(inspected.NUMBERS).best.name == "constant"


def test_a_missing_number_is_the_median_and_a_column_of_its_own() -> None:
    cells: list[str | None] = ["0", "2", "4", None, None, "6"]
    data = table({"a": ("number", cells)}, [0.0, 2.0, 4.0, 10.0, 0.0, 0.0], n_train=4)
    # a itself is the target where it is there, 2 + 8 where it is not: four rows, three coefficients, no error left.
    assert named(baselines(data))["linear"].answers == pytest.approx((10.0, 6.0))


def test_texts_are_read_word_by_word_and_column_by_column() -> None:
    said, heard = ["good one", "good two", "bad one", "bad two"], ["bad one", "bad two", "good one", "good two"]
    cells: dict[str, tuple[Kind, list[str | None]]] = {
        "said": ("text", [*said, "a good day", "bad", None]),
        "heard": ("text", [*heard, "bad", "a good day", "bad bad"]),
    }
    found = baselines(table(cells, ["yes", "yes", "no", "no", "yes", "no", "yes"], n_train=4))
    # The same words mean the opposite in the other column: a term belongs to its column.
    assert (named(found)["text"].answers, found.left_out) == (("yes", "no", "yes"), ())
    assert "linear" not in named(found)


def test_columns_that_cannot_be_used_are_named_with_why() -> None:
    n = 40
    cells: dict[str, tuple[Kind, list[str | None]]] = {
        "day": ("date", ["2024-01-01"] * n),
        "code": ("category", [f"c{i}" for i in range(31)] + ["c0"] * (n - 31)),
        "longer": ("sequence", ["1 2" if i % 2 else "1 2 3" for i in range(n)]),
        "empty": ("number", [None] * 35 + ["1"] * 5),
    }
    found = baselines(table(cells, ["yes", "no"] * 20, n_train=35))
    assert [model.name for model in found.models] == ["constant"]
    assert found.left_out == (
        ("day", "dates"),
        ("code", "more than 30 values"),
        ("longer", "sequences of different lengths"),
        ("empty", "no training row has a value"),
    )
