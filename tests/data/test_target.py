"""The target: its guess, its task, and unsuitable columns."""

import pytest

from vpp.data.roles import find_task, guess_note, label_notes, resolve_task, sort_labels, target_guess
from vpp.data.table import Table, with_kinds
from vpp.errors import DataError, InputError


def table_of(**columns: list[str]) -> Table:
    lines = [",".join(columns), *map(",".join, zip(*columns.values(), strict=True))]
    return Table.read("\n".join(lines).encode(), name="some.csv")


@pytest.mark.parametrize(
    ("columns", "guess"),
    [
        ({"Species": list("aab"), "x": list("123"), "sex": list("mfm")}, "Species"),
        ({"y": list("123"), "LABEL": list("aab"), "z": list("123")}, "LABEL"),
        ({"class": list("123"), "sex": list("mfm"), "Survived": list("010")}, "Survived"),
        ({"x": list("123"), "sex": list("mfm"), "z": list("123")}, "sex"),
        ({"sex": list("mfm"), "hand": list("lrr"), "z": list("123")}, "hand"),
        ({"x": list("123"), "z": list("123")}, "z"),
        ({"x": list("123")}, None),
        ({"rooms": list("322"), "roof": list("aba"), "price": ["9.5", "7.25", "8"]}, "price"),
        ({"x": list("aba"), "when": ["2024-01-02", "2024-02-03", "2024-01-02"], "id": ["31", "12", "50"]}, "x"),
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
        (["2024-01-01", "2024-01-02"], "classification"),
        (["0", "1"] * 5, "classification"),
        (["0.0", "1.0"] * 5, "classification"),
        (["0", "1"] * 4, "regression"),
        ([str(i) for i in range(10)] * 5, "classification"),
        ([str(i) for i in range(11)] * 5, "regression"),
        (["0.5", "1"] * 5, "regression"),
        (["1", None, "2.5"], "regression"),
    ],
)
def test_few_integers_often_repeated_are_labels(cells, task):
    assert find_task(cells) == task


def test_an_asked_task_overrules_the_one_found():
    table = table_of(x=list("1212121212"), y=list("0101010101"))
    assert resolve_task(table, "y", "auto") == "classification"
    assert resolve_task(table, "y", "regression") == "regression"


@pytest.mark.parametrize(
    ("cells", "task", "said"),
    [
        (["NA"] * 3, "auto", "column 'y' of some.csv is empty: pick another target"),
        (["7", "7", "NA"], "auto", "column 'y' has one value only ('7'): pick another target"),
        (["1", "x", "2"], "regression", "column 'y' of some.csv holds 'x' in row 1, which is not a number: fix"),
        (["1", "x" * 99, "2"], "regression", f"holds '{'x' * 39}…' in row 1"),
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


def test_the_reason_of_the_guess_is_noted():
    assert guess_note(table_of(label=list("aab"), x=list("195"))) == "the target 'label' is a guess: by its name"
    assert guess_note(table_of(a=list("aab"), x=list("195"))) == ("the target 'x' is a guess: the last suitable column")


def test_a_chosen_kind_decides_the_task():
    table = table_of(x=list("19") * 40, y=[str(i % 5) for i in range(80)])
    assert resolve_task(with_kinds(table, {"y": "number"}), "y", "auto") == "regression"
    assert resolve_task(with_kinds(table, {"x": "category"}), "x", "auto") == "classification"


def test_a_label_that_no_answer_could_give_is_refused():
    labels = ["k" * 2000 + end for end in "abab"]
    with pytest.raises(DataError, match="look the same in a prompt: rename it in the file"):
        resolve_task(table_of(x=list("1234"), y=labels), "y", "auto")


def test_labels_that_nearly_look_the_same_are_named():
    assert label_notes(("1", "1.0", "yes", "Yes")) == (
        "similar labels count only if an answer spells them exactly: 'yes' and 'Yes'; '1' and '1.0'",
    )
    assert label_notes(("a", "b")) == ()


def test_labels_sort_as_numbers_only_if_all_are():
    assert sort_labels(["10", "9", "-1", "9"]) == ("-1", "9", "10")
    assert sort_labels(["10", "9", "b"]) == ("10", "9", "b")
    assert sort_labels(["1.0", "1"]) == ("1", "1.0")


def test_an_unknown_task_is_refused():
    with pytest.raises(InputError, match="task is 'sorting': choose one of auto, regression, classification"):
        resolve_task(table_of(y=["a", "b"]), "y", "sorting")
