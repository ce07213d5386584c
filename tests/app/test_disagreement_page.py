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


def rows(html: str) -> list[str]:
    return re.findall(r'<tr data-row="(\d+)"', html)


def test_figures_come_first_then_the_split_rows_the_most_divided_of_them_open(app: AppTest, tmp_path: Path) -> None:
    html = shown(opened(app, inspected.labels(tmp_path), "disagreement"))
    assert "On 3 of 6 test rows the hypotheses are split" in html
    assert value(html, "Right where answered") == "4 of 5"
    assert html.count("<dt>") == 3
    assert html.index("Right where answered") < html.index("sure and wrong") < html.index("Row by row")
    assert "Say yes if a is <mark>above 6,</mark> else no." in html
    assert rows(html) == ["8", "7", "9"]
    assert html.count('aria-expanded="true" aria-label="Row 8"') == 1
    assert "Most informative labels to collect" in html
    app.segmented_control(key="disagreement.which").set_value("All").run()
    app.session_state["disagreement.row"] = 6
    app.run()
    assert not app.exception
    html = shown(app)
    assert rows(html) == ["8", "7", "9", "4", "5", "6"]
    assert html.count('aria-expanded="true" aria-label="Row 6"') == 1
    assert "10 % of the weight gave no readable answer: the answer has no “Output:” line." in html
    app.segmented_control(key="disagreement.which").set_value("Wrong").run()
    assert rows(shown(app)) == ["9"]


def test_a_calibrated_run_says_what_is_possible_and_what_was_promised(app: AppTest, tmp_path: Path) -> None:
    html = shown(opened(app, calibrated_labels(tmp_path, wrong=3), "disagreement"))
    assert "On six the answer is “I don’t know”: several labels are possible." in html
    assert "With 10 calibration rows, each of another group, the truth is possible for at least 90 % of" in html
    assert "The truth was possible on 6 of 6 rows." in html
    assert "I don’t know: one of no, yes" in html


def test_numbers_have_their_own_figures_and_table(app: AppTest, tmp_path: Path) -> None:
    html = shown(opened(app, inspected.numbers(tmp_path), "disagreement"))
    assert "On 3 of 4 test rows the hypotheses are split: their answers spread" in html
    assert value(html, "Off by")
    assert rows(html) == ["7", "6", "4"]
    assert "above the mean" in html
    assert "2.7 (2 to 4)" in html
