"""Wall clock of whole runs on a server with room, each preset: SMC and MH over a single VML run."""

import random
from pathlib import Path

from tests.performance.ratios import Ratio, ratio
from tests.performance.stub import served
from tests.processes import Desk
from vpp.events import RunFinished
from vpp.runs.directory import JournalReader

CALL_S = 1.0
STEPS = 10
WITHIN_S = 240.0
MOST = {("paper", "smc"): 1.15, ("paper", "mh"): 1.25, ("recommended", "smc"): 1.6, ("recommended", "mh"): 1.6}
"""Particles run at a time; `recommended` scores and judges in a round of its own a step."""


def ratios(folder: Path) -> list[Ratio]:
    """Run each method once with each preset, one run at a time."""
    found = []
    with served(CALL_S) as base_url:
        for preset in ("paper", "recommended"):
            wall_s = {method: seconds(folder, method, preset, base_url) for method in ("vml", "mh", "smc")}
            for method in ("smc", "mh"):
                name, most = f"{method.upper()} / VML, wall clock, {preset}", MOST[preset, method]
                found.append(ratio(name, wall_s[method], wall_s["vml"], unit="s", most=most))
    return found


def seconds(folder: Path, method: str, preset: str, base_url: str) -> float:
    """Seconds of a run of K = 10 from its journal's first line to its last."""
    desk, rows, name = Desk(folder), 10 * STEPS, f"{preset}-{method}"
    words = ["run", table(folder, rows), "--target", "label", "--preset", preset, "--method", method]
    words += ["--reading", "rows", "--limit", "patience=0"]
    words += ["--particles", 10, "--batch-size", 10, "--epochs", 1, "--train-size", rows, "--test-size", 10]
    words += ["--base-url", base_url, "--model", "stub", "--no-cache", "--run-dir", folder / name, "--quiet"]
    ended = desk.start(*map(str, words)).finish(within_s=WITHIN_S)
    assert ended.code == 0, ended.err
    records = list(JournalReader(desk.directory(name).journal).new_records())
    assert isinstance(records[-1].event, RunFinished), records[-1]
    assert not records[-1].usage.unparsable, records[-1].usage
    return records[-1].at - records[0].at


def table(folder: Path, rows: int) -> Path:
    """Write two inputs and a label, with ten rows more for the test."""
    numbers = random.Random(0)
    cells = [(numbers.randrange(10_000), numbers.randrange(10_000)) for _ in range(rows + 10)]
    text = "".join(f"{a / 100},{b / 100},{'yes' if a > b else 'no'}\n" for a, b in cells)
    path = folder / f"table-{rows}.csv"
    path.write_text(f"width,height,label\n{text}")
    return path
