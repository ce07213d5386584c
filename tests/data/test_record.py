"""The dataset in a run directory."""

import csv
import io
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vpp.data.build import build_dataset
from vpp.data.dataset import Column, Dataset, Provenance, Row, dataset_from_csv, rows_csv, spec
from vpp.data.table import ColumnChoice, Table
from vpp.errors import DataError
from vpp.llm.prompts import render_input

SIGNS = st.sampled_from(list(',"\r\n =a'))
CELLS = st.none() | st.text(st.characters(exclude_categories=["Cs"]), min_size=1) | st.text(SIGNS, min_size=1)
NUMBERS = st.floats(allow_nan=False, allow_infinity=False)


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
    return Dataset(
        name="any",
        target=target,
        task=task,
        columns=tuple(Column(name=name, kind="text", n_missing=0, n_distinct=2) for name in names),
        inputs=inputs,
        classes=("a", "b"),
        train=rows[:cut],
        test=rows[cut:],
        provenance=Provenance(
            file="any.csv",
            sha256="0" * 64,
            delimiter=",",
            encoding="utf-8",
            n_rows=9,
            n_unlabelled=0,
            n_left_out=1,
            notes=("one", "two"),
        ),
    )


@settings(deadline=None)
@given(datasets())
def test_any_dataset_comes_back_equal(dataset):
    header = json.loads(json.dumps(spec(dataset)))
    assert dataset_from_csv(rows_csv(dataset), header=header) == dataset


ROWS = "".join(f'{i % 7},"=cmd, ""{i}""",{"ab"[i % 2]},{i}.50\n' for i in range(20))
TABLE = Table.read(f"row,note,kind,mass\n{ROWS}".encode(), name="some.csv")
DATASET = build_dataset(TABLE, target="kind", columns=ColumnChoice(inputs=["row", "note"]))


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
