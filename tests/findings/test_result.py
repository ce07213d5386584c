"""The figures of a run's result, by hand from the two hand-made runs (tests/inspected.py)."""

import math
from dataclasses import replace
from pathlib import Path

import pytest

from tests import inspected
from tests.reporting.builders import finished, reweighted
from vpp.findings.result import evidence, result, summary
from vpp.findings.verdict import run_verdict
from vpp.runs.spec import EndpointSpec, RunSpec
from vpp.runs.view import RunView, StepView
from vpp.settings import Config
from vpp.show.markup import one_line
from vpp.show.render import lines


def test_a_run_of_labels_tells_accuracy_and_balanced_accuracy(tmp_path: Path) -> None:
    """The vote is wrong on the last of six rows, a no: 3 of 3 and 2 of 3."""
    reader = inspected.labels(tmp_path)
    scores = result(reader.directory, reader.refresh().view)["scores"]
    labels = scores["test"]["labels"]
    assert (scores["test"]["n"], scores["test"]["n_correct"], scores["train"]["n_correct"]) == (6, 5, 4)
    assert labels["accuracy"] == pytest.approx({"value": 5 / 6, "standard_error": math.sqrt(5 / 36 / 5)})
    assert labels["balanced"] == pytest.approx({"value": 5 / 6, "standard_error": math.sqrt(2 / 9 / 2) / 2})


def test_the_result_has_its_verdict(tmp_path: Path) -> None:
    reader = inspected.labels(tmp_path)
    written = result(reader.directory, reader.refresh().view)
    assert (written["verdict"], written["grade"]) == (
        str(run_verdict(reader.directory, reader.refresh().view)), "unknown",
    )  # fmt: skip
    said = list(lines(summary(reader.directory, reader.refresh().view)))
    assert said[0] == one_line(written["verdict"])
    assert any(line.startswith("heaviest hypothesis · 40") for line in said)
    assert said[-1] == f"report: {reader.directory.path / 'report.md'}"


def test_a_run_of_numbers_tells_three_errors(tmp_path: Path) -> None:
    """Means 1, 3, 4.5, 8/3 for 1, 3, 5, 2: off by 0, 0, −0.5, 2/3; the truths' squares about 2.75 sum to 8.75."""
    reader = inspected.numbers(tmp_path)
    test = result(reader.directory, reader.refresh().view)["scores"]["test"]["numbers"]
    assert test["mse"]["value"] == pytest.approx((0.5**2 + 4 / 9) / 4)
    assert test["mae"]["value"] == pytest.approx((0.5 + 2 / 3) / 4)
    assert test["r2"] == pytest.approx(1 - (0.5**2 + 4 / 9) / 8.75)


def test_the_evidence_has_the_exponent_that_its_weights_were_made_with() -> None:
    weighed = replace(reweighted(3, (0.5, 0.5), beta=4.0), log_evidence=-1.5)
    view = RunView(steps={3: StepView(step=3, reweighted=weighed, finished=finished(3, ("a", "b")))})
    config = Config(particles=2, tempering="incremental")
    told = evidence(
        RunSpec(name="", config=config, endpoint=EndpointSpec(demo=True), dataset={"task": "classification"}), view
    )
    assert told is not None
    assert (told["value"], told["exponent"]) == (-1.5, 0.25)
