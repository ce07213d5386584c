"""Reading a run: a reader that several watchers share, summary.json, and what a reader is warned of.

summary.json is a run's line in a list. The worker writes it at each step and at each change of phase. One that is
missing, or that a killed worker left behind its journal, is made again by whoever lists the run.
"""

import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import TypeAdapter
from pydantic_core import to_json

from vpp.data.dataset import Dataset
from vpp.errors import DiskRefused, RunError
from vpp.events import Scored, Usage
from vpp.runs.directory import Heartbeat, RunDirectory, State, load_dataset, write_atomically
from vpp.runs.journal import JournalReader, RecordedAnswers, read_view
from vpp.runs.spec import RunSpec
from vpp.runs.view import Phase, RunView


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """A run at one moment; it does not change, so every watcher's thread can keep its own."""

    spec: RunSpec
    state: State
    view: RunView
    usage: Usage
    """Calls so far, those of an unfinished round included."""
    beat: Heartbeat | None = None
    """The worker's last heartbeat."""


class RunReader:
    """The folded view of one run, kept up to date on demand."""

    def __init__(self, directory: RunDirectory) -> None:
        self.directory = directory
        self._lock = threading.Lock()
        self._dataset: Dataset | None = None
        self._journal, self._view = JournalReader(directory.journal), RunView()

    def _read(self) -> None:
        if self._journal.is_another():
            self._journal, self._view = JournalReader(self.directory.journal), RunView()
        if deque(self._journal.new_records(), maxlen=1):
            self._view = self._journal.view.copy()

    def refresh(self) -> Snapshot:
        """Read what is new. Raises RunError if there is no run (any more), or it cannot be read."""
        with self._lock, readable(self.directory):
            spec = self.directory.spec()
            self._read()
            state, beat, usage = self.directory.state(self._view), self.directory.last_beat(), self._view.usage
            if beat and state == "running" and beat.usage.calls >= usage.calls:
                usage = beat.usage
            return Snapshot(spec=spec, state=state, view=self._view, usage=usage, beat=beat)

    def dataset(self) -> Dataset:
        if self._dataset is None:
            self._dataset = load_dataset(self.directory, self.directory.spec())
        return self._dataset

    def read_answers(self) -> RecordedAnswers:
        """Read what is new. Raises RunError if the journal cannot be read."""
        with self._lock, readable(self.directory):
            self._read()
            return self._journal.answers


@contextmanager
def readable(directory: RunDirectory) -> Iterator[None]:
    """Turn the disk's refusal to read into a RunError."""
    try:
        yield
    except OSError as error:
        raise RunError(f"{directory.path} cannot be read ({error.strerror}): look at its disk") from None


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    journal: int = 0
    phase: Phase = "queued"
    is_at_cap: bool = False
    last_step: int | None = None
    """The last finished step; -1 for the initial population, None before it."""
    total_steps: int = 0
    metric: Literal["accuracy", "mse"] | None = None
    train: float | None = None
    test: float | None = None
    sent: int = 0
    cost: float = 0.0
    verdict: dict[str, Any] | None = None
    """Record of vpp.findings.verdict on an ended run; None until somebody has made it."""

    @property
    def has_ended(self) -> bool:
        return self.phase in ("finished", "stopped", "failed")


_SUMMARY: TypeAdapter[Summary] = TypeAdapter(Summary)


def read_summary(directory: RunDirectory) -> Summary:
    """Return the run's summary; made from the journal if the written one is missing or out of date.

    Raises RunError if the journal is read and cannot be.
    """
    size, written = directory.journal_bytes(), _written(directory)
    if written and (written.journal == size or directory.is_held()):
        return written
    if not size:
        return Summary()
    with readable(directory):
        return write_summary(directory, read_view(directory.journal), journal=size)


def _written(directory: RunDirectory) -> Summary | None:
    with suppress(OSError, ValueError):
        return _SUMMARY.validate_json(directory.summary.read_bytes())
    return None


def recorded_verdict(directory: RunDirectory) -> dict[str, Any] | None:
    """Return the verdict of a summary that is up to date; nothing is written."""
    written = _written(directory)
    return written.verdict if written and written.journal == directory.journal_bytes() else None


def write_summary(
    directory: RunDirectory, view: RunView, *, journal: int, verdict: dict[str, Any] | None = None
) -> Summary:
    """Write the run's summary, and return it; a disk that refuses it is ignored, as the next reader makes it again.

    journal: size of the journal in bytes, as far as the view goes.
    """
    test, train = view.evaluated.get("test"), view.evaluated.get("train")
    either = test or train
    summary = Summary(
        journal=journal,
        phase=view.phase,
        is_at_cap=view.is_at_cap,
        last_step=view.last_step,
        total_steps=view.total_steps,
        metric=either.metric if either else None,
        train=train.value if train else None,
        test=test.value if test else None,
        sent=view.usage.sent,
        cost=view.usage.cost,
        verdict=verdict,
    )
    with suppress(DiskRefused):
        write_atomically(directory.summary, to_json(summary, inf_nan_mode="strings"), sync=False)
    return summary


# Unreadable answers

LEAST = 5
MOSTLY = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Unread:
    """Counts of a run that could hardly be read."""

    answers: int
    """Unreadable answers to rows; 0 if enough could be read."""
    of: int
    proposals: int
    """Proposals, if none of them could be read; else 0."""


def unread(view: RunView) -> Unread | None:
    """Return the counts of a run whose answers, or proposals, mostly could not be read; None if enough could."""
    if not (view.usage.unparsable or view.usage.refused):
        return None
    evaluated = (votes for each in view.evaluated.values() for votes in each.predictions)
    votes = [*(each.predictions for each in scores_of(view)), *evaluated]
    silent, n, proposals = sum(each.count(None) for each in votes), sum(map(len, votes)), view.proposals
    is_silent = n >= LEAST and silent >= MOSTLY * n
    is_garbled = len(proposals) >= LEAST and all(proposed.why == "unparsable" for proposed in proposals)
    if not (is_silent or is_garbled):
        return None
    return Unread(answers=silent if is_silent else 0, of=n, proposals=len(proposals) if is_garbled else 0)


def scores_of(view: RunView) -> Iterator[Scored]:
    for step in view.steps.values():
        yield from step.scored.values()
        yield from step.proposals_scored.values()
    yield from view.final_scored.values()
