"""Files of a run for other programs: posterior.json, particles for ArviZ 1 (posterior.nc), and a run of MLflow.

docs/files.md says what each field of posterior.json means. A record of a list stands on a line of its own, so that the
file can be searched and compared line by line. JSON has no infinity: a log-likelihood of -inf is the string
"-Infinity", as in the journal.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, fields
from importlib.util import find_spec
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from pydantic import TypeAdapter
from pydantic_core import from_json, to_json

from vpp import __version__
from vpp.data.dataset import Dataset
from vpp.errors import InputError
from vpp.findings.hypotheses import Idea, merge_ideas, particles, similarity
from vpp.findings.points import Point, evaluated_points, figures, final_answers, laws_of, totals
from vpp.findings.result import evidence, result
from vpp.findings.ruled_out import RuledOut, ruled_out
from vpp.findings.verdict import run_verdict
from vpp.llm.protocol import short_reason
from vpp.posterior.prediction import Answer, average
from vpp.reporting.document import report_html, report_markdown
from vpp.reporting.predictions import predictions_csv
from vpp.runs.directory import RunDirectory, RunReader, Snapshot, write_atomically
from vpp.runs.spec import RunSpec
from vpp.runs.view import RunView, ess_of_sentences, log_evidence, priors
from vpp.show.markup import REPLACEMENT

if TYPE_CHECKING:
    from xarray import DataTree

# The files


def write_all(directory: RunDirectory) -> list[Path]:
    """Write the three files that every ended run has, each in one move; return their paths, report.md first."""
    reader = RunReader(directory)
    contents = {
        "report.md": report_markdown(reader).encode(),
        "posterior.json": posterior_json(reader),
        "predictions.csv": predictions_csv(reader),
    }
    for name, content in contents.items():
        write_atomically(directory.path / name, content)
    return [directory.path / name for name in contents]


def write_html(directory: RunDirectory) -> Path:
    path = directory.path / "report.html"
    write_atomically(path, report_html(RunReader(directory)).encode(errors="replace"))
    return path


# posterior.json

SCHEMA_VERSION = 4
MOST_ROWS = 10
"""Rows written that speak against a hypothesis, the worst first; the journal has all."""
SIMILARITY_DIGITS = 9
FIGURES = ("decision", "share", "entropy_bits", "spread", "low", "high")
Json = dict[str, Any]


def _ruled_out(entry: RuledOut) -> Json:
    against = entry.contradictions
    rows = [
        {"row": each.row.id, "said": each.said, "true": each.row.target, "is_decisive": each.is_decisive}
        for each in against[:MOST_ROWS]
    ]
    unused = ("dataset", "scored", "rival")
    own = {each.name: getattr(entry, each.name) for each in fields(entry) if each.name not in unused}
    return {**own, "n_rows": entry.n_rows, "n_against": len(against), "against": rows}


def _point(point: Point) -> Json:
    own = {"row": point.row.id, "true": point.row.target, "uncertain": point.is_uncertain}
    shares = {"shares": dict(point.shares) if point.is_label else None}
    return {**own, **shares, **dict.fromkeys(FIGURES), **figures(point)}


_IDEAS = TypeAdapter(tuple[Idea, ...])


def posterior_json(reader: RunReader) -> bytes:
    finite = from_json(to_json(_contents(reader, reader.refresh()), inf_nan_mode="strings"))
    lines = (f"  {_text(key)}: {_field(value)}" for key, value in finite.items())
    return ("{\n" + ",\n".join(lines) + "\n}\n").encode(errors="replace")


def _contents(reader: RunReader, snapshot: Snapshot) -> Json:
    view, spec, dataset, started = snapshot.view, snapshot.spec, reader.dataset(), snapshot.view.start
    ideas, test, verdict = merge_ideas(view, dataset), view.evaluations.get("test"), run_verdict(reader.directory, view)
    near = similarity(ideas, dataset)
    return {
        "schema": SCHEMA_VERSION,
        "name": spec.name,
        "verdict": str(verdict) if verdict else None,
        "step": view.last_step,
        "seed_text": started.seed_text if started else None,
        "compared_by": ideas.by if ideas.all else None,
        "rows_compared": len(ideas.rows),
        "hypotheses": _IDEAS.dump_python(ideas.all),
        "similarity": [] if near is None else near.round(SIMILARITY_DIGITS).tolist(),
        "particles": particles(view, dataset),
        "ruled_out": list(map(_ruled_out, ruled_out(view, dataset))),
        "disagreement": list(map(_point, evaluated_points(test, view, spec.config, dataset) if test else ())),
        **{name: getattr(started, name, {}) for name in ("config", "models", "templates", "versions")},
        "dataset": spec.dataset,
        "result": {**result(reader.directory, view), "status": snapshot.state},
    }


def _field(value: Any) -> str:
    """Return JSON of a field on one line; of a list of records or lists a line each."""
    if isinstance(value, list) and value and isinstance(value[0], dict | list):
        return "[\n" + ",\n".join(f"    {_text(each)}" for each in value) + "\n  ]"
    return _text(value)


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


# netCDF and MLflow

Group = tuple[str, str, tuple[str, ...], Any]
"""A variable: its group, name, dimensions and values."""


def posterior_nc(reader: RunReader) -> bytes:
    """Return the tree as a netCDF file: `az.from_netcdf` reads it. Raises InputError as `data_tree` does."""
    return bytes(data_tree(reader).to_netcdf(engine="h5netcdf"))


def data_tree(reader: RunReader) -> "DataTree":
    """Return the groups of a run as it is now. Raises InputError if xarray is missing or no population is complete.

    posterior: the hypotheses' ids and texts. log_likelihood, posterior_predictive, observed_data: of the training rows.
    predictions, predictions_constant_data: of the test rows. Answers that are labels are numbers of classes, -1 for an
    abstention, with the classes as an attribute; numbers have NaN for one.
    """
    if not all(map(find_spec, ("xarray", "h5netcdf", "h5py"))):
        raise InputError("xarray is not installed: pip install xarray 'h5netcdf[h5py]'")
    import xarray  # late: it takes a second

    snapshot, dataset = reader.refresh(), reader.dataset()
    coordinates = {
        "chain": [0],
        "draw": range(snapshot.view.size),
        "row": [row.id for row in dataset.train],
        "test_row": [row.id for row in dataset.test],
    }
    groups: dict[str, Any] = {}
    for group, name, dims, values in (*_of_particles(snapshot, dataset), *_of_rows(snapshot, dataset)):
        coords = {dim: coordinates[dim] for dim in dims}
        groups[group] = groups.get(group, xarray.Dataset()).merge(xarray.Dataset({name: (dims, values)}, coords=coords))
    tree = xarray.DataTree.from_dict(groups)
    tree.attrs.update(
        inference_library="vpp",
        run=_storable(snapshot.spec.name),
        method=snapshot.spec.config.method,
        task=dataset.task,
        target=_storable(dataset.target),
        classes=[_storable(label) for label in dataset.classes],
    )
    return tree


def _of_particles(snapshot: Snapshot, dataset: Dataset) -> Iterator[Group]:
    every = particles(snapshot.view, dataset)
    if not every:
        raise InputError("no population is complete yet: wait for the first one")
    values = {
        ("posterior", "hypothesis"): [each.id for each in every],
        ("posterior", "text"): [_storable(each.text) for each in every],
        ("sample_stats", "weight"): [each.weight for each in every],
        ("sample_stats", "prior"): [each.prior for each in every if each.prior is not None],
        ("sample_stats", "hypothesis"): [each.hypothesis for each in every],
    }
    yield from ((*name, ("chain", "draw"), np.array([own])) for name, own in values.items() if own)


def _of_rows(snapshot: Snapshot, dataset: Dataset) -> Iterator[Group]:
    """Yield the final particles' answers to the rows that were evaluated, and the targets."""
    if final := final_answers(snapshot.view, dataset, "train"):
        rows, answers = final
        # ln p(y | x, theta) of a row given the others: Eq. 5 or 6 with each sentence's estimated noise.
        laws, targets = laws_of(snapshot.view, dataset, snapshot.spec.config), [row.target for row in rows]
        terms = [law.terms(each, targets) for law, each in zip(laws, answers, strict=True)]
        yield "log_likelihood", "y", ("chain", "draw", "row"), np.array([terms])
        yield "posterior_predictive", "y", ("chain", "draw", "row"), _numbers(answers, dataset)[None]
        yield "observed_data", "y", ("row",), _numbers([tuple(row.target for row in rows)], dataset)[0]
    if final := final_answers(snapshot.view, dataset, "test"):
        rows, answers = final
        yield "predictions", "y", ("chain", "draw", "test_row"), _numbers(answers, dataset)[None]
        yield (
            "predictions_constant_data",
            "target",
            ("test_row",),
            _numbers([tuple(row.target for row in rows)], dataset)[0],
        )


def _storable(text: str) -> str:
    """Text that the file can hold: netCDF ends a text at a NUL and refuses a lone surrogate."""
    return text.replace("\0", REPLACEMENT).encode(errors="replace").decode()


def _numbers(answers: Sequence[Sequence[Answer]], dataset: Dataset) -> Any:
    """(K, N) numbers of the likeliest classes, -1 for an abstention; or the numbers answered, NaN for one."""
    votes = [[average([answer], [1.0], is_label=isinstance(answer, str | dict)) for answer in each] for each in answers]
    if dataset.task == "classification":
        number: Mapping[Any, int] = {label: i for i, label in enumerate(dataset.classes)}
        return np.array([[number.get(vote, -1) for vote in each] for each in votes], dtype=np.int64)
    return np.array([[np.nan if vote is None else float(vote) for vote in each] for each in votes])


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
        options = parameters(snapshot.spec, view)
        client.log_batch(run, params=[Param(name, str(value)) for name, value in options.items()])
        for step, at_s, figures in figures_by_step(snapshot.spec, view):
            known = {name: value for name, value in figures.items() if value is not None and isfinite(value)}
            at_ms = began_ms + int(1000 * at_s)
            client.log_batch(run, metrics=[Metric(name, value, at_ms, step) for name, value in known.items()])
        for file in files:
            client.log_artifact(run, str(file))
        if status := STATUS.get(snapshot.state):
            client.set_terminated(run, status, end_time=int(1000 * (view.last_at or 0.0)))
    except (MlflowException, OSError, ImportError) as failure:
        where, why = (short_reason(re.sub(r"//[^/\s]*@", "//", str(text))) for text in (uri, failure))
        fix = "check its address, your credentials and the experiment's name; a local store needs pip install mlflow"
        raise InputError(f"MLflow at {where} did not log the run: {why}: {fix}") from None
    return run


def parameters(spec: RunSpec, view: RunView) -> dict[str, Any]:
    table = {name: spec.dataset[name] for name in ("name", "target", "task", "fingerprint")}
    options = {**asdict(spec.config), "particles": spec.config.size}
    options |= {"priors": ", ".join(f"{each:.6g}" for each in priors(view))} if spec.config.is_weighing else {}
    return {**options, **spec.endpoint.models, **{f"dataset_{name}": value for name, value in table.items()}}


def figures_by_step(spec: RunSpec, view: RunView) -> Iterator[tuple[int, float, dict[str, float | None]]]:
    """Yield step, seconds and figures of each finished step, of each evaluation, and of the whole run."""
    for at in view.complete_steps:
        judged = [proposed.accepted for proposed in at.proposals.values() if proposed.why == "likelihood"]
        figures = {"particles": float(len(at.population)), "distinct_texts": len({p.hypothesis for p in at.population})}
        figures |= {"ess": at.reweighting.ess} if at.reweighting else {}
        yield at.step, at.wall_s, {**figures, "acceptance_rate": sum(judged) / len(judged) if judged else None}
    for evaluated in view.evaluations.values():
        yield evaluated.step, view.wall_s, {f"{evaluated.split}_{evaluated.metric}": evaluated.value}
    usage, found = view.usage, evidence(spec, view)
    spent = {"learner_calls": usage.learner, "optimizer_calls": usage.optimizer}
    spent |= {"prompt_tokens": usage.prompt_tokens, "completion_tokens": usage.completion_tokens}
    price = {"cost": usage.cost if spec.prices.are_given else None, "seconds": view.wall_s}
    # Of the weights that predict, the constant's spread evenly over the texts; `ess` is of those before a resampling.
    shares = totals(zip((state.hypothesis for state in view.population), view.weights, strict=True))
    final = {"final_ess": ess_of_sentences(view), "final_heaviest_weight": max(shares.values())} if shares else {}
    label = {f"log_evidence_{found['label']}": log_evidence(view)} if found else {}
    yield view.last_step or 0, view.wall_s, {**spent, **price, **final, **label}
