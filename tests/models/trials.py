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
from functools import partial
from pathlib import Path
from statistics import mean
from typing import Any

from vpp.findings.baselines import baselines
from vpp.runs.directory import RunDirectory, RunReader

TABLES = Path(__file__).parent / "tables"
"""HypoBench's admission tables (ChicagoHAI/HypoBench-code), MIT licence, (c) 2025 Chicago Human+AI Lab."""
NAMES = ("admission_base", "admission_distractor_3", "admission_depth_2", "admission_noise_10")
SIZE = ("--train-size", "40", "--test-size", "60", "--particles", "8", "--epochs", "1")
"""40 training rows and batches of 10: four steps."""
MOST_PATHS = 12
"""Single VML runs at most, however little one takes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    result: dict[str, Any]
    """What `--json` ends with."""
    heaviest: str
    """The heaviest hypothesis, without the sentence that all begin with."""
    proposals: int
    rules: int
    """Proposals that ended as a rule, at the first answer or a later one."""

    @property
    def calls(self) -> int:
        return int(self.result["calls"]["learner"] + self.result["calls"]["optimizer"])

    def accuracy(self, split: str) -> float:
        return float(self.result["scores"][split]["balanced"])


def run(folder: Path, table: str, method: str, seed: int, server: Sequence[str]) -> Trial:
    """Run one method once, or read the run that the folder holds already. Raises CalledProcessError."""
    where = folder / f"{table}-{method}-{seed}"
    data = (str(TABLES / f"{table}_train.csv"), "--test", str(TABLES / f"{table}_test.csv"))
    begin = ("run", *data, "--method", method, "--seed", str(seed), *SIZE, *server, "--run-dir", str(where))
    words = ("resume", str(where)) if where.exists() else begin
    command = [sys.executable, "-m", "vpp", *words, "--json", "--quiet"]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    view = RunReader(RunDirectory(where)).refresh().view
    weights: dict[str, float] = {}
    for weight, state in zip(view.weights, view.population, strict=True):
        text = view.texts[state.hypothesis]
        weights[text] = weights.get(text, 0.0) + weight
    proposals = [*view.draws.values(), *view.proposals]
    return Trial(
        result=json.loads(done.stdout),
        heaviest=max(weights, key=weights.__getitem__).removeprefix(view.start.seed_text if view.start else ""),
        proposals=len(proposals),
        rules=sum(proposal.reason is None for proposal in proposals),
    )


def smc_and_vml(folder: Path, server: Sequence[str], table: str, seed: int) -> tuple[Trial, Trial]:
    """Return an smc run, and the best on the training rows of the VML runs that its calls pay for, one at least."""
    smc = run(folder, table, "smc", seed, server)
    paths: list[Trial] = []
    while len(paths) < MOST_PATHS and (not paths or sum(path.calls for path in paths) < smc.calls):
        paths.append(run(folder, table, "vml", MOST_PATHS * seed + len(paths), server))
    return smc, max(paths, key=lambda path: path.accuracy("train"))


def simple(folder: Path, table: str) -> dict[str, float]:
    """Balanced accuracy of the constant and of the tree of depth 2, on the rows of the first smc run."""
    directory = RunDirectory(folder / f"{table}-smc-0")
    models = baselines(directory.dataset()).models
    return {m.name: m.score.balanced for m in models if m.score.balanced is not None}


def line(table: str, method: str, trials: Sequence[Trial]) -> str:
    scores = [trial.accuracy("test") for trial in trials]
    minutes = mean(trial.result["wall_s"] for trial in trials) / 60
    rules = f"{sum(t.rules for t in trials)} of {sum(t.proposals for t in trials)}"
    by_seed = ", ".join(f"{score:.3f}" for score in scores)
    calls = mean(trial.calls for trial in trials)
    return f"| {table} | {method} | {mean(scores):.3f} | {by_seed} | {calls:.0f} | {minutes:.1f} | {rules} |"


def main(words: Sequence[str] | None = None) -> None:
    """Print the tables, and each run's heaviest hypothesis. A folder that holds finished runs is gone on with."""
    parser = argparse.ArgumentParser(prog="python -m tests.models.trials")
    parser.add_argument("--base-url", required=True)
    parser.add_argument("--model", required=True)
    parser.add_argument("--folder", type=Path, required=True, help="where the runs are kept")
    parser.add_argument("--tables", nargs="+", default=list(NAMES))
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--at-once", type=int, default=1, help="runs at a time: a server that batches is faster so")
    options, more = parser.parse_known_args(words)
    server = ("--base-url", options.base_url, "--model", options.model, "--limit", "call=900", *more)
    os.environ["VPP_MAX_RUNNING"] = str(options.at_once)
    print("| table | method | balanced accuracy | by seed | calls | minutes | rules |\n|---|---|---|---|---|---|---|")
    with ThreadPoolExecutor(options.at_once) as pool:
        for table in options.tables:
            pairs = pool.map(partial(smc_and_vml, options.folder, server, table), range(options.seeds))
            for method, trials in zip(("smc", "best of vml"), zip(*pairs, strict=True), strict=True):
                print(line(table, method, trials), *(trial.heaviest for trial in trials), sep="\n", flush=True)
            for name, value in simple(options.folder, table).items():
                print(f"| {table} | {name} | {value:.3f} | | | | |", flush=True)


if __name__ == "__main__":
    main()
