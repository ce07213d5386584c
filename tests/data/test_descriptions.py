"""Descriptions of columns and labels are read from a file or as typed, checked against the table and kept with it."""

import json
from dataclasses import replace
from typing import Any

import pytest

from vpp.data.build import build_dataset
from vpp.data.dataset import Dataset, dataset_from_csv, rows_csv, spec
from vpp.data.descriptions import Descriptions, by_key, checked
from vpp.data.table import ColumnChoice, Table
from vpp.errors import InputError

HEART = b"x1,x2,num\n" + b"".join(b"%d,%d,%s\n" % (i, i % 7, (b"no", b"yes")[i % 2]) for i in range(40))
TABLE = Table.read(HEART, name="heart.csv")
MEANT = {"num": "heart disease", "x1": "cholesterol,\n mg/dl", "label:yes": "a vessel is narrowed", "x2": " "}


def heart(given: dict[str, str], target: str = "num") -> Dataset:
    return build_dataset(TABLE, target=target, columns=ColumnChoice(descriptions=given))


def test_descriptions_are_kept_in_the_order_of_the_table_on_one_line_each() -> None:
    dataset = heart(MEANT)
    columns = (("x1", "cholesterol, mg/dl"), ("num", "heart disease"))
    assert dataset.descriptions == Descriptions(columns=columns, labels=(("yes", "a vessel is narrowed"),))
    assert "prompts describe 2 columns and 1 label" in dataset.provenance.notes


def test_descriptions_come_back_from_a_runs_record_and_leave_no_trace_without_them() -> None:
    dataset = heart(MEANT)
    record = json.loads(json.dumps(spec(dataset)))
    assert dataset_from_csv(rows_csv(dataset), header=record) == dataset
    plain = heart({})
    assert "descriptions" not in spec(plain)
    assert replace(dataset, descriptions=plain.descriptions, provenance=plain.provenance) == plain


@pytest.mark.parametrize(
    ("given", "target", "said"),
    [
        ({"X1 ": "…"}, "num", "for the column 'X1 ', which is not there: did you mean 'x1'?"),
        ({"age": "…"}, "num", "for the column 'age', which is not there: its columns are 'x1', 'x2', 'num'"),
        ({"label:yess": "…"}, "num", "the label 'yess', which is not there: did you mean 'yes'?"),
        ({"label:yes": "…"}, "x1", "for the label 'yes', which is not there: a target of numbers has none"),
        ({"x1": "…" * 501}, "num", "the description of 'x1' has 501 characters, 500 at most: shorten it"),
    ],
)
def test_what_is_no_description_of_the_table_is_refused_in_one_line(given: Any, target: str, said: str) -> None:
    with pytest.raises(InputError) as refused:
        heart(given, target)
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    "text", ['column,description\nx1,"a, b"\n\nlabel:yes,ill\n', "Column;Description\nx1;a, b\nlabel:yes;ill"]
)
def test_a_file_beside_the_table_is_a_csv(text: str) -> None:
    given = checked(text, name="heart.columns.csv", columns=TABLE.names, cells=TABLE.cells("num"))
    assert given == {"x1": "a, b", "label:yes": "ill"}


def test_labels_of_another_target_are_left_out() -> None:
    text = "column,description\nx1,a\nlabel:yes,ill\n"
    assert checked(text, name="h.csv", columns=TABLE.names, cells=TABLE.cells("x2")) == {"x1": "a"}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "h.csv does not begin with the line column,description"),
        ("name,text\nx1,a\n", "h.csv does not begin with the line column,description"),
        ("column,description\nx1,a,b\n", "h.csv has 3 cells in line 2, not 2: put a text with commas"),
        ("column,description\nx1," + "a" * 200_000, "h.csv is not a CSV (field larger than"),
        ("column,description\nage,…", "h.csv: a description is given for the column 'age'"),
        ("column,description\nlabel:yess,…\nlabel:no,…", "h.csv: a description is given for the label 'yess'"),
    ],
)
def test_an_unreadable_file_is_named_in_one_line(text: str, said: str) -> None:
    with pytest.raises(InputError) as refused:
        checked(text, name="h.csv", columns=TABLE.names, cells=TABLE.cells("num"))
    assert str(refused.value).startswith(said)
    assert "\n" not in str(refused.value)


def test_a_mapping_is_read_by_key_or_refused() -> None:
    assert by_key({"x1": "a, b", "labels": {"yes": "ill"}}, source="d") == {"x1": "a, b", "label:yes": "ill"}
    for given, said in (
        ([1], "d holds no descriptions"),
        ({"labels": {"yes": None}}, "d describes 'label:yes' with some"),
    ):
        with pytest.raises(InputError, match=said):
            by_key(given, source="d")
