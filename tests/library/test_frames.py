"""Frames that the library takes."""

from pathlib import Path

import pandas as pd
import pytest

from vpp.data.dataset import ReadAs
from vpp.data.table import read_like
from vpp.errors import InputError
from vpp.library.posterior import table_of


def test_a_frame_keeps_its_rows_missing_cells_included() -> None:
    table = table_of(pd.DataFrame({"x": [1.0, None, 3.0], "y": ["a", "b", None]}))
    assert (table.n_rows, table.cells("x")[1], table.cells("y")[2]) == (3, None, None)


@pytest.mark.parametrize("empty", [None, float("nan"), pd.NA, "", "  "])
def test_a_row_without_a_value_keeps_its_place(empty: object) -> None:
    assert table_of(pd.DataFrame({"x": [1.0, empty, 3.0]}, dtype=object)).cells("x") == ("1", None, "3")


def test_words_for_a_missing_cell_are_values_of_a_frame_except_among_numbers() -> None:
    frame = pd.DataFrame(
        {"x": ["NA", "none", "b", None], "y": ["NA", 1, 2.5, 3], "z": pd.Series([0.1] * 4, dtype="f4")}
    )
    table = table_of(frame)
    assert table.cells("x") == ("NA", "none", "b", None)
    assert table.cells("y") == (None, "1", "2.5", "3")
    assert table.cells("z") == ("0.1",) * 4
    assert table_of(frame, read_as=ReadAs(missing="none")).cells("x") == ("NA", None, "b", None)
    new = read_like(table_of(pd.DataFrame({"x": ["null", None]})), table.columns)
    assert new.cells("x") == ("null", None)


@pytest.mark.parametrize("data", [None, 3, [{"x": 1}], pd.Series([1, 2], name="x")])
def test_data_that_is_no_table_is_refused_by_its_type(data: object) -> None:
    with pytest.raises(InputError, match=f"data is a {type(data).__name__}: give a path"):
        table_of(data)  # type: ignore[arg-type]


def test_reading_stops_once_a_file_is_too_large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "t.csv").write_bytes(b"x,y\n1,2\n3,4\n5,6\n")
    monkeypatch.setattr("vpp.cli.system.MAX_BYTES", 7)
    assert table_of(tmp_path / "t.csv").cells("x") == ("1",)
