"""Finished cells made by hand."""

from typing import Any

from vpp.bench.sweep import Outcome, SweepSpec
from vpp.data.tasks import TASKS
from vpp.runs.spec import EndpointSpec

DEMO = EndpointSpec(demo=True, model="demo", cache=False)


def spec(**changed: Any) -> SweepSpec:
    """One task, every method of the paper, three seeds."""
    given: dict[str, Any] = {"tasks": ("linear",), "methods": ("vml", "vml5", "mh", "smc"), "seeds": 3, **changed}
    return SweepSpec(**{"endpoint": DEMO, **given})


def outcome(task: str, method: str, seed: int, test: float, **changed: Any) -> Outcome:
    """A cell that came to `test`."""
    is_error = TASKS[task].task == "regression"
    usual: dict[str, Any] = {
        "metric": "mse" if is_error else "accuracy",
        "train": test,
        "calls": 110,
        "learner_calls": 100,
        "optimizer_calls": 10,
        "cached": 0,
        "failed": 0,
        "unparsable": 0,
        "rounds": 4,
        "wall_s": 1.0,
        "prompt_tokens": 1,
        "completion_tokens": 1,
        "K": 1,
        "n_unique": 1,
        "n_ideas": 1,
        "ess": [],
        "acceptance_rate": None,
        "log_evidence": None,
        "uncertain": None if is_error else 0,
        "uncertain_of": 60,
        "individual_test": [test],
        "individual_train": [test],
        "oracle_best_test": None,
        "best_on_train": None,
        "last_text": "",
        "versions": (("vpp", "0"),),
    }
    return {"task": task, "method": method, "seed": seed, "test": test, **usual, **changed}
