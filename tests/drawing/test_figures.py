"""Charts over the steps, and the end that stands after them."""

import pytest

from tests.inspected import label_events, number_events
from tests.reporting.builders import view_of
from vpp.drawing.figures import acceptance_figure, error_figure, ess_figure, evidence_figure
from vpp.wording.progress import BatchErrors


def test_the_weights_of_the_end_stand_beside_the_steps_where_they_are_others() -> None:
    """The last step of the first run came to ESS 1.9; its last texts were weighed once more."""
    figure = ess_figure(view_of(*label_events()), "light")
    last, end = figure.rows[-2:]
    assert (last[0], last[1], end[0], end[1]) == ("1", "1.92", "end", "3.33")
    assert figure.alt.endswith("3.3 of 4 at the end")
    assert figure.chart.layout.xaxis.ticktext[-1] == "end"
    same = ess_figure(view_of(*number_events()), "light")
    assert "end" not in (same.rows[-1][0], *(same.chart.layout.xaxis.ticktext or ()))
    assert ess_figure(view_of(*label_events()[:-1]), "light").rows[-1][0] == "1", "while the run goes on"


def _error(view, mode):  # type: ignore[no-untyped-def]
    return error_figure(view, mode, BatchErrors(by_step={0: 0.25, 1: 0.5}, name="wrong", top=1.0))


@pytest.mark.parametrize("draw", [ess_figure, acceptance_figure, evidence_figure, _error])
@pytest.mark.parametrize("events", [label_events, number_events])
def test_plotly_knows_every_property_of_a_chart(draw, events) -> None:  # type: ignore[no-untyped-def]
    """A chart is written down, not built: nothing looks at it before a browser does."""
    chart = draw(view_of(*events()), "dark").chart
    assert len(chart.data) == len(chart.to_dict()["data"])
    assert chart.layout.template.layout.font.size == 13
