"""Accuracies of the demo model with the samplers.

The runs are deterministic, seeds 0 and 1: a failure is a change of behaviour, not of luck.
"""

import asyncio
from dataclasses import replace
from functools import cache
from statistics import mean

from tests.in_process import run
from tests.processes import PENGUINS
from vpp.data.build import build_dataset
from vpp.data.split import SplitPlan
from vpp.data.table import Table
from vpp.data.tasks import TASKS, generate
from vpp.inspection.baselines import baselines
from vpp.settings import Method, preset

SEEDS = range(2)


@cache
def accuracies(name: str, method: Method) -> list[float]:
    """Return test accuracies on one of the paper's tasks, with its prior."""
    return [_accuracy(name, method, seed) for seed in SEEDS]


def _accuracy(name: str, method: Method, seed: int) -> float:
    config = replace(preset("recommended"), method=method, seed=seed, tau="1", prior=TASKS[name].prior or "")
    table = Table.read(generate(name, seed=seed), name=name)
    data = build_dataset(table, target=TASKS[name].target, split=SplitPlan(seed=seed))
    return asyncio.run(run(data, config)).test.value


def test_smc_finds_the_rule() -> None:
    assert mean(accuracies("sum-parity", "smc")) >= 0.95


def test_a_single_hypothesis_fails_visibly_on_some_seeds() -> None:
    assert min(accuracies("sum-parity", "vml")) < 0.8


def test_smc_is_near_a_small_tree_and_far_above_a_constant() -> None:
    penguins = Table.read(PENGUINS.read_bytes(), name="penguins")
    gains, lifts = [], []
    for seed in SEEDS:
        split = SplitPlan(seed=seed, train_size=100, test_size=100)
        data = build_dataset(penguins, target="species", split=split)
        errors = {model.name: model.score.error for model in baselines(data).models}
        accuracy = asyncio.run(run(data, replace(preset("recommended"), seed=seed))).test.value
        gains.append(accuracy - (1 - min(errors["constant"], errors["tree"])))
        lifts.append(accuracy - (1 - errors["constant"]))
    assert mean(gains) >= -0.10
    assert mean(lifts) >= 0.10
