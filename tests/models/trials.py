"""Whole runs on a real model beside simple models: `python -m tests.models.trials --base-url URL --model NAME`.

Each row of the table is one method on one table: balanced accuracy on the table's own test rows, mean and each seed.
VML is the best on the training rows of as many single runs as one smc run's calls pay for.
"""

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from statistics import mean
from typing import Any

from vpp.findings.baselines import baselines
from vpp.runs.directory import RunDirectory, load_dataset
from vpp.runs.reader import RunReader

TABLES = Path(__file__).parent / "tables"
"""HypoBench's admission tables (ChicagoHAI/HypoBench-code), MIT licence, (c) 2025 Chicago Human+AI Lab."""
NAMES = ("admission_base", "admission_distractor_3", "admission_depth_2", "admission_noise_10")
SIZE = ("--train-size", "40", "--test-size", "60", "--particles", "8", "--epochs", "1")
"""40 training rows and batches of 10: four steps."""
MOST_PATHS = 12
"""Single VML runs at most, however little one takes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """One finished run."""

    table: str
    method: str
    seed: int
    result: dict[str, Any]
    """What `--json` ends with."""
    heaviest: str
    """The heaviest hypothesis, without the sentence that all begin with."""
    proposals: int
    rules: int
    """Proposals that ended as a rule, at the first answer or a later one."""

    @property
    def calls(self) -> int:
        """Calls of both roles."""
        return int(self.result["calls"]["learner"] + self.result["calls"]["optimizer"])

    @property
    def test(self) -> float:
        """Balanced accuracy on the test rows."""
        return float(self.result["scores"]["test"]["labels"]["balanced"]["value"])

    @property
    def train(self) -> float:
        """Balanced accuracy on the training rows."""
        return float(self.result["scores"]["train"]["labels"]["balanced"]["value"])


def run(folder: Path, table: str, method: str, seed: int, server: Sequence[str]) -> Trial:
    """Runs one method once, or reads the run that a folder holds already. Raises SystemExit where it fails."""
    where = folder / f"{table}-{method}-{seed}"
    data = (str(TABLES / f"{table}_train.csv"), "--test", str(TABLES / f"{table}_test.csv"))
    command = [sys.executable, "-m", "vpp", "run", *data, "--method", method, "--seed", str(seed), *SIZE, *server]
    if where.exists():
        command = [sys.executable, "-m", "vpp", "resume", str(where)]
    else:
        command += ["--run-dir", str(where)]
    done = subprocess.run([*command, "--json", "--quiet"], capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{table}, {method}, seed {seed}: {done.stderr}")
    view = RunReader(RunDirectory(where)).refresh().view
    weights: dict[str, float] = {}
    for weight, state in zip(view.weights, view.population, strict=True):
        text = view.texts[state.hypothesis]
        weights[text] = weights.get(text, 0.0) + weight
    heaviest = max(weights, key=weights.__getitem__)
    seed_text = view.started.seed_text if view.started else ""
    proposals = [*view.drawn.values(), *view.proposals]
    return Trial(
        table=table,
        method=method,
        seed=seed,
        result=json.loads(done.stdout),
        heaviest=heaviest.removeprefix(seed_text),
        proposals=len(proposals),
        rules=sum(proposal.reason is None for proposal in proposals),
    )


def best_of_vml(folder: Path, table: str, calls: int, server: Sequence[str], *, first_seed: int) -> Trial:
    """The best on the training rows of as many VML runs as `calls` pay for, one at least."""
    paths = []
    while len(paths) < MOST_PATHS and (not paths or sum(path.calls for path in paths) < calls):
        paths.append(run(folder, table, "vml", first_seed + len(paths), server))
    return max(paths, key=lambda path: path.train)


def simple(folder: Path, table: str) -> dict[str, float]:
    """Balanced accuracy of the constant and of the tree of depth 2, on the rows of the first smc run."""
    directory = RunDirectory(folder / f"{table}-smc-0")
    models = baselines(load_dataset(directory, directory.spec())).models
    return {m.name: m.score.labels.balanced.value for m in models if m.score.labels is not None}


def line(table: str, method: str, trials: Sequence[Trial]) -> str:
    """One row of the table."""
    seeds = ", ".join(f"{trial.test:.3f}" for trial in trials)
    minutes = mean(trial.result["wall_s"] for trial in trials) / 60
    calls = mean(trial.calls for trial in trials)
    rules = f"{sum(t.rules for t in trials)} of {sum(t.proposals for t in trials)}"
    accuracy = mean(trial.test for trial in trials)
    return f"| {table} | {method} | {accuracy:.3f} | {seeds} | {calls:.0f} | {minutes:.1f} | {rules} |"


def main(words: Sequence[str] | None = None) -> None:
    """Prints the tables. A folder that holds finished runs is gone on with."""
    parser = argparse.ArgumentParser(prog="python -m tests.models.trials")
    parser.add_argument("--base-url", required=True)
    parser.add_argument("--model", required=True)
    parser.add_argument("--folder", type=Path, required=True, help="where the runs are kept")
    parser.add_argument("--tables", nargs="+", default=list(NAMES))
    parser.add_argument("--methods", nargs="+", default=["smc", "vml", "mh"])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--at-once", type=int, default=1, help="runs at a time: a server that batches is faster so")
    options, more = parser.parse_known_args(words)
    server = ("--base-url", options.base_url, "--model", options.model, "--limit", "call=900", *more)
    os.environ["VPP_MAX_RUNNING"] = str(options.at_once)
    print("| table | method | balanced accuracy | by seed | calls | minutes | rules |\n|---|---|---|---|---|---|---|")
    with ThreadPoolExecutor(options.at_once) as pool:
        print("\n".join(_tables(options, server, pool)))


def _tables(options: argparse.Namespace, server: Sequence[str], pool: ThreadPoolExecutor) -> list[str]:
    """Prints the rows; returns the heaviest hypothesis of every run."""
    seeds, folder, heaviest = range(options.seeds), options.folder, []
    smc = {
        (table, seed): pool.submit(run, folder, table, "smc", seed, server)
        for seed in seeds
        for table in options.tables
    }
    mh = {t: pool.submit(run, folder, t, "mh", 0, server) for t in options.tables if "mh" in options.methods}
    for table in options.tables:
        shown = {"smc": [smc[table, seed].result() for seed in seeds]}
        if "vml" in options.methods:
            asked = [
                pool.submit(best_of_vml, folder, table, one.calls, server, first_seed=MOST_PATHS * seed)
                for seed, one in enumerate(shown["smc"])
            ]
            shown["best of vml"] = [best.result() for best in asked]
        if "mh" in options.methods:
            shown["mh"] = [mh[table].result()]
        for method, trials in shown.items():
            print(line(table, method, trials), flush=True)
            heaviest += [f"{t.table}, {t.method}, seed {t.seed}: {t.heaviest}" for t in trials]
        for name, value in simple(folder, table).items():
            print(f"| {table} | {name} | {value:.3f} | | | | |", flush=True)
    return heaviest


if __name__ == "__main__":
    main()
