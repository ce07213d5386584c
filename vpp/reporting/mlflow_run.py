"""Log a run to MLflow: options as parameters, figures by step as metrics, report and posterior as artifacts."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from math import isfinite
from typing import Any

from vpp import __version__
from vpp.errors import InputError
from vpp.findings.result import evidence
from vpp.findings.slots import totals
from vpp.llm.protocol import short_reason
from vpp.reporting.document import write_all
from vpp.runs.directory import RunDirectory
from vpp.runs.reader import RunReader
from vpp.runs.spec import RunSpec
from vpp.runs.view import RunView, ess_of_sentences, log_evidence

STATUS: Mapping[str, str] = {"finished": "FINISHED", "stopped": "KILLED", "failed": "FAILED", "interrupted": "FAILED"}
"""MLflow's word for each end of a run; any other run is RUNNING."""


def log_run(directory: RunDirectory, uri: str, *, experiment: str) -> str:
    """Write the run's exports, log its present state as a new MLflow run, and return its id. Raises InputError."""
    try:  # here, because it takes a second
        from mlflow import MlflowClient
        from mlflow.entities import Metric, Param
        from mlflow.exceptions import MlflowException
    except ImportError:
        raise InputError("MLflow is not installed: pip install mlflow-skinny") from None
    snapshot, files = RunReader(directory).refresh(), write_all(directory)
    view = snapshot.view
    began_ms = int(1000 * (view.began_at or 0.0))
    try:
        client = MlflowClient(tracking_uri=uri)
        found = client.get_experiment_by_name(experiment)
        number = found.experiment_id if found else client.create_experiment(experiment)
        tags = {"vpp.run": directory.id, "vpp.version": __version__}
        run = str(client.create_run(number, start_time=began_ms, run_name=snapshot.spec.name, tags=tags).info.run_id)
        client.log_batch(run, params=[Param(name, str(value)) for name, value in parameters(snapshot.spec).items()])
        for step, at_s, figures in figures_by_step(snapshot.spec, view):
            known = {name: value for name, value in figures.items() if value is not None and isfinite(value)}
            at_ms = began_ms + int(1000 * at_s)
            client.log_batch(run, metrics=[Metric(name, value, at_ms, step) for name, value in known.items()])
        for file in files:
            client.log_artifact(run, str(file))
        if status := STATUS.get(snapshot.state):
            client.set_terminated(run, status, end_time=int(1000 * (view.last_at or 0.0)))
    except (MlflowException, OSError, ImportError) as failure:
        where, why = (short_reason(re.sub(r"//[^/\s]*@", "//", str(text)), secret="") for text in (uri, failure))
        fix = "check its address, your credentials and the experiment's name; a local store needs pip install mlflow"
        raise InputError(f"MLflow at {where} did not log the run: {why}: {fix}") from None
    return run


def parameters(spec: RunSpec) -> dict[str, Any]:
    table = {name: spec.dataset[name] for name in ("name", "target", "task", "fingerprint")}
    options = {**asdict(spec.config), "particles": spec.config.size}
    return {**options, **spec.endpoint.models, **{f"dataset_{name}": value for name, value in table.items()}}


def figures_by_step(spec: RunSpec, view: RunView) -> Iterator[tuple[int, float, dict[str, float | None]]]:
    """Yield step, seconds and figures of each finished step, of each evaluation, and of the whole run."""
    for at in view.finished_steps:
        judged = [proposed.accepted for proposed in at.proposed.values() if proposed.why == "likelihood"]
        figures = {"particles": float(len(at.population)), "distinct_texts": len({p.hypothesis for p in at.population})}
        figures |= {"ess": at.reweighted.ess} if at.reweighted else {}
        yield at.step, at.wall_s, {**figures, "acceptance_rate": sum(judged) / len(judged) if judged else None}
    for step, evaluated in view.evaluations:
        yield step, view.wall_s, {f"{evaluated.split}_{evaluated.metric}": evaluated.value}
    usage, found = view.usage, evidence(spec, view)
    spent = {"learner_calls": usage.learner, "optimizer_calls": usage.optimizer}
    spent |= {"prompt_tokens": usage.prompt_tokens, "completion_tokens": usage.completion_tokens}
    price = {"cost": usage.cost if spec.prices.are_given else None, "seconds": view.wall_s}
    # of the weights that predict, where `ess` is of those before a resampling
    shares = totals(zip((state.hypothesis for state in view.population), view.weights, strict=True))
    final = {"final_ess": ess_of_sentences(view), "final_heaviest_weight": max(shares.values())} if shares else {}
    label = {f"log_evidence_{found['label']}": log_evidence(view)} if found else {}
    yield view.last_step or 0, view.wall_s, {**spent, **price, **final, **label}
