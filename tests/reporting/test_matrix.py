from dataclasses import replace

from vpp.inspection.points import points
from vpp.reporting.matrix import matrix_html

from .builders import YES_NO, evaluated

ROWS = {row.id: row for row in YES_NO.test}


def test_a_tie_that_was_drawn_stands_first_in_its_bar() -> None:
    tied = evaluated(YES_NO, {"a": ["yes"] * 3, "b": ["no"] * 3}, slots=("a", "b"))
    lowest = {point.row.id: point for point in points(tied, ROWS)}
    drawn = {point.row.id: point for point in points(replace(tied, averaged=("yes", "no", "no")), ROWS)}
    assert [lowest[row].prediction for row in sorted(lowest)] == ["no", "no", "no"]
    assert [drawn[row].prediction for row in sorted(drawn)] == ["yes", "no", "no"]
    assert [drawn[row].shares[0][0] for row in sorted(drawn)] == ["yes", "no", "no"]


def test_an_unweighted_vote_is_called_so() -> None:
    found = points(evaluated(YES_NO, {"a": ["yes"] * 3, "b": ["no"] * 3}, slots=("a", "b")), ROWS)
    assert '<th scope="col">unweighted vote</th>' in matrix_html(found, (0.5, 0.5), ["no", "yes"], voting="unweighted")
