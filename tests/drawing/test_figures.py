"""Charts over the steps, and the end that stands after them."""

from tests.inspected import label_events, number_events
from tests.reporting.builders import view_of
from vpp.drawing.figures import ess_figure


def test_the_weights_of_the_end_stand_beside_the_steps_where_they_are_others() -> None:
    """The last step of the first run came to ESS 1.9; its last texts were weighed once more."""
    figure = ess_figure(view_of(*label_events()), "light")
    last, end = figure.rows[-2:]
    assert (last[0], last[1], end[0], end[1]) == ("1", "1.92", "end", "3.33")
    assert figure.alt.endswith("3.3 of 4 at the end")
    assert figure.chart.layout.xaxis.ticktext[-1] == "end"
    kept = ess_figure(view_of(*number_events()), "light")
    assert "end" not in (kept.rows[-1][0], *(kept.chart.layout.xaxis.ticktext or ()))


def test_while_a_run_goes_on_its_chart_has_no_end() -> None:
    assert ess_figure(view_of(*label_events()[:-1]), "light").rows[-1][0] == "1"
