"""`make rivals`: GEPA, HypoGeniC and this product ask one simulated endpoint about one table, with one budget.

What is compared is how they ask: calls a second, calls in flight, wall clock. The endpoint answers at random, so that
nothing here says how good their texts are.
"""

import argparse
import json
import platform
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from tests.markdown import DOCS, put, table
from tests.performance.stub import ROOT, served
from tests.performance.workers import AS_THE_STUB_READS

HERE = Path(__file__).parent
ENVIRONMENTS = ROOT / ".rivals"
CALLS = 2000
ROWS = 200
K = 10
LEARNER_S, OPTIMIZER_S = 0.3, 0.9
WITHIN_S = 480


@dataclass(frozen=True, kw_only=True)
class Rival:
    """One of them, with its settings."""

    name: str
    settings: str
    words: tuple[str, ...]
    """TABLE and BASE_URL stand for themselves."""


@dataclass(frozen=True, kw_only=True)
class Run:
    """What the endpoint saw of one."""

    rival: Rival
    learner: int
    optimizer: int
    peak: int
    asking_s: float
    """From the first call to the last answer."""
    process_s: float
    """With what the process did before and after."""
    cpu_s: float
    """The process's."""
    fault: str = ""


def rivals(folder: Path) -> list[Rival]:
    """The table of runs; the two rivals' environments must be set up."""
    gepa = (str(ENVIRONMENTS / "gepa/bin/python"), str(HERE / "run_gepa.py"), "TABLE", "BASE_URL")
    hypogenic = (str(ENVIRONMENTS / "hypogenic/bin/python"), str(HERE / "run_hypogenic.py"), "TABLE", "BASE_URL")
    ours = (sys.executable, "-m", "vpp", "run", str(folder / "rows.csv"), "--target", "label", "--base-url", "BASE_URL")
    ours += ("--model", "learner", "--optimizer-model", "optimizer", "--epochs", "1", "--test-size", "10", "--no-cache")
    ours += AS_THE_STUB_READS
    smc = ("--method", "smc", "--train-size", "50", "--run-dir", str(folder / "smc"), "--quiet")
    mh = ("--method", "mh", "--train-size", "60", "--run-dir", str(folder / "mh"), "--quiet")
    return [
        Rival(name="GEPA", settings="default: 10 workers", words=(*gepa, "default", str(CALLS))),
        Rival(
            name="GEPA",
            settings="tuned: 256 workers, 8 proposals at a time, evaluated in one batch",
            words=(*gepa, "tuned", str(CALLS)),
        ),
        Rival(name="HypoGeniC", settings="default: max_concurrent 3, k 10", words=(*hypogenic, "default", str(K))),
        Rival(name="HypoGeniC", settings="tuned: max_concurrent 256, k 10", words=(*hypogenic, "tuned", str(K))),
        Rival(name="this product, SMC", settings="default, T = 5, K = 10", words=(*ours, *smc)),
        Rival(name="this product, MH", settings="default, T = 6, K = 10", words=(*ours, *mh)),
    ]


def write_table(folder: Path) -> None:
    """Write 200 rows of four numbers and a label, as CSV and as JSON of texts."""
    chance = random.Random(0)
    rows = pd.DataFrame([{name: round(chance.uniform(0, 10), 2) for name in "abcd"} for _ in range(ROWS)])
    labels = ["high" if a + b > 10 else "low" for a, b in zip(rows["a"], rows["b"], strict=True)]
    rows.assign(label=labels).to_csv(folder / "rows.csv", index=False)
    texts = [", ".join(f"{name}: {value}" for name, value in row.items()) for row in rows.to_dict("records")]
    content = [{"text": text, "label": label} for text, label in zip(texts, labels, strict=True)]
    (folder / "table.json").write_text(json.dumps(content))


def measured(rival: Rival, folder: Path) -> Run:
    """Run it to its end."""
    with served(learner_s=LEARNER_S, optimizer_s=OPTIMIZER_S) as stub, (folder / "log").open("ab") as log:
        given = {"TABLE": str(folder / "table.json"), "BASE_URL": stub.base_url}
        began, used, fault = time.monotonic(), children_s(), ""
        try:
            words = [given.get(word, word) for word in rival.words]
            ended = subprocess.run(words, cwd=ROOT, stdout=log, stderr=log, timeout=WITHIN_S, check=False)
            fault = f"ended with {ended.returncode}" if ended.returncode else ""
        except subprocess.TimeoutExpired:
            fault = f"not done within {WITHIN_S} s"
        process_s, cpu_s = time.monotonic() - began, children_s() - used
        counts = stub.counts()
    return Run(
        rival=rival,
        learner=counts["learner"],
        optimizer=counts["optimizer"],
        peak=counts["peak_in_flight"],
        asking_s=asking_s(counts),
        process_s=process_s,
        cpu_s=cpu_s,
        fault=fault,
    )


def children_s() -> float:
    """CPU seconds of what this process started and waited for: the endpoint is not among it while it serves."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def asking_s(counts: dict[str, Any]) -> float:
    """From the first call to the last answer."""
    took = {"learner": LEARNER_S, "optimizer": OPTIMIZER_S}
    rounds = counts["rounds"]
    if not rounds:
        return 0.0
    return float(max(each["last_s"] + took[each["role"]] for each in rounds) - min(each["first_s"] for each in rounds))


VERSIONS = "gepa 0.1.4 (litellm 1.91.5), hypogenic 0.3.5 (openai 1.40.8)"
"""Pinned in this folder and in the Makefile."""
ABOUT = """\
GEPA tries a rewritten prompt on three rows, and a better one on all rows set aside (here 100). HypoGeniC asks its best
k hypotheses about one row after another. This product rewrites K hypotheses at a time and weighs them all. So a round
of independent calls holds 3 or 100 calls, k calls, or 100 and more. "Tuned" adds each project's own options for
concurrency. The endpoint invents its answers: the table compares how they ask, not how good their texts are."""


def lines(runs: Sequence[Run]) -> Iterator[str]:
    """The table, in markdown."""
    yield from (ABOUT, "")
    heads = ("learner calls", "optimizer calls", "calls/s", "most in flight", "asking, s", "whole process, s", "CPU, s")
    yield from table(["", "settings", *heads], map(_cells, runs))
    yield ""
    yield (
        f"{VERSIONS}; Python {platform.python_version()}; a table of {ROWS} rows. The simulated endpoint answers a "
        f"learner after {LEARNER_S} s and an optimizer after {OPTIMIZER_S} s, with no limit of calls in flight; "
        f"about {CALLS:,} calls a run."
    )


def _cells(run: Run) -> list[str]:
    calls = run.learner + run.optimizer
    per_s = f"{calls / run.asking_s:.0f}" if run.asking_s else "–"
    settings = f"{run.rival.settings}{f' ({run.fault})' if run.fault else ''}"
    took = [f"{each:.1f}" for each in (run.asking_s, run.process_s, run.cpu_s)]
    return [run.rival.name, settings, f"{run.learner:,}", f"{run.optimizer:,}", per_s, str(run.peak), *took]


def main() -> None:
    """Measures all of them, prints, and with --write puts the table in docs/performance.md."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="into docs/performance.md")
    parser.add_argument("--log", help="keep here what they print")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_table(folder)
        runs = []
        for rival in rivals(folder):
            runs.append(measured(rival, folder))
            print(f"{rival.name} ({rival.settings}): {vars(runs[-1])}", flush=True)
        if options.log:
            Path(options.log).write_bytes((folder / "log").read_bytes())
    text = list(lines(runs))
    print("\n".join(text))
    if options.write:
        put(DOCS / "performance.md", "head to head", text)


if __name__ == "__main__":
    main()
