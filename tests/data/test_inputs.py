"""Rows to be predicted."""

import pytest

from vpp.data.roles import unlabelled_rows
from vpp.data.table import Table
from vpp.errors import DataError

TABLE = Table.read(b"a,y,b\n1,2,x\n3,,y\n,NA,z\n", name="new.csv")


def test_every_row_of_a_new_file_is_to_be_predicted():
    rows = unlabelled_rows(TABLE, ["a", "b"])
    assert [(row.id, row.target) for row in rows] == [(0, None), (1, None), (2, None)]
    assert rows[2].inputs == (("a", None), ("b", "z"))


def test_with_a_target_only_rows_that_lack_it_are():
    assert [row.id for row in unlabelled_rows(TABLE, ["a"], "y")] == [1, 2]


def test_a_file_without_an_input_is_refused():
    with pytest.raises(DataError, match=r"new.csv lacks 'c', which the data of the run has"):
        unlabelled_rows(TABLE, ["a", "c"])
