"""A new run that continues from an earlier run's particles, with rows that a person has labelled since.

Its first population is the earlier run's last, one text a slot, and its training rows are the earlier run's followed by
the new ones. Weights are not carried over: the new run weighs its particles on all labelled rows, so that earlier
weights would count the earlier rows twice.
"""

from collections.abc import Sequence
from dataclasses import replace

from vpp.data.dataset import Dataset
from vpp.data.labelling import Answered, with_rows
from vpp.errors import RunError
from vpp.runs.directory import RunDirectory
from vpp.runs.journal_reader import JournalReader
from vpp.runs.preparation import Preparation
from vpp.runs.run_files import NAME_LENGTH, load_dataset
from vpp.runs.spec import RunSpec
from vpp.runs.view import RunView
from vpp.settings import Config


def continue_run(
    directory: RunDirectory, answered: Sequence[Answered], *, name: str = "", command: tuple[str, ...] = ()
) -> Preparation:
    """Prepare a new run from this run's particles and rows, and the labelled ones; `create` writes it.

    Raises RunError before the first population, and DataError for a row that cannot be added (`with_rows`).
    """
    spec, view = directory.spec(), JournalReader(directory.journal).read()
    prepared = continuation(spec, load_dataset(directory, spec), view, answered, run=directory.id, name=name)
    return replace(prepared, spec=replace(prepared.spec, command=command))


def continuation(
    spec: RunSpec, dataset: Dataset, view: RunView, answered: Sequence[Answered], *, run: str, name: str = ""
) -> Preparation:
    """Prepare the new run from a run that has been read already. run: its id."""
    rows = "1 row" if len(answered) == 1 else f"{len(answered)} rows"
    return Preparation(
        dataset=with_rows(dataset, answered, note=f"answered by a person to go on from run {run}"),
        spec=going_on(spec, view, run=run, name=name or f"{spec.name[:NAME_LENGTH]} + {rows}"),
    )


def going_on(spec: RunSpec, view: RunView, *, run: str, name: str) -> RunSpec:
    """Return the spec of a run that begins with this run's particles."""
    if not view.population:
        raise RunError(f"{run} has no particles yet: wait for its first step")
    texts = tuple(view.texts[state.hypothesis] for state in view.population)
    return replace(
        spec,
        config=config_for(spec.config, size=len(texts)),
        name=name,
        command=(),
        start=texts,
        started_from=run,
        reworded=None,
    )


def config_for(config: Config, *, size: int) -> Config:
    """Return the earlier run's options with a particle for each text, and final weights on all training rows.

    Only smc has final weights; tempered weights are on all training rows already.
    """
    if not config.draws_initial:
        return config
    is_weighed_anew = config.method == "smc" and not config.is_telescoping
    return replace(config, particles=size, final_weights="train" if is_weighed_anew else config.final_weights)
