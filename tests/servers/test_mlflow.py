"""Runs exported to MLflow's own server, read back through its interface."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests import inspected
from tests.processes import Desk
from tests.servers.served import Served
from vpp.library.posterior import Posterior


def got(mlflow: Served, path: str) -> Any:
    return json.loads(mlflow.get(f"/api/2.0/mlflow/{path}"))


def test_a_demo_run_has_its_options_figures_by_step_and_files_there(mlflow: Served, desk: Desk) -> None:
    outcome = desk.run("tracked", "--demo").finish(within_s=300)
    assert outcome.code == 0, outcome.err
    result = json.loads(outcome.out)
    words = ("export", desk.folder / "tracked", "--mlflow", mlflow.address, "--experiment", "Rules <b>")
    exported = desk.start(*words).finish(within_s=300)
    assert exported.code == 0, exported.err
    (number,) = exported.out.split()
    run = got(mlflow, f"runs/get?run_id={number}")["run"]
    kinds = (run["data"][kind] for kind in ("params", "metrics", "tags"))
    params, metrics, tags = ({each["key"]: each["value"] for each in entries} for entries in kinds)
    assert run["info"]["status"] == "FINISHED"
    assert run["info"]["end_time"] > run["info"]["start_time"]
    assert (params["particles"], params["method"]) == (str(len(result["weights"])), "smc")
    assert tags["vpp.run"] == result["run"]
    assert metrics[f"test_{result['metric']['name']}"] == pytest.approx(result["metric"]["test"])
    assert metrics["learner_calls"] == result["calls"]["learner"]
    assert metrics["final_ess"] == pytest.approx(result["ess"])
    assert metrics["final_heaviest_weight"] >= max(result["weights"]) - 1e-9
    assert metrics["log_evidence_nominal"] == pytest.approx(result["log_evidence"]["value"])
    history = got(mlflow, f"metrics/get-history?run_id={number}&metric_key=ess")["metrics"]
    assert [each["value"] for each in history] == pytest.approx(result["ess_by_step"])
    assert [each["step"] for each in history] == list(range(len(history)))
    report = mlflow.get(f"/get-artifact?path=report.md&run_uuid={number}")
    assert report == Path(result["dir"], "report.md").read_text("utf-8")


def test_two_exports_are_two_runs_and_a_refusal_is_one_line(mlflow: Served, desk: Desk, tmp_path: Path) -> None:
    directory = inspected.labels(tmp_path).directory
    numbers = {Posterior(directory).to_mlflow(mlflow.address, experiment="twice") for _ in range(2)}
    experiments = [got(mlflow, f"runs/get?run_id={number}")["run"]["info"]["experiment_id"] for number in numbers]
    assert len(numbers) == 2
    assert len(set(experiments)) == 1
    refused = desk.start("export", directory.path, "--mlflow", mlflow.address, "--experiment", "").finish(within_s=120)
    assert refused.code == 2
    assert "experiment" in refused.complaint
