"""Outcome of a finished cell: a row of results.csv."""

import csv
import io
import json
from collections.abc import Iterable
from dataclasses import dataclass, field, fields
from typing import Any

from vpp.bench.cells import Cell
from vpp.inspection.ideas import merge_ideas
from vpp.inspection.summary import result
from vpp.runs.directory import RunDirectory, load_dataset
from vpp.runs.view import RunView


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
        log_evidence=_float(evidence and evidence["value"]),
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
    writer.writerows([_cell(getattr(outcome, name)) for name in COLUMNS] for outcome in outcomes)
    return text.getvalue().encode()


def _cell(value: object) -> object:
    return json.dumps(value) if isinstance(value, tuple) else value
