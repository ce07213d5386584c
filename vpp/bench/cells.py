"""Cells of a sweep: a task, a method and a seed each; the methods, and the run of a cell."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from vpp.data.build import build_dataset
from vpp.data.dataset import Dataset
from vpp.data.split import SplitPlan
from vpp.data.table import ColumnChoice, Table
from vpp.data.tasks import TASKS, describe, find_info, generate
from vpp.errors import InputError
from vpp.inference.plan import plan
from vpp.llm import choices
from vpp.llm.templates import set_texts
from vpp.runs.preparation import Preparation
from vpp.runs.spec import EndpointSpec, RunSpec
from vpp.settings import Config, Preset, preset

PRESET: Preset = "paper"
SWEPT_TASKS = ("linear", "two-circles", "sum-parity")
"""Tasks on which the paper varies K (tab:ablation_K)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    """A method with its options, on top of the preset `paper`."""

    name: str
    title: str
    options: Mapping[str, Any]
    about: str
    tasks: tuple[str, ...] = field(default=tuple(TASKS))
    base: str = ""
    """Variant to compare with; empty for the paper's own methods."""


def _paper(name: str, title: str, about: str, **options: Any) -> Variant:
    return Variant(name=name, title=title, about=about, options={"method": name, **options})


def _swept(k: int) -> Variant:
    return Variant(
        name=f"mh-k{k}",
        title=f"K = {k}",
        about=f"mh with K = {k}.",
        options={"method": "mh", "particles": k},
        tasks=SWEPT_TASKS,
    )


def _beyond(method: str, suffix: str, about: str, *, base: str = "", **options: Any) -> Variant:
    name = f"{method}-{suffix}"
    return Variant(name=name, title=name, about=about, options={"method": method, **options}, base=base or method)


VARIANTS: Mapping[str, Variant] = {
    variant.name: variant
    for variant in (
        _paper("vml", "VML", "One hypothesis; every proposal is accepted."),
        _paper("vml5", "VML×5", "Five independent vml runs."),
        _paper("mh", "MH", "Algorithm 1: ten chains, likelihood-ratio accept on the batch."),
        _paper("always-accept", "always-accept", "mh, accepting every proposal."),
        _paper("smc", "SMC", "Algorithm 2: tempered weights on the buffer, resampling, mutation."),
        *map(_swept, (1, 3, 5)),
        _beyond("smc", "rescored", "Final weights score the final texts on the buffer.", final_weights="rescored"),
        _beyond("smc", "train", "Final weights score the final texts on all training rows.", final_weights="train"),
        _beyond("smc", "filtered", "A mutation must pass an accept step.", mutate="filtered"),
        _beyond(
            "smc", "incremental", "Weights accumulate along a fixed sequence of tempered posteriors.",
            tempering="incremental",
        ),
        _beyond("smc", "adaptive", "The same, each exponent chosen to keep the target ESS.", tempering="adaptive"),
        _beyond(
            "smc", "restart", "Filtered mutation; one proposal in five is a new draw without data.",
            base="smc-filtered", mutate="filtered", restart=0.2,
        ),
        _beyond(
            "smc", "prior", "Incremental tempering; every hypothesis is drawn without data.",
            base="smc-incremental", tempering="incremental", restart=1.0,
        ),
        _beyond(
            "smc", "adaptive-k", "K starts at 5, may grow to 20, and shrinks on agreement.",
            particles=5, particles_max=20,
        ),
        _beyond("smc", "dedup", "The buffer keeps each row once.", buffer_repeats=False),
        _beyond("mh", "buffer", "Proposals are compared on the buffer.", mh_rows="buffer"),
        _beyond("mh", "train", "Proposals are compared on all training rows.", mh_rows="train"),
        _beyond("mh", "restart", "One proposal in five is a new draw without data.", restart=0.2),
        _beyond(
            "mh", "prior", "Every hypothesis is drawn without data and compared on all training rows.",
            base="mh-train", mh_rows="train", restart=1.0,
        ),
        _beyond(
            "mh", "adaptive-k", "K starts at 5, may grow to 20, and shrinks on agreement.",
            particles=5, particles_max=20,
        ),
    )
}  # fmt: skip
PAPER: tuple[str, ...] = tuple(name for name, variant in VARIANTS.items() if not variant.base)
"""Methods that a sweep runs by default."""


def checked(names: Sequence[str], known: Mapping[str, Any], noun: str) -> tuple[str, ...]:
    """Return the names in the order of the known ones, without repeats. Raises InputError for an unknown one."""
    for name in names:
        if name not in known:
            raise InputError(f"no {noun} is called {name!r}: choose from {', '.join(known)}")
    return tuple(name for name in known if name in names)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizes:
    """Size of every cell's run; the paper's by default."""

    train: int = 100
    test: int = 60
    epochs: int = 2


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Cell:
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
    texts: dict[str, Any] = {f"{role}_template": text for role, text in set_texts(choices.PAPER).items()}
    name = f"{cell.task}, {cell.method}, seed {cell.seed}"
    spec = RunSpec(name=name, config=config_of(cell, sizes), endpoint=endpoint, **texts)
    return Preparation(dataset=dataset_of(cell, sizes), spec=spec)


def calls_at_most(cell: Cell, sizes: Sizes) -> int:
    """Return the most calls, of both roles, that the cell's run can need."""
    return plan(config_of(cell, sizes), n_train=sizes.train, n_test=sizes.test).calls
