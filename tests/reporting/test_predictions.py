"""Tables of predictions, and labelling sheets: written, filled in, and gone on with."""

import csv
import io
import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import inspected
from tests.inspected import LABELS, pair_run, votes
from tests.processes import Desk, Model
from tests.reporting.builders import dataset, drawn, evaluated, rows, run, started
from vpp.data.build import build_dataset
from vpp.data.dataset import Row, Value
from vpp.data.split import SplitPlan
from vpp.data.table import Table
from vpp.findings.points import Point
from vpp.posterior.prediction import Mixture
from vpp.reporting.predictions import BITS, filled_rows, prediction_csv, predictions_csv, sheet_csv, sheet_rows
from vpp.settings import Config
from vpp.show.markup import original

FORMULAS = ("=", "+", "-", "@", "\t", "\r")


def read(content: bytes) -> list[list[str]]:
    return list(csv.reader(io.StringIO(content.decode(), newline="")))


def test_a_test_row_has_its_vote_each_label_share_and_each_answer(tmp_path: Path) -> None:
    head, *lines = read(predictions_csv(inspected.labels(tmp_path)))
    summary = ["prediction", "decision", "share", "entropy_bits", "abstained", "share_no", "share_yes"]
    assert head == ["row", "a", "truth", *summary, "particle_0", "particle_1", "particle_2", "particle_3"]
    by_row = {line[0]: line[1:] for line in lines}
    # Row 9: yes 0.4 + 0.3 + 0.2, no 0.1, so -0.9 log2 0.9 - 0.1 log2 0.1 = 0.468995593589 bits.
    assert ",".join(by_row["9"]) == "9,no,yes,yes,0.9,0.468995593589,0,0.1,0.9,yes,yes,yes,no"
    # Row 6: the particle of weight 0.1 abstained; those that answered are unanimous.
    assert by_row["6"] == ["6", "yes", "yes", "yes", "0.9", "0", "0.1", "0", "0.9", "yes", "yes", "yes", ""]


def test_a_test_row_of_numbers_has_a_spread_and_an_interval(tmp_path: Path) -> None:
    head, first, _, _, last = read(predictions_csv(inspected.numbers(tmp_path)))
    assert head[2:8] == ["truth", "prediction", "spread", "low", "high", "abstained"]
    # Row 4: 0.5·1 + 0.25·2 + 0.25·0 = 1; variance 0.25·1² + 0.25·1² = 0.5; every voice is within the middle 90 %.
    assert first == ["4", "4", "1", "1", "0.707106781187", "0", "2", "0", "1", "2", "0"]
    # Row 7: 2 and 4 at 2 : 1, so the mean is 8/3 and the variance 2/3·(2/3)² + 1/3·(4/3)² = 8/9.
    assert float(last[3]) == pytest.approx(8 / 3)
    assert last[4:] == ["0.942809041582", "2", "4", "0.25", "2", "", "4"]


def test_other_columns_of_the_asked_table_stand_beside_the_inputs_and_reasons_follow() -> None:
    answers = votes([1.5, 2.0], weights=(1.0,))
    head, *lines = read(prediction_csv(answers, beside={"customer": ("C-7", None), "prediction": ("p", "=q")}))
    assert head[:5] == ["row", "a", "customer", "prediction", "prediction_"]
    assert [line[:5] for line in lines] == [["0", "0", "C-7", "p", "1.5"], ["1", "1", "", "'=q", "2"]]
    answers = votes(["yes"], ["no"], weights=(0.5, 0.5))
    head, line = read(prediction_csv(answers, with_reasons=True))
    assert head[-4:] == ["particle_0", "particle_1", "because_0", "because_1"]
    assert line[-4:] == ["yes", "no", "because yes", "because no"]


def test_a_cell_that_a_spreadsheet_would_run_is_text_and_a_number_stays_one(tmp_path: Path) -> None:
    """Quotes, commas and line ends come back as they were."""
    hostile = ['=HYPERLINK("http://evil")', "a,b", "line\r\nend", "-1+2", "+1", "ünïcode", "'=x"]
    shown = ['\'=HYPERLINK("http://evil")', "a,b", "line\r\nend", "'-1+2", "+1", "ünïcode", "''=x"]
    data = dataset(hostile, hostile, name="@a")
    answers: dict[str, Sequence[Value | None]] = {"even": hostile, "odd": hostile}
    events = [
        started(Config(particles=2), data),
        *drawn("even", "odd"),
        evaluated(data, answers, slots=("even", "odd"), step=-1),
    ]
    head, *lines = read(predictions_csv(run(tmp_path, *events, data=data)))
    assert head[1] == "'@a"
    assert [line[2] for line in lines] == shown
    assert [line[-1] for line in lines] == shown
    assert [original(line[-1]) for line in lines] == hostile


texts = st.text(st.sampled_from("=+-@＝ '\t\r\na1.5e,"), max_size=8) | st.text(max_size=20)


@given(st.lists(texts, min_size=1, max_size=6), texts, st.lists(texts, min_size=2, max_size=2, unique=True))
def test_no_cell_begins_as_a_formula_does(said: list[str], name: str, classes: list[str]) -> None:
    answers = votes(said, said, weights=(0.75, 0.25), rows=rows(said, first_id=0, name=name), classes=tuple(classes))
    for line in read(prediction_csv(answers, with_reasons=True)):
        assert not [cell for cell in line if cell.lstrip(" ").startswith(FORMULAS) and not _is_number(cell)]


def _is_number(cell: str) -> bool:
    try:
        return math.isfinite(float(cell))
    except ValueError:
        return False


MORE = replace(LABELS, unlabelled=tuple(Row(id=20 + i, inputs=(("a", str(40 + i)),), target=None) for i in range(12)))


def question(cell: str | None, bits: float, *, name: str = "a", label: str = "yes") -> Point:
    """An input that one hypothesis gives this label."""
    row, mixture = Row(id=99, inputs=((name, cell),), target=None), Mixture(weights=(1.0,), classes=(label,))
    return Point(row=row, votes=(label,), answers=(label,), mixture=mixture, prediction=label, bits=bits)


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
    written = sheet_csv([question("4.336", 0.5, name="-menge", label="a")], data).decode()
    assert written.splitlines()[0] == "'-menge,'=y,information_bits"
    found = filled_rows(Table.read(written.replace(",,0.5", ",a,0.5").encode(), name="sheet.csv"), data)
    assert [(each.inputs, each.target) for each in found] == [((("-menge", "4.336"),), "a")]


def test_rows_of_a_sheet_are_distinct_unlabelled_and_under_ids_of_their_own(tmp_path: Path, served: Model) -> None:
    reader = pair_run(tmp_path, served, data=MORE)
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
