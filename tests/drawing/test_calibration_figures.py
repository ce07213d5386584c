"""Charts of doubt against error, their words and tables, checked by hand on a few rows."""

import pytest

from tests.reporting.builders import dataset, evaluated
from vpp.drawing.figures import reliability_figure, risk_figure
from vpp.findings.points import points, vote_reliability
from vpp.posterior.calibration import risk_coverage


def plain(text: str) -> str:
    return text.replace("\N{NO-BREAK SPACE}", " ")


def test_the_bars_of_a_dot_end_at_wilsons_interval() -> None:
    """9 of 10 are right: 59.6 % to 98.2 % in any table of Wilson's interval."""
    data = dataset(["yes", "no"], ["yes"] * 9 + ["no"])
    found = vote_reliability(points(evaluated(data, {"a": ["yes"] * 10}, slots=("a",)), data))
    figure = reliability_figure(found, "light")
    dots = figure.chart.data[-1]
    assert dots.y == (0.9,)
    assert dots.error_y.array == pytest.approx((0.9821 - 0.9,), abs=1e-4)
    assert dots.error_y.arrayminus == pytest.approx((0.9 - 0.5958,), abs=1e-4)
    said = "is 100.0 % on average, and it is right on 90.0 % of 10 rows; the gap over 10 bins is 0.100."
    assert said in plain(figure.alt)
    assert tuple(map(plain, figure.rows[0][-2:])) == ("90.0 % (9)", "60 % to 98 %")


@pytest.mark.parametrize(("losses", "shift"), [((0, 0, 1, 1), 10), ((0, 1, 0, 0), 10), ((1, 1, 0, 0), -10)])
def test_the_lines_name_is_on_the_side_where_the_curve_does_not_begin(losses: tuple[int, ...], shift: int) -> None:
    """Losses, the surest row first. The line is at their mean; a positive shift puts its name above it."""
    (name,) = risk_figure(risk_coverage((4, 3, 2, 1), losses), "light", is_label=True).chart.layout.annotations
    assert (name.text, name.yshift) == ("random order", shift)


def test_the_error_of_the_most_certain_half_stands_beside_that_of_all() -> None:
    """Losses, the surest row first."""
    figure = risk_figure(risk_coverage((4, 3, 2, 1), (0, 0, 1, 1)), "dark", is_label=True)
    said = "Answer the most certain half (2 rows) and 0.0 % are wrong; answer all 4 and 50.0 % are; 100 % of"
    assert plain(figure.alt).startswith(said)
    assert len(figure.rows) == 10
    assert plain(figure.rows[-1][-1]) == "50.0 %"
    none_wrong = risk_figure(risk_coverage((2, 1), (0, 0)), "dark", is_label=True)
    assert "there is no error to rank" in none_wrong.alt
