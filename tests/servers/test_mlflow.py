"""Runs exported to MLflow's own server, read back through its interface."""

import json
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from tests import inspected
from tests.processes import Desk
from tests.servers.served import Served
from vpp.library.posterior import Posterior


def asked(mlflow: Served, path: str, **body: Any) -> dict[str, Any]:
    """Return the reply of MLflow's REST interface."""
    address = f"{mlflow.base_url.removesuffix('/v1')}/api/2.0/mlflow/{path}"
    request = urllib.request.Request(address, json.dumps(body).encode(), {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=30) as reply:
        found: dict[str, Any] = json.load(reply)
    return found


def got(mlflow: Served, path: str) -> Any:
    return json.loads(mlflow.get(f"/api/2.0/mlflow/{path}"))


def test_a_demo_run_has_its_options_figures_by_step_and_files_there(mlflow: Served, desk: Desk) -> None:
    outcome = desk.run("tracked", "--demo").finish(within_s=300)
    assert outcome.code == 0, outcome.err
    result = json.loads(outcome.out)
    uri = mlflow.base_url.removesuffix("/v1")
    exported = desk.start("export", str(desk.folder / "tracked"), "--mlflow", uri, "--experiment", "Rules <b>").finish(
        within_s=300
    )
    assert exported.code == 0, exported.err
    (number,) = exported.out.split()
    run = got(mlflow, f"runs/get?run_id={number}")["run"]
    params = {each["key"]: each["value"] for each in run["data"]["params"]}
    metrics = {each["key"]: each["value"] for each in run["data"]["metrics"]}
    tags = {each["key"]: each["value"] for each in run["data"]["tags"]}
    assert run["info"]["status"] == "FINISHED"
    assert run["info"]["end_time"] > run["info"]["start_time"]
    assert params["particles"] == str(len(result["weights"]))
    assert params["method"] == "smc"
    assert params["learner"] == "demo"
    assert tags["vpp.run"] == result["run"]
    assert metrics[f"test_{result['metric']['name']}"] == pytest.approx(result["metric"]["test"])
    assert metrics["learner_calls"] == result["calls"]["learner"]
    history = got(mlflow, f"metrics/get-history?run_id={number}&metric_key=ess")["metrics"]
    assert [each["value"] for each in history] == pytest.approx(result["ess_by_step"])
    assert [each["step"] for each in history] == list(range(len(history)))
    files = {each["path"] for each in got(mlflow, f"artifacts/list?run_id={number}")["files"]}
    assert files == {"report.md", "posterior.json", "predictions.csv"}
    report = mlflow.get(f"/get-artifact?path=report.md&run_uuid={number}")
    assert report == Path(result["dir"], "report.md").read_text("utf-8")


def test_two_exports_are_two_runs_of_one_experiment(mlflow: Served, tmp_path: Path) -> None:
    posterior = Posterior(inspected.labels(tmp_path).directory)
    uri = mlflow.base_url.removesuffix("/v1")
    numbers = {posterior.to_mlflow(uri, experiment="twice") for _ in range(2)}
    number = got(mlflow, "experiments/get-by-name?experiment_name=twice")["experiment"]["experiment_id"]
    found = asked(mlflow, "runs/search", experiment_ids=[number])["runs"]
    assert {each["info"]["run_id"] for each in found} == numbers
    assert len(numbers) == 2


def test_an_experiment_that_mlflow_refuses_gives_a_one_line_error(mlflow: Served, desk: Desk, tmp_path: Path) -> None:
    run = inspected.labels(tmp_path).directory.path
    uri = mlflow.base_url.removesuffix("/v1")
    outcome = desk.start("export", str(run), "--mlflow", uri, "--experiment", "").finish(within_s=120)
    assert outcome.code == 2
    assert outcome.err.count("\n") == 1
    assert "experiment" in outcome.err
