"""Log a run to MLflow: options as parameters, figures by step as metrics, report and posterior as artifacts."""

import os
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from importlib.util import find_spec
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from vpp import __version__
from vpp.errors import InputError
from vpp.inspection.summary import result
from vpp.llm.protocol import short_reason
from vpp.reporting.exports import write_all
from vpp.runs.directory import RunDirectory
from vpp.runs.reader import RunReader, Snapshot
from vpp.runs.view import RunView, StepView

if TYPE_CHECKING:
    from mlflow import MlflowClient

HOW_TO_GET = "MLflow is not installed: pip install mlflow-skinny"
STATUS: Mapping[str, str] = {"finished": "FINISHED", "stopped": "KILLED", "failed": "FAILED"}
"""MLflow's word for each end of a run; a run that has not ended is RUNNING."""
VALUE_LIMIT = 6_000
"""Characters of the longest parameter value that MLflow accepts."""
BATCH = 100
"""Parameters that one request may log; metrics may be ten times as many."""
USUAL = {
    "MLFLOW_DISABLE_TELEMETRY": "true",
    "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "2",
    "MLFLOW_SUPPRESS_PRINTING_URL_TO_STDOUT": "true",
}
"""Defaults of MLflow's variables: no usage reports, two retries, no printed address. Those already set stay."""
Figures = Mapping[str, float | None]


def log_run(directory: RunDirectory, uri: str, *, experiment: str) -> str:
    """Write the run's exports, log its present state as a new MLflow run, and return the new run's id.

    uri: a tracking server or a local store. Raises InputError if MLflow is missing, cannot be
    reached, or refuses the run.
    """
    client, error = _client(uri)
    reader = RunReader(directory)
    snapshot, files = reader.refresh(), write_all(directory)
    try:
        found = client.get_experiment_by_name(experiment)
        number = found.experiment_id if found else client.create_experiment(experiment)
        began = _milliseconds(snapshot.view.began_at)
        tags = {"vpp.run": directory.id, "vpp.version": __version__}
        run = client.create_run(number, start_time=began, run_name=snapshot.spec.name, tags=tags).info.run_id
        _log(client, run, directory, snapshot, files)
    except (error, OSError) as failure:
        raise InputError(
            f"MLflow at {_said(uri, uri)} did not log the run: {_said(failure, uri)}: check that it is up, and its "
            "address, your credentials and the experiment's name"
        ) from None
    return str(run)


def _client(uri: str) -> "tuple[MlflowClient, type[Exception]]":
    """Return an MLflow client and MLflow's exception. Imports MLflow here, because that takes a second."""
    if find_spec("mlflow") is None:
        raise InputError(HOW_TO_GET)
    for name, value in USUAL.items():
        os.environ.setdefault(name, value)
    from mlflow import MlflowClient
    from mlflow.exceptions import MlflowException

    try:
        return MlflowClient(tracking_uri=uri), MlflowException
    except (MlflowException, ImportError) as failure:
        needs = "give a server's address; a local store needs the complete package, pip install mlflow"
        raise InputError(f"MLflow cannot use {_said(uri, uri)}: {_said(failure, uri)}: {needs}") from None


def _said(words: object, uri: str) -> str:
    """Return words in one line, without the address's password."""
    return short_reason(str(words), secret=urlsplit(uri).password or "")


def _log(client: "MlflowClient", run: str, directory: RunDirectory, snapshot: Snapshot, files: list[Path]) -> None:
    from mlflow.entities import Metric, Param

    view = snapshot.view
    params = [Param(name, str(value)[:VALUE_LIMIT]) for name, value in _parameters(snapshot).items()]
    for first in range(0, len(params), BATCH):
        client.log_batch(run, params=params[first : first + BATCH])
    metrics = [
        Metric(name, value, _milliseconds((view.began_at or 0.0) + at_s), step)
        for step, at_s, figures in _by_step(view, result(directory, view))
        for name, value in figures.items()
        if value is not None and isfinite(value)
    ]
    for first in range(0, len(metrics), 10 * BATCH):
        client.log_batch(run, metrics=metrics[first : first + 10 * BATCH])
    for file in files:
        client.log_artifact(run, str(file))
    if status := STATUS.get(view.phase):
        client.set_terminated(run, status, end_time=_milliseconds(view.last_at))


def _milliseconds(time_s: float | None) -> int:
    return int(1000 * (time_s or 0.0))


def _parameters(snapshot: Snapshot) -> dict[str, Any]:
    """Return the options of the method, the models, and the rows, by name."""
    spec = snapshot.spec
    named = {name: spec.dataset[name] for name in ("target", "task", "n_train", "n_test", "fingerprint")}
    return {**asdict(spec.config), **spec.endpoint.models, "dataset": spec.dataset["name"], **named}


def _by_step(view: RunView, found: dict[str, Any]) -> Iterator[tuple[int, float, Figures]]:
    """Yield (step, seconds, figures) of each finished step, and of the run as a whole at its last step."""
    for at in view.finished_steps:
        yield at.step, at.wall_s, _of_step(at)
    for step, evaluated in view.evaluations:
        yield step, view.wall_s, {f"{evaluated.split}_{evaluated.metric}": evaluated.value}
    evidence = found["log_evidence"]
    whole = {
        "log_evidence": float(evidence["value"]) if evidence else None,
        "uncertain_points": found["uncertain"]["points"],
        "cost": found["spent"]["cost"],
        "seconds": view.wall_s,
    }
    yield view.last_step or 0, view.wall_s, whole


def _of_step(at: StepView) -> Figures:
    judged = [proposed.accepted for proposed in at.proposed.values() if proposed.why == "likelihood"]
    return {
        "particles": len(at.population),
        "distinct_texts": len({state.hypothesis for state in at.population}),
        "heaviest_weight": max(at.weights, default=None),
        "ess": at.reweighted.ess if at.reweighted else None,
        "acceptance_rate": sum(judged) / len(judged) if judged else None,
        "learner_calls": at.usage.learner,
        "optimizer_calls": at.usage.optimizer,
        "prompt_tokens": at.usage.prompt_tokens,
        "completion_tokens": at.usage.completion_tokens,
    }
