"""Labelling sheets: written, filled in, and gone on with; from the command line, in Python and on the page."""

import csv
import io
from dataclasses import replace
from pathlib import Path

from tests.asked import asked_pair
from tests.inspected import LABELS
from tests.processes import Desk, Model
from vpp.data.build import build_dataset
from vpp.data.dataset import Row
from vpp.data.split import SplitPlan
from vpp.data.table import Table
from vpp.findings.points import Point
from vpp.posterior.prediction import Mixture
from vpp.reporting.predictions import BITS, filled_rows, sheet_csv, sheet_rows

MORE = replace(LABELS, unlabelled=tuple(Row(id=20 + i, inputs=(("a", str(40 + i)),), target=None) for i in range(12)))


def question(cell: str | None, bits: float) -> Point:
    row = Row(id=99, inputs=(("a", cell),), target=None)
    votes, weights = ("yes",), (1.0,)
    return Point(
        row=row,
        votes=votes,
        answers=votes,
        mixture=Mixture(weights=weights, classes=("yes",)),
        prediction="yes",
        bits=bits,
    )


def test_a_sheet_is_safe_in_a_spreadsheet_and_comes_back_as_it_was() -> None:
    written = sheet_csv([question("=1+1", 0.9), question("'quoted", 0.5), question(None, 0.25)], LABELS)
    lines = list(csv.DictReader(io.StringIO(written.decode())))
    assert [(line["a"], line["y"], line[BITS]) for line in lines] == [
        ("'=1+1", "", "0.900"), ("'quoted", "", "0.500"), ("", "", "0.250"),
    ]  # fmt: skip
    filled = written.replace(b",,0.900", b",yes,0.900").replace(b",,0.500", b",no,0.500")
    found = filled_rows(Table.read(filled, name="sheet.csv"), LABELS)
    assert [(dict(each.inputs)["a"], each.target) for each in found] == [("=1+1", "yes"), ("'quoted", "no")]


def test_numbers_with_a_decimal_comma_and_names_like_formulas_come_back() -> None:
    lines = "".join(f"{i},{i}37;{'ab'[i % 2]}\n".replace(",", ",", 1) for i in range(1, 9))
    table = Table.read(f"-menge;=y\n{lines}".encode(), name="t.csv")
    data = build_dataset(table, target="=y", split=SplitPlan(train_size=5, test_size=2))
    assert dict(data.train[0].inputs)["-menge"].count(".") == 1  # type: ignore[union-attr]
    row = Row(id=99, inputs=(("-menge", "4.336"),), target=None)
    asked = Point(
        row=row, votes=("a",), answers=("a",), mixture=Mixture(weights=(1.0,), classes=("a",)), prediction="a", bits=0.5
    )
    written = sheet_csv([asked], data).decode()
    assert written.splitlines()[0] == "'-menge,'=y,information_bits"
    found = filled_rows(Table.read(written.replace(",,0.5", ",a,0.5").encode(), name="sheet.csv"), data)
    assert [(each.inputs, each.target) for each in found] == [({"-menge": "4.336"}, "a")]


def test_rows_of_a_sheet_are_distinct_unlabelled_and_under_ids_of_their_own(tmp_path: Path, served: Model) -> None:
    reader = asked_pair(tmp_path, served, data=MORE)
    found = sheet_rows(reader, n=8)
    known = {row.inputs for row in LABELS.labelled}
    assert {row.id for row in found} <= {row.id for row in MORE.unlabelled}
    assert len(found) == 8
    assert not {row.inputs for row in found} & known
    assert len({row.inputs for row in found}) == len({row.id for row in found}) == len(found)
    own = sheet_rows(reader, n=40, made_up=False)
    assert {row.id for row in own} == {row.id for row in MORE.unlabelled}


def test_the_command_writes_a_sheet_that_continue_goes_on_with(desk: Desk, served: Model) -> None:
    assert desk.run("run", *served.options).finish().code == 0
    sheet = desk.folder / "sheet.csv"
    done = desk.vpp("sheet", desk.folder / "run", "-o", sheet, "--rows", "6")
    assert done.code == 0, done.err
    assert "fill in 'species', then: vpp continue" in done.out
    lines = list(csv.DictReader(io.StringIO(sheet.read_text())))
    assert len(lines) == 6
    bits = [float(line[BITS]) for line in lines]
    assert bits == sorted(bits, reverse=True)
    lines[0]["species"], lines[2]["species"] = "Gentoo", "Adelie"
    with sheet.open("w", newline="") as file:
        writer = csv.DictWriter(file, lines[0].keys())
        writer.writeheader()
        writer.writerows(lines)
    went_on = desk.vpp("continue", desk.folder / "run", sheet, "--run-dir", desk.folder / "next", "--json", "--quiet")
    assert went_on.code == 0, went_on.err
    before, after = (desk.directory(name).spec().dataset["n_train"] for name in ("run", "next"))
    assert after == before + 2
    assert desk.vpp("sheet", desk.folder / "run", "-o", sheet, "--rows", "0").code != 0
