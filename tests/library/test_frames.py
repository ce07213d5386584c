"""Frames at the library's door."""

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
