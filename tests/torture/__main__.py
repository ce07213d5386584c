"""`python -m tests.torture`: the fault campaign; `--seed N` repeats one of its cases."""

import argparse
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from tests.markdown import DOCS, put
from tests.torture.campaign import Finding, campaign
from tests.torture.sight import AS_IT_IS, sight
from tests.torture.table import table

RUNS = 240
PAGE = DOCS / "reliability.md"


def main() -> int:
    """Prints a line a case and the table; exit code 1 where anything was lost, or too few moments fell in a step."""
    options = _options()
    seeds = options.seed or range(options.first, options.first + options.runs)
    folder = Path(tempfile.mkdtemp(prefix="torture-", dir=options.folder))
    began, findings = time.monotonic(), []
    for finding in campaign(seeds, folder, jobs=options.jobs):
        findings.append(finding)
        print(_line(finding, len(findings)), flush=True)
    seen = {} if options.seed else sight(folder, jobs=options.jobs)
    as_it_is = seen.pop(AS_IT_IS, ())
    findings.sort(key=lambda finding: finding.case.seed)
    found = table(findings, seen, seconds=time.monotonic() - began, jobs=options.jobs)
    print(f"\n{found}\n")
    faults = [*_faults(findings, alone=bool(options.seed)), *as_it_is]
    faults += [f"a broken resume was not caught: {name}" for name, lost in seen.items() if not lost]
    print("\n".join(faults) or "nothing was lost")
    if any(finding.lost for finding in findings):
        print(f"what is left of them is in {folder}: repeat one with `python -m tests.torture --seed N`")
    else:
        shutil.rmtree(folder)
    if options.write and not faults:
        put(PAGE, "torture", found.splitlines())
    return 1 if faults else 0


def _faults(findings: list[Finding], *, alone: bool) -> Iterator[str]:
    yield from (f"seed {finding.case.seed} lost something" for finding in findings if finding.lost)
    within = sum(finding.phase == "within a step" for finding in findings)
    if not alone and 2 * within < len(findings):
        yield f"only {within} of {len(findings)} moments fell within a step"


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.torture", description="Runs disturbed, resumed, compared.")
    parser.add_argument("--runs", type=int, default=RUNS)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--seed", type=int, nargs="+", help="these cases alone")
    parser.add_argument("--jobs", type=int, default=3 * (os.cpu_count() or 1), help="cases at a time: they mostly wait")
    parser.add_argument("--folder", help="where runs are kept while they last (the system's temporary folder)")
    parser.add_argument("--write", action="store_true", help=f"put the table into {PAGE.name}")
    return parser.parse_args()


def _line(finding: Finding, number: int) -> str:
    case = finding.case
    where = "; ".join(f"{m.phase} (step {m.step}, {m.behind} events, {m.calls} calls)" for m in finding.moments)
    outcome = (
        f"skipped: {finding.skipped}"
        if finding.skipped
        else "LOST: " + " | ".join(finding.lost)
        if finding.lost
        else "equal"
    )
    cache = "" if case.cached else ", no cache"
    return (
        f"{number:4} seed {case.seed:3} {finding.seconds:5.1f} s  {case.fault} [{case.variant.name}{cache}] "
        f"{where}: {outcome}"
    )


if __name__ == "__main__":
    sys.exit(main())
