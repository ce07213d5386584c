"""Figures with their standard errors, in words, and where the report and the command line say them."""

from pathlib import Path

from tests import inspected
from tests.reporting.builders import dataset
from vpp.cli.summary import summary
from vpp.data.dataset import Dataset
from vpp.inspection.scores import score
from vpp.posterior.metric import Estimate
from vpp.wording.counts import number_text, other_scores_text, share_text
from vpp.wording.words import NBSP


def test_an_estimate_has_its_error_where_rows_tell_one() -> None:
    assert share_text(Estimate(value=0.9512, standard_error=0.0234)) == f"95.1{NBSP}% ± 2.3 points"
    assert share_text(Estimate(value=1.0, standard_error=0.0)) == f"100.0{NBSP}%"
    assert number_text(Estimate(value=0.8123, standard_error=0.0712)) == "0.8123 ± 0.071"
    assert number_text(Estimate(value=2.5e-10)) == "2.5e−10"


def test_other_scores_beside_the_metric() -> None:
    labels: Dataset = dataset(["a", "b"], ["a", "a", "b"])
    assert other_scores_text(score(["a", "a", "a"], labels.test, labels)) == f"balanced 50.0{NBSP}%"
    numbers = dataset([0.0, 4.0], [0.0, 2.0, 4.0])
    assert other_scores_text(score([0.0, 2.0, 3.0], numbers.test, numbers)) == "MAE 0.3333, R² 0.875"


def test_the_command_line_ends_with_the_other_figures(tmp_path: Path) -> None:
    reader = inspected.numbers(tmp_path)
    lines = summary(reader.directory, reader.refresh().view).splitlines()
    assert any(line.startswith("test mean absolute error 0.2917 ± ") and ", R² 0.921" in line for line in lines)
