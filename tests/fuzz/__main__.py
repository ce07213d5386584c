"""The fuzz campaign: `make fuzz`, or `python -m tests.fuzz [TARGET…]`; FUZZ_SECONDS are shared out to the targets.

Two targets at a time. What was found is run again without instruments: what then raises, takes over a second or over
500 MB is a finding. Ends with a table and exits 1 where there are findings; their inputs are in build/fuzz/findings,
and what the next campaign begins with is in build/fuzz/corpus.
"""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tests.fuzz.journals import IN_MEMORY
from tests.fuzz.targets import BY_NAME, TARGETS, Target

ROOT = Path(__file__).parents[2]
BUILD = ROOT / "build" / "fuzz"
AT_A_TIME = 2
MOST_S = 1.0
"""Processor time of one input."""
MOST_MB = 500.0
"""Peak memory of a process that reads one input."""


@dataclass(slots=True, kw_only=True)
class Outcome:
    """What a hunt came to."""

    name: str
    seconds: float
    executions: int = 0
    slowest_s: float = 0.0
    """Without instruments."""
    peak_mb: float = 0.0
    """Of the hunt's own process, its corpus and instruments included."""
    findings: list[str] = field(default_factory=list)

    def line(self) -> str:
        """Of the table."""
        return (
            f"{self.name:20}{self.executions:>12,}{self.seconds:>9.0f}{self.slowest_s:>11.2f}{self.peak_mb:>9.0f}"
            f"{len(self.findings):>10}"
        )


HEAD = f"{'target':20}{'executions':>12}{'seconds':>9}{'slowest s':>11}{'peak MB':>9}{'findings':>10}"


def main(names: Sequence[str]) -> int:
    """The exit code."""
    chosen = [BY_NAME[name] for name in names] or list(TARGETS)
    whole = float(os.environ.get("FUZZ_SECONDS") or 3600)
    at_once = min(AT_A_TIME, len(chosen))
    unit = whole * at_once / sum(target.share for target in chosen)
    with ThreadPoolExecutor(at_once) as pool:
        outcomes = list(pool.map(lambda target: hunted(target, max(5.0, unit * target.share)), chosen))
    print("\n".join([HEAD, *(outcome.line() for outcome in outcomes)]))
    for outcome in outcomes:
        print("".join(f"\n{outcome.name}: {finding}" for finding in outcome.findings), end="")
    print()
    return 1 if any(outcome.findings for outcome in outcomes) else 0


def hunted(target: Target, seconds: float) -> Outcome:
    """Hunts, then runs again what was found."""
    corpus, findings = BUILD / "corpus" / target.name, BUILD / "findings" / target.name
    shutil.rmtree(findings, ignore_errors=True)
    for place in (corpus, findings):
        place.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", "tests.fuzz.hunt", target.name, f"{seconds:.0f}", str(corpus), str(findings)]
    with (findings / "log").open("wb") as log, TemporaryDirectory(prefix="vpp-fuzz-", dir=IN_MEMORY) as folder:
        env = {**os.environ, "FUZZ_FOLDER": folder}
        ended = subprocess.run(command, cwd=ROOT, stdout=log, stderr=log, env=env, preexec_fn=_gently, check=False)
    state = _state(findings / "state.json")
    outcome = Outcome(name=target.name, seconds=seconds, executions=state["executions"], peak_mb=state["peak_mb"])
    for told in again(target, _inputs(findings)):
        outcome.slowest_s = max(outcome.slowest_s, told.get("cpu_s", 0.0))
        if why := fault(told):
            outcome.findings.append(f"{why} ({told['file']})")
        elif not told["file"].endswith("slowest"):
            Path(told["file"]).unlink()
    if ended.returncode and not outcome.findings:
        outcome.findings.append(f"the hunt itself ended with {ended.returncode} (see {findings / 'log'})")
    print(outcome.line(), flush=True)
    return outcome


def again(target: Target, inputs: Sequence[Path]) -> list[dict[str, Any]]:
    """Each without instruments; the better of two times, since others use the machine too."""
    if not inputs:
        return []
    command = [sys.executable, "-m", "tests.fuzz.replay", target.name, *map(str, inputs)]
    told = [subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True) for _ in range(2)]
    pairs = zip(*(map(json.loads, each.stdout.splitlines()) for each in told), strict=True)
    return [min(pair, key=lambda one: one.get("cpu_s", float("inf"))) for pair in pairs]


def fault(told: dict[str, Any]) -> str:
    """Which promise an input breaks; empty for none."""
    if told["raised"]:
        return str(told["raised"])
    if told["cpu_s"] > MOST_S:
        return f"takes {told['cpu_s']} s"
    return f"takes {told['peak_mb']} MB" if told["peak_mb"] > MOST_MB else ""


def _inputs(findings: Path) -> list[Path]:
    kinds = ("raised-", "slow-", "large-", "slowest", "crash-", "timeout-", "oom-", "leak-")
    return sorted(path for path in findings.iterdir() if path.name.startswith(kinds))


def _state(path: Path) -> dict[str, Any]:
    """Zeros where the hunt ended before it told anything."""
    return json.loads(path.read_text()) if path.exists() else {"executions": 0, "peak_mb": 0.0}


def _gently() -> None:
    os.nice(19)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
