"""Cells of a sweep: a task, a method and a seed each; the run of a cell."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from vpp.bench.suite import read_suite
from vpp.bench.variants import VARIANTS
from vpp.data.build import build_dataset
from vpp.data.dataset import Dataset
from vpp.data.split import SplitPlan
from vpp.data.table import ColumnChoice, Table
from vpp.data.tasks import describe, find_info, generate
from vpp.inference.plan import plan
from vpp.llm.choices import AUTO, PAPER, chosen_templates
from vpp.llm.templates import set_texts
from vpp.runs.directory import RunDirectory
from vpp.runs.preparation import Preparation
from vpp.runs.spec import EndpointSpec, RunSpec
from vpp.settings import Config, Preset, preset

PRESET: Preset = "paper"
SUITE_PRESET: Preset = "recommended"


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizes:
    """Size of every cell's run; the paper's by default."""

    train: int = 100
    """Training rows."""
    test: int = 60
    """Test rows."""
    epochs: int = 2


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Cell:
    """A task, a method and a seed."""

    task: str
    method: str
    """A name of `VARIANTS`."""
    seed: int
    suite: str = ""
    """Folder of the suite that has the task as a table; empty for the paper's tasks."""

    @property
    def name(self) -> str:
        """Name of the cell and of its run directory."""
        return f"{self.task}-{self.method}-{self.seed}"


def product(tasks: tuple[str, ...], methods: tuple[str, ...], seeds: int, suite: str = "") -> Iterator[Cell]:
    """Yield every cell, seed by seed, so that tables fill evenly. Some methods run on a few of the paper's tasks."""
    for seed in range(seeds):
        for task in tasks:
            for method in methods:
                if suite or task in VARIANTS[method].tasks:
                    yield Cell(task=task, method=method, seed=seed, suite=suite)


def config_of(cell: Cell, sizes: Sizes) -> Config:
    """Config of the cell: its preset with the method's options, the task's prior and the cell's seed."""
    prior = "" if cell.suite else find_info(cell.task).prior or ""
    options = {"seed": cell.seed, "prior": prior, "epochs": sizes.epochs, **VARIANTS[cell.method].options}
    return replace(preset(SUITE_PRESET if cell.suite else PRESET), **options)


def dataset_of(cell: Cell, sizes: Sizes) -> Dataset:
    """Generate the task's rows from the cell's seed, all of which are used; or draw them from the suite's table."""
    if cell.suite:
        table = read_suite(Path(cell.suite))[cell.task]
        return table.dataset(seed=cell.seed, train_size=sizes.train, test_size=sizes.test)
    info = find_info(cell.task)
    content = generate(cell.task, seed=cell.seed, train_size=sizes.train, test_size=sizes.test)
    return build_dataset(
        Table.read(content, name=f"{cell.task}.csv"),
        target=info.target,
        notes=(describe(cell.task, seed=cell.seed),),
        columns=ColumnChoice(task=info.task, inputs=info.inputs),
        split=SplitPlan(seed=cell.seed, train_size=sizes.train, test_size=sizes.test),
    )


def create(cell: Cell, sizes: Sizes, endpoint: EndpointSpec, *, run_dir: Path) -> RunDirectory:
    """Create the cell's run directory. Raises InputError or RunError."""
    name = f"{cell.task}, {cell.method}, seed {cell.seed}"
    spec = RunSpec(name=name, config=config_of(cell, sizes), endpoint=endpoint, **_templates(cell, endpoint))
    return Preparation(dataset=dataset_of(cell, sizes), spec=spec).create(run_dir.parent, run_dir=run_dir)


def _templates(cell: Cell, endpoint: EndpointSpec) -> dict[str, Any]:
    """Return the paper's templates for its tasks, and for a suite those that `run` would choose."""
    chosen = chosen_templates(AUTO if cell.suite else PAPER, is_demo=endpoint.is_demo, preset=SUITE_PRESET)
    return {f"{role}_template": text for role, text in set_texts(chosen).items()}


def calls_at_most(cell: Cell, sizes: Sizes) -> int:
    """Return the most calls, of both roles, that the cell's run can need."""
    return plan(config_of(cell, sizes), n_train=sizes.train, n_test=sizes.test).calls
