"""The campaign's table: faults x runs x lost, and the machine that it ran on."""

import os
import platform
import statistics
from collections.abc import Mapping, Sequence

from tests.torture.campaign import Finding
from tests.torture.cases import FAULTS

HEAD = ("fault", "runs", "resumed", "calls sent again", "lost")
PHASES = ("within a step", "first hypotheses", "the end")


def table(findings: Sequence[Finding], seen: Mapping[str, Sequence[str]], *, seconds: float, jobs: int) -> str:
    """In markdown, with a line of what it is about. seen: what each resume that was broken on purpose lost."""
    made = [finding for finding in findings if not finding.skipped]
    rows = [_row(fault, [f for f in made if f.case.fault == fault]) for fault in FAULTS]
    total = _row("**all**", made)
    lines = [HEAD, ("---", *["---:"] * (len(HEAD) - 1)), *(row for row in rows if row[1] != "0"), total]
    return "\n".join(
        [_about(made, seconds, jobs), "", *("| " + " | ".join(line) + " |" for line in lines), *_skips(findings)]
    )


def _row(name: str, findings: Sequence[Finding]) -> tuple[str, ...]:
    counts = (len(findings), sum(f.resumes for f in findings))
    lost = sum(bool(finding.lost) for finding in findings)
    return (name, *map(str, counts), _again(findings), str(lost))


def _again(findings: Sequence[Finding]) -> str:
    """Median and most, over the runs where they were counted."""
    counted = [finding.again for finding in findings if finding.again is not None]
    return f"{statistics.median(counted):g}, at most {max(counted)}" if counted else "–"


def _about(findings: Sequence[Finding], seconds: float, jobs: int) -> str:
    variants = len({finding.case.variant for finding in findings})
    machine = f"{os.cpu_count()} cores, {platform.system()} {platform.machine()}, Python {platform.python_version()}"
    seeds = [finding.case.seed for finding in findings]
    span = f"seeds {min(seeds)} to {max(seeds)}" if seeds else "no seeds"
    return (
        f"{len(findings)} runs ({span}) of {variants} methods and tasks, {jobs} at a time, {seconds:.0f} s: {machine}. "
        f"Moments: {_moments(findings)}."
    )


def _moments(findings: Sequence[Finding]) -> str:
    """How many faults fell into each phase of a run."""
    counts = [(sum(finding.phase == phase for finding in findings), phase) for phase in PHASES]
    counts.append((len(findings) - sum(count for count, _ in counts), "elsewhere"))
    return ", ".join(f"{count} {phase}" for count, phase in counts)


def _skips(findings: Sequence[Finding]) -> list[str]:
    skipped = {finding.case.fault: finding.skipped for finding in findings if finding.skipped}
    return [f"\nNot made on this machine: {fault} ({why})." for fault, why in skipped.items()]
