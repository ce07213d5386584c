"""Doubt against error in words and tables, checked by hand on a few rows."""

from tests.reporting.builders import dataset, evaluated
from vpp.drawing.reliability import reliability_html, risk_html
from vpp.inspection.points import points, vote_reliability
from vpp.posterior.calibration import risk_coverage


def plain(html: str) -> str:
    return html.replace("\N{NO-BREAK SPACE}", " ")


def test_a_bin_has_wilsons_interval_and_its_gap() -> None:
    """9 of 10 are right: 59.6 % to 98.2 % in any table of Wilson's interval."""
    data = dataset(["yes", "no"], ["yes"] * 9 + ["no"])
    found = vote_reliability(points(evaluated(data, {"a": ["yes"] * 10}, slots=("a",)), data))
    html = plain(reliability_html(found))
    assert "is 100.0 % on average, and it is right on 90.0 % of 10 rows; the gap over 10 bins is 0.100." in html
    assert "90.0 % (9)</td>" in html
    assert "60 % to 98 %</td>" in html


def test_the_error_of_the_most_certain_half_stands_beside_that_of_all() -> None:
    """Losses, the surest row first."""
    html = plain(risk_html(risk_coverage((4, 3, 2, 1), (0, 0, 1, 1)), is_label=True))
    assert "Answer the most certain half (2 rows) and 0.0 % are wrong; answer all 4 and 50.0 % are; 100 % of" in html
    assert "50 %</td>" in html
    assert html.count("<tr>") == 1 + 10
    assert "there is no error to rank" in risk_html(risk_coverage((2, 1), (0, 0)), is_label=True)
