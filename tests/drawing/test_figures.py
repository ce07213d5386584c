"""Charts of a run: which of them it has, and the effective sample size by step."""

from pathlib import Path

import pytest

from tests import inspected
from tests.reporting.builders import view_of
from vpp.drawing.figures import charts, ess_chart
from vpp.runs.reader import RunReader
from vpp.runs.view import RunView


def test_the_ess_of_the_end_follows_the_steps_as_a_share_of_k() -> None:
    """Weights 0.375, 0.125 twice each; then 0.7 and three times 0.1, resampled; at the end 0.4, 0.3, 0.2, 0.1."""
    chart = ess_chart(view_of(*inspected.label_events()), "light")
    rings, line = chart.data
    assert chart.layout.xaxis.ticktext == ("0", "1", "end")
    assert line.x == (0, 1, 2)
    assert line.y == pytest.approx((3.2 / 4, 1 / 0.52 / 4, 1 / 0.3 / 4))
    assert rings.x == (1,)
    assert ess_chart(view_of(*inspected.label_events()[:-1]), "light").data[1].x == (0, 1), "while the run goes on"


def test_a_run_has_the_charts_that_it_has_numbers_for(tmp_path: Path) -> None:
    labels, numbers = inspected.labels(tmp_path / "labels"), inspected.numbers(tmp_path / "numbers")

    def titles(reader: RunReader, view: RunView) -> list[str]:
        return [chart.layout.title.text for chart in charts(view, reader.dataset())]

    ess = "ESS as a share of K by step; ring: resampled"
    assert titles(labels, view_of(*inspected.label_events()[:1])) == []
    assert titles(labels, labels.refresh().view) == [ess, "Risk against coverage", "Reliability"]
    assert titles(numbers, numbers.refresh().view) == [ess, "Risk against coverage"]
