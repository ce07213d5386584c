"""A run without rows, and one on the penguins that is not on disk yet."""

from pathlib import Path
from typing import Any

import pytest

from tests.processes import PENGUINS
from vpp.data.build import build_dataset
from vpp.data.split import SplitPlan
from vpp.data.table import Table
from vpp.runs.directory import RunDirectory
from vpp.runs.preparation import Preparation
from vpp.runs.spec import EndpointSpec, RunSpec
from vpp.settings import Config

DEMO = EndpointSpec(demo=True, model="demo")


def penguins(
    endpoint: EndpointSpec = DEMO, *, name: str = "", split: SplitPlan | None = None, **config: Any
) -> Preparation:
    table = Table.read(PENGUINS.read_bytes(), name=PENGUINS.name)
    dataset = build_dataset(table, target="species", split=split or SplitPlan())
    return Preparation(dataset=dataset, spec=RunSpec(name=name, config=Config(**config), endpoint=endpoint))


@pytest.fixture
def directory(tmp_path: Path) -> RunDirectory:
    directory = RunDirectory(tmp_path / "runs" / "run")
    directory.create(RunSpec(name="a", config=Config(), endpoint=EndpointSpec(demo=True)), b"row\n")
    return directory
