"""A run as a list of runs says it: how far it is, when it was made, and what tells it from others of its name."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from vpp.runs.directory import State
from vpp.runs.reader import Snapshot
from vpp.wording.markup import Mark

MARKS: dict[State, Mark] = {
    "queued": "uns",
    "running": "live",
    "paused": "uns",
    "stalled": "rej",
    "interrupted": "rej",
    "finished": "acc",
    "stopped": "same",
    "failed": "rej",
}
SHORT = {"smc": "SMC", "mh": "MH", "always-accept": "Always accept", "vml": "VML", "vml5": "5 × VML"}
"""Methods as a list calls them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """One line of the list."""

    id: str
    name: str
    mark: Mark
    note: str
    seed: int | None = None


def listed(run: str, snapshot: Snapshot, when: str) -> Listed:
    """A run that can be read. when: when it was made, or what it is instead."""
    config = snapshot.spec.config
    note = f"{SHORT[config.method]} · {where(snapshot)} · {when}"
    return Listed(id=run, name=snapshot.spec.name, mark=MARKS[snapshot.state], note=note, seed=config.seed)


def unreadable(run: str) -> Listed:
    """A run that cannot be read; its pages say why."""
    return Listed(id=run, name=run, mark="rej", note="cannot be read")


def told_apart(rows: Sequence[Listed]) -> list[Listed]:
    """Those that would read alike also say their seed."""
    alike = Counter((row.name, row.note) for row in rows)
    return [
        replace(row, note=f"{row.note} · seed {row.seed}")
        if row.seed is not None and alike[row.name, row.note] > 1
        else row
        for row in rows
    ]


def where(snapshot: Snapshot) -> str:
    """How far a run is, in a few words that stay true until its state changes."""
    view = snapshot.view
    if snapshot.state == "finished" and "test" in view.evaluated:
        test = view.evaluated["test"]
        shown = f"{100 * test.value:.1f} %" if test.metric == "accuracy" else f"MSE {test.value:.3g}"
        return f"finished · {shown}"
    if view.last_step is None or snapshot.state in ("queued", "running"):
        return snapshot.state
    return f"{snapshot.state} · step {max(0, view.last_step)} of {view.total_steps}"


def when_words(made: datetime, now: datetime) -> str:
    """The time of today, else the day; the year where it is another."""
    if made.date() == now.date():
        return f"{made:%H:%M}"
    return f"{made.day} {made:%b}" + ("" if made.year == now.year else f" {made.year}")
