"""Tables in JSON: rows as objects, or an object a line."""

import contextlib
import json

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vpp.data import text as texts
from vpp.data.formats import SHAPES
from vpp.data.table import Table
from vpp.errors import DataError

RECORDS = '[{"text": "Fine.\\nVery.", "stars": 4.50, "new": true}, {"text": null, "stars": 1e3}]'
SAME = {
    "records.json": RECORDS,
    "lines.jsonl": '{"text": "Fine.\\nVery.", "stars": 4.50, "new": true}\r\n\n{"stars": 1e3}\n',
    "marked.txt": f"\ufeff{RECORDS}",
}


@pytest.mark.parametrize("name", SAME)
def test_every_shape_gives_the_same_table_as_written(name: str) -> None:
    table = Table.read(SAME[name].encode(), name=name)
    assert table.names == ("text", "stars", "new")
    assert table.values == (("Fine.\nVery.", None), ("4.50", "1e3"), ("true", None))
    assert (table.reading.format, table.notes) == ("json", ())


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('[{"a": [1]}]', f"t.json: row 1 of 'a' holds a list or an object, not a cell: {SHAPES}"),
        ('{"data": [{"a": 1}]}', f"row 1 of 'data' holds a list or an object, not a cell: {SHAPES}"),
        (pd.DataFrame({"a": [1, 2]}).to_json(), f"row 1 of 'a' holds a list or an object, not a cell: {SHAPES}"),
        ("[1, 2]", f"t.json is JSON without a table: {SHAPES}"),
        ("{}", "t.json has no rows: rows are needed"),
        ('[{"a": null}, {"a": " "}]', "t.json has no rows: rows are needed"),
        ('[{"a": 1},\n {"a": }]', "t.json is not valid JSON (line 2: Expecting value): correct it"),
        ('{"a": 1}\n{"a": 2', "t.json is not valid JSON (line 2: Expecting ',' delimiter): correct it"),
        ("[" * 100_000, "t.json is JSON that is nested too deeply"),
        ('[{"a": "\\ud800"}]', "row 1 of 'a' holds a character that is no text: remove it"),
        (json.dumps([{str(n): 1 for n in range(2_001)}]), "t.json has 2,001 columns, more than 2,000"),
    ],
)
def test_json_that_is_no_table_is_refused_in_one_line(text: str, why: str) -> None:
    with pytest.raises(DataError) as caught:
        Table.read(text.encode(), name="t.json")
    assert str(caught.value).startswith(why) or why in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_table_with_too_many_cells_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(texts, "MAX_CELLS", 5)
    for text in (RECORDS, '{"a": 1}\n{"b": 1}\n{"c": 1}'):
        with pytest.raises(DataError, match="has more than 5 cells: keep a sample of its rows"):
            Table.read(text.encode(), name="t.json")


@given(st.text(st.sampled_from('{}[]",:\\ \nab1-e'), max_size=40))
def test_any_text_is_read_completely_or_refused(text: str) -> None:
    with contextlib.suppress(DataError):
        table = Table.read(text.encode(), name="t.json")
        assert {len(cells) for cells in table.values} == {table.n_rows}
