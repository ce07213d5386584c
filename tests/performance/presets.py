"""`python -m tests.performance.presets`: settings beside the best simple rule on tables, with the demo model.

A cell is the mean over seeds of the test accuracy, or of the mean squared error divided by the constant's, with its
standard error. The best simple rule is the better one, on the test rows, of the constant and a tree of depth 2. Runs
need no server; a test holds that they equal those of a worker with one.
"""

import argparse
import asyncio
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from itertools import product
from typing import Any

import pandas as pd

from tests.markdown import table
from tests.performance.in_process import run
from tests.performance.preset_tables import FOREIGN, SIXTEEN, dataset
from vpp.inspection.baselines import baselines
from vpp.settings import preset

REPEATING = {"buffer_repeats": True, "final_weights": "rescored"}
SETTINGS: Mapping[str, Mapping[str, Any]] = {
    "every, B = 40": {**REPEATING, "mutate": "every", "buffer_size": 40},
    "filtered, B = 40": {"buffer_size": 40, "buffer_repeats": True},
    "filtered, B = 60": {},
    "filtered, B = 100": {"buffer_size": 100},
    "filtered, B = 100, K 5 to 20": {**REPEATING, "buffer_size": 100, "particles": 5, "particles_max": 20},
    "adaptive tempering": {**REPEATING, "mutate": "every", "buffer_size": 40, "tempering": "adaptive"},
    "mh": {"method": "mh"},
    "vml": {"method": "vml"},
}
"""Options on top of the preset `recommended`."""
COMPARED = tuple(SETTINGS)[:6]


def measured(name: str, setting: str, seed: int) -> dict[str, Any]:
    """Run a setting on one split of a table."""
    data, config = dataset(name, seed), replace(preset("recommended"), seed=seed, **SETTINGS[setting])
    began = time.process_time()
    finished = asyncio.run(run(data, config))
    seconds = time.process_time() - began
    errors = {model.name: model.score.error for model in baselines(data).models}
    best = min(errors["constant"], errors.get("tree", errors["constant"]))
    if data.task == "classification":
        test, constant, simple = finished.test.value, 1 - errors["constant"], 1 - best
        gain = test - simple
    else:
        test, constant, simple = finished.test.value / errors["constant"], 1.0, best / errors["constant"]
        gain = simple - test
    calls = finished.usage.learner
    return {
        "table": name, "setting": setting, "test": test, "constant": constant, "simple": simple, "gain": gain,
        "calls": calls, "seconds": seconds,
    }  # fmt: skip


def report(runs: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return a table: a row a table, a column a setting, and below them a summary of each setting."""
    cells = pd.DataFrame(runs).groupby(["table", "setting"], sort=False)
    mean, error = (each.unstack(sort=False) for each in (cells.mean(), cells["test"].sem().fillna(0.0)))
    test, gain = mean["test"], mean["gain"]
    rows = [
        [
            name,
            *(f"{mean.loc[name, kind].iloc[0]:.3f}" for kind in ("constant", "simple")),
            *(f"{test.loc[name, each]:.3f} ± {error.loc[name, each]:.3f}" for each in test.columns),
        ]
        for name in test.index
    ]
    summary = {
        "mean gain over the simple rule": gain.mean().map("{:+.3f}".format),
        "tables below it by over 0.01": (gain < -0.01).sum(),
        "learner calls, mean": mean["calls"].mean().map("{:,.0f}".format),
        "processor seconds a run": mean["seconds"].mean().map("{:.1f}".format),
    }
    rows += [[name, "", "", *values] for name, values in summary.items()]
    return table(["", "constant", "simple rule", *test.columns], rows)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m tests.performance.presets", description=__doc__)
    parser.add_argument("--tables", nargs="+", default=SIXTEEN, choices=[*SIXTEEN, *FOREIGN], metavar="TABLE")
    parser.add_argument("--settings", nargs="+", default=COMPARED, choices=SETTINGS, metavar="SETTING")
    parser.add_argument("--seeds", type=int, default=10)
    given = parser.parse_args()
    jobs = list(product(given.tables, given.settings, range(given.seeds)))
    with ProcessPoolExecutor() as pool:
        print("\n".join(report(list(pool.map(measured, *zip(*jobs, strict=True))))))


if __name__ == "__main__":
    main()
