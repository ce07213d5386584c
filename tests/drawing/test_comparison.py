"""Runs side by side in words, HTML and charts, from the runs of tests/inspected.py and tests/beside.py."""

import re
from dataclasses import replace
from html import unescape
from pathlib import Path

import pytest

from tests import inspected
from tests.beside import all_right, other, side_by_side
from tests.inspected import LABELS
from tests.reporting.builders import YES_NO
from vpp.drawing.comparison import cost_html, elsewhere_sentence, left_out_text, standings_html, verdict
from vpp.findings.baselines import baselines
from vpp.findings.comparison import Comparison


def words(html: str) -> str:
    """What a reader sees, runs of white space as one."""
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", html)).replace("\N{NO-BREAK SPACE}", " ").split())


def plain(sentence: str) -> str:
    """The sentence with plain spaces."""
    return sentence.replace("\N{NO-BREAK SPACE}", " ")


@pytest.fixture
def pair(tmp_path: Path) -> Comparison:
    return side_by_side(inspected.labels(tmp_path / "a"), other(tmp_path / "b"))


def test_the_best_of_several_runs_is_named_with_its_lead_over_the_reference(tmp_path: Path) -> None:
    runs = (other(tmp_path / "a"), all_right(tmp_path / "b", LABELS), inspected.labels(tmp_path / "c"))
    assert plain(verdict(side_by_side(*runs), None)) == (
        "Of three runs on the same test rows, B is best: the vote is right on 6 of 6 test rows (100.0 %), 33.3 points "
        "more than A. Not significant on these rows: better on 2 rows, worse on 0 (sign test p = 0.50)."
    )


def test_sentence_and_table_have_metric_interval_difference_and_sign_test(pair: Comparison) -> None:
    assert plain(verdict(pair, None)) == (
        "A is better: the vote is right on 5 of 6 test rows (83.3 %), 16.7 points more than B. "
        "Not significant on these rows: better on 1 row, worse on 0 (sign test p = 1.00)."
    )
    simple = baselines(LABELS)
    assert plain(verdict(pair, simple)).endswith(" The best simple baseline, one answer, reaches 50.0 %.")
    assert left_out_text(simple) == ""
    without = replace(simple, left_out=(("id", "all different"),))
    assert left_out_text(without) == "The simple baselines leave out id (all different)."
    written = words(standings_html(pair, simple))
    assert "83.3 % 5 of 6 balanced 83.3 % 44 % to 97 % the reference" in written
    assert "66.7 % 4 of 6 balanced 66.7 % 30 % to 90 % −16.7 ± 16.7 points 0 better, 1 worse 1.00" in written
    # Always "no": losses 1 0 1 0 1 0 against 0 0 0 0 0 1 differ by 1 0 1 0 1 -1, mean 1/3.
    assert "Always “no”" in written
    assert "50.0 % 3 of 6 balanced 50.0 % 19 % to 81 % −33.3 ± 33.3 points 1 better, 3 worse 0.62" in written
    assert "A 2 of 2 30 6 4 0 2 0 0" in words(cost_html(dict(enumerate(pair.runs))))


def test_other_test_rows_are_shown_and_kept_apart(tmp_path: Path) -> None:
    runs = side_by_side(
        inspected.labels(tmp_path / "a"), all_right(tmp_path / "b", YES_NO), inspected.numbers(tmp_path / "c")
    )
    assert elsewhere_sentence(runs) == (
        "B and C have other test rows than A (another table, or another split of it) and are not compared with it."
    )
