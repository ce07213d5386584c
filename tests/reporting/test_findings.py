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
    "The posterior": ("Four particles hold three ideas; at 95 % agreement three different explanations remain.",),
    "Does uncertainty mean error?": (
        # Row 8 is not answered, and row 9 is wrong.
        "| Right where answered | 4 of 5 |",
        "| Calibration | fits | 87 % sure on average, right on 83 %.",
        "| sure and right | 3 rows |",
    ),
    "Where the particles disagree": (
        "**On 3 of 6 test rows the hypotheses are split: no label has 95 % of their weight.",
        "| 8 | 8 | yes 60 %, no 40 % | yes (I don’t know) |",
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
