"""Frames that the library takes."""

from pathlib import Path

import pandas as pd
import pytest

from vpp.errors import InputError
from vpp.library.frames import table_of


def test_a_frame_keeps_its_rows_missing_cells_included() -> None:
    table = table_of(pd.DataFrame({"x": [1.0, None, 3.0], "y": ["a", "b", None]}))
    assert (table.n_rows, table.cells("x")[1], table.cells("y")[2]) == (3, None, None)


@pytest.mark.parametrize("empty", [None, float("nan"), pd.NA, "", "  "])
def test_a_row_without_a_value_is_named_since_later_rows_would_lose_their_places(empty: object) -> None:
    with pytest.raises(InputError, match="row 1 of the frame has no value"):
        table_of(pd.DataFrame({"x": [1.0, empty, 3.0]}, dtype=object))


def test_a_carriage_return_stays_in_its_cell() -> None:
    frame = pd.DataFrame({"x": ["a\rb", "c\r\nd", "e"], "y": ["1", "2", "3"]})
    table = table_of(frame)
    assert (table.cells("x"), table.cells("y")) == (("a\rb", "c\r\nd", "e"), ("1", "2", "3"))


@pytest.mark.parametrize("data", [None, 3, [{"x": 1}], pd.Series([1, 2], name="x")])
def test_data_that_is_no_table_is_refused_by_its_type(data: object) -> None:
    with pytest.raises(InputError, match=f"data is a {type(data).__name__}: give a path"):
        table_of(data)  # type: ignore[arg-type]


def test_a_cell_that_is_not_unicode_text_is_refused() -> None:
    with pytest.raises(InputError, match=r"the frame holds a lone surrogate \('.ud800'\)"):
        table_of(pd.DataFrame({"x": ["a\ud800", "b"]}, dtype=object))


def test_a_column_named_by_a_number_is_asked_for_as_text() -> None:
    table = table_of(pd.DataFrame({0: [1, 2], 1: ["a", "b"]}))
    with pytest.raises(InputError, match="no column 1: did you mean '1'"):
        table.column(1)  # type: ignore[arg-type]


def test_reading_stops_once_a_file_is_too_large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "t.csv").write_bytes(b"x,y\n1,2\n3,4\n5,6\n")
    monkeypatch.setattr("vpp.library.frames.MAX_BYTES", 7)
    assert table_of(tmp_path / "t.csv").cells("x") == ("1",)
