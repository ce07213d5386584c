"""`python -m tests.performance.demo`: what the demo model and the samplers reach together, for docs/demo-model.md.

Seven tasks and four real tables, several seeds each, in processes of their own without a server;
tests/performance/test_presets.py holds such a run equal to one of a worker with a server. Figures of the demo model say
nothing of a language model.
"""

import argparse
import asyncio
import csv
import io
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from statistics import mean, stdev

from plotly.data import gapminder
from sklearn.datasets import load_iris, load_wine

from tests.performance.in_process import Known, run
from vpp.data.build import build_dataset
from vpp.data.dataset import Dataset
from vpp.data.split import SplitPlan
from vpp.data.table import Table
from vpp.data.tasks import TASKS, generate
from vpp.inspection.baselines import baselines
from vpp.settings import Method, preset

METHODS: tuple[Method, ...] = ("vml", "mh", "smc")
TARGETS = {"iris": "target", "penguins": "species", "gapminder": "continent", "wine": "target"}
"""Real tables. Gapminder was never looked at while the demo model was made; penguins and wine were."""


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """One run's result."""

    name: str
    method: Method
    seed: int
    test: float
    """Accuracy on the test rows, or mean squared error."""


def reached(name: str, method: Method, seed: int) -> Outcome:
    """Run a method with the recommended options; a task has its prior, and tau = 1."""
    config = replace(preset("recommended"), method=method, seed=seed)
    if name in TASKS:
        config = replace(config, tau="1", prior=TASKS[name].prior or "")
    finished = asyncio.run(run(dataset(name, seed), config, Known()))
    return Outcome(name=name, method=method, seed=seed, test=finished.test.value)


def dataset(name: str, seed: int) -> Dataset:
    """Rows of a task or a table, split by the seed."""
    target = TARGETS.get(name) or TASKS[name].target
    return build_dataset(Table.read(_content(name, seed), name=name), target=target, split=SplitPlan(seed=seed))


def _content(name: str, seed: int) -> bytes:
    """CSV of a task, drawn by the seed, or of a table."""
    if name in TASKS:
        return generate(name, seed=seed)
    if name == "penguins":
        return (Path(__file__).parents[2] / "assets" / "examples" / "penguins.csv").read_bytes()
    if name == "gapminder":
        countries = gapminder()
        columns = ["lifeExp", "pop", "gdpPercap", "continent"]
        return countries[countries["year"] == 2007][columns].to_csv(index=False).encode()
    bunch = load_iris() if name == "iris" else load_wine()
    file = io.StringIO(newline="")
    writer = csv.writer(file)
    writer.writerow([*bunch.feature_names, "target"])
    writer.writerows([*row, bunch.target_names[y]] for row, y in zip(bunch.data, bunch.target, strict=True))
    return file.getvalue().encode()


def simple_accuracies(name: str, seeds: Sequence[int]) -> dict[str, float]:
    """Mean test accuracy of simple models on the same splits: `constant`, `linear`, `tree` (depth 2)."""
    fitted = [baselines(dataset(name, seed)).models for seed in seeds]
    return {models[0].name: mean(1 - model.score.error for model in models) for models in zip(*fitted, strict=True)}


def by_method(outcomes: Sequence[Outcome]) -> list[str]:
    """Markdown: a row a task and method."""
    lines = ["| data | method | seeds | mean | sd | worst | best |", "|---|---|---|---|---|---|---|"]
    for name, method in dict.fromkeys((o.name, o.method) for o in outcomes):
        values = [o.test for o in outcomes if (o.name, o.method) == (name, method)]
        worst, best = sorted((min(values), max(values)), reverse=_is_error(name))
        spread = stdev(values) if len(values) > 1 else 0.0
        figures = " | ".join(f"{value:.3f}" for value in (mean(values), spread, worst, best))
        lines.append(f"| {name} | {method} | {len(values)} | {figures} |")
    return lines


def _is_error(name: str) -> bool:
    return name in TASKS and TASKS[name].task == "regression"


def against_vml(outcomes: Sequence[Outcome]) -> list[str]:
    """Markdown: whether smc is no worse than vml by more than one standard error of the difference."""
    lines = ["| data | vml | smc | better by | standard error | no worse |", "|---|---|---|---|---|---|"]
    for name in dict.fromkeys(o.name for o in outcomes):
        vml, smc = ([o.test for o in outcomes if (o.name, o.method) == (name, method)] for method in ("vml", "smc"))
        if len(vml) > 1 and len(smc) > 1:
            gain = (mean(vml) - mean(smc)) * (1 if _is_error(name) else -1)
            error = (stdev(vml) ** 2 / len(vml) + stdev(smc) ** 2 / len(smc)) ** 0.5
            holds = "yes" if gain >= -error else "NO"
            lines.append(f"| {name} | {mean(vml):.3f} | {mean(smc):.3f} | {gain:.3f} | {error:.3f} | {holds} |")
    return lines


def beside_simple_models(outcomes: Sequence[Outcome]) -> list[str]:
    """Markdown: smc beside the most frequent label and a tree of depth 2, on real tables."""
    lines = ["| data | seeds | constant | tree of depth 2 | smc |", "|---|---|---|---|---|"]
    for name in TARGETS:
        own = [o for o in outcomes if o.name == name and o.method == "smc"]
        if own:
            simple = simple_accuracies(name, [o.seed for o in own])
            smc = mean(o.test for o in own)
            lines.append(f"| {name} | {len(own)} | {simple['constant']:.3f} | {simple['tree']:.3f} | {smc:.3f} |")
    return lines


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", nargs="+", default=[*TASKS, *TARGETS], choices=[*TASKS, *TARGETS])
    parser.add_argument("--methods", nargs="+", default=METHODS, choices=METHODS)
    parser.add_argument("--seeds", type=int, default=5)
    given = parser.parse_args()
    jobs = list(product(given.data, given.methods, range(given.seeds)))
    with ProcessPoolExecutor() as pool:
        outcomes = list(pool.map(reached, *zip(*jobs, strict=True)))
    print("\n".join([*by_method(outcomes), "", *against_vml(outcomes), "", *beside_simple_models(outcomes)]))


if __name__ == "__main__":
    main()
