"""Parameters, metrics and errors of an export to MLflow. tests/servers/test_mlflow.py logs runs to a real server."""

import sys
from pathlib import Path

import pytest

from tests import inspected
from tests.processes import ROOT, free_port
from vpp.errors import InputError
from vpp.reporting import exports
from vpp.reporting.exports import log_run
from vpp.runs.directory import RunDirectory
from vpp.runs.reader import RunReader

EXAMPLES = sorted((ROOT / "assets" / "examples").glob("example-*"))


def test_each_step_has_metrics_and_the_last_step_has_those_of_the_run(tmp_path: Path) -> None:
    snapshot = inspected.labels(tmp_path).refresh()
    view = snapshot.view
    by_step = list(exports.figures_by_step(snapshot.spec, view))
    assert [step for step, *_ in by_step] == [-1, 0, 1, 1, 1, 1]
    steps = [figures for _, _, figures in by_step[:3]]
    assert [each["particles"] for each in steps] == [4, 4, 4]
    assert [each["ess"] for each in steps if "ess" in each] == view.ess_by_step
    assert steps[-1]["distinct_texts"] == 4
    whole = {name: value for _, _, figures in by_step[3:] for name, value in figures.items()}
    assert whole["test_accuracy"] == view.evaluated["test"].value
    assert whole["cost"] is None
    assert whole["final_heaviest_weight"] == pytest.approx(max(inspected.LABEL_WEIGHTS))
    assert whole["final_ess"] == pytest.approx(1 / sum(w**2 for w in inspected.LABEL_WEIGHTS))


def test_options_models_and_rows_are_parameters(tmp_path: Path) -> None:
    found = exports.parameters(inspected.labels(tmp_path).refresh().spec)
    assert found["method"] == "smc"
    assert found["particles"] == 4
    assert {"learner", "optimizer", "dataset_name", "dataset_target", "dataset_fingerprint"} <= found.keys()


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.name)
def test_every_kind_of_run_can_be_logged(example: Path) -> None:
    snapshot = RunReader(RunDirectory(example)).refresh()
    *_, (_, _, whole) = exports.figures_by_step(snapshot.spec, snapshot.view)
    assert whole["learner_calls"] == snapshot.view.usage.learner
    assert ("log_evidence_exact" in whole) == snapshot.spec.config.is_weighing
    assert exports.STATUS[snapshot.state] == "FINISHED"
    assert exports.parameters(snapshot.spec)["particles"] > 0


def test_an_unreachable_server_gives_a_one_line_error_without_the_password(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "0")
    uri = f"http://me:hunter22hunter@127.0.0.1:{free_port()}"
    with pytest.raises(InputError) as refused:
        log_run(inspected.labels(tmp_path).directory, uri, experiment="vpp")
    assert "MLflow at http://127.0.0.1:" in str(refused.value)
    assert "check its address" in str(refused.value)
    assert "hunter22" not in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_store_that_the_small_package_cannot_open_gives_a_one_line_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"MLflow at sqlite:///x\.db did not log the run: .*pip install mlflow"):
        log_run(inspected.labels(tmp_path).directory, "sqlite:///x.db", experiment="vpp")


def test_without_mlflow_it_says_how_to_get_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mlflow", None)
    with pytest.raises(InputError, match="pip install mlflow-skinny"):
        log_run(inspected.labels(tmp_path).directory, "http://127.0.0.1:5000", experiment="vpp")
