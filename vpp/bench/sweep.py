"""A sweep: its cells, a task, a method and a seed each; its folder; and the progress that its runs record."""

import csv
import io
import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from statistics import mean
from typing import Any, Literal

from pydantic import TypeAdapter, ValidationError

from vpp import files
from vpp.data.build import build_dataset
from vpp.data.dataset import Dataset
from vpp.data.split import SplitPlan
from vpp.data.table import ColumnChoice, Table
from vpp.data.tasks import TASKS, describe, find_info, generate
from vpp.errors import InputError, RunError, RunLocked
from vpp.findings.ideas import merge_ideas
from vpp.findings.result import result
from vpp.findings.status import steps_done
from vpp.llm import choices
from vpp.llm.templates import set_texts
from vpp.runs.directory import RunDirectory, State, load_dataset
from vpp.runs.disk import is_locked, locked
from vpp.runs.journal import write_atomically
from vpp.runs.preparation import Preparation
from vpp.runs.reader import RunReader
from vpp.runs.session import versions
from vpp.runs.spec import EndpointSpec, RunSpec
from vpp.runs.view import RunView
from vpp.settings import Config, Preset, preset

# Cells

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
    return Variant(name=name, title=title, about=about, options={"method": name} | options)


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
        *(
            replace(_paper(f"mh-k{k}", f"K = {k}", f"mh with K = {k}.", method="mh", particles=k), tasks=SWEPT_TASKS)
            for k in (1, 3, 5)
        ),
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
        _beyond("mh", "buffer", "Proposals are compared on the buffer.", mh_rows="buffer"),
        _beyond("mh", "train", "Proposals are compared on all training rows.", mh_rows="train"),
        _beyond("mh", "restart", "One proposal in five is a new draw without data.", restart=0.2),
        _beyond(
            "mh", "prior", "Every hypothesis is drawn without data and compared on all training rows.",
            base="mh-train", mh_rows="train", restart=1.0,
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


# The folder


OWN_NAMES = {".lock", "stop", "runs"}
"""Names that a sweep's folder may hold before it has a sweep.json."""
CellState = Literal["not run"] | State


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepSpec:
    """Content of sweep.json: the cells of a sweep and who answers. Holds no secret."""

    endpoint: EndpointSpec
    tasks: tuple[str, ...]
    methods: tuple[str, ...]
    seeds: int
    """Seeds 0 to `seeds` - 1."""
    sizes: Sizes = Sizes()
    preset: str = PRESET
    versions: dict[str, str] = field(default_factory=versions)
    """Versions of the software that last ran it."""

    def __post_init__(self) -> None:
        if self.seeds < 1:
            raise InputError(f"seeds is {self.seeds}: give at least 1")
        object.__setattr__(self, "tasks", checked(self.tasks, TASKS, "task"))
        object.__setattr__(self, "methods", checked(self.methods, VARIANTS, "method"))

    @property
    def cells(self) -> list[Cell]:
        """List every cell, seed by seed. Raises InputError if no method runs on any of the tasks."""
        cells = list(product(self.tasks, self.methods, self.seeds))
        if not cells:
            raise InputError(
                f"{', '.join(self.methods)} with {', '.join(self.tasks)} makes no cell: add one of the tasks on which "
                "K varies (linear, two-circles, sum-parity)"
            )
        return cells


_SPEC: TypeAdapter[SweepSpec] = TypeAdapter(SweepSpec)


class SweepDirectory:
    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)
        self.results, self.tables = self.path / "results.csv", self.path / "tables.md"

    @property
    def exists(self) -> bool:
        return (self.path / "sweep.json").is_file()

    def check_is_ours(self) -> None:
        """Raises InputError if the folder holds other files and no sweep, RunError if it cannot be read."""
        if self.exists or not self.path.is_dir():
            return
        try:
            others = sorted(
                path.name
                for path in self.path.iterdir()
                if path.name not in OWN_NAMES and not path.match(".sweep.json.*.part")
            )
        except OSError as error:
            raise RunError(f"{self.path} cannot be read ({error.strerror}): choose another with -o") from None
        if others:
            raise InputError(
                f"{self.path} holds other files ({others[0]!r}, …) and no sweep: name a new or empty folder with -o"
            )

    def run_of(self, cell: Cell) -> RunDirectory:
        return RunDirectory(self.path / "runs" / cell.name)

    def spec(self) -> SweepSpec:
        """Read sweep.json. Raises RunError if it does not exist or cannot be read."""
        try:
            return _SPEC.validate_python(files.read_json(self.path / "sweep.json"))
        except FileNotFoundError:
            raise RunError(f"{self.path} holds no sweep: start one with `python -m vpp bench`") from None
        except (OSError, ValueError, ValidationError, InputError) as error:
            reason = str(error).splitlines()[0]
            raise RunError(f"{self.path / 'sweep.json'} cannot be read ({reason}): restore it from a copy") from None

    def write(self, spec: SweepSpec) -> None:
        write_atomically(self.path / "sweep.json", json.dumps(asdict(spec), indent=2, ensure_ascii=False).encode())

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Hold the folder for one sweep.

        Raises RunLocked if another sweep holds it, InputError if it is not a sweep's, RunError if it cannot be created.
        """
        self.check_is_ours()
        try:
            self.path.mkdir(parents=True, exist_ok=True, mode=0o700)
        except OSError as error:
            raise RunError(f"{self.path} cannot be created ({error.strerror}): choose another with -o") from None
        with locked(self.path / ".lock") as held:
            if not held:
                raise RunLocked(f"{self.path} is held by another sweep: wait for it, or stop it first")
            yield

    def is_held(self) -> bool:
        return is_locked(self.path / ".lock")

    def stop(self) -> None:
        write_atomically(self.path / "stop", b"")

    def is_stopped(self) -> bool:
        return (self.path / "stop").exists()

    def begin(self, wanted: SweepSpec) -> None:
        """Record or extend the sweep under the lock; forget stops. Raises InputError for another model or sizes."""
        spec = extended(self.spec(), wanted, self.path) if self.exists else wanted
        self.write(spec)
        (self.path / "stop").unlink(missing_ok=True)


def extended(old: SweepSpec, wanted: SweepSpec, path: Path) -> SweepSpec:
    """Merge two specs. Raises InputError if their numbers would not belong in one table."""
    ours, theirs = (
        (
            endpoint_text(spec.endpoint),
            f"{spec.sizes.train} training rows, {spec.sizes.test} test rows and {spec.sizes.epochs} epochs",
        )
        for spec in (old, wanted)
    )
    for before, now in zip(ours, theirs, strict=True):
        if before != now:
            raise InputError(f"{path} holds a sweep of {before}, not of {now}: name another folder with -o")
    return replace(
        wanted,
        tasks=(*old.tasks, *wanted.tasks),
        methods=(*old.methods, *wanted.methods),
        seeds=max(old.seeds, wanted.seeds),
    )


def endpoint_text(endpoint: EndpointSpec) -> str:
    cache = f" {'with' if endpoint.cache else 'without'} the response cache"
    if endpoint.demo:
        pace = f", {endpoint.demo_latency_ms} ms per answer" if endpoint.demo_latency_ms else ""
        return f"the built-in demo model{pace}{cache}"
    other = (endpoint.optimizer_model or endpoint.model, endpoint.optimizer_base_url or endpoint.base_url)
    learner = f"{endpoint.model} {'from a file' if endpoint.gguf else f'at {endpoint.base_url}'}"
    optimizer = "" if other == (endpoint.model, endpoint.base_url) else f" with {other[0]} at {other[1]} as optimizer"
    return f"{learner}{optimizer}{cache}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """Outcome of a cell. Accuracies are fractions, mean squared errors squared units of the target, times seconds."""

    task: str
    method: str
    seed: int
    metric: str
    """accuracy, or mse."""
    train: float
    test: float
    learner_calls: int
    optimizer_calls: int
    cached: int
    """Calls answered by the response cache."""
    failed: int
    unparsable: int
    rounds: int
    wall_s: float
    prompt_tokens: int
    completion_tokens: int
    K: int
    """Particles at the end."""
    n_initial: int
    n_unique: int
    """Distinct texts among the first hypotheses, and at the end."""
    n_ideas: int
    """Distinct behaviours at the end: texts with equal predictions on all evaluated rows count once."""
    ess: tuple[float, ...]
    """(steps,) effective sample sizes; empty for methods without weights."""
    resampled_at: tuple[int, ...]
    acceptance_rate: float | None
    log_evidence: float | None
    """Natural log, nominal; None for methods that do not carry weights between steps."""
    uncertain: int | None
    """Test points on which the particles are not unanimous; None for regression."""
    uncertain_of: int
    individual_test: tuple[float, ...]
    """(K,) metric of each particle."""
    individual_train: tuple[float, ...]
    oracle_best_test: float | None = None
    """Best test metric of five vml runs, which cannot be selected without the test labels."""
    best_on_train: float | None = None
    """Test metric of the one of five vml runs that is best on the training rows."""
    last_text: str = field(default="", metadata={"in_csv": False})
    """Last hypothesis of a run with one particle, without its seed sentence; else empty."""
    versions: tuple[tuple[str, str], ...] = field(default=(), metadata={"in_csv": False})
    """(name, version) of the software that made the run."""

    @property
    def is_error(self) -> bool:
        return self.metric == "mse"

    @property
    def calls(self) -> int:
        """Calls of both roles that were needed, cached or not."""
        return self.learner_calls + self.optimizer_calls


def outcome_of(cell: Cell, directory: RunDirectory, view: RunView) -> Outcome:
    values, started = result(directory, view), view.started
    only = view.texts[view.population[0].hypothesis] if len(view.population) == 1 else ""
    text = only.removeprefix(started.seed_text).strip() if started else ""
    calls, individual, evidence = values["calls"], values["individual"], values["log_evidence"]
    oracle, picked = best_of_five(individual, values["metric"]["name"]) if cell.method == "vml5" else (None, None)
    return Outcome(
        task=cell.task,
        method=cell.method,
        seed=cell.seed,
        metric=values["metric"]["name"],
        train=float(values["metric"]["train"]),
        test=float(values["metric"]["test"]),
        learner_calls=calls["learner"],
        optimizer_calls=calls["optimizer"],
        **{name: calls[name] for name in ("cached", "failed", "unparsable")},
        prompt_tokens=values["tokens"]["prompt"],
        completion_tokens=values["tokens"]["completion"],
        **{name: values[name] for name in ("rounds", "wall_s", "n_unique", "acceptance_rate")},
        K=len(view.population),
        n_initial=len({p.hypothesis for p in view.finished_steps[0].population}),
        n_ideas=len(merge_ideas(view, load_dataset(directory, directory.spec())) or ()),
        ess=tuple(values["ess_by_step"]),
        resampled_at=tuple(values["resampled_at"]),
        log_evidence=evidence["value"] if evidence else None,
        uncertain=values["uncertain"]["points"],
        uncertain_of=values["uncertain"]["of"],
        individual_test=tuple(map(float, individual["test"] or ())),
        individual_train=tuple(map(float, individual["train"] or ())),
        oracle_best_test=oracle,
        best_on_train=picked,
        last_text=text,
        versions=tuple(sorted(started.versions.items())) if started else (),
    )


def best_of_five(individual: dict[str, list[float]], metric: str) -> tuple[float, float]:
    """Test metric of the run that is best on the test rows, and of the first that is best on the training rows."""
    test, train = (list(map(float, individual[split])) for split in ("test", "train"))
    best: Callable[[Iterable[float]], float] = min if metric == "mse" else max
    return best(test), test[train.index(best(train))]


COLUMNS = tuple(f.name for f in fields(Outcome) if f.metadata.get("in_csv", True))


def results_csv(outcomes: Iterable[Outcome]) -> bytes:
    """Return results.csv: one row per finished cell; lists as JSON, missing values empty."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for outcome in outcomes:
        values = [getattr(outcome, name) for name in COLUMNS]
        writer.writerow([json.dumps(value) if isinstance(value, tuple) else value for value in values])
    return text.getvalue().encode()


@dataclass(frozen=True, slots=True, kw_only=True)
class CellView:
    cell: Cell
    state: CellState
    detail: str = ""
    step: int = 0
    steps: int = 0
    """T; 0 before the run has started."""
    wall_s: float = 0.0
    outcome: Outcome | None = None

    @property
    def is_live(self) -> bool:
        return self.state in ("queued", "running", "paused", "stalled")


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepView:
    spec: SweepSpec
    cells: tuple[CellView, ...]

    @property
    def outcomes(self) -> list[Outcome]:
        return [view.outcome for view in self.cells if view.outcome]

    @property
    def left(self) -> list[CellView]:
        return [view for view in self.cells if view.outcome is None]

    @property
    def failed(self) -> list[CellView]:
        return [view for view in self.cells if view.state == "failed"]

    def seconds_left(self, left: Sequence[CellView], *, jobs: int) -> float | None:
        """Estimate the time for some cells, `jobs` at a time; None until each of their methods has a finished cell."""
        took = defaultdict[str, list[float]](list)
        for view in self.cells:
            if view.outcome:
                took[view.cell.method].append(view.wall_s)
        if not left or any(view.cell.method not in took for view in left):
            return None
        rest = [max(0.0, mean(took[view.cell.method]) - view.wall_s) for view in left]
        return max(max(rest), sum(rest) / max(1, jobs))


class SweepReader:
    """Reader of a sweep's runs. Reads a finished cell once and only new events of the others."""

    def __init__(self, directory: SweepDirectory) -> None:
        self.directory = directory
        self._readers: dict[Cell, RunReader] = {}
        self._finished: dict[Cell, CellView] = {}

    def refresh(self) -> SweepView:
        """Read the state of all cells. Raises RunError."""
        spec = self.directory.spec()
        return SweepView(spec=spec, cells=tuple(self.look(cell) for cell in spec.cells))

    def look(self, cell: Cell) -> CellView:
        if cell in self._finished:
            return self._finished[cell]
        run = self.directory.run_of(cell)
        if not (run.path / "run.json").is_file():
            return CellView(cell=cell, state="not run")
        try:
            reader = self._readers.setdefault(cell, RunReader(run))
            snapshot = reader.refresh()
            view = CellView(
                cell=cell,
                state=snapshot.state,
                detail=snapshot.view.detail,
                step=steps_done(snapshot.view),
                steps=snapshot.view.total_steps,
                wall_s=snapshot.view.wall_s,
                outcome=outcome_of(cell, run, snapshot.view) if snapshot.state == "finished" else None,
            )
        except RunError as error:
            return CellView(cell=cell, state="failed", detail=str(error))
        if view.outcome:
            self._finished[cell] = view
            del self._readers[cell]
        return view


def folder_name(endpoint: EndpointSpec) -> str:
    """Return the default name of a sweep's folder: bench-demo, or bench- and the model's name."""
    slug = re.sub(r"[^a-z0-9.]+", "-", ("demo" if endpoint.demo else endpoint.model).lower()).strip("-.")
    return f"bench-{slug[:48] or 'model'}"
