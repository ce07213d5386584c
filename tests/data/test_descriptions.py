"""Descriptions of columns and labels are read from a file or as typed, checked against the table and kept with it."""

import json
from dataclasses import replace
from typing import Any

import pytest

from vpp.data.build import build_dataset
from vpp.data.dataset import Dataset, dataset_from_csv, rows_csv, spec
from vpp.data.descriptions import Descriptions, checked, read_descriptions
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
        ({"X1 ": "…"}, "num", "for the column 'X1 ', which the table does not have: did you mean 'x1'?"),
        ({"age": "…"}, "num", "for the column 'age', which the table does not have: its columns are 'x1', 'x2', 'num'"),
        ({"label:yess": "…"}, "num", "the label 'yess', which the table does not have: did you mean 'yes'?"),
        ({"label:yes": "…"}, "x1", "the description of 'label:yes' cannot be used: the target is a number"),
        ({"x1": "…" * 501}, "num", "the description of 'x1' has 501 characters, 500 at most: shorten it"),
    ],
)
def test_what_is_no_description_of_the_table_is_refused_in_one_line(given: Any, target: str, said: str) -> None:
    with pytest.raises(InputError) as refused:
        heart(given, target)
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("heart.columns.csv", 'column,description\nx1,"a, b"\n\nlabel:yes,ill\n'),
        ("heart.columns.csv", "Column;Description\nx1;a, b\nlabel:yes;ill\n"),
        ("heart.columns.json", '{"x1": "a, b", "label:yes": "ill"}'),
        ("heart.columns.json", '{"x1": "a, b", "labels": {"yes": "ill"}}'),
        ("HEART.COLUMNS.JSON", '{"x1": "a, b", "label:yes": "ill"}'),
    ],
)
def test_a_file_has_one_of_few_forms(name: str, text: str) -> None:
    assert read_descriptions(text, name=name) == {"x1": "a, b", "label:yes": "ill"}


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("h.csv", "", "h.csv does not begin with the line column,description"),
        ("h.csv", "name,text\nx1,a\n", "h.csv does not begin with the line column,description"),
        ("h.csv", "column,description\nx1,a,b\n", "h.csv has 3 cells in line 2, not 2: put a text with commas"),
        ("h.csv", "column,description\nx1," + "a" * 200_000, "h.csv is not a CSV (field larger than"),
        ("h.json", "{", "h.json is not valid JSON"),
        ("h.json", "[" * 100_000, "h.json is not valid JSON"),
        ("h.json", "[1]", "h.json holds no descriptions: write {column: description}"),
        ("h.json", '{"x1": 3}', "h.json describes 'x1' with something else than text"),
        ("h.json", '{"labels": {"yes": null}}', "h.json describes 'label:yes' with something else than text"),
        ("h.json", '{"age": "…"}', "h.json: a description is given for the column 'age'"),
        ("h.json", '{"label:yess": "…", "label:no": "…"}', "h.json: a description is given for the label 'yess'"),
    ],
)
def test_an_unreadable_file_is_named_in_one_line(name: str, text: str, said: str) -> None:
    with pytest.raises(InputError) as refused:
        checked(text, name=name, columns=TABLE.names, cells=TABLE.cells("num"))
    assert str(refused.value).startswith(said)
    assert "\n" not in str(refused.value)
