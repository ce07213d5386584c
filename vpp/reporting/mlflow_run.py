"""Log a run to MLflow: options as parameters, figures by step as metrics, report and posterior as artifacts."""

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict
from importlib.util import find_spec
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vpp import __version__
from vpp.errors import InputError
from vpp.events import Usage
from vpp.inspection.summary import result
from vpp.llm.protocol import short_reason
from vpp.reporting.exports import write_all
from vpp.runs.directory import RunDirectory
from vpp.runs.reader import RunReader, Snapshot
from vpp.runs.spec import row_counts
from vpp.runs.view import RunView, StepView, log_evidence
from vpp.settings import WEIGHING

if TYPE_CHECKING:
    from mlflow import MlflowClient

HOW_TO_GET = "MLflow is not installed: pip install mlflow-skinny"
STATUS: Mapping[str, str] = {"finished": "FINISHED", "stopped": "KILLED", "failed": "FAILED", "interrupted": "FAILED"}
"""MLflow's word for each end of a run; any other run is RUNNING."""
BATCH = 1_000
"""Metrics that one request may log."""
Figures = Mapping[str, float | None]


def log_run(directory: RunDirectory, uri: str, *, experiment: str) -> str:
    """Write the run's exports, log its present state as a new MLflow run, and return the new run's id.

    uri: a tracking server or a local store. Raises InputError if MLflow is missing, cannot be reached, or refuses the
    run.
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
        try:
            _log(client, run, directory, snapshot, files)
        except BaseException:
            with suppress(error, OSError):
                client.set_terminated(run, "FAILED")
            raise
    except (error, OSError, ImportError) as failure:
        raise InputError(
            f"MLflow at {_redacted(uri)} did not log the run: {_redacted(failure)}: check that it is up, and its "
            "address, your credentials and the experiment's name"
        ) from None
    return str(run)


def _client(uri: str) -> "tuple[MlflowClient, type[Exception]]":
    """Return an MLflow client and MLflow's exception. Imports MLflow here, because that takes a second."""
    if find_spec("mlflow") is None:
        raise InputError(HOW_TO_GET)
    from mlflow import MlflowClient
    from mlflow.exceptions import MlflowException

    try:
        return MlflowClient(tracking_uri=uri), MlflowException
    except (MlflowException, ImportError) as failure:
        needs = "give a server's address; a local store needs the complete package, pip install mlflow"
        raise InputError(f"MLflow cannot use {_redacted(uri)}: {_redacted(failure)}: {needs}") from None


def _redacted(words: object) -> str:
    """Return words in one line, their addresses without user and password."""
    return short_reason(re.sub(r"//[^/\s]*@", "//", str(words)), secret="")


def _log(client: "MlflowClient", run: str, directory: RunDirectory, snapshot: Snapshot, files: list[Path]) -> None:
    from mlflow.entities import Metric, Param

    view = snapshot.view
    client.log_batch(run, params=[Param(name, str(value)) for name, value in _parameters(snapshot).items()])
    metrics = [
        Metric(name, value, _milliseconds((view.began_at or 0.0) + at_s), step)
        for step, at_s, figures in _by_step(view, result(directory, view))
        for name, value in figures.items()
        if value is not None and isfinite(value)
    ]
    for first in range(0, len(metrics), BATCH):
        client.log_batch(run, metrics=metrics[first : first + BATCH])
    for file in files:
        client.log_artifact(run, str(file))
    if status := STATUS.get(snapshot.state):
        client.set_terminated(run, status, end_time=_milliseconds(view.last_at))


def _milliseconds(time_s: float | None) -> int:
    return int(1000 * (time_s or 0.0))


def _parameters(snapshot: Snapshot) -> dict[str, Any]:
    """Return the options with an effect, the models that are asked, and the rows, by name."""
    spec, config = snapshot.spec, snapshot.spec.config
    options = {**asdict(config), "particles": config.size}
    models = dict(spec.endpoint.models)
    if config.is_weighing:
        options = {"method": config.method, **{name: options[name] for name in WEIGHING}}
        del models["optimizer"]
    rows = {name: spec.dataset[name] for name in ("target", "task", "fingerprint")}
    return {**options, **models, "dataset": spec.dataset["name"], **rows, **row_counts(spec.dataset)}


def _by_step(view: RunView, found: dict[str, Any]) -> Iterator[tuple[int, float, Figures]]:
    """Yield (step, seconds, figures) of each finished step, each evaluation, and the run as a whole."""
    ends = {at.step: at.wall_s for at in view.finished_steps}
    for at in view.finished_steps:
        yield at.step, at.wall_s, _of_step(at)
    for step, evaluated in view.evaluations:
        yield step, ends.get(step, view.wall_s), {f"{evaluated.split}_{evaluated.metric}": evaluated.value}
    whole = {
        **_spent(view.usage),
        "log_evidence": log_evidence(view),
        "uncertain_points": found["uncertain"]["points"],
        "cost": found["spent"]["cost"],
        "seconds": view.wall_s,
    }
    yield max(ends, default=0), view.wall_s, whole


def _of_step(at: StepView) -> Figures:
    judged = [proposed.accepted for proposed in at.proposed.values() if proposed.why == "likelihood"]
    return {
        **_spent(at.usage),
        "particles": len(at.population),
        "distinct_texts": len({state.hypothesis for state in at.population}),
        "heaviest_weight": max(at.weights, default=None),
        "ess": at.reweighted.ess if at.reweighted else None,
        "acceptance_rate": sum(judged) / len(judged) if judged else None,
    }


def _spent(usage: Usage) -> dict[str, float | None]:
    """Return the calls and tokens of the run so far."""
    return {
        "learner_calls": usage.learner,
        "optimizer_calls": usage.optimizer,
        "prompt_tokens": usage.prompt_tokens,
        "completion_tokens": usage.completion_tokens,
    }
