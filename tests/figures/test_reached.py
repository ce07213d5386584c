"""Accuracies of the demo model with the samplers.

The runs are deterministic, seeds 0 and 1: a failure is a change of behaviour, not of luck.
"""

import asyncio
from dataclasses import replace

from tests.in_process import run
from tests.processes import PENGUINS
from vpp.data.build import build_dataset
from vpp.data.split import SplitPlan
from vpp.data.table import Table
from vpp.data.tasks import TASKS, generate
from vpp.inspection.baselines import baselines
from vpp.settings import Method, preset


def accuracy(name: str, method: Method, seed: int) -> float:
    """Return the test accuracy on one of the paper's tasks, with its prior."""
    config = replace(preset("recommended"), method=method, seed=seed, tau="1", prior=TASKS[name].prior or "")
    table = Table.read(generate(name, seed=seed), name=name)
    data = build_dataset(table, target=TASKS[name].target, split=SplitPlan(seed=seed))
    return asyncio.run(run(data, config)).test.value


def test_smc_finds_the_rule_and_a_single_hypothesis_fails_visibly_on_some_seeds() -> None:
    assert accuracy("sum-parity", "smc", 0) >= 0.95
    assert min(accuracy("sum-parity", "vml", seed) for seed in (0, 1)) < 0.8


def test_smc_is_near_a_small_tree_and_far_above_a_constant() -> None:
    penguins = Table.read(PENGUINS.read_bytes(), name="penguins")
    data = build_dataset(penguins, target="species", split=SplitPlan(train_size=100, test_size=100))
    errors = {model.name: model.score.error for model in baselines(data).models}
    reached = asyncio.run(run(data, preset("recommended"))).test.value
    assert reached >= 1 - min(errors["constant"], errors["tree"]) - 0.10
    assert reached >= 1 - errors["constant"] + 0.10
