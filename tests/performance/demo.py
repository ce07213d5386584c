"""`python -m tests.performance.demo`: what the demo model and the samplers reach together, for docs/demo-model.md.

Seven tasks and four real tables, several seeds each: half an hour on two cores, and so no part of `make bench`. Figures
of the demo model say nothing of a language model.
"""

import argparse
import csv
import io
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from statistics import mean, stdev

import numpy as np
from plotly.data import gapminder
from sklearn.datasets import load_iris, load_wine
from sklearn.tree import DecisionTreeClassifier

from vpp.data.dataset import Dataset
from vpp.data.record import dataset_from_csv
from vpp.data.tasks import TASKS, generate

ROOT = Path(__file__).parents[2]
METHODS = ("vml", "mh", "smc")
TABLES = ("iris", "penguins", "gapminder", "wine")
"""Gapminder was never looked at while the demo model was made; penguins and wine were."""
TARGETS = {"iris": "target", "penguins": "species", "gapminder": "continent", "wine": "target"}


@dataclass(frozen=True)
class Outcome:
    """One run's result."""

    name: str
    method: str
    seed: int
    test: float
    wall_s: float
    folder: Path


def vpp(*words: str) -> str:
    """What a command prints; raises where it fails."""
    command = [sys.executable, "-m", "vpp", *words]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)}\n{done.stderr}")
    return done.stdout


def run(name: str, method: str, seed: int, folder: Path) -> Outcome:
    """A run on a task or a table, with the demo model and no cache."""
    data = table(name, seed, folder)
    target = TARGETS.get(name) or TASKS[name].target
    words = ["run", str(data), "--target", target, "--method", method, "--seed", str(seed), "--demo", "--no-cache"]
    if name in TASKS:
        words += ["--tau", "1", "--prior", TASKS[name].prior or ""]
    place = folder / f"{name}-{method}-{seed}"
    result = json.loads(vpp(*words, "--run-dir", str(place), "--quiet", "--json"))
    return Outcome(name, method, seed, result["metric"]["test"], result["wall_s"], place)


def table(name: str, seed: int, folder: Path) -> Path:
    """The CSV of a task or a table."""
    path = folder / f"{name}-{seed}.csv"
    path.write_bytes(table_bytes(name, seed))
    return path


def table_bytes(name: str, seed: int) -> bytes:
    """The CSV of a task, drawn by the seed, or of a table."""
    if name in TASKS:
        return generate(name, seed=seed)
    if name == "penguins":
        return (ROOT / "assets" / "examples" / "penguins.csv").read_bytes()
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


def dataset(folder: Path) -> Dataset:
    """The rows that a run used."""
    header = json.loads((folder / "run.json").read_text())["dataset"]
    return dataset_from_csv((folder / "data.csv").read_bytes(), header=header)


def majority(data: Dataset) -> float:
    """Test accuracy of the most frequent training label."""
    labels = [str(row.target) for row in data.train]
    top = max(set(labels), key=labels.count)
    return mean(str(row.target) == top for row in data.test)


def tree(data: Dataset) -> float:
    """Test accuracy of a decision tree of depth 2 on the same split; categories as one column a value."""
    rows = [*data.train, *data.test]
    columns = [column for name in data.inputs for column in numeric([dict(row.inputs)[name] for row in rows])]
    features = np.array(columns).T
    n = len(data.train)
    fitted = DecisionTreeClassifier(max_depth=2, random_state=0)
    fitted.fit(features[:n], [str(row.target) for row in data.train])
    return float(fitted.score(features[n:], [str(row.target) for row in data.test]))


def numeric(cells: list[str | None]) -> list[list[float]]:
    """Numbers as they are, missing ones as the median; categories as 0 or 1 a value."""
    try:
        numbers = [float(cell) if cell is not None else float("nan") for cell in cells]
    except ValueError:
        return [[float(cell == value) for cell in cells] for value in sorted({c for c in cells if c is not None})]
    middle = float(np.nanmedian(numbers))
    return [[middle if np.isnan(value) else value for value in numbers]]


def measure(names: Iterable[str], methods: Iterable[str], seeds: int, folder: Path) -> list[Outcome]:
    """Every run, as many at a time as there are cores."""
    jobs = list(product(names, methods, range(seeds)))
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(lambda job: run(*job, folder), jobs))


def told(outcomes: list[Outcome]) -> list[str]:
    """Markdown: a row a task and method."""
    lines = ["| data | method | seeds | mean | sd | worst | best | wall s |", "|---|---|---|---|---|---|---|---|"]
    for name, method in dict.fromkeys((o.name, o.method) for o in outcomes):
        own = [o for o in outcomes if (o.name, o.method) == (name, method)]
        values = [o.test for o in own]
        is_error = name in TASKS and TASKS[name].task == "regression"
        worst, best = (max(values), min(values)) if is_error else (min(values), max(values))
        spread = stdev(values) if len(values) > 1 else 0.0
        lines.append(
            f"| {name} | {method} | {len(own)} | {mean(values):.3f} | {spread:.3f} | {worst:.3f} | {best:.3f} "
            f"| {mean(o.wall_s for o in own):.1f} |"
        )
    return lines


def against_vml(outcomes: list[Outcome]) -> list[str]:
    """Markdown: whether smc is no worse than vml by more than one standard error of the difference."""
    lines = ["| data | vml | smc | better by | standard error | no worse |", "|---|---|---|---|---|---|"]
    for name in dict.fromkeys(o.name for o in outcomes):
        vml, smc = ([o.test for o in outcomes if (o.name, o.method) == (name, method)] for method in ("vml", "smc"))
        if len(vml) > 1 and len(smc) > 1:
            is_error = name in TASKS and TASKS[name].task == "regression"
            gain = (mean(vml) - mean(smc)) * (1 if is_error else -1)
            error = (stdev(vml) ** 2 / len(vml) + stdev(smc) ** 2 / len(smc)) ** 0.5
            holds = "yes" if gain >= -error else "NO"
            lines.append(f"| {name} | {mean(vml):.3f} | {mean(smc):.3f} | {gain:.3f} | {error:.3f} | {holds} |")
    return lines


def compared(outcomes: list[Outcome]) -> list[str]:
    """Markdown: smc beside the majority class and a tree on the same rows."""
    lines = ["| data | seeds | majority | tree of depth 2 | smc |", "|---|---|---|---|---|"]
    for name in TABLES:
        own = [o for o in outcomes if o.name == name and o.method == "smc"]
        if own:
            data = [dataset(o.folder) for o in own]
            lines.append(
                f"| {name} | {len(own)} | {mean(map(majority, data)):.3f} | {mean(map(tree, data)):.3f} "
                f"| {mean(o.test for o in own):.3f} |"
            )
    return lines


def main() -> None:
    """Prints the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", nargs="+", default=[*TASKS, *TABLES], choices=[*TASKS, *TABLES])
    parser.add_argument("--methods", nargs="+", default=METHODS, choices=METHODS)
    parser.add_argument("--seeds", type=int, default=5)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        outcomes = measure(options.data, options.methods, options.seeds, Path(folder))
        print("\n".join([*told(outcomes), "", *against_vml(outcomes), "", *compared(outcomes)]))


if __name__ == "__main__":
    main()
