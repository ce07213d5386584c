"""The dataset in a run directory, with the descriptions of its columns and labels."""

import csv
import io
import json
from dataclasses import replace
from functools import partial
from itertools import product
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vpp.data.build import ColumnChoice, build_dataset
from vpp.data.dataset import Column, Dataset, Row, dataset_from_csv, rows_csv, spec
from vpp.data.descriptions import Descriptions, checked
from vpp.data.table import Table
from vpp.errors import DataError, InputError
from vpp.llm.prompts import render_input

SIGNS = st.sampled_from(list(',"\r\n =a'))
CELLS = st.none() | st.text(st.characters(exclude_categories=["Cs"]), min_size=1) | st.text(SIGNS, min_size=1)
NUMBERS = st.floats(allow_nan=False, allow_infinity=False)
ROWS = "".join(f'{i % 7},"=cmd, ""{i}""",{"ab"[i % 2]},{i}.50\n' for i in range(20))
TABLE = Table.read(f"row,note,kind,mass\n{ROWS}".encode(), name="some.csv")
DATASET = build_dataset(TABLE, target="kind", columns=ColumnChoice(inputs=["row", "note"]))


@st.composite
def datasets(draw: st.DrawFn) -> Dataset:
    """Any records, not only those that a table gives."""
    names = draw(st.lists(st.text(st.characters(exclude_categories=["Cs"])), min_size=2, max_size=4, unique=True))
    target = draw(st.sampled_from(names))
    inputs = tuple(name for name in names if name != target)
    task = draw(st.sampled_from(["classification", "regression"]))
    targets = NUMBERS if task == "regression" else CELLS
    cells = draw(st.lists(st.tuples(targets, *[CELLS for _ in inputs]), max_size=6))
    rows = tuple(
        Row(id=i, target=y, inputs=tuple(zip(inputs, values, strict=True))) for i, (y, *values) in enumerate(cells)
    )
    cut = draw(st.integers(0, len(rows)))
    columns = tuple(Column(name=name, kind="text", n_missing=0, n_distinct=2) for name in names)
    named = {"target": target, "task": task, "columns": columns, "inputs": inputs}
    return replace(DATASET, **named, train=rows[:cut], test=rows[cut:])


@settings(deadline=None)
@given(datasets())
def test_any_dataset_comes_back_equal(dataset):
    header = json.loads(json.dumps(spec(dataset)))
    assert dataset_from_csv(rows_csv(dataset), header=header) == dataset


@pytest.mark.parametrize("change", [lambda content: bytes(len(content)), lambda content: content[:-9]])
def test_changed_rows_are_refused(change):
    with pytest.raises(DataError, match=r"data.csv of 'some' was changed after the run wrote it"):
        dataset_from_csv(change(rows_csv(DATASET)), header=spec(DATASET))


def test_others_read_it_as_csv():
    header, *lines = csv.reader(io.StringIO(rows_csv(DATASET).decode(), newline=""))
    assert header == ["row", "split", "row", "note", "kind", "mass"]
    rows = [(row, part) for part in ("train", "test") for row in DATASET.part(part)]
    assert [line[:2] for line in lines] == [[str(row.id), part] for row, part in rows]
    assert all(line[2:4] == [str(int(line[0]) % 7), f'=cmd, "{line[0]}"'] for line in lines)
    assert all(line[5] == f"{line[0]}.50" for line in lines), "no input, and kept for slices"


def test_columns_that_are_no_inputs_come_back_beside_them_and_reach_no_prompt():
    back = dataset_from_csv(rows_csv(DATASET), header=spec(DATASET))
    assert back == DATASET
    assert {row.beside for row in back.test} == {(("mass", f"{row.id}.50"),) for row in back.test}
    assert "mass" not in render_input(back.test[0])
    texts = Table.read(
        "".join(["a,y,words,id\n", *(f"{i % 3},{i % 2},{'w ' * 9}{i},r{i}\n" for i in range(40))]).encode(), name="t"
    )
    kept = build_dataset(texts, target="y", columns=ColumnChoice(inputs=["a"]))
    assert kept.train[0].beside == (), "neither texts nor the names of rows"


HEART = Table.read(
    b"x1,x2,num\n" + b"".join(b"%d,%d,%s\n" % (i, i % 7, (b"no", b"yes")[i % 2]) for i in range(40)), name="heart.csv"
)
MEANT = {"num": "heart disease", "x1": "cholesterol,\n mg/dl", "label:yes": "a vessel is narrowed", "x2": " "}


def heart(given: dict[str, str], target: str = "num") -> Dataset:
    return build_dataset(HEART, target=target, columns=ColumnChoice(descriptions=given))


def test_descriptions_are_kept_in_the_order_of_the_table_on_one_line_each() -> None:
    dataset = heart(MEANT)
    columns = {"x1": "cholesterol, mg/dl", "num": "heart disease"}
    assert dataset.descriptions == Descriptions(columns=columns, labels={"yes": "a vessel is narrowed"})
    assert list(dataset.descriptions.columns) == ["x1", "num"]
    assert "prompts describe 2 columns and 1 label" in dataset.provenance.notes


def test_descriptions_come_back_from_a_runs_record() -> None:
    dataset = heart(MEANT)
    record = json.loads(json.dumps(spec(dataset)))
    assert {dataset_from_csv(rows_csv(dataset), header=record)} == {dataset}
    del record["descriptions"]  # as in earlier records
    assert dataset_from_csv(rows_csv(dataset), header=record) == replace(dataset, descriptions=heart({}).descriptions)


@pytest.mark.parametrize(("end", "comma", "target"), [*product("\n\r", ",;", ["num"]), ("\n", ",", "x2")])
def test_a_file_beside_the_table_is_a_csv_and_labels_of_another_target_are_left_out(end, comma, target) -> None:
    text = end.join([f"Column{comma}description", f'x1{comma}"a, b"', "", f"label:yes{comma}ill", ""])
    descriptions = checked(text, name="h.csv", columns=HEART.names, cells=HEART.cells(target))
    assert descriptions == {"x1": "a, b"} | ({"label:yes": "ill"} if target == "num" else {})


def beside(text: str) -> dict[str, str]:
    return checked(text, name="h.csv", columns=HEART.names, cells=HEART.cells("num"))


@pytest.mark.parametrize(
    ("read", "given", "said"),
    [
        (heart, {"X1 ": "…"}, "for the column 'X1 ', which is not there: did you mean 'x1'?"),
        (heart, {"age": "…"}, "for the column 'age', which is not there: its columns are 'x1', 'x2', 'num'"),
        (heart, {"label:yess": "…"}, "the label 'yess', which is not there: did you mean 'yes'?"),
        (partial(heart, target="x1"), {"label:yes": "…"}, "the label 'yes', which is not there: a target of numbers"),
        (heart, {"x1": "…" * 501}, "the description of 'x1' has 501 characters, 500 at most: shorten it"),
        (beside, "", "h.csv does not begin with the line column,description"),
        (beside, "name,text\nx1,a\n", "h.csv does not begin with the line column,description"),
        (beside, "column,description\nx1,a,b\n", "h.csv has 3 cells in line 2, not 2: put a text with commas"),
        (beside, "column,description\nx1," + "a" * 200_000, "h.csv: the description of 'x1' has 200,000 characters"),
        (beside, "column,description\nage,…", "h.csv: a description is given for the column 'age'"),
        (beside, "column,description\nlabel:yess,…\nlabel:no,…", "h.csv: a description is given for the label 'yess'"),
        (heart, {"labels": {"yes": "…"}}, "the description of 'labels' is no text: write {COLUMN: text, label:NAME"),
    ],
)
def test_what_is_no_description_of_the_table_is_refused_in_one_line(read: Any, given: Any, said: str) -> None:
    with pytest.raises(InputError) as refused:
        read(given)
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)
