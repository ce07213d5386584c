"""Complete runs of the real samplers on the scripted world, on disk; no server is asked."""

from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tests.inference.scripted import SEED_TEXT, Script, make_dataset, make_problem, run_conclusion
from tests.inference.scripted import run as events_of
from vpp.data.dataset import Column, Dataset
from vpp.events import Event, RunFinished, RunStarted
from vpp.inference.population import Population
from vpp.runs.journal import RunReader
from vpp.runs.view import population_of
from vpp.settings import Config

from . import builders

SMALL = {"reading": "rows", "epsilon": "0.05", "particles": 4, "batch_size": 4, "epochs": 1, "buffer_size": 8}
VARIANTS: dict[str, Config] = {
    "smc": Config(**SMALL),
    "smc filtered": Config(**{**SMALL, "epsilon": "auto"}, mutate="filtered"),
    "incremental": Config(**SMALL, tempering="incremental", final_weights="paper"),
    "adaptive": Config(**SMALL, tempering="adaptive", final_weights="paper", restart=0.5),
    "mh": Config(**SMALL, method="mh", restart=0.5),
    "mh on train": Config(**SMALL, method="mh", mh_rows="train", restart=1.0),
    "mh on buffer": Config(**SMALL, method="mh", mh_rows="buffer", final_weights="paper"),
    "always accept": Config(**SMALL, method="always-accept"),
    "vml": Config(**SMALL, method="vml"),
    "vml5": Config(**SMALL, method="vml5"),
}
"""Every method, and every option that changes what there is to show."""


def world(task: str) -> Dataset:
    """The scripted rows, with columns that a file can keep."""
    kind: Any = "category" if task == "classification" else "number"
    columns = (
        Column(name="x", kind="number", n_missing=0, n_distinct=27),
        Column(name="y", kind=kind, n_missing=0, n_distinct=2),
    )
    return replace(make_dataset(task), columns=columns)


def agreeing(hypothesis: str, row: Any, *, task: str) -> Any:
    """A learner for which every hypothesis is the truth."""
    return row.target


_FOLDER = TemporaryDirectory(prefix="vpp-sampled-")
"""Removed at the end of the process."""


def sampled_run(name: str, task: str = "classification") -> RunReader:
    """The finished run of a variant, shared by the tests of a process, which only read it."""
    return _made(name, task)


@cache
def _made(name: str, task: str) -> RunReader:
    return sampled(Path(_FOLDER.name) / f"{name} {task}", VARIANTS[name], task=task)


def sampled(folder: Path, config: Config, *, task: str = "classification", **script: Any) -> RunReader:
    """A finished run of its own. script: changes of the scripted model."""
    data = world(task)
    problem = make_problem(config, Script(task=task, **script), dataset=data)
    events = events_of(problem, config)
    end = run_conclusion(problem, config, last_population(events))
    begun: RunStarted = replace(builders.started(config, data, steps=problem.steps), seed_text=SEED_TEXT)
    folder.mkdir(parents=True, exist_ok=True)
    whole: list[Event] = [begun, *events, *end, RunFinished(outcome="finished")]
    return builders.run(folder, *whole, data=data, config=config)


def last_population(events: list[Event]) -> Population:
    """Population after the last step, as the conclusion of a run needs it."""
    population = population_of(builders.view_of(*events))
    assert population is not None
    return population
