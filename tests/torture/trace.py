"""What a journal on disk tells, read line by line as plain JSON: no code of the product comes between."""

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

COMINGS_AND_GOINGS = ("run_paused", "run_resumed", "run_finished", "run_failed")


def lines_of(journal: Path) -> list[dict[str, Any]]:
    """Every whole line. Raises ValueError where one cannot be read."""
    if not journal.exists():
        return []
    *whole, _torn = journal.read_bytes().split(b"\n")
    return [json.loads(line) for line in whole]


def synced_bytes(journal: Path) -> int:
    """Bytes up to the end of the last whole step, which is to have reached the disk; that it was synced is not seen."""
    at = end = 0
    for line in journal.read_bytes().splitlines(keepends=True):
        at += len(line)
        end = at if line.endswith(b"\n") and b'"type":"step_finished"' in line else end
    return end


@dataclass(frozen=True)
class Moment:
    """Where a run was when it was disturbed, as found on disk afterwards."""

    phase: str
    """`before it began`, `first hypotheses`, `within a step`, `between steps`, `the end`, `over`."""
    step: int | None
    """The last whole step; -1 for the first hypotheses, None before them."""
    behind: int
    """Events of the unfinished step on disk."""
    calls: int
    """Calls of the unfinished step that are known of."""


def moment_of(journal: Path, *, answered: int) -> Moment:
    """answered: calls that had been answered by then, of the whole run."""
    lines = lines_of(journal)
    if not lines:
        return Moment("before it began", None, 0, 0)
    steps = lines[0]["event"]["steps"]
    marks = [at for at, line in enumerate(lines) if line["event"]["type"] == "step_finished"]
    step = lines[marks[-1]]["event"]["step"] if marks else None
    behind = sum(
        1 for line in lines[marks[-1] + 1 if marks else 1 :] if line["event"]["type"] not in COMINGS_AND_GOINGS
    )
    calls = max(0, answered - (calls_of(lines[marks[-1]]) if marks else 0))
    return Moment(_phase(lines, step, steps, begun=behind + calls > 0), step, behind, calls)


def _phase(lines: list[dict[str, Any]], step: int | None, steps: int, *, begun: bool) -> str:
    if lines[-1]["event"]["type"] == "run_finished":
        return "over"
    if step is None:
        return "first hypotheses"
    if step == steps - 1:
        return "the end"
    return "within a step" if begun else "between steps"


def calls_of(line: dict[str, Any]) -> int:
    """Calls needed up to a line of the journal."""
    return int(line["usage"]["learner"] + line["usage"]["optimizer"])


def what_counts(journal: Path) -> Counter[str]:
    """The events that count, each as canonical JSON: those that a later resume voids are left out.

    A resume at step s goes back to the end of that step; one at step T or later voids nothing.
    """
    kept: list[dict[str, Any]] = []
    for event in (line["event"] for line in lines_of(journal)):
        if event["type"] == "run_resumed":
            kept = _up_to(kept, event["step"])
        elif event["type"] not in COMINGS_AND_GOINGS:
            kept.append(event)
    return Counter(json.dumps(event, sort_keys=True) for event in kept)


def _up_to(events: list[dict[str, Any]], step: int | None) -> list[dict[str, Any]]:
    if step is None:
        return events[:1]
    if step >= events[0]["steps"]:
        return events
    ends = [at for at, event in enumerate(events) if event["type"] == "step_finished" and event["step"] == step]
    return events[: ends[-1] + 1]


def calls_at_steps(journal: Path) -> Iterator[int]:
    """Calls answered by the end of the first hypotheses, and of each step."""
    return (calls_of(line) for line in lines_of(journal) if line["event"]["type"] == "step_finished")
