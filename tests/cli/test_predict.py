"""`predict`: the rows of a table put to every particle of a run."""

import csv
import io
import signal
from pathlib import Path

import pytest

from tests.asked import asked_labels
from tests.llm.stub import refusal
from tests.processes import PENGUINS, Desk, Model, wait_until

TABLE = "a,note\n4,=1+1\n7,x\n8,x\n9,x\n10,x\n"


@pytest.fixture
def run_dir(desk: Desk, served: Model) -> Path:
    """A run of four sentences, and a table to ask about, `new.csv`: 20 questions."""
    (desk.folder / "new.csv").write_text(TABLE)
    return asked_labels(desk.runs, served).directory.path


def test_a_table_is_predicted_with_reasons(desk: Desk, run_dir: Path) -> None:
    outcome = desk.vpp("predict", run_dir, "new.csv", "-o", "out.csv", "--reasons")
    assert outcome.code == 0, outcome.err
    assert outcome.out == "5 rows predicted by 4 particles: out.csv\n"
    assert outcome.err == ""
    first, *_ = csv.DictReader(io.StringIO((desk.folder / "out.csv").read_text()))
    # a = 4: EVEN and ODD say yes (0.4 + 0.1), BIG says no (0.3), and PAIR, which the demo model cannot read, no (0.2).
    assert (first["a"], first["share_yes"], first["share_no"], first["entropy_bits"]) == ("4", "0.5", "0.5", "1")
    assert first["because_1"] == "A is 4, which is not greater than 6, so the rule gives no."


def test_a_calibrated_run_says_which_labels_are_possible(desk: Desk, served: Model) -> None:
    rows = ("--train-size", "30", "--test-size", "10", "--calibration-size", "40")
    assert desk.run("calibrated", *served.options, *rows).finish().code == 0
    outcome = desk.vpp("predict", desk.folder / "calibrated", PENGUINS, "-o", "out.csv")
    assert outcome.code == 0, outcome.err
    found = list(csv.DictReader(io.StringIO((desk.folder / "out.csv").read_text())))
    possible = [
        {label for label in ("Adelie", "Chinstrap", "Gentoo") if row[f"possible_{label}"] == "1"} for row in found
    ]
    held = sum(row["species"] in labels for row, labels in zip(found, possible, strict=True))
    assert held / len(found) > 0.8, "the promise is 90 %"
    assert min(map(len, possible)) < 3, "not every label is possible everywhere"


def test_a_stopped_prediction_writes_no_file_and_says_so(desk: Desk, served: Model, run_dir: Path) -> None:
    served.hold_after = 10
    running = desk.start("predict", run_dir, "new.csv", "-o", "out.csv")
    wait_until(lambda: served.is_holding, "half of the questions are answered")
    running.signal(signal.SIGINT)
    outcome = running.finish()
    assert outcome.code == 130
    assert outcome.err.endswith("stopped: out.csv was not written; this run has no cache\n")
    assert not (desk.folder / "out.csv").exists()


def test_a_refused_prediction_writes_no_file(desk: Desk, served: Model, run_dir: Path) -> None:
    served.refusal = refusal(401, "no such key")
    outcome = desk.vpp("predict", run_dir, "new.csv", "-o", "out.csv")
    assert (outcome.code, "no such key" in outcome.complaint) == (3, True)
    assert not (desk.folder / "out.csv").exists()


def test_rows_that_are_refused_cost_nothing_else(desk: Desk, served: Model) -> None:
    run_dir = asked_labels(desk.runs, served, cache=True).directory.path
    (desk.folder / "new.csv").write_text(TABLE)
    served.refusal, served.refused_word = refusal(401, "no such key"), "a: 10"
    (desk.folder / "four.csv").write_text(TABLE.removesuffix("10,x\n"))
    assert desk.vpp("predict", run_dir, "four.csv", "-o", "out.csv").code == 0
    outcome = desk.vpp("predict", run_dir, "new.csv", "-o", "out.csv")
    assert (outcome.code, outcome.out) == (3, "4 of 5 rows predicted by 4 particles: out.csv\n")
    served.refusal = refusal(400, "The prompt was filtered", code="content_filter")
    outcome = desk.vpp("predict", run_dir, "new.csv", "-o", "out.csv")
    assert outcome.code == 0, outcome.err
    assert "1 row: withheld by the server's filter (HTTP 400 The prompt was filtered)" in outcome.err
    *_, last = csv.DictReader(io.StringIO((desk.folder / "out.csv").read_text()))
    assert (last["a"], last["abstained"]) == ("10", "1")
