"""What a run came to, as one JSON object: the end of `--json`, and the head of every report."""

import math
from typing import Any

from vpp.events import Evaluated
from vpp.inference.plan import rounds_a_step
from vpp.posterior.disagreement import is_uncertain
from vpp.runs.directory import RunDirectory
from vpp.runs.spec import RunSpec
from vpp.runs.view import RunView


def result(directory: RunDirectory, view: RunView) -> dict[str, Any]:
    """Counts are of calls needed, cached or not: only times, ids and `calls.cached` differ between equal runs."""
    spec, usage = directory.spec(), view.usage
    test, train = view.evaluated.get("test"), view.evaluated.get("train")
    return {
        "run": directory.id,
        "dir": str(directory.path),
        "status": directory.state(view),
        "method": spec.config.method,
        "metric": {
            "name": _metric_name(spec),
            "train": _number(train),
            "test": _number(test),
        },
        "calls": {
            "learner": usage.learner,
            "optimizer": usage.optimizer,
            "cached": usage.cached,
            "failed": usage.failed,
            "unparsable": usage.unparsable,
        },
        "rounds": rounds(spec, view),
        "wall_s": round(view.wall_s, 3),
        "tokens": {"prompt": usage.prompt_tokens, "completion": usage.completion_tokens},
        "n_unique": view.n_unique,
        "ess": view.ess_by_step,
        "resampled_at": view.resampled_at,
        "acceptance_rate": view.acceptance_rate,
        "uncertain": {"points": uncertain_points(test), "of": len(test.rows) if test else 0},
        "weights": list(view.weights),
    }


def _number(evaluated: Evaluated | None) -> float | str | None:
    """JSON has no infinity: a mean squared error that overflows is written as in the journal."""
    if evaluated is None:
        return None
    return evaluated.value if math.isfinite(evaluated.value) else "Infinity"


def _metric_name(spec: RunSpec) -> str:
    return "accuracy" if spec.dataset["task"] == "classification" else "mse"


def rounds(spec: RunSpec, view: RunView) -> int:
    """Rounds in sequence that the events tell of: the initial draw, whole steps, final weights, evaluations."""
    done = [step for step in view.finished_steps if step.step >= 0]
    drawn = 2 if view.finished_steps and spec.config.method != "vml" else 0
    steps = len(done) * rounds_a_step(spec.config, n_train=spec.dataset["n_train"])
    return drawn + steps + (view.final is not None) + len(view.evaluations)


def uncertain_points(test: Evaluated | None) -> int | None:
    """Test points on which the particles are not unanimous (Section 4.3); None before the test rows are evaluated,

    and for regression, where numbers hardly ever agree to the digit.
    """
    if test is None or test.metric != "accuracy":
        return None
    return sum(is_uncertain(votes, test.weights) for votes in zip(*test.predictions, strict=True))
