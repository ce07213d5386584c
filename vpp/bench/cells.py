"""Cells: one task, one method, one seed each, and the run that a cell is."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from vpp.bench.variants import VARIANTS
from vpp.data.build import build_dataset
from vpp.data.dataset import Dataset
from vpp.data.table import Table
from vpp.data.tasks import describe, find_info, generate
from vpp.inference.plan import plan
from vpp.runs.directory import RunDirectory
from vpp.runs.preparation import Preparation
from vpp.runs.spec import EndpointSpec
from vpp.settings import Config, Preset, preset

PRESET: Preset = "paper"


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizes:
    """How large every cell's run is; the paper's unless told otherwise."""

    train: int = 100
    """Training rows."""
    test: int = 60
    """Test rows."""
    epochs: int = 2


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Cell:
    """A place in the sweep."""

    task: str
    method: str
    """A name of `VARIANTS`."""
    seed: int

    @property
    def name(self) -> str:
        """Also its run directory's."""
        return f"{self.task}-{self.method}-{self.seed}"


def product(tasks: tuple[str, ...], methods: tuple[str, ...], seeds: int) -> Iterator[Cell]:
    """Every cell, a seed at a time, so that tables fill evenly; some methods have few tasks."""
    for seed in range(seeds):
        for task in tasks:
            for method in methods:
                if task in VARIANTS[method].tasks:
                    yield Cell(task=task, method=method, seed=seed)


def config_of(cell: Cell, sizes: Sizes) -> Config:
    """The preset `paper` with the method's options, the task's prior and the cell's seed."""
    prior = find_info(cell.task).prior or ""
    options = {"seed": cell.seed, "prior": prior, "epochs": sizes.epochs, **VARIANTS[cell.method].options}
    return replace(preset(PRESET), **options)


def dataset_of(cell: Cell, sizes: Sizes) -> Dataset:
    """The task's rows of the cell's seed, all of them used."""
    info = find_info(cell.task)
    content = generate(cell.task, seed=cell.seed, train_size=sizes.train, test_size=sizes.test)
    return build_dataset(
        Table.read(content, name=f"{cell.task}.csv"),
        target=info.target,
        task=info.task,
        inputs=info.inputs,
        seed=cell.seed,
        train_size=sizes.train,
        test_size=sizes.test,
        notes=(describe(cell.task, seed=cell.seed),),
    )


def create(cell: Cell, sizes: Sizes, endpoint: EndpointSpec, *, run_dir: Path) -> RunDirectory:
    """The cell's run on disk, ready for a worker. Raises InputError or RunError."""
    preparation = Preparation(
        dataset=dataset_of(cell, sizes),
        config=config_of(cell, sizes),
        endpoint=endpoint,
        name=f"{cell.task}, {cell.method}, seed {cell.seed}",
    )
    return preparation.create(run_dir.parent, run_dir=run_dir)


def calls_at_most(cell: Cell, sizes: Sizes) -> int:
    """Calls of both roles that the cell's run may need."""
    return plan(config_of(cell, sizes), n_train=sizes.train, n_test=sizes.test).calls
