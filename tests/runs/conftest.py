"""A run without rows, one on the penguins that is not on disk yet, and what a worker is given."""

from pathlib import Path
from typing import Any

import pytest

from tests.processes import PENGUINS
from vpp.data.build import build_dataset
from vpp.data.split import SplitPlan
from vpp.data.table import Table
from vpp.runs.directory import RunDirectory
from vpp.runs.preparation import Preparation
from vpp.runs.spec import EndpointSpec, Keys, RunSpec
from vpp.runs.worker import Surroundings
from vpp.settings import Config

DEMO = EndpointSpec(demo=True, model="demo")


def empty_run(path: Path) -> RunDirectory:
    directory = RunDirectory(path)
    directory.create(RunSpec(name="a", config=Config(), endpoint=EndpointSpec(demo=True)), b"row\n")
    return directory


def penguins(
    endpoint: EndpointSpec = DEMO, *, name: str = "", split: SplitPlan | None = None, **config: Any
) -> Preparation:
    table = Table.read(PENGUINS.read_bytes(), name=PENGUINS.name)
    dataset = build_dataset(table, target="species", split=split or SplitPlan())
    return Preparation(dataset=dataset, spec=RunSpec(name=name, config=Config(**config), endpoint=endpoint))


def surroundings(folder: Path, **options: Any) -> Surroundings:
    """Without a key; slots and cache in a folder."""
    return Surroundings(keys=Keys(), cache_dir=folder / "cache", slots_dir=folder, max_running=1, **options)


@pytest.fixture
def directory(tmp_path: Path) -> RunDirectory:
    return empty_run(tmp_path / "runs" / "run")
