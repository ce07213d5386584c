"""Rows that the user labelled become training rows, each once."""

import pytest

from vpp.data.build import build_dataset
from vpp.data.labelling import Answered, answered_rows, n_answered, with_rows
from vpp.data.record import dataset_from_csv, rows_csv, spec
from vpp.data.split import SplitPlan
from vpp.data.table import Table
from vpp.errors import DataError

LINES = "".join(f"{i / 2},{'pq'[i % 2]},{'ab'[i % 2]}\n" for i in range(20))
LABELLED = build_dataset(
    Table.read(f"x,z,y\n{LINES}20,p,\n21,q,\n".encode(), name="t.csv"), target="y", split=SplitPlan(test_size=5)
)
NUMBERS = build_dataset(
    Table.read(b"x,y\n" + b"".join(b"%d,%d.5\n" % (i, i) for i in range(20)), name="n.csv"), target="y"
)


def answered(x="30", z="p", target="a") -> Answered:
    return Answered(inputs={"x": x, "z": z}, target=target)


def test_added_rows_follow_the_training_rows_under_new_ids():
    grown = with_rows(LABELLED, [answered(), answered("31", None, "b")], note="of mine")
    assert grown.train[:-2] == LABELLED.train
    assert [(row.id, row.inputs, row.target) for row in grown.train[-2:]] == [
        (22, (("x", "30"), ("z", "p")), "a"),  # the file has rows 0 to 21
        (23, (("x", "31"), ("z", None)), "b"),
    ]
    assert grown.test == LABELLED.test
    assert grown.provenance.notes[-1] == "of mine: rows 22 to 23"
    again = with_rows(grown, [answered("32")], note="of mine again")
    assert again.train[-1].id == 24
    assert again.provenance.notes[-1] == "of mine again: row 24"
    assert dataset_from_csv(rows_csv(again), header=spec(again)) == again


def test_an_answered_row_of_the_file_is_no_longer_unlabelled():
    grown = with_rows(LABELLED, [answered("20.0", "p", "b")], note="of mine")
    assert [row.id for row in grown.unlabelled] == [21]
    assert (LABELLED.provenance.n_unlabelled, grown.provenance.n_unlabelled) == (2, 1)
    assert (n_answered(LABELLED), n_answered(grown)) == (0, 1)


def test_numbers_are_read_and_may_be_given_as_numbers():
    grown = with_rows(
        NUMBERS, [Answered(inputs={"x": 30}, target=2), Answered(inputs={"x": "-"}, target="-1.50")], note=""
    )
    assert [(dict(row.inputs)["x"], row.target) for row in grown.train[-2:]] == [("30", 2.0), (None, -1.5)]


@pytest.mark.parametrize(
    ("rows", "complaint"),
    [
        ([], "no row has been answered"),
        ([answered(target="c")], "'c' is not a label: give one of a, b"),
        ([answered(x="many")], "'many' is not a number: give 'x' as a decimal number"),
        ([Answered(inputs={"x": "1"}, target="a")], "has no 'z'"),
        ([Answered(inputs={"x": "1", "z": "p", "w": "2"}, target="a")], "'w' is not an input"),
        ([answered("30"), answered("30.0")], "answered row 2 repeats answered row 1"),
        ([answered("2", "p", "a")], "answered row 1 repeats row 4 of the run"),
    ],
)
def test_a_row_that_cannot_be_added_is_refused(rows, complaint):
    with pytest.raises(DataError, match=complaint):
        with_rows(LABELLED, rows, note="")


def test_a_second_observation_of_the_same_inputs_counts():
    assert with_rows(LABELLED, [answered("2.00", "p", "b")], note="").train[-1].target == "b"


@pytest.mark.parametrize("target", ["nan", "inf", "1,5", "", "abc"])
def test_a_target_that_is_not_a_number_is_refused(target):
    with pytest.raises(DataError, match="is not a number: give 'y' as a decimal number"):
        with_rows(NUMBERS, [Answered(inputs={"x": "30"}, target=target)], note="")


def test_rows_of_a_table_without_a_target_are_left_out():
    table = Table.read(b"y,z,x,other\na,p,40,1\n,q,41,2\n", name="rows.csv")
    assert answered_rows(table, LABELLED) == (answered("40"),)
    with pytest.raises(DataError, match=r"no row of rows\.csv has a value in 'y'"):
        answered_rows(Table.read(b"y,z,x\n,p,40\n", name="rows.csv"), LABELLED)
    with pytest.raises(DataError, match=r"rows\.csv lacks 'y'"):
        answered_rows(Table.read(b"z,x\np,40\n", name="rows.csv"), LABELLED)
