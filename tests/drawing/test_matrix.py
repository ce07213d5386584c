from pathlib import Path

import pytest

from tests import inspected
from tests.reporting.builders import YES_NO, evaluated
from vpp.drawing.dissent import merged_words
from vpp.drawing.matrix import Matrix, usual_distance
from vpp.events import Evaluated
from vpp.findings.points import Point, by_answers, points
from vpp.runs.reader import RunReader
from vpp.show.words import NBSP


def points_of(reader: RunReader) -> tuple[Evaluated, list[Point]]:
    test = reader.refresh().view.evaluated["test"]
    return test, points(test, reader.dataset())


def line(html: str, row: int) -> str:
    return html.split(f'<tr data-row="{row}"')[1].split("</tr>")[0]


def test_the_most_divided_point_stands_first_and_dissent_is_inked(tmp_path: Path) -> None:
    test, rows = points_of(inspected.labels(tmp_path))
    html = Matrix(columns=by_answers(test), labels=("no", "yes")).html(rows)
    # Entropies of .6/.4, .7/.3 and .9/.1; then the unanimous rows by number.
    order = [8, 7, 9, 4, 5, 6]
    assert sorted(order, key=lambda row: html.index(f'<tr data-row="{row}"')) == order
    assert line(html, 8).count('class="x di"') == 2
    assert line(html, 4).count("di") == 0
    assert "no readable answer" in line(html, 6)
    # The vote is wrong on row 9; on row 8 it has 0.6 behind it.
    assert [row for row in order if "vote wrong" in line(html, row)] == [9]
    assert [row for row in order if "undecided" in line(html, row)] == [8]
    assert html.count('<th class="col"') == 3
    assert '<abbr title="particles 0 and 2, weight 0.600">0<small>×2</small></abbr>' in html
    merged = merged_words(3, 4).replace(NBSP, " ")
    assert merged == "Four particles answer the rows in 3 ways: one column per way; ×2 = two particles."


def test_numbers_have_more_ink_the_further_they_are_from_the_mean(tmp_path: Path) -> None:
    test, rows = points_of(inspected.numbers(tmp_path))
    # Distances 1 1 | | .5 1.5 .5 | 2/3 4/3: the median of 1 1 .5 1.5 .5 2/3 4/3 is 1.
    assert usual_distance(rows) == pytest.approx(1)
    html = Matrix(columns=by_answers(test), labels=(), unit=0.3).html(rows)
    # In units of 0.3: 1.7, 5 and 1.7 on row 6; 2.2 and 4.4 on row 7.
    assert [cell in line(html, 6) for cell in ('"x d1" title="4.0">4<', '"x di" title="6.0">6<')] == [True, True]
    assert '"x d1" title="2.0">2<' in line(html, 7)
    assert '"x di" title="4.0">4<' in line(html, 7)
    assert "4.5</span>" in line(html, 6)
    assert "4 to 6" in line(html, 6)
    # Numbers are rounded by the precision of the training targets.
    assert inspected.NUMBERS.target_decimals == 0
    html = Matrix(columns=by_answers(test), labels=(), decimals=0).html(rows)
    # Row 7: 2 at 0.5 and 4 at 0.25 of 0.75, a mean of 8/3.
    assert "2.7</span>" in line(html, 7)


def test_an_open_row_has_what_it_opens_under_it_and_says_so() -> None:
    test = evaluated(YES_NO, {"a": ["yes"] * 3, "b": ["no"] * 3}, slots=("a", "b"))
    rows = points(test, YES_NO)
    row = rows[1].row.id
    opened = (row, "<p>inside</p>")
    labels, voting = ("no", "yes"), "unweighted"
    html = Matrix(columns=by_answers(test), labels=labels, voting=voting, opened=opened).html(rows)
    assert ">unweighted vote</button></th>" in html
    assert html.count('aria-expanded="true"') == 1
    assert f'aria-expanded="true" aria-label="Row {row}"' in html
    assert line(html, row) in html.split('<tr class="under"')[0]
    assert '<td colspan="6"><div><p>inside</p></div></td></tr><tr data-row' in html.split('<tr class="under"')[1]
