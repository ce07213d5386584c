"""Figures with their standard errors, in words, and where the report and the command line say them."""

from pathlib import Path

from tests import inspected
from tests.reporting.builders import dataset, drawn, evaluated, finished, run, started
from vpp.cli.summary import summary
from vpp.data.dataset import Dataset
from vpp.inspection.ideas import merge_ideas
from vpp.inspection.scores import score
from vpp.posterior.metric import Estimate
from vpp.runs.reader import RunReader
from vpp.settings import Config
from vpp.wording.brief import measures
from vpp.wording.counts import number_text, other_scores_text, share_text
from vpp.wording.markup import Metric
from vpp.wording.words import NBSP


def told(reader: RunReader) -> dict[str, Metric]:
    snapshot, data = reader.refresh(), reader.dataset()
    return {each.name: each for each in measures(snapshot, data, merge_ideas(snapshot.view, data))}


def test_an_estimate_has_its_error_where_rows_tell_one() -> None:
    assert share_text(Estimate(value=0.9512, standard_error=0.0234)) == f"95.1{NBSP}% ± 2.3 points"
    assert share_text(Estimate(value=1.0, standard_error=0.0)) == f"100.0{NBSP}%"
    assert number_text(Estimate(value=0.8123, standard_error=0.0712)) == "0.8123 ± 0.071"
    assert number_text(Estimate(value=2.5e-10)) == "2.5e−10"


def test_what_stands_beside_the_metric() -> None:
    labels: Dataset = dataset(["a", "b"], ["a", "a", "b"])
    assert other_scores_text(score(["a", "a", "a"], labels.test, labels)) == f"balanced 50.0{NBSP}%"
    numbers = dataset([0.0, 4.0], [0.0, 2.0, 4.0])
    assert other_scores_text(score([0.0, 2.0, 3.0], numbers.test, numbers)) == "MAE 0.3333, R² 0.875"


def test_the_report_tells_balanced_accuracy_beside_accuracy(tmp_path: Path) -> None:
    """Right on 3 of 3 and 2 of 3."""
    found = told(inspected.labels(tmp_path))
    assert found["Test balanced accuracy"].value == f"83.3{NBSP}%"
    assert found["Test balanced accuracy"].words.startswith("± 16.7 points, one standard error. Mean per-class recall")


def test_the_report_tells_mean_absolute_error_and_r2_beside_the_squared(tmp_path: Path) -> None:
    found = told(inspected.numbers(tmp_path))
    assert found["Test mean absolute error"].value == "0.2917"
    assert found["Test R²"].value == "0.921"
    assert found["Test mean squared error, weighted mean"].words.startswith("± 0.11, one standard error. Root mean")


def test_a_split_without_a_label_among_its_test_rows_is_said(tmp_path: Path) -> None:
    data = dataset(["a", "b", "c"], ["a", "a"])
    events = [
        started(Config(particles=1), data),
        *drawn("one"),
        finished(0, ("one",)),
        evaluated(data, {"one": ("a", "b")}, slots=("one",)),
    ]
    words = told(run(tmp_path, *events, data=data))["Test balanced accuracy"].words
    assert words.endswith("The test rows have one of three labels.")


def test_the_command_line_ends_with_the_other_figures(tmp_path: Path) -> None:
    reader = inspected.numbers(tmp_path)
    lines = summary(reader.directory, reader.refresh().view).splitlines()
    assert any(line.startswith("test mean absolute error 0.2917 ± ") and ", R² 0.921" in line for line in lines)
