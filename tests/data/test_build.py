"""Building a dataset from a table: the target, the task, and which columns and rows are used."""

from collections import Counter
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.processes import PENGUINS
from vpp.data.build import ColumnChoice, build_dataset, find_task, resolve_task, sort_labels, target_guess
from vpp.data.dataset import ReadAs, SplitRule
from vpp.data.split import SplitPlan
from vpp.data.table import Table, unlabelled_rows, with_kinds
from vpp.errors import DataError, InputError


def read(text: str, name: str = "some.csv") -> Table:
    return Table.read(text.encode(), name=name)


def labels(rows) -> Counter:
    return Counter(row.target for row in rows)


def test_the_split_of_a_seed_never_changes():
    """A run is repeated from its seed, so these ids hold for every version."""
    penguins = Table.read(PENGUINS.read_bytes(), name="penguins.csv")
    dataset = build_dataset(penguins, target="species")
    assert [row.id for row in dataset.train[:5]] == [24, 207, 286, 11, 224]
    tested = build_dataset(penguins, target="species", test_table=penguins, split=SplitPlan(test_size=30)).test
    assert [row.id for row in tested[:5]] == [525, 596, 468, 467, 630]
    assert labels(tested) == {"Adelie": 13, "Chinstrap": 6, "Gentoo": 11}


@settings(deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 9), st.sampled_from(["a", "b", "?"])), min_size=12, max_size=60),
    st.integers(0, 99),
    st.integers(1, 30),
    st.integers(1, 30),
)
def test_every_labelled_row_is_trained_on_tested_on_or_counted(rows, seed, train_size, test_size):
    rows = [(0, "a"), (1, "b"), (0, "a"), (2, "b"), *rows]
    table = read("x,y\n" + "".join(f"{x}.5,{y}\n" for x, y in rows))
    dataset = build_dataset(table, target="y", split=SplitPlan(seed=seed, train_size=train_size, test_size=test_size))
    used = [row.id for row in (*dataset.train, *dataset.test)]
    assert len(set(used)) == len(used)
    assert len(dataset.train) <= train_size
    assert len(dataset.test) <= test_size
    assert [rows[i][1] for i in used] == [row.target for row in (*dataset.train, *dataset.test)]
    p = dataset.provenance
    assert (p.n_rows, p.n_unlabelled) == (len(rows), sum(y == "?" for _, y in rows))
    assert len(used) + p.n_left_out + p.n_unlabelled == p.n_rows


def test_a_piece_of_a_name_with_commas_is_refused_with_the_quotes_that_it_takes():
    table = read('"a, b",b,c,y\n' + "".join(f"{i},{i % 5},{i % 3},{'pq'[i % 2]}\n" for i in range(20)))
    with pytest.raises(DataError, match="has no column 'a': put 'a, b', which has a comma, in double quotes"):
        build_dataset(table, target="y", columns=ColumnChoice(inputs=["a", "b", "c"]))


def test_a_test_file_gives_the_test_rows():
    table = read("x,y\n" + "".join(f"{i}.5,{'ab'[i % 2]}\n" for i in range(30)))
    tested = read("y,extra,x\na,0,1.5\n,0,2.5\nb,0,3.5\nc,0,4.5\n", "test.csv")
    dataset = build_dataset(table, target="y", test_table=tested, split=SplitPlan(train_size=20))
    assert {(row.id, row.inputs, row.target) for row in dataset.test} == {
        (30, (("x", "1.5"),), "a"),
        (32, (("x", "3.5"),), "b"),
        (33, (("x", "4.5"),), "c"),
    }
    assert len(dataset.train) == 20
    assert dataset.classes == ("a", "b", "c")
    p = dataset.provenance
    assert (p.n_rows, p.n_unlabelled, p.n_left_out) == (34, 1, 10)
    whence = f"test rows come from test.csv (SHA-256 {tested.sha256}), with ids from 30"
    assert p.notes[-2:] == (whence, "column 'y': 'c' is on none of the other rows")


def test_rare_and_untrained_labels_are_noted():
    table = read("x,y\n" + "".join(f"{x},{'no' if x % 20 else 'yes'}\n" for x in range(60)), "t.csv")
    rare, *_ = build_dataset(table, target="y", split=SplitPlan(test_size=0)).provenance.notes
    assert rare == "label 'yes' has 3 of 60 training rows: always predicting 'no' would be right on 95\u00a0%"
    notes = build_dataset(table, target="y", test_table=read("x,y\n70,no\n71,oh\n", "u.csv")).provenance.notes
    assert "no training row has the label 'oh': 1 test row with it can hardly be predicted" in notes


def test_rows_that_repeat_another_are_counted():
    table, tested = read("x,z,y\n1,p,a\n1,q,a\n2,p,b\n3,p,b\n1.0,p,a\n1,q,b\n"), read("x,z,y\n2,p,b\n9,p,a\n", "t.csv")
    copies, labels = build_dataset(table, target="y", test_table=tested).provenance.notes[:2]
    assert copies.startswith("rows that repeat another: 1 of 6 training rows, 1 of 2 held-out rows; if one case is")
    assert labels == "equal inputs have different labels: a hypothesis is right on at most 7 of 8 rows"
    weighed = build_dataset(table, target="x", split=SplitPlan(test_size=0))
    assert weighed.provenance.notes[0].startswith("rows that repeat another: 1 of 6 training rows; if")


def test_equal_numbers_are_one_label_in_both_files_unless_they_are_codes():
    table = read("x,y,code\n" + "".join(f"{i},{(1, '1.0', '2')[i % 3]},{('01', '1')[i % 2]}\n" for i in range(30)))
    dataset = build_dataset(table, target="y", test_table=read("x,code,y\n5,1,2.00\n6,1,1.0\n", "test.csv"))
    assert dataset.classes == ("1", "2")
    assert labels(dataset.train) == {"1": 20, "2": 10}
    assert labels(dataset.test) == {"1": 1, "2": 1}
    assert build_dataset(table, target="code").classes == ("01", "1")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"target": "kinds"}, "some.csv has no column 'kinds': did you mean 'kind'?"),
        ({"columns": ColumnChoice(inputs=["z"])}, "some.csv has no column 'z': its columns are 'x', 'kind', 'mass'"),
        ({"columns": ColumnChoice(inputs=["mas"])}, "some.csv has no column 'mas': did you mean 'mass'?"),
        ({"columns": ColumnChoice(inputs=["kind"])}, "column 'kind' is the target and cannot be an input"),
        ({"columns": ColumnChoice(inputs=[])}, "some.csv has no input column besides the target 'kind'"),
        ({"columns": ColumnChoice(task="regression")}, "line 2 holds 'a', which is not a number"),
        ({"test_table": read("x\n1\n", "t.csv")}, "t.csv lacks 'mass', 'kind', which some.csv has"),
        ({"test_table": read("x,mass,kind\n1,2,\n", "t.csv")}, "20 in some.csv and 0 in t.csv"),
        ({"target": "mass", "test_table": read("x,mass,kind\n1,b,a\n", "t.csv")}, "'mass' of t.csv: line 2 holds 'b'"),
    ],
)
def test_unsuitable_choices_are_refused_in_one_line(options, said):
    table = read("x,kind,mass\n" + "".join(f"{i % 7},{'ab'[i % 2]},{i}.5\n" for i in range(20)))
    with pytest.raises(InputError) as caught:
        build_dataset(table, **{"target": "kind", **options})
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_groups_and_dates_are_suggested_until_a_split_is_chosen():
    rows = (f"{i % 40 * 7},2024-01-01 {i // 60:02}:{i % 60:02},{i * 37 % 101}.5,{'ab'[i % 2]}" for i in range(200))
    table = read("\n".join(["patient,day,x,y", *rows]))
    found, chosen = (
        build_dataset(table, target="y", split=SplitPlan(rule=rule))
        for rule in (SplitRule(), SplitRule(kind="time", column="day"))
    )
    assert found.inputs == ("patient", "x")
    assert found.provenance.notes == (
        "column 'day' was left out: it is different on every row; see --inputs",
        "column 'patient' has 40 values for 200 rows: if its rows belong together, split by group (--split "
        "group:patient)",
        "column 'day' holds dates: to predict later rows from earlier ones, split by time (--split time:day)",
    )
    assert not any("(--split " in note for note in chosen.provenance.notes)


def zones(word: str, n: int, *, labels: str = "EMEA APAC", **read_as: Any) -> Table:
    """Return a file of 60 rows. The target of n rows, beginning at line 3, is the word."""
    cells = [word if 1 <= i <= n else labels.split()[i % 2] for i in range(60)]
    lines = "".join(f"{i}.5,{cell}\n" for i, cell in enumerate(cells))
    return Table.read(f"amount,zone\n{lines}".encode(), name="zones.csv", read_as=ReadAs(**read_as))


@pytest.mark.parametrize("word", ["NA", "nan", "Null", "none"])
def test_a_target_keeps_the_rows_whose_label_looks_like_a_missing_cell(word):
    labels = "Low2 2High" if word == "none" else "EMEA APAC"
    with pytest.raises(DataError) as caught:
        build_dataset(zones(word, 7, labels=labels), target="zone")
    assert str(caught.value) == (
        f"column 'zone' holds {word} in 7 rows, first in line 3: choose --missing 'zone={word}' if that means a "
        "missing cell, or --missing 'zone=' if it is a label"
    )
    for choice, n in ((f"zone={word}", 7), ("zone=", 0)):
        dataset = build_dataset(zones(word, 7, labels=labels, missing=[choice]), target="zone")
        assert (dataset.provenance.n_unlabelled, word in dataset.classes) == (n, not n)


@pytest.mark.parametrize(("word", "n", "labels"), [("NA", 6, "EMEA APAC"), ("?", 7, "EMEA APAC"), ("NA", 7, "0 1")])
def test_a_target_may_lack_few_rows_rows_of_plain_gaps_and_gaps_among_numbers(word, n, labels):
    assert build_dataset(zones(word, n, labels=labels), target="zone").provenance.n_unlabelled == n


def table_of(**columns: list[str]) -> Table:
    return read("\n".join([",".join(columns), *map(",".join, zip(*columns.values(), strict=True))]))


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
        (["1", "x" * 99, "2"], "regression", f"of some.csv: line 3 holds '{'x' * 39}…', which is not a number: fix"),
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
    for labels in (("-1", "9", "10"), ("10", "9", "b"), ("1", "1.0")):
        assert sort_labels([*reversed(labels), labels[0]]) == labels


def test_all_rows_of_a_table_are_to_predict():
    table = Table.read(b"a,y,b\n1,2,x\n3,,y\n,NA,z\n", name="new.csv")
    rows = unlabelled_rows(table, ["a", "b"])
    assert [(row.id, row.target) for row in rows] == [(0, None), (1, None), (2, None)]
    assert rows[2].inputs == (("a", None), ("b", "z"))
    with pytest.raises(DataError, match=r"new.csv lacks 'c', which the data of the run has"):
        unlabelled_rows(table, ["a", "c"])
