"""What report.md says of the two hand-made runs, worked out by hand."""

from pathlib import Path

from tests import inspected
from vpp.reporting.markdown import report, report_markdown
from vpp.runs.reader import RunReader

NBSP = "\N{NO-BREAK SPACE}"


def section(reader: RunReader, title: str) -> str:
    found = next(each for each in report(reader).sections if each.title == title)
    return found.markdown.replace(NBSP, " ")


OF_LABELS = {
    "The posterior": ("Compared on 10 rows: 6 test and 4 training.",),
    "Does uncertainty mean error?": (
        # Only row 9 is wrong, one of the three on which they differ.
        "Where all agree, 3 of 3 are right; where they differ, 1 of 2 are right and 1 is undecided.",
        "6 test rows are too few for a verdict",
        # Worked out in tests/findings/test_points.py.
        "| Area under the risk curve | 0.131 |",
        "random order to the best possible: 0.167 at random, 0.028 at best. |",
        "| Calibration error, 10 bins | 0.267 of 1 |",
        # Row 7: 2 * 0.3^2, row 8: 2 * 0.4^2, row 9: 2 * 0.9^2, over six rows.
        "| Brier score | 0.353 of 2 |",
        "| Log score | 0.762 bits |",
    ),
    "Where the particles disagree": (
        "4 of 5 decided rows right · “I don’t know” on 1 of 6. A row is undecided (“I don’t know”) if no label",
    ),
}


def test_each_section_has_the_findings_of_the_run_of_labels(tmp_path: Path) -> None:
    reader = inspected.labels(tmp_path)
    for title, facts in OF_LABELS.items():
        assert [fact for fact in facts if fact not in section(reader, title)] == [], title


def test_numbers_have_errors_and_stand_beside_simple_models(tmp_path: Path) -> None:
    reader = inspected.numbers(tmp_path)
    # The mean of 0, 1, 2, 4 misses 1, 3, 5, 2 by 12.75 squared in all; the line 1.3 a - 0.2 by 81.26.
    brief = section(reader, "In brief")
    assert "| one answer | 3.188 |" in brief
    assert "| linear model | 20.3" in brief
    assert "linear model |" not in report_markdown(reader, simple_models=False)
