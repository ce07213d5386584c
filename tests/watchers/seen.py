"""What a watcher saw: when each step came, how often the page was drawn, and what went wrong."""

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from vpp.runs.journal import JournalReader
from vpp.runs.view import RunView
from vpp.wording.progress import shown_step


@dataclass
class Seen:
    """What one watcher saw."""

    run: str
    """Its id."""
    first_at: dict[int, float] = field(default_factory=dict)
    """Unix time by step at which it, or a later one, was there to see."""
    refreshes: int = 0
    received_bytes: int = 0
    faults: list[str] = field(default_factory=list)

    def note(self, step: int | None) -> None:
        """The page names `step` as the newest, now."""
        if step is not None:
            self.first_at.setdefault(step, time.time())

    def lags(self, written: Mapping[int, float], *, until: float) -> list[float]:
        """Seconds from the journal's record of each step to its being seen, of steps written since the first was seen.

        A step that was passed over counts from when a later one was seen, one never seen up to `until`.
        """
        if not self.first_at:
            return [until - at for at in written.values()]
        began = min(self.first_at.values())

        def seen(step: int) -> float:
            return min((seen for later, seen in self.first_at.items() if later >= step), default=until)

        return [seen(step) - at for step, at in written.items() if began < at]


def written_at(journal: Path) -> dict[int, float]:
    """Unix time by step of the record that gives Watch the step to show."""
    view, times = RunView(), dict[int, float]()
    for record in JournalReader(journal).new_records():
        view.apply(record)
        step = shown_step(view)
        if step is not None:
            times.setdefault(step, record.at)
    return times
