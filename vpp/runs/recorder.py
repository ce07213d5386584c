"""Recorder of a run under way: its journal, the learner's answers, and the view folded from them."""

import errno
import logging
import os
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import cache

from vpp.events import (
    Event,
    ParticleDrawn,
    Proposed,
    Resampled,
    Reweighted,
    RunFailed,
    RunFinished,
    RunPaused,
    RunResumed,
    RunStarted,
    Scored,
    StepFinished,
)
from vpp.llm.counters import Counters
from vpp.runs.answers import AnswerLog
from vpp.runs.directory import RunDirectory
from vpp.runs.disk import is_of_the_disk, refusal, sync_folder
from vpp.runs.journal import Journal, Record, cut_torn_tail
from vpp.runs.run_files import load_dataset, steady_clock
from vpp.runs.summary import write_summary
from vpp.runs.view import RunView

SYNCED = (RunStarted, RunPaused, RunFinished, RunFailed)
"""Events that reach the disk immediately, as a finished step does."""
WAITING = (ParticleDrawn, Scored, Reweighted, Resampled, Proposed)
"""Events within a step, written with the next other event, or after a moment so that watchers see them."""

SUMMARISED = (RunStarted, RunPaused, RunResumed, RunFinished, RunFailed, StepFinished)
"""Events after which the summary is written."""

Listener = Callable[[RunView, Record], None]
log = logging.getLogger("vpp.worker")


class Recorder:
    """The one writer of a run's journal and answers, while `opened`."""

    def __init__(self, directory: RunDirectory, view: RunView, counters: Counters, listener: Listener) -> None:
        """listener: called with each event, those within a step before they are on disk, all others after."""
        self.view = view
        self._directory = directory
        self._counters = counters
        self._listener = listener
        self._rows = cache(lambda: load_dataset(directory, directory.spec()))

    @contextmanager
    def opened(self) -> Iterator[None]:
        """Keep the files open. Raises OSError."""
        with ExitStack() as files:
            self._journal = Journal(self._directory.journal, now=steady_clock())
            files.callback(_close, self._journal)
            self.answers = AnswerLog(self._directory.answers)
            files.callback(_close, self.answers)
            sync_folder(self._directory.path)
            yield

    def record(self, event: Event) -> None:
        """Record an event. Raises OSError if the disk refuses it, or the run was removed under its worker."""
        record = self._journal.add(event, usage=self._counters.snapshot(), answers=self.answers.lines)
        if not isinstance(event, WAITING):
            self.flush()
        if isinstance(event, SYNCED):
            self._journal.sync()
        self._apply(record)

    def flush(self) -> None:
        """Write the answers that wait, then the events that use them. Raises OSError as `record` does."""
        if not (self._journal.is_waiting or self.answers.is_waiting):
            return
        self._check_journal()
        if self._journal.ends_a_step:
            self.answers.sync()
        else:
            self.answers.flush()
        self._journal.flush()

    def end(self, end: Event) -> None:
        """Record how the run ended, on the disk if it takes it."""
        try:
            if not (isinstance(end, RunFailed) and end.reason == "disk"):
                self.record(end)
                return
        except OSError as error:
            end = self.failure(error)
        self._journal.forget()
        usage, answers = self._counters.snapshot(), self.answers.lines
        try:
            cut_torn_tail(self._directory.journal)
            self._check_journal()
            record = self._journal.append(end, usage=usage, answers=answers)
            self._journal.sync()
        except OSError as error:
            log.error("the end of the run cannot be recorded: %s", error)
            record = Record(at=time.time(), usage=usage, answers=answers, event=end)
        self._apply(record)

    def failure(self, error: OSError) -> RunFailed:
        """Return the event of a run that an error of the system ended."""
        if is_of_the_disk(error):
            return RunFailed(reason="disk", detail=refusal(error, self._directory.path))
        log.error("the run failed", exc_info=error)
        return RunFailed(reason="error", detail=str(error))

    def _check_journal(self) -> None:
        """Raise FileNotFoundError if the run was removed under its worker."""
        if not self._directory.journal.is_file():
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(self._directory.journal))

    def _apply(self, record: Record) -> None:
        self.view.apply(record)
        if isinstance(record.event, SUMMARISED):
            write_summary(self._directory, self.view, self._rows, journal=self._directory.journal_bytes())
        self._listener(self.view, record)


def _close(file: Journal | AnswerLog) -> None:
    """Close a file; a refused write was reported before."""
    try:
        file.close()
    except OSError as error:
        log.warning("a file of the run may not have reached the disk: %s", error)
