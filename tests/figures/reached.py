"""What the demo model and the samplers reach together; `make bench-demo` prints all of it.

The runs are deterministic, seeds 0 to 2 of the bench's five: a failure is a change of behaviour, not of luck. They run
in this process; tests/performance/test_presets.py holds such a run equal to one of a worker with a server.
"""

import asyncio
from dataclasses import replace

from tests.performance.demo import TARGETS, table_bytes
from tests.performance.in_process import Known, run
from vpp.data.build import build_dataset
from vpp.data.dataset import Dataset
from vpp.data.split import SplitPlan
from vpp.data.table import Table
from vpp.data.tasks import TASKS
from vpp.settings import Config, Method, preset

SEEDS = range(3)


def dataset(name: str, seed: int) -> Dataset:
    """Rows of a task or a table, split by the seed."""
    target = TARGETS.get(name) or TASKS[name].target
    return build_dataset(Table.read(table_bytes(name, seed), name=name), target=target, split=SplitPlan(seed=seed))


def reached(name: str, method: Method) -> list[float]:
    """Accuracy on the test rows, one a seed."""
    return [asyncio.run(run(dataset(name, seed), _config(name, method, seed), Known())).test.value for seed in SEEDS]


def _config(name: str, method: Method, seed: int) -> Config:
    config = replace(preset("recommended"), method=method, seed=seed)
    return replace(config, tau=1.0, prior=TASKS[name].prior or "") if name in TASKS else config
