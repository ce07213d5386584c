"""A sweep on disk: its spec, and the progress of its cells as their run directories record it."""

import csv
import io
import json
import os
import re
import threading
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from statistics import mean
from typing import Any, Literal

from pydantic import TypeAdapter, ValidationError

from vpp import files
from vpp.bench.cells import PRESET, VARIANTS, Cell, Sizes, checked, product
from vpp.data.tasks import TASKS
from vpp.errors import InputError, RunError, RunLocked
from vpp.inspection.ideas import merge_ideas
from vpp.inspection.summary import result
from vpp.runs.directory import RunDirectory, State, load_dataset
from vpp.runs.disk import is_locked, locked
from vpp.runs.journal import write_atomically
from vpp.runs.keys import Keys
from vpp.runs.process import detached
from vpp.runs.reader import RunReader
from vpp.runs.session import versions
from vpp.runs.spec import EndpointSpec
from vpp.runs.store import is_text
from vpp.runs.view import RunView

OWN_NAMES = {".lock", "stop", "bench.log", "runs"}
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

    @property
    def results(self) -> Path:
        return self.path / "results.csv"

    @property
    def tables(self) -> Path:
        return self.path / "tables.md"

    @property
    def log(self) -> Path:
        """Path of bench.log: output of a sweep that the app started."""
        return self.path / "bench.log"

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
        """True if the sweep has been asked to stop since it began."""
        return (self.path / "stop").exists()

    def begin(self, asked: SweepSpec) -> None:
        """Record a new sweep, or extend the existing one, and forget stop commands; the caller holds the lock.

        Raises InputError if the existing one uses another model or other sizes.
        """
        spec = extended(self.spec(), asked, self.path) if self.exists else asked
        self.write(spec)
        (self.path / "stop").unlink(missing_ok=True)


def extended(old: SweepSpec, asked: SweepSpec, path: Path) -> SweepSpec:
    """Merge two specs. Raises InputError if their numbers would not belong in one table."""
    for ours, theirs in zip(_fixed(old), _fixed(asked), strict=True):
        if ours != theirs:
            raise InputError(f"{path} holds a sweep of {ours}, not of {theirs}: name another folder with -o")
    return replace(
        asked,
        tasks=(*old.tasks, *asked.tasks),
        methods=(*old.methods, *asked.methods),
        seeds=max(old.seeds, asked.seeds),
    )


def _fixed(spec: SweepSpec) -> tuple[str, str]:
    """Return what all cells of a sweep share: who answers, and the sizes."""
    sizes = spec.sizes
    return endpoint_text(
        spec.endpoint
    ), f"{sizes.train} training rows, {sizes.test} test rows and {sizes.epochs} epochs"


def endpoint_text(endpoint: EndpointSpec) -> str:
    """Describe the model or models that answer."""
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
    """Distinct texts among the first hypotheses."""
    n_unique: int
    """Distinct texts at the end."""
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
        """True if lower is better."""
        return self.metric == "mse"

    @property
    def calls(self) -> int:
        """Calls of both roles that were needed, cached or not."""
        return self.learner_calls + self.optimizer_calls


def outcome_of(cell: Cell, directory: RunDirectory, view: RunView) -> Outcome:
    """Read the outcome of a finished run."""
    values = result(directory, view)
    calls, individual, evidence = values["calls"], values["individual"], values["log_evidence"]
    return Outcome(
        task=cell.task,
        method=cell.method,
        seed=cell.seed,
        metric=values["metric"]["name"],
        train=float(values["metric"]["train"]),
        test=float(values["metric"]["test"]),
        learner_calls=calls["learner"],
        optimizer_calls=calls["optimizer"],
        cached=calls["cached"],
        failed=calls["failed"],
        unparsable=calls["unparsable"],
        rounds=values["rounds"],
        wall_s=values["wall_s"],
        prompt_tokens=values["tokens"]["prompt"],
        completion_tokens=values["tokens"]["completion"],
        K=len(view.population),
        n_initial=len({p.hypothesis for p in view.finished_steps[0].population}),
        n_unique=values["n_unique"],
        n_ideas=len(merge_ideas(view, load_dataset(directory, directory.spec())) or ()),
        ess=tuple(values["ess"]),
        resampled_at=tuple(values["resampled_at"]),
        acceptance_rate=values["acceptance_rate"],
        log_evidence=evidence["value"] if evidence else None,
        uncertain=values["uncertain"]["points"],
        uncertain_of=values["uncertain"]["of"],
        individual_test=tuple(map(float, individual["test"] or ())),
        individual_train=tuple(map(float, individual["train"] or ())),
        oracle_best_test=_float(values.get("oracle_best_test")),
        best_on_train=_float(values.get("best_on_train")),
        last_text=_only_text(view),
        versions=tuple(sorted((view.started.versions if view.started else {}).items())),
    )


def _only_text(view: RunView) -> str:
    texts = [view.texts[state.hypothesis] for state in view.population]
    return texts[0].removeprefix(view.started.seed_text).strip() if len(texts) == 1 and view.started else ""


def _float(value: Any) -> float | None:
    return None if value is None else float(value)


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
        """True if a worker holds the cell."""
        return self.state in ("queued", "running", "paused", "stalled")


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepView:
    """State of a sweep at one moment."""

    spec: SweepSpec
    cells: tuple[CellView, ...]

    @property
    def outcomes(self) -> list[Outcome]:
        return [view.outcome for view in self.cells if view.outcome]

    @property
    def left(self) -> list[CellView]:
        return [view for view in self.cells if view.outcome is None]

    @property
    def live(self) -> list[CellView]:
        return [view for view in self.cells if view.is_live]

    @property
    def failed(self) -> list[CellView]:
        return [view for view in self.cells if view.state == "failed"]

    def seconds_left(self, left: Sequence[CellView], *, jobs: int) -> float | None:
        """Estimate the time for some cells; None until each of their methods has a finished cell.

        jobs: cells that run at a time.
        """
        took = defaultdict[str, list[float]](list)
        for view in self.cells:
            if view.outcome:
                took[view.cell.method].append(view.wall_s)
        if not left or any(view.cell.method not in took for view in left):
            return None
        rest = [max(0.0, mean(took[view.cell.method]) - view.wall_s) for view in left]
        return max(max(rest), sum(rest) / max(1, jobs))


class SweepReader:
    """Reader of a sweep's runs. Reads a finished cell once and only new events of the others; threads may share it."""

    def __init__(self, directory: SweepDirectory) -> None:
        self.directory = directory
        self._lock = threading.Lock()
        self._readers: dict[Cell, RunReader] = {}
        self._finished: dict[Cell, CellView] = {}

    def refresh(self) -> SweepView:
        """Read the state of all cells. Raises RunError."""
        spec = self.directory.spec()
        return SweepView(spec=spec, cells=tuple(self.look(cell) for cell in spec.cells))

    def look(self, cell: Cell) -> CellView:
        with self._lock:
            return self._look(cell)

    def _look(self, cell: Cell) -> CellView:
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
                step=0 if snapshot.view.last_step is None else snapshot.view.last_step + 1,
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


def launch(
    directory: SweepDirectory, spec: SweepSpec, *, keys: Keys, environment: Mapping[str, str] | None = None
) -> int:
    """Record the sweep, and start or continue its cells in a detached process; return the process's id.

    environment: added to this process's; API keys are passed in it only. Raises InputError, RunLocked and RunError.
    """
    with directory.lock():
        directory.begin(spec)
    cells = (f"--tasks={','.join(spec.tasks)}", f"--methods={','.join(spec.methods)}", f"--seeds={spec.seeds}")
    variables = {**os.environ, **(environment or {}), **keys.variables()}
    return detached(["bench", "-o", str(directory.path), *cells], directory.log, variables)


def folder_name(endpoint: EndpointSpec) -> str:
    """Return the default name of a sweep's folder: bench-demo, or bench- and the model's name."""
    slug = re.sub(r"[^a-z0-9.]+", "-", ("demo" if endpoint.demo else endpoint.model).lower()).strip("-.")
    return f"bench-{slug[:48] or 'model'}"


def sweeps(runs_dir: Path) -> list[SweepDirectory]:
    """List the sweeps in the runs folder, the last changed first."""
    if not runs_dir.is_dir():
        return []
    directories = (SweepDirectory(path) for path in sorted(runs_dir.iterdir()) if is_text(path.name))
    return sorted((sweep for sweep in directories if sweep.exists), key=_changed_at, reverse=True)


def _changed_at(sweep: SweepDirectory) -> float:
    paths = (sweep.path / "sweep.json", sweep.results)
    return max(path.stat().st_mtime for path in paths if path.exists())
