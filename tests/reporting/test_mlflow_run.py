"""Parameters, metrics and errors of an export to MLflow. tests/servers/test_mlflow.py logs runs to a real server."""

import importlib.util
from pathlib import Path

import pytest

from tests import inspected
from tests.processes import ROOT, free_port
from vpp.errors import InputError
from vpp.inspection.summary import result
from vpp.reporting import mlflow_run
from vpp.reporting.mlflow_run import log_run
from vpp.runs.directory import RunDirectory
from vpp.runs.reader import RunReader

EXAMPLES = sorted((ROOT / "assets" / "examples").glob("example-*"))


def test_each_step_has_metrics_and_the_last_step_has_those_of_the_run(tmp_path: Path) -> None:
    reader = inspected.labels(tmp_path)
    view = reader.refresh().view
    by_step = list(mlflow_run._by_step(view, result(reader.directory, view)))
    assert [step for step, *_ in by_step] == [-1, 0, 1, 1, 1, 1]
    steps = [figures for _, _, figures in by_step[:3]]
    assert [each["particles"] for each in steps] == [4, 4, 4]
    assert [each["ess"] for each in steps if each["ess"] is not None] == view.ess_by_step
    assert steps[-1]["distinct_texts"] == 4
    evaluated = {name: value for _, _, figures in by_step[3:] for name, value in figures.items()}
    assert evaluated["test_accuracy"] == view.evaluated["test"].value
    assert evaluated["uncertain_points"] == 3
    assert evaluated["cost"] is None


def test_options_models_and_rows_are_parameters(tmp_path: Path) -> None:
    found = mlflow_run._parameters(inspected.labels(tmp_path).refresh())
    assert found["method"] == "smc"
    assert found["particles"] == 4
    assert found["n_test"] == 6
    assert found["n_calibration"] == 0
    assert {"learner", "optimizer", "dataset", "target", "fingerprint"} <= found.keys()


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.name)
def test_every_kind_of_run_can_be_logged(example: Path) -> None:
    reader = RunReader(RunDirectory(example))
    snapshot = reader.refresh()
    found = list(mlflow_run._by_step(snapshot.view, result(reader.directory, snapshot.view)))
    *_, (_, _, whole) = found
    assert whole["learner_calls"] == snapshot.view.usage.learner
    assert mlflow_run.STATUS[snapshot.state] == "FINISHED"
    parameters = mlflow_run._parameters(snapshot)
    assert parameters["particles" if "particles" in parameters else "n_train"] > 0
    is_weighed = snapshot.spec.config.is_weighing
    assert ("optimizer" in parameters, whole["log_evidence"] is None) == (not is_weighed, not is_weighed)


def test_an_unreachable_server_gives_a_one_line_error_without_the_password(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "0")
    uri = f"http://me:hunter22hunter@127.0.0.1:{free_port()}"
    with pytest.raises(InputError) as refused:
        log_run(inspected.labels(tmp_path).directory, uri, experiment="vpp")
    assert "MLflow at http://127.0.0.1:" in str(refused.value)
    assert "check that it is up" in str(refused.value)
    assert "hunter22" not in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_store_that_the_small_package_cannot_open_gives_a_one_line_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"MLflow cannot use sqlite:///x\.db: "):
        log_run(inspected.labels(tmp_path).directory, "sqlite:///x.db", experiment="vpp")


def test_without_mlflow_it_says_how_to_get_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        mlflow_run, "find_spec", lambda name: None if name == "mlflow" else importlib.util.find_spec(name)
    )
    with pytest.raises(InputError, match="pip install mlflow-skinny"):
        log_run(inspected.labels(tmp_path).directory, "http://127.0.0.1:5000", experiment="vpp")
