"""Columns read again: with chosen kinds, and as those of an existing run."""

import pytest

from vpp.data.build import build_dataset
from vpp.data.labelling import input_fields, typed_row
from vpp.data.record import dataset_from_csv, rows_csv, spec
from vpp.data.table import Table, read_like, with_kinds
from vpp.errors import DataError

ROWS = [f"{i + 1}.000,5{i} €;0{i % 3}7;{('Mild', 'None', 'Severe')[i % 3]};{i % 2}" for i in range(9)]
GERMAN = Table.read("\n".join(["preis;code;note;y", *ROWS]).encode(), name="haus.csv")


def test_a_chosen_kind_reads_the_cells_as_written():
    table = with_kinds(GERMAN, {"preis": "text", "code": "number"})
    assert [column.kind for column in table.columns] == ["text", "number", "category", "category"]
    assert [column.is_chosen for column in table.columns] == [True, True, False, False]
    assert (table.cells("preis")[0], table.cells("code")[0]) == ("1.000,50 €", "007")
    assert "column 'preis': '1.000,50 €' is read as 1000.50 €" not in table.notes
    assert with_kinds(GERMAN, {}) is GERMAN


@pytest.mark.parametrize(
    ("kinds", "said"),
    [
        ({"note": "number"}, "column 'note' cannot be read as numbers in one notation: row 0 holds 'Mild'"),
        ({"note": "date"}, "column 'note' cannot be read as dates in one form: row 0 holds 'Mild'"),
        ({"code": "sequence"}, "column 'code' cannot be read as sequences of integers: row 0 holds '007'"),
        ({"price": "text"}, "haus.csv has no column 'price': did you mean 'preis'?"),
    ],
)
def test_a_kind_that_does_not_fit_the_cells_is_refused(kinds, said):
    with pytest.raises(DataError) as caught:
        with_kinds(GERMAN, kinds)
    assert said in str(caught.value)


def test_new_rows_are_read_as_those_of_the_run():
    few = Table.read(b'preis,note,code\n"1.234",None,1\n7.5,NA,2\nfree,Mild,3\n', name="new.csv")
    assert few.cells("note") == (None, None, "Mild")
    like = read_like(few, GERMAN.columns)
    assert like.cells("preis") == ("1234", "7.5", "free")
    assert like.cells("note") == ("None", None, "Mild")
    assert like.notes == ("column 'preis': row 2 holds 'free', which is not a number; such cells stay as written",)


def test_a_number_may_be_typed_as_the_file_writes_it():
    dataset = build_dataset(GERMAN, target="y")
    assert dataset_from_csv(rows_csv(dataset), header=spec(dataset)) == dataset
    fields = input_fields(dataset)
    assert [field.unit for field in fields] == ["€", "", ""]
    assert typed_row(fields, ["1.234,5 €", "007", "None"]).inputs == (
        ("preis", "1234.5"),
        ("code", "007"),
        ("note", "None"),
    )
    assert fields[0].written("1000.50") == "1000,50"
    with pytest.raises(DataError, match=r"'preis' takes a number, such as \d000,5\d, not 'cheap'"):
        typed_row(fields, ["cheap", "", ""])
