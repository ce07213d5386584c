"""A reader of one run that several watchers share: a refresh costs what is new."""

import threading
from dataclasses import dataclass

from vpp.data.dataset import Dataset
from vpp.errors import JournalDamaged
from vpp.runs.answers import AnswerReader
from vpp.runs.directory import RunDirectory, State
from vpp.runs.journal import JournalReader
from vpp.runs.session import load_dataset
from vpp.runs.spec import RunSpec
from vpp.runs.view import RunView
from vpp.usage import Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """A run as it was at one moment; it does not change, so that every watcher's thread can keep its own."""

    spec: RunSpec
    state: State
    view: RunView
    usage: Usage
    """What it has asked, the calls of an unfinished round included."""
    damage: str = ""
    """Why the journal cannot be read past some line."""


class RunReader:
    """The folded view of one run, kept up to date on demand."""

    def __init__(self, directory: RunDirectory) -> None:
        self.directory = directory
        self._journal = JournalReader(directory.journal)
        self._view = RunView()
        self._shown = RunView()
        self.answers = AnswerReader(directory.answers)
        self._lock = threading.Lock()
        self._damage = ""
        self._dataset: Dataset | None = None

    def refresh(self) -> Snapshot:
        """Takes in what is new."""
        with self._lock:
            self._take_in()
            state = self.directory.state(self._shown)
            return Snapshot(
                spec=self.directory.spec(),
                state=state,
                view=self._shown,
                usage=self._usage_now(state),
                damage=self._damage,
            )

    def dataset(self) -> Dataset:
        """The rows as used, with the split; read once."""
        if self._dataset is None:
            self._dataset = load_dataset(self.directory, self.directory.spec())
        return self._dataset

    def read_answers(self) -> AnswerReader:
        """What the learner said, up to now."""
        with self._lock:
            self.answers.refresh()
            return self.answers

    def _take_in(self) -> None:
        if self._damage:
            return
        is_new = False
        try:
            for record in self._journal.new_records():
                self._view.apply(record)
                is_new = True
        except JournalDamaged as error:
            self._damage = str(error)
        if is_new:
            self._shown = self._view.copy()

    def _usage_now(self, state: State) -> Usage:
        """The journal's count, or a living worker's newer one."""
        beat = self.directory.last_beat() if state == "running" else None
        live = Usage(**beat["usage"]) if beat else self._shown.usage
        return live if live.calls >= self._shown.usage.calls else self._shown.usage
