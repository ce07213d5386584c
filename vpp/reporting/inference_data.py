"""A run's particles for ArviZ: InferenceData, and posterior.nc.

One chain; a draw is a particle. ArviZ knows no weights: they stand in `sample_stats`, beside `ancestor`, which picks
as many draws of equal weight (systematic resampling at u = 1/2, so that no seed is needed). The draws it picks stand
beside those of the particles, in groups whose names end in `_resampled`:

    az.loo(az.InferenceData(posterior=data.posterior_resampled, log_likelihood=data.log_likelihood_resampled))

Few particles tell little: ten are too few for a trustworthy LOO, and copies of one particle are no independent draws.
"""

import tempfile
import warnings
from collections.abc import Iterable, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from vpp.data.dataset import Dataset, Row
from vpp.errors import InputError
from vpp.inspection.ideas import Ideas, merge_ideas
from vpp.inspection.scores import final_answers, log_likelihood_terms
from vpp.posterior.prediction import Answer, average
from vpp.posterior.weights import systematic_resample
from vpp.runs.reader import RunReader, Snapshot
from vpp.runs.view import RunView
from vpp.wording.escaping import REPLACEMENT

if TYPE_CHECKING:
    from arviz import InferenceData

HOW_TO_GET = "ArviZ is not installed: pip install 'arviz<1'"
MIDDLE = 0.5
"""Uniform number u of the systematic resampling."""
RESAMPLED = ("posterior", "log_likelihood", "posterior_predictive", "predictions")
"""Groups with a draw a particle that have draws of equal weight beside them, named `posterior_resampled` and so on."""
TEST_NAMES = ("test_y", "test_target", "test_row_id")
Group = dict[str, Any]


def is_available() -> bool:
    """Return whether ArviZ can be imported, without importing it."""
    return find_spec("arviz") is not None


def inference_data(reader: RunReader) -> "InferenceData":
    """InferenceData of a run as it is now. Raises InputError if ArviZ is missing or no population is complete.

    posterior: the hypotheses' ids and texts. log_likelihood, posterior_predictive, observed_data, constant_data: of the
    training rows. predictions, predictions_constant_data: of the test rows. Those of `RESAMPLED` come a second time, as
    draws of equal weight. Answers that are labels are numbers of classes, -1 for an abstention, with the classes as an
    attribute; numbers have NaN for one.
    """
    arviz = _imported()
    snapshot, dataset = reader.refresh(), reader.dataset()
    ideas = merge_ideas(snapshot.view, dataset)
    if ideas is None:
        raise InputError("no population is complete yet: wait for the first one")
    groups = {
        **_posterior(snapshot.view, ideas),
        **_of_training_rows(snapshot, dataset),
        **_test_predictions(snapshot, dataset),
    }
    made = arviz.from_dict(
        **groups,
        coords={"row": _ids(dataset.train), "test_row": _ids(dataset.test)},
        dims={name: ["row"] for name in ("y", "row_id")} | {name: ["test_row"] for name in TEST_NAMES},
    )
    made.add_groups(_resampled(made))
    data: InferenceData = made
    for name in data.groups():
        data[name].attrs.update(
            inference_library="vpp",
            run=_storable(snapshot.spec.name),
            method=snapshot.spec.config.method,
            task=dataset.task,
            target=_storable(dataset.target),
            classes=[_storable(label) for label in dataset.classes],
            weights="in sample_stats; draws of groups named _resampled have equal weight",
        )
    return data


def _resampled(data: Any) -> Group:
    """Draws of equal weight, numbered anew: copies of the particles that `ancestor` picks."""
    picked = data.sample_stats.ancestor.values[0]
    groups = {name: data[name].isel(draw=picked) for name in RESAMPLED if name in data.groups()}
    return {f"{name}_resampled": group.assign_coords(draw=range(len(picked))) for name, group in groups.items()}


def posterior_nc(reader: RunReader) -> bytes:
    """InferenceData as a netCDF file: `az.from_netcdf` reads it. Raises InputError as `inference_data` does."""
    data = inference_data(reader)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "posterior.nc"
        data.to_netcdf(str(path))
        return path.read_bytes()


def _imported() -> ModuleType:
    """ArviZ, imported late: it takes a second or two, and warns of a later version each time."""
    if not is_available():
        raise InputError(HOW_TO_GET)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=r"\s*ArviZ is undergoing a major refactor", category=FutureWarning)
        import arviz
    return arviz


def _posterior(view: RunView, ideas: Ideas) -> Group:
    weights = np.array(view.weights)
    with np.errstate(divide="ignore"):
        log_weights = np.log(weights)
    return {
        "posterior": {
            "hypothesis": _chain([state.hypothesis for state in view.population]),
            "text": _chain([_storable(view.texts[state.hypothesis]) for state in view.population]),
        },
        "sample_stats": {
            "weight": _chain(weights),
            "log_weight": _chain(log_weights),
            "slot": _chain(range(view.size)),
            "idea": _chain([ideas.of_slot(slot) for slot in range(view.size)]),
            "ancestor": _chain(systematic_resample(weights, u=MIDDLE)),
        },
    }


def _of_training_rows(snapshot: Snapshot, dataset: Dataset) -> Group:
    final = final_answers(snapshot.view, dataset, "train")
    if final is None:
        return {}
    rows, answers = final
    config, last = snapshot.spec.config, snapshot.view.finished_steps[-1].finished
    tau = last.tau if last and last.tau is not None else config.fixed_tau
    terms = log_likelihood_terms(answers, rows, dataset, config, tau=tau)
    return {
        "log_likelihood": {"y": terms[None]},
        "posterior_predictive": {"y": _numbers(answers, dataset)[None]},
        "observed_data": {"y": _targets(rows, dataset)},
        "constant_data": {"row_id": np.array(_ids(rows))},
    }


def _test_predictions(snapshot: Snapshot, dataset: Dataset) -> Group:
    """Return the groups of the final particles' answers to the test rows; (1, K, N) as chain, draw and row."""
    final = final_answers(snapshot.view, dataset, "test")
    if final is None:
        return {}
    rows, answers = final
    return {
        "predictions": {"test_y": _numbers(answers, dataset)[None]},
        "predictions_constant_data": {"test_target": _targets(rows, dataset), "test_row_id": np.array(_ids(rows))},
    }


def _chain(values: Iterable[Any]) -> Any:
    """(1, K): one chain."""
    return np.array([list(values)])


def _storable(text: str) -> str:
    """Text that the file can hold: netCDF ends a text at a NUL and refuses a lone surrogate."""
    return text.replace("\0", REPLACEMENT).encode(errors="replace").decode()


def _ids(rows: Sequence[Row]) -> list[int]:
    return [row.id for row in rows]


def _numbers(answers: Sequence[Sequence[Answer]], dataset: Dataset) -> Any:
    """(K, N) numbers of the likeliest classes, -1 for an abstention; or the numbers answered, NaN for one."""
    votes = [[average([answer], [1.0], is_label=isinstance(answer, str | dict)) for answer in each] for each in answers]
    if dataset.task == "classification":
        number: Mapping[Any, int] = {label: i for i, label in enumerate(dataset.classes)}
        return np.array([[number.get(vote, -1) for vote in each] for each in votes], dtype=np.int64)
    return np.array([[np.nan if vote is None else float(vote) for vote in each] for each in votes])


def _targets(rows: Sequence[Row], dataset: Dataset) -> Any:
    """(N,)."""
    return _numbers([tuple(row.target for row in rows)], dataset)[0]
