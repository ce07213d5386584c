"""What a finished cell came to: a line of results.csv."""

import csv
import io
import json
from collections.abc import Iterable
from dataclasses import dataclass, field, fields
from typing import Any

from vpp.bench.cells import Cell
from vpp.inspection.ideas import merge_ideas
from vpp.runs.directory import RunDirectory
from vpp.runs.session import load_dataset
from vpp.runs.summary import result
from vpp.runs.view import RunView


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """Accuracies are fractions, mean squared errors in squared units of the target, times in seconds."""

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
    """Of the calls, how many the response cache answered."""
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
    """Distinct behaviours at the end: texts with the same answers on all evaluated rows are one idea."""
    ess: tuple[float, ...]
    """By step; empty for methods without weights."""
    resampled_at: tuple[int, ...]
    acceptance_rate: float | None
    log_evidence: float | None
    """Natural log, nominal; of methods that carry weights from step to step."""
    uncertain: int | None
    """Test points on which the particles are not unanimous; None for regression."""
    uncertain_of: int
    individual_test: tuple[float, ...]
    """(K,) each particle's own."""
    individual_train: tuple[float, ...]
    oracle_best_test: float | None = None
    """Of five vml runs, the best on the test rows, which nobody can pick."""
    best_on_train: float | None = None
    """Of five vml runs, the test metric of the one that is best on the training rows."""
    last_text: str = field(default="", metadata={"in_csv": False})
    """The hypothesis that a run of one ended with, its seed sentence left out; empty for more than one."""
    versions: tuple[tuple[str, str], ...] = field(default=(), metadata={"in_csv": False})
    """Of what made the run, by name."""

    @property
    def is_error(self) -> bool:
        """Whether less is better."""
        return self.metric == "mse"

    @property
    def calls(self) -> int:
        """Calls of both roles that were needed, cached or not."""
        return self.learner_calls + self.optimizer_calls


def outcome_of(cell: Cell, directory: RunDirectory, view: RunView) -> Outcome:
    """Of a finished run."""
    found = result(directory, view)
    calls, individual, evidence = found["calls"], found["individual"], found["log_evidence"]
    return Outcome(
        task=cell.task,
        method=cell.method,
        seed=cell.seed,
        metric=found["metric"]["name"],
        train=float(found["metric"]["train"]),
        test=float(found["metric"]["test"]),
        learner_calls=calls["learner"],
        optimizer_calls=calls["optimizer"],
        cached=calls["cached"],
        failed=calls["failed"],
        unparsable=calls["unparsable"],
        rounds=found["rounds"],
        wall_s=found["wall_s"],
        prompt_tokens=found["tokens"]["prompt"],
        completion_tokens=found["tokens"]["completion"],
        K=len(view.population),
        n_initial=len({p.hypothesis for p in view.finished_steps[0].population}),
        n_unique=found["n_unique"],
        n_ideas=len(merge_ideas(view, load_dataset(directory, directory.spec())) or ()),
        ess=tuple(found["ess"]),
        resampled_at=tuple(found["resampled_at"]),
        acceptance_rate=found["acceptance_rate"],
        log_evidence=_float(evidence and evidence["value"]),
        uncertain=found["uncertain"]["points"],
        uncertain_of=found["uncertain"]["of"],
        individual_test=tuple(map(float, individual["test"] or ())),
        individual_train=tuple(map(float, individual["train"] or ())),
        oracle_best_test=_float(found.get("oracle_best_test")),
        best_on_train=_float(found.get("best_on_train")),
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
    """results.csv: a line a finished cell; lists are JSON, what does not apply is empty."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows([_cell(getattr(outcome, name)) for name in COLUMNS] for outcome in outcomes)
    return text.getvalue().encode()


def _cell(value: object) -> object:
    return json.dumps(value) if isinstance(value, tuple) else value
