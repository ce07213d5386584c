"""Charts of a run: which of them it has."""

from pathlib import Path

from tests import inspected
from tests.reporting.builders import view_of
from vpp.drawing.figures import charts
from vpp.runs.reader import RunReader
from vpp.runs.view import RunView


def test_a_run_has_the_charts_that_it_has_numbers_for(tmp_path: Path) -> None:
    labels, numbers = inspected.labels(tmp_path / "labels"), inspected.numbers(tmp_path / "numbers")

    def titles(reader: RunReader, view: RunView) -> list[str]:
        return [chart.layout.title.text for chart in charts(view, reader.dataset())]

    assert titles(labels, view_of(*inspected.label_events()[:1])) == []
    assert titles(labels, labels.refresh().view) == ["Risk against coverage", "Reliability"]
    assert titles(numbers, numbers.refresh().view) == ["Risk against coverage"]
