"""A run without rows, one on the penguins that is not on disk yet, and the end that a run must have."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.processes import PENGUINS, Desk, Outcome, but_times_and_ids, posterior
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


@pytest.fixture
def check_end(desk: Desk, shared_desk: Desk, undisturbed: dict[str, Outcome]) -> Callable[..., None]:
    """Assertion that the test's run ended like the uninterrupted one of a method."""

    def check(outcome: Outcome, method: str = "smc") -> None:
        assert outcome.code == 0, outcome.err
        assert but_times_and_ids(outcome.result) == but_times_and_ids(undisturbed[method].result)
        assert posterior(desk.directory("run")) == posterior(shared_desk.directory(method))

    return check
