"""A sweep: its cells, a task, a method and a seed each; its folder; and the progress that its runs record."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any

import pandas as pd

from vpp.bench.tasks import TASKS, describe, find_info, generate
from vpp.data.build import ColumnChoice, build_dataset
from vpp.data.dataset import Dataset
from vpp.data.split import SplitPlan
from vpp.data.table import Table
from vpp.errors import InputError, RunError, RunLocked
from vpp.findings.hypotheses import merge_ideas
from vpp.findings.result import result
from vpp.llm.templates import PAPER
from vpp.runs.directory import RunDirectory, read_spec, try_lock, write_atomically
from vpp.runs.preparation import Preparation, template_texts
from vpp.runs.spec import EndpointSpec, RunSpec, adapter
from vpp.runs.view import RunView
from vpp.settings import Config, Preset, Reading, preset
from vpp.show.words import counted

# Cells

PRESET: Preset = "paper"
SWEPT_TASKS = ("linear", "two-circles", "sum-parity")
"""Tasks on which the paper varies K (tab:ablation_K)."""


@dataclass(frozen=True, slots=True)
class Method:
    """A method of the paper, on top of the preset `paper`."""

    title: str
    options: Mapping[str, Any]
    tasks: tuple[str, ...] = tuple(TASKS)


METHODS: Mapping[str, Method] = {
    "vml": Method("VML", {"method": "vml"}),
    "vml5": Method("VML×5", {"method": "vml5"}),
    "mh": Method("MH", {"method": "mh"}),
    "always-accept": Method("always-accept", {"method": "always-accept"}),
    "smc": Method("SMC", {"method": "smc"}),
    **{f"mh-k{k}": Method(f"K = {k}", {"method": "mh", "particles": k}, SWEPT_TASKS) for k in (1, 3, 5)},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """Size, reading and prompts of every cell's run; the paper's by default."""

    train: int = 100
    test: int = 60
    epochs: int = 2
    reading: Reading = "rows"
    templates: str = PAPER
    """A name of `vpp.llm.templates.TEMPLATES`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    task: str
    method: str
    """A name of `METHODS`."""
    seed: int

    @property
    def name(self) -> str:
        return f"{self.task}-{self.method}-{self.seed}"


def config_of(cell: Cell, setting: Setting) -> Config:
    """Config of the cell: the paper's preset with the method's options, the task's prior and the cell's seed."""
    prior = find_info(cell.task).prior or ""
    options: dict[str, Any] = {"seed": cell.seed, "prior": prior, "epochs": setting.epochs, "reading": setting.reading}
    if setting.reading != "rows":
        options["tempering"] = "paper"  # with programs `auto` is adaptive, which is not Algorithm 2
    return replace(preset(PRESET), **options, **METHODS[cell.method].options)


def dataset_of(cell: Cell, setting: Setting) -> Dataset:
    """Generate the task's rows from the cell's seed, all of which are used."""
    info = find_info(cell.task)
    if setting.test < 1:
        raise InputError(f"test size {setting.test} is too small: give at least 1")
    content = generate(cell.task, seed=cell.seed, train_size=setting.train, test_size=setting.test)
    return build_dataset(
        Table.read(content, name=f"{cell.task}.csv"),
        target=info.target,
        notes=(describe(cell.task, seed=cell.seed),),
        columns=ColumnChoice(task=info.task, inputs=info.inputs),
        split=SplitPlan(seed=cell.seed, train_size=setting.train, test_size=setting.test),
    )


def prepare(cell: Cell, setting: Setting, endpoint: EndpointSpec) -> Preparation:
    """Return the cell's checked run. Raises InputError."""
    dataset, name = dataset_of(cell, setting), f"{cell.task}, {cell.method}, seed {cell.seed}"
    texts = template_texts(setting.templates, is_demo=endpoint.demo, preset="", dataset=dataset)
    spec = RunSpec(name=name, config=config_of(cell, setting), endpoint=endpoint, templates=texts)
    return Preparation(dataset=dataset, spec=spec)


# The folder


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepSpec:
    """Content of sweep.json: the cells of a sweep, by default the paper's, and who answers. Holds no secret."""

    endpoint: EndpointSpec
    tasks: tuple[str, ...] = tuple(TASKS)
    methods: tuple[str, ...] = tuple(METHODS)
    seeds: int = 3
    """Seeds 0 to `seeds` - 1."""
    setting: Setting = Setting()

    def __post_init__(self) -> None:
        if self.seeds < 1:
            raise InputError(f"seeds is {self.seeds}: give at least 1")
        object.__setattr__(self, "tasks", _in_order(self.tasks, TASKS, "task"))
        object.__setattr__(self, "methods", _in_order(self.methods, METHODS, "method"))
        if not self.cells:
            raise InputError(
                f"{', '.join(self.methods)} with {', '.join(self.tasks)} makes no cell: add one of the tasks on which "
                f"K varies ({', '.join(SWEPT_TASKS)})"
            )

    @property
    def cells(self) -> list[Cell]:
        """List every cell, seed by seed, so that tables fill evenly. Some methods run on a few tasks."""
        return [
            Cell(task=task, method=method, seed=seed)
            for seed, task, method in product(range(self.seeds), self.tasks, self.methods)
            if task in METHODS[method].tasks
        ]


def _in_order(names: Sequence[str], choices: Mapping[str, Any], noun: str) -> tuple[str, ...]:
    """Return the names in the order of the choices, without repeats. Raises InputError for another one."""
    for name in names:
        if name not in choices:
            raise InputError(f"no {noun} is called {name!r}: choose from {', '.join(choices)}")
    return tuple(name for name in choices if name in names)


class SweepDirectory:
    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)
        self.results, self.tables = self.path / "results.csv", self.path / "tables.md"

    @property
    def exists(self) -> bool:
        return (self.path / "sweep.json").is_file()

    def run_of(self, cell: Cell) -> RunDirectory:
        return RunDirectory(self.path / "runs" / cell.name)

    def spec(self) -> SweepSpec:
        """Read sweep.json. Raises RunError if it does not exist or cannot be read."""
        missing = f"{self.path} holds no sweep: start one with `python -m vpp bench`"
        return read_spec(self.path / "sweep.json", SweepSpec, missing=missing)

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Hold the folder for one sweep.

        Raises RunLocked if another sweep holds it, InputError if it is not a sweep's, RunError if it cannot be created.
        """
        try:
            self.path.mkdir(parents=True, exist_ok=True, mode=0o700)
            others = [] if self.exists else sorted({path.name for path in self.path.iterdir()} - {".lock", "stop"})
        except OSError as error:
            raise RunError(f"{self.path} cannot be used ({error.strerror}): choose another with -o") from None
        if others:
            raise InputError(
                f"{self.path} holds other files ({others[0]!r}, …) and no sweep: name a new or empty folder with -o"
            )
        lock = try_lock(self.path / ".lock")
        if lock is None:
            raise RunLocked(f"{self.path} is held by another sweep: wait for it, or stop it first")
        with lock:
            yield

    def stop(self) -> None:
        write_atomically(self.path / "stop", b"")

    def is_stopped(self) -> bool:
        return (self.path / "stop").exists()

    def begin(self, request: SweepSpec) -> None:
        """Record or extend the sweep under the lock; forget stops. Raises InputError for another model or setting."""
        old = self.spec() if self.exists else request
        for text, what in ((endpoint_text, "endpoint"), (setting_text, "setting")):
            before, now = text(getattr(old, what)), text(getattr(request, what))
            if before != now:
                raise InputError(f"{self.path} holds a sweep of {before}, not of {now}: name another folder with -o")
        tasks, methods = (*old.tasks, *request.tasks), (*old.methods, *request.methods)
        spec = replace(request, tasks=tasks, methods=methods, seeds=max(old.seeds, request.seeds))
        write_atomically(self.path / "sweep.json", adapter(SweepSpec).dump_json(spec, indent=2))
        (self.path / "stop").unlink(missing_ok=True)


def setting_text(setting: Setting) -> str:
    sizes = f"{setting.train} training and {setting.test} test rows, {counted(setting.epochs, 'epoch')}"
    return f"{sizes}, reading {setting.reading}, prompts “{setting.templates}”"


def endpoint_text(endpoint: EndpointSpec) -> str:
    if endpoint.demo:
        return "the built-in demo model"
    optimizer = (endpoint.optimizer_model or endpoint.model, endpoint.optimizer_base_url or endpoint.base_url)
    servers = dict.fromkeys([(endpoint.model, endpoint.base_url), optimizer])
    return " and ".join(f"{model} from {url or 'a file'}" for model, url in servers)


def folder_name(endpoint: EndpointSpec, reading: Reading) -> str:
    """Return the default name of a sweep's folder: bench-demo or bench-MODEL, and the reading unless it is rows."""
    slug = re.sub(r"[^a-z0-9.]+", "-", ("demo" if endpoint.demo else endpoint.model).lower()).strip("-.")
    return f"bench-{slug[:48] or 'model'}" + ("" if reading == "rows" else f"-{reading}")


# What came of a cell

Outcome = Mapping[str, Any]
"""A finished cell's row of results.csv, and its last text."""


def outcome_of(cell: Cell, directory: RunDirectory, view: RunView) -> Outcome:
    values = result(directory, view)
    individual, metric, evidence = (values[key] for key in ("individual", "metric", "log_evidence"))
    five = best_of_five(individual, metric["name"]) if cell.method == "vml5" else (None, None)
    only = view.texts[view.population[0].hypothesis] if view.size == 1 else ""
    return {
        **asdict(cell),
        "metric": metric["name"],
        "train": float(metric["train"]),  # accuracy as a fraction, or mean squared error
        "test": float(metric["test"]),
        **{f"{kind}_calls": n for kind, n in values["calls"].items()},
        **{f"{kind}_tokens": n for kind, n in values["tokens"].items()},
        **{name: values[name] for name in ("rounds", "wall_s", "n_unique", "acceptance_rate")},
        "K": view.size,
        "n_ideas": len(merge_ideas(view, directory.dataset()).all),
        "ess": values["ess_by_step"],
        "log_evidence": evidence["value"] if evidence else None,
        "uncertain": values["uncertain"]["points"],  # test points on which the particles are not unanimous
        "uncertain_of": values["uncertain"]["of"],
        **{f"individual_{part}": [float(value) for value in each or ()] for part, each in individual.items()},
        "oracle_best_test": five[0],
        "best_on_train": five[1],
        "last_text": only.removeprefix(view.seed_text).strip(),
    }


def best_of_five(individual: Mapping[str, Sequence[float]], metric: str) -> tuple[float, float]:
    """Test metric of the run that is best on the test rows, and of the first that is best on the training rows."""
    test, train = (list(map(float, individual[split])) for split in ("test", "train"))
    best = min if metric == "mse" else max
    return best(test), test[train.index(best(train))]


def results_csv(outcomes: Sequence[Outcome]) -> bytes:
    """Return results.csv: one row per finished cell; lists as JSON, missing values empty."""
    frame = pd.DataFrame(outcomes, dtype=object).drop(columns="last_text", errors="ignore")
    text: str = frame.map(lambda cell: json.dumps(cell) if isinstance(cell, list) else cell).to_csv(index=False)
    return text.encode()
