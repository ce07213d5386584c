"""Read the bytes of a CSV or JSON file, and its columns again: with chosen kinds, and as those of an existing run."""

import contextlib
import csv
import hashlib
import io
import json

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vpp.data.dataset import ReadAs
from vpp.data.table import Table, read_like, with_kinds
from vpp.data.text import DELIMITERS
from vpp.errors import DataError

CELLS = st.text(
    st.one_of(st.sampled_from(list(',;|\t"\n\r [](){}=-+@0123456789')), st.characters(exclude_categories=["Cs"])),
    max_size=12,
).filter(lambda text: not {*"\0\x1a\u00a0\u200b\u2060\ufeff"} & set(text))


def read(text: str, name: str = "some.csv") -> Table:
    return Table.read(text.encode(), name=name)


@st.composite
def tables(draw: st.DrawFn) -> list[list[str]]:
    width = draw(st.integers(2, 4))
    return draw(st.lists(st.lists(CELLS, min_size=width, max_size=width), min_size=1, max_size=6).filter(has_text))


def has_text(rows: list[list[str]]) -> bool:
    return any(text.strip() for row in rows for text in row)


@settings(deadline=None)
@given(
    rows=tables(),
    delimiter=st.sampled_from(DELIMITERS),
    encoding=st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]),
    quoting=st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
)
def test_any_cells_survive_any_dialect(rows, delimiter, encoding, quoting):
    out = io.StringIO(newline="")
    writer = csv.writer(out, delimiter=delimiter, quoting=quoting)
    writer.writerows([[f"column {i}" for i in range(len(rows[0]))], *rows])
    table = Table.read(out.getvalue().encode(encoding), name="some.csv", read_as=ReadAs(as_is=True))
    assert (table.reading.delimiter, table.reading.encoding) == (delimiter, encoding.removesuffix("-sig"))
    assert table.sha256 == hashlib.sha256(out.getvalue().encode(encoding)).hexdigest()
    assert list(zip(*table.texts, strict=True)) == [
        tuple(text.strip() for text in row) for row in rows if has_text([row])
    ]


@settings(deadline=None)
@given(st.lists(st.sampled_from(["", "x", "x_2", "x_3", "column_1", "column_2"]), min_size=1, max_size=8))
def test_names_are_unique_and_the_first_of_each_given_one_stays(headers):
    table = read(",".join(["first", *headers]) + "\n" + "1," * len(headers) + "1\n")
    assert len(set(table.names)) == len(headers) + 1
    assert {name for name in headers if name} <= set(table.names)
    assert len(table.notes) == len(headers) - len({name for name in headers if name})


@settings(deadline=None)
@given(st.binary(max_size=200) | st.text(st.sampled_from('{}[]",:\\ \nab1-e'), max_size=40).map(str.encode))
def test_any_bytes_are_read_completely_or_refused(content):
    for name in ("some.csv", "some.json"):
        with contextlib.suppress(DataError):
            table = Table.read(content, name=name)
            assert {len(cells) for cells in table.values} == {table.n_rows}


ROWS = [f"{i + 1}.000,5{i} €;0{i % 3}7;{('Mild', 'None', 'Severe')[i % 3]};{i % 2}" for i in range(9)]
GERMAN = Table.read("\n".join(["preis;code;note;y", *ROWS]).encode(), name="haus.csv")


def test_a_chosen_kind_reads_the_cells_as_written():
    table = with_kinds(GERMAN, {"preis": "text", "code": "number"})
    assert [column.kind for column in table.columns] == ["text", "number", "category", "category"]
    assert [column.is_chosen for column in table.columns] == [True, True, False, False]
    assert (table.cells("preis")[0], table.cells("code")[0]) == ("1.000,50 €", "007")
    assert "column 'preis': '1.000,50 €' is read as 1000.50 €" not in table.notes
    assert with_kinds(GERMAN, {}) is GERMAN


def test_a_note_says_the_line_that_an_editor_or_a_spreadsheet_shows():
    text = b'Report\n\na,b,y\n1,"x\ny",p\n\n2,z,q\nbad,z,q\n3,w,p\n4,w,q\n5,w,p\nTotal,,\n'
    sheet = io.BytesIO()
    cells = pd.DataFrame({"a": ["1", "2", "bad", "4", "5"], "y": list("ababa")})
    cells.to_excel(sheet, index=False, startrow=3)
    tables = (Table.read(text, name="t.csv"), Table.read(sheet.getvalue(), name="t.xlsx"), Table.of_frame(cells))
    for table, place in zip(tables, ("line 8", "line 7", "row 3 from the top"), strict=True):
        assert f": {place} holds 'bad';" in table.notes[-1]


def test_new_rows_are_read_as_those_of_the_run():
    few = Table.read(b'preis,note,code\n"1.234",None,1\n7.5,NA,2\nfree,Mild,3\n', name="new.csv")
    assert few.cells("note") == (None, None, "Mild")
    like = read_like(few, GERMAN.columns, {"note": ("none", "MILD")})
    assert like.cells("preis") == ("1234", "7.5", "free")
    assert like.cells("note") == ("none", None, "MILD")
    assert like.notes == (
        "column 'preis': line 4 holds 'free', which is not a number; such cells stay as written",
        "column 'note': 'None' is read as 'none', as the other rows spell it",
    )
    again = read_like(few, GERMAN.columns, {"note": ("none", "NONE", "1")})
    assert again.cells("note") == ("None", None, "Mild")
    assert again.notes[1:] == ("column 'note': 'None' is on none of the other rows",)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("[" * 100_000, "t.json is JSON that is nested too deeply"),
        (json.dumps([{str(n): 1 for n in range(2_001)}]), "t.json has 2,001 columns, more than 2,000"),
    ],
)
def test_json_that_is_deep_or_wide_is_refused_in_one_line(text: str, why: str) -> None:
    with pytest.raises(DataError, match=rf"^{why}.*$"):
        Table.read(text.encode(), name="t.json")
