"""A reader of one run that several watchers share: a refresh costs what is new."""

import threading
from collections.abc import Hashable
from contextlib import suppress
from dataclasses import dataclass
from itertools import count

from vpp.data.dataset import Dataset
from vpp.errors import RunError
from vpp.runs.answers import AnswerReader
from vpp.runs.directory import RunDirectory, State, load_dataset
from vpp.runs.journal import JournalReader
from vpp.runs.spec import RunSpec
from vpp.runs.view import RunView
from vpp.usage import Usage

_EDITIONS = count(1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """A run at one moment; it does not change, so every watcher's thread can keep its own."""

    spec: RunSpec
    state: State
    view: RunView
    usage: Usage
    """Calls so far, those of an unfinished round included."""
    loading_s: float | None = None
    """Seconds for which the worker has been loading a model file; None if it is not."""
    edition: int = 0
    """Changes with the spec or the view, and differs between readers; use as a cache key."""


class RunReader:
    """The folded view of one run, kept up to date on demand."""

    def __init__(self, directory: RunDirectory) -> None:
        self.directory = directory
        self._start_over()
        self.answers = AnswerReader(directory.answers)
        self._lock = threading.Lock()
        self._spec: tuple[Hashable, RunSpec] | None = None
        self._dataset: Dataset | None = None

    def refresh(self) -> Snapshot:
        """Read what is new. Raises RunError if there is no run (any more), or it cannot be read."""
        with self._lock:
            spec = self._spec_now()
            try:
                self._read_journal()
                state = self.directory.state(self._shown)
            except OSError as error:
                raise RunError(f"{self.directory.path} cannot be read ({error.strerror}): look at its disk") from None
            return Snapshot(
                spec=spec,
                state=state,
                view=self._shown,
                usage=self._usage_now(state),
                loading_s=self._loading_s(state),
                edition=self._edition,
            )

    def dataset(self) -> Dataset:
        """Return the rows as used, with the split; read once."""
        if self._dataset is None:
            self._dataset = load_dataset(self.directory, self.directory.spec())
        return self._dataset

    def read_answers(self) -> AnswerReader:
        """Return the learner's answers up to now."""
        with self._lock:
            self.answers.refresh()
            return self.answers

    def _start_over(self) -> None:
        self._journal = JournalReader(self.directory.journal)
        self._shown = RunView()
        self._edition = next(_EDITIONS)

    def _spec_now(self) -> RunSpec:
        """Return run.json's content, read again only after it was written."""
        with suppress(OSError):
            found = (self.directory.path / "run.json").stat()
            written = (found.st_ino, found.st_ctime_ns, found.st_size)
            if self._spec is None or self._spec[0] != written:
                self._spec = (written, self.directory.spec())
                self._edition = next(_EDITIONS)
            return self._spec[1]
        return self.directory.spec()

    def _read_journal(self) -> None:
        self.directory.check_journal()
        if self._journal.is_another():
            self._start_over()
        line = self._journal.line
        view = self._journal.read()
        if self._journal.line != line:
            self._shown = view.copy()
            self._edition = next(_EDITIONS)

    def _loading_s(self, state: State) -> float | None:
        beat = self.directory.last_beat() if state == "queued" else None
        return beat.loading_s if beat else None

    def _usage_now(self, state: State) -> Usage:
        """Return the journal's count, or a living worker's newer one."""
        beat = self.directory.last_beat() if state == "running" else None
        live = beat.usage if beat else self._shown.usage
        return live if live.calls >= self._shown.usage.calls else self._shown.usage
