"""A run's particles for ArviZ 1: an xarray.DataTree, and posterior.nc.

One chain; a draw is a particle, and draws have weights: docs/posterior-nc.md shows how `az.extract` takes them.
"""

from collections.abc import Iterator, Mapping, Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np

from vpp.data.dataset import Dataset, Row
from vpp.errors import InputError
from vpp.findings.ideas import merge_ideas
from vpp.findings.scores import final_answers, log_likelihood_terms
from vpp.posterior.prediction import Answer, average
from vpp.runs.reader import RunReader, Snapshot
from vpp.runs.view import priors
from vpp.show.markup import REPLACEMENT

if TYPE_CHECKING:
    from xarray import DataTree

HOW_TO_GET = "xarray is not installed: pip install xarray 'h5netcdf[h5py]'"
Group = tuple[str, str, tuple[str, ...], Any]
"""A variable: its group, name, dimensions and values."""


def is_available() -> bool:
    """Return whether the file can be written, without importing anything."""
    return all(find_spec(name) for name in ("xarray", "h5netcdf", "h5py"))


def posterior_nc(reader: RunReader) -> bytes:
    """Return the tree as a netCDF file: `az.from_netcdf` reads it. Raises InputError as `data_tree` does."""
    return bytes(data_tree(reader).to_netcdf(engine="h5netcdf"))


def data_tree(reader: RunReader) -> "DataTree":
    """Return the groups of a run as it is now. Raises InputError if xarray is missing or no population is complete.

    posterior: the hypotheses' ids and texts. log_likelihood, posterior_predictive, observed_data: of the training rows.
    predictions, predictions_constant_data: of the test rows. Answers that are labels are numbers of classes, -1 for an
    abstention, with the classes as an attribute; numbers have NaN for one.
    """
    if not is_available():
        raise InputError(HOW_TO_GET)
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
    view, ideas = snapshot.view, merge_ideas(snapshot.view, dataset)
    if ideas is None:
        raise InputError("no population is complete yet: wait for the first one")
    texts = [state.hypothesis for state in view.population]
    yield "posterior", "hypothesis", ("chain", "draw"), np.array([texts])
    yield "posterior", "text", ("chain", "draw"), np.array([[_storable(view.texts[each]) for each in texts]])
    yield "sample_stats", "weight", ("chain", "draw"), np.array([view.weights])
    if before := priors(view):
        yield "sample_stats", "prior", ("chain", "draw"), np.array([before])
    yield (
        "sample_stats",
        "hypothesis",
        ("chain", "draw"),
        np.array([[ideas.of_slot(slot) for slot in range(view.size)]]),
    )


def _of_rows(snapshot: Snapshot, dataset: Dataset) -> Iterator[Group]:
    """Yield the final particles' answers to the rows that were evaluated, and the targets."""
    config = snapshot.spec.config
    if final := final_answers(snapshot.view, dataset, "train"):
        rows, answers = final
        terms = log_likelihood_terms(answers, rows, dataset, config)
        yield "log_likelihood", "y", ("chain", "draw", "row"), terms[None]
        yield "posterior_predictive", "y", ("chain", "draw", "row"), _numbers(answers, dataset)[None]
        yield "observed_data", "y", ("row",), _targets(rows, dataset)
    if final := final_answers(snapshot.view, dataset, "test"):
        rows, answers = final
        yield "predictions", "y", ("chain", "draw", "test_row"), _numbers(answers, dataset)[None]
        yield "predictions_constant_data", "target", ("test_row",), _targets(rows, dataset)


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


def _targets(rows: Sequence[Row], dataset: Dataset) -> Any:
    """(N,)."""
    return _numbers([tuple(row.target for row in rows)], dataset)[0]
