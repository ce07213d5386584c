"""The states of the Disagreement page, without a browser."""

import re
from pathlib import Path

from streamlit.testing.v1 import AppTest

from tests import inspected
from tests.app.drawn import app as app
from tests.app.drawn import opened, shown
from tests.findings.test_calibrated import labels as calibrated_labels


def value(html: str, name: str) -> str:
    """Return a number of the strip by its name, with its scale."""
    found = re.search(rf">{re.escape(name)}(?:</button>)?</dt><dd>([^<]*)<small>([^<]*)</small>", html)
    assert found, f"no {name}"
    return f"{found[1]} {found[2]}".strip()


def test_the_matrix_and_the_verdict_are_on_the_page_and_a_row_is_opened_by_its_number(
    app: AppTest, tmp_path: Path
) -> None:
    html = shown(opened(app, inspected.labels(tmp_path), "disagreement"))
    assert "The particles disagree on three of six test rows." in html
    assert value(html, "Decided rows right") == "4 of 5"
    assert "3 of 6 test rows." in html
    assert "4 of 5 decided rows right · “I don’t know” on 1 of 6" in html
    assert "Where all agree, 3 of 3 are right; where they differ, 1 of 2 are right and 1 is undecided." in html
    assert "<h2>Row 8</h2>" in html
    assert html.index("Row by row") < html.index("Decided rows right")
    assert "Say yes if a is <mark>above 6,</mark> else no." in html
    assert "0<small>×2</small>" in html
    assert "6 test rows are too few for a verdict" in html
    assert "Most informative labels to collect" in html
    app.selectbox(key="disagreement.row").set_value(6).run()
    assert not app.exception
    html = shown(app)
    assert "<h2>Row 6</h2>" in html
    assert "because yes" in html
    assert "the answer has no “Output:” line" in html
    app.toggle(key="disagreement.only").set_value(False).run()
    assert "6 of 6 test rows." in shown(app)


def test_a_calibrated_run_says_what_is_possible_and_what_was_promised(app: AppTest, tmp_path: Path) -> None:
    html = shown(opened(app, calibrated_labels(tmp_path, wrong=3), "disagreement"))
    assert "On every row several labels are possible: the answer is “I don’t know”." in html
    assert "No vote decides a row: on too many calibration rows no weight was on the truth." in html
    assert "With 10 calibration rows, each of another group, the truth is possible for at least 90 % of" in html
    assert value(html, "Truth possible") == "6 of 6"
    assert "90 % promised by 10 calibration rows; 2.00 labels a row." in html
    assert "undecided: one of no, yes" in html


def test_an_asked_label_leads_to_inputs_like_its_row(app: AppTest, tmp_path: Path) -> None:
    opened(app, inspected.labels(tmp_path), "disagreement")
    run = app.session_state["run"]
    app.session_state[f"disagreement.settle.row.{run}"] = 8
    app.run()
    assert not app.exception
    html = shown(app)
    assert "Row 8 · " in html
    assert "Row 8 is a test row: its label stays held out" in html
    assert app.segmented_control(key=f"disagreement.settle.source.{run}").value == "Inputs like this row"


def test_numbers_have_their_own_matrix_and_verdict(app: AppTest, tmp_path: Path) -> None:
    opened(app, inspected.numbers(tmp_path), "disagreement")
    html = shown(app)
    assert "The answers spread most on row 7: a standard deviation of 0.9428." in html
    assert "Truths in the 90 % range" in html
    app.selectbox(key="disagreement.row").set_value(6).run()
    assert "above the mean" in shown(app)
