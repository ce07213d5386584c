"""A run's line in a list: its state, how far it is, and when it was made."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from vpp.findings.verdict import beside_text
from vpp.runs.directory import State
from vpp.runs.reader import Summary
from vpp.runs.spec import RunSpec
from vpp.show.blocks import Mark
from vpp.show.words import counted, integer, number, percent

MARKS: dict[State, Mark] = {
    "queued": "uns",
    "running": "live",
    "paused": "uns",
    "stalled": "rej",
    "interrupted": "rej",
    "finished": "done",
    "stopped": "same",
    "failed": "rej",
}
SHORT = {"smc": "SMC", "mh": "MH", "always-accept": "Always accept", "vml": "VML", "vml5": "5 × VML", "weigh": "Weigh"}
APART = 0.05
"""Least difference between accuracy and balanced accuracy for a list to show both."""
DECIMALS = 9


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """One line of the list."""

    id: str
    name: str
    mark: Mark
    note: str
    seed: int | None = None


def listed(run: str, spec: RunSpec, state: State, summary: Summary, when: str) -> Listed:
    """Return the line of a readable run. when: when it was made, or a word instead."""
    unread = " · mostly unreadable" if summary.is_unread and state not in ("queued", "running") else ""
    note = f"{SHORT[spec.config.method]} · {where(state, summary)}{unread} · {when}"
    return Listed(id=run, name=spec.name, mark=MARKS[state], note=note, seed=spec.config.seed)


def labels(runs: Mapping[str, tuple[RunSpec, str] | None]) -> dict[str, str]:
    """Return `Penguins · SMC · 25 Nov 17:40` for each run; alike ones get their seed, then the end of their id.

    runs: by id, settings and when the run was made; None if unreadable.
    """
    rows = [
        Listed(id=run, name=known[0].name, mark="", note=f"{SHORT[known[0].config.method]} · {known[1]}",
               seed=known[0].config.seed) if known else unreadable(run)
        for run, known in runs.items()
    ]  # fmt: skip
    return {row.id: f"{row.name} · {row.note}" for row in distinguished(rows)}


def unreadable(run: str) -> Listed:
    return Listed(id=run, name=run, mark="rej", note="cannot be read")


def distinguished(rows: Sequence[Listed]) -> list[Listed]:
    """Add the seed to lines that read alike, and to those that still do the end of the id."""
    seeded = _extended_if_alike(rows, lambda row: "" if row.seed is None else f" · seed {row.seed}")
    return _extended_if_alike(seeded, lambda row: f" · {row.id.rpartition('-')[2]}")


def _extended_if_alike(rows: Sequence[Listed], more: Callable[[Listed], str]) -> list[Listed]:
    alike = Counter((row.name, row.note) for row in rows)
    return [replace(row, note=row.note + more(row)) if alike[row.name, row.note] > 1 else row for row in rows]


def where(state: State, summary: Summary) -> str:
    if state == "finished" and summary.metric and summary.test is not None:
        score = metric_text(summary.metric, summary.test, summary.balanced_accuracy)
        return f"finished · {beside_text(summary.verdict) or score}"
    if summary.last_step is None or state in ("queued", "running"):
        return state
    return f"{state} · {steps_text(summary)}"


def steps_text(summary: Summary) -> str:
    """`8 of 20 steps`: complete ones."""
    done = 0 if summary.last_step is None else summary.last_step + 1
    return f"{integer(done)} of {counted(summary.total_steps, 'step')}"


def metric_text(metric: str, value: float, balanced: float | None = None) -> str:
    """`96.7 %` or `MSE 1.05`; `96.7 % · balanced 50.0 %` if the two differ by 5 points or more.

    balanced: balanced accuracy, a fraction, if known.
    """
    if metric != "accuracy":
        return f"MSE {number(value, 3)}"
    shown = percent(value, decimals=1)
    if balanced is None or round(abs(value - balanced), DECIMALS) < APART:
        return shown
    return f"{shown} · balanced {percent(balanced, decimals=1)}"


def when_words(made: datetime, now: datetime) -> str:
    """`14:32`, with the day if it is not today, and the year if it is another."""
    if made.date() == now.date():
        return f"{made:%H:%M}"
    return f"{made.day} {made:%b}" + ("" if made.year == now.year else f" {made.year}") + f" {made:%H:%M}"
