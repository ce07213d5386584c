"""The target: its guess, its task, and unsuitable columns; the rows to predict."""

import pytest

from vpp.data.table import Table, find_task, resolve_task, sort_labels, target_guess, unlabelled_rows, with_kinds
from vpp.errors import DataError


def table_of(**columns: list[str]) -> Table:
    lines = [",".join(columns), *map(",".join, zip(*columns.values(), strict=True))]
    return Table.read("\n".join(lines).encode(), name="some.csv")


@pytest.mark.parametrize(
    ("columns", "guess"),
    [
        ({"Species": list("aab"), "x": list("123"), "sex": list("mfm")}, "Species"),
        ({"y": list("123"), "LABEL": list("aab"), "z": list("123")}, "LABEL"),
        ({"class": list("123"), "sex": list("mfm"), "Survived": list("010")}, "Survived"),
        ({"sex": list("mfm"), "hand": list("lrr"), "z": list("123")}, "hand"),
        ({"x": list("123"), "z": list("123")}, "z"),
        ({"x": list("123")}, None),
        ({"x": list("aba"), "review": ["so good", "so bad", "so so"], "one": list("kkk")}, "x"),
        ({"target": list("kkk"), "x": list("aba"), "z": ["1", "5", "9"]}, "z"),
    ],
)
def test_a_target_is_guessed_by_name_then_by_kind_then_by_place(columns, guess):
    assert target_guess(table_of(**columns)) == guess


@pytest.mark.parametrize(
    ("cells", "task"),
    [
        (["a", "b", "a"], "classification"),
        (["0.0", "1.0"] * 5, "classification"),
        (["0", "1"] * 4, "regression"),
        ([str(i) for i in range(10)] * 5, "classification"),
        ([str(i) for i in range(11)] * 5, "regression"),
        (["0.5", "1"] * 5, "regression"),
    ],
)
def test_few_integers_often_repeated_are_labels(cells, task):
    assert find_task(cells) == task


@pytest.mark.parametrize(
    ("cells", "task", "said"),
    [
        (["NA"] * 3, "auto", "column 'y' of some.csv is empty: pick another target"),
        (["7", "7", "NA"], "auto", "column 'y' has one value only ('7'): pick another target"),
        (["1", "x" * 99, "2"], "regression", f"of some.csv holds '{'x' * 39}…' in row 1, which is not a number: fix"),
        (["a", "b", "c"], "auto", "column 'y' has a different value on every row: pick a target whose labels repeat"),
        (["1", "2", "3"], "classification", "column 'y' has a different value on every row"),
        ([f"t{i}" for i in range(51)] * 2, "auto", "column 'y' has 51 labels, more than 50: merge labels"),
        ([f"{i}" for i in range(51)] * 2, "classification", "more than 50: choose regression"),
    ],
)
def test_an_unfit_target_is_refused_in_one_line(cells, task, said):
    table = table_of(x=[str(i) for i in range(len(cells))], y=cells)
    with pytest.raises(DataError) as caught:
        resolve_task(table, "y", task)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_chosen_task_or_kind_decides_the_task():
    table = table_of(x=list("19") * 40, y=[str(i % 5) for i in range(80)])
    assert resolve_task(table, "y", "auto") == "classification"
    assert resolve_task(table, "y", "regression") == "regression"
    assert resolve_task(with_kinds(table, {"y": "number"}), "y", "auto") == "regression"
    assert resolve_task(with_kinds(table, {"x": "category"}), "x", "auto") == "classification"


def test_labels_sort_as_numbers_only_if_all_are():
    assert sort_labels(["10", "9", "-1", "9"]) == ("-1", "9", "10")
    assert sort_labels(["10", "9", "b"]) == ("10", "9", "b")
    assert sort_labels(["1.0", "1"]) == ("1", "1.0")


def test_rows_to_predict_are_those_without_a_target_or_all():
    table = Table.read(b"a,y,b\n1,2,x\n3,,y\n,NA,z\n", name="new.csv")
    rows = unlabelled_rows(table, ["a", "b"])
    assert [(row.id, row.target) for row in rows] == [(0, None), (1, None), (2, None)]
    assert rows[2].inputs == (("a", None), ("b", "z"))
    assert [row.id for row in unlabelled_rows(table, ["a"], "y")] == [1, 2]
    with pytest.raises(DataError, match=r"new.csv lacks 'c', which the data of the run has"):
        unlabelled_rows(table, ["a", "c"])
