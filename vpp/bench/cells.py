"""Cells of a sweep: a task, a method and a seed each; the run of a cell."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from vpp.bench.variants import VARIANTS
from vpp.data.build import build_dataset
from vpp.data.dataset import Dataset
from vpp.data.split import SplitPlan
from vpp.data.table import ColumnChoice, Table
from vpp.data.tasks import describe, find_info, generate
from vpp.inference.plan import plan
from vpp.llm.choices import PAPER
from vpp.llm.templates import set_texts
from vpp.runs.preparation import Preparation
from vpp.runs.spec import EndpointSpec, RunSpec
from vpp.settings import Config, Preset, preset

PRESET: Preset = "paper"


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

    @property
    def name(self) -> str:
        """Name of the cell and of its run directory."""
        return f"{self.task}-{self.method}-{self.seed}"


def product(tasks: tuple[str, ...], methods: tuple[str, ...], seeds: int) -> Iterator[Cell]:
    """Yield every cell, seed by seed, so that tables fill evenly. Some methods run on a few tasks."""
    for seed in range(seeds):
        for task in tasks:
            for method in methods:
                if task in VARIANTS[method].tasks:
                    yield Cell(task=task, method=method, seed=seed)


def config_of(cell: Cell, sizes: Sizes) -> Config:
    """Config of the cell: the paper's preset with the method's options, the task's prior and the cell's seed."""
    prior = find_info(cell.task).prior or ""
    options = {"seed": cell.seed, "prior": prior, "epochs": sizes.epochs, **VARIANTS[cell.method].options}
    return replace(preset(PRESET), **options)


def dataset_of(cell: Cell, sizes: Sizes) -> Dataset:
    """Generate the task's rows from the cell's seed, all of which are used."""
    info = find_info(cell.task)
    content = generate(cell.task, seed=cell.seed, train_size=sizes.train, test_size=sizes.test)
    return build_dataset(
        Table.read(content, name=f"{cell.task}.csv"),
        target=info.target,
        notes=(describe(cell.task, seed=cell.seed),),
        columns=ColumnChoice(task=info.task, inputs=info.inputs),
        split=SplitPlan(seed=cell.seed, train_size=sizes.train, test_size=sizes.test),
    )


def prepare(cell: Cell, sizes: Sizes, endpoint: EndpointSpec) -> Preparation:
    """Return the cell's checked run. Raises InputError."""
    texts: dict[str, Any] = {f"{role}_template": text for role, text in set_texts(PAPER).items()}
    name = f"{cell.task}, {cell.method}, seed {cell.seed}"
    spec = RunSpec(name=name, config=config_of(cell, sizes), endpoint=endpoint, **texts)
    return Preparation(dataset=dataset_of(cell, sizes), spec=spec)


def calls_at_most(cell: Cell, sizes: Sizes) -> int:
    """Return the most calls, of both roles, that the cell's run can need."""
    return plan(config_of(cell, sizes), n_train=sizes.train, n_test=sizes.test).calls
