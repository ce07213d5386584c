"""A run's directory: its files and notes, the worker that holds it, and the state it is in."""

import errno
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from vpp.errors import JournalDamaged, RunLocked
from vpp.runs.disk import is_locked, locked, obstacle, refusal
from vpp.runs.run_files import NAME_LENGTH, Command, Moment, RunNotes, State
from vpp.runs.view import RunView

if TYPE_CHECKING:
    from vpp.runs.summary import Summary

__all__ = ["NAME_LENGTH", "Command", "RunDirectory", "State"]

STALLED_AFTER_S = 30.0
STARTING_S = 10.0
LEFT_AFTER_S = 60.0
"""Age of an unfinished file that nobody can still be writing."""


class RunDirectory(RunNotes):
    """One run on disk."""

    def obstacle(self, state: State) -> str:
        """Return why a worker could not resume the run, in one line with the fix.

        Empty if nothing is in the way, or the run is neither interrupted nor failed.
        """
        if state not in ("interrupted", "failed"):
            return ""
        if in_the_way := obstacle(self.path):
            return in_the_way
        read_only = [path for path in (self.journal, self.answers) if path.exists() and not os.access(path, os.W_OK)]
        return refusal(PermissionError(errno.EACCES, ""), read_only[0]) if read_only else ""

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Hold the run for one worker. Raises RunLocked if another worker holds it, RunError if it cannot be held."""
        with locked(self.path / "lock", wait_s=1.0) as is_ours:
            if not is_ours:
                raise RunLocked(f"{self.path} is held by another worker: watch it, or stop it first")
            self._sweep()
            yield

    def _sweep(self) -> None:
        """Remove files that a killed program left unfinished."""
        for part in self.path.glob(".*.part"):
            with suppress(OSError):
                if time.time() - part.lstat().st_mtime > LEFT_AFTER_S:
                    part.unlink()

    def is_held(self) -> bool:
        """True if a living worker holds the run."""
        return is_locked(self.path / "lock")

    def is_going_on(self) -> bool:
        """True if a living worker holds the run, or one may still be starting."""
        return self.is_held() or self._is_starting(Moment.now())

    def check_journal(self) -> None:
        """Raise JournalDamaged if the journal of a run that has begun is missing, RunError if there is no run."""
        if not self.journal.exists() and self.status() != "queued":
            raise JournalDamaged(f"{self.journal} is missing: restore the file from a copy")

    def state(self, view: "RunView | Summary", *, now: Moment | None = None) -> State:
        """Return the run's present state. view: its journal, folded."""
        if view.phase == "finished":
            return view.phase
        now = now or Moment.now()
        if self.is_held():
            return self._held_state(view, now)
        if self._is_starting(now):
            return "queued"
        if view.has_ended or view.is_at_cap:
            return view.phase
        is_new = view.phase == "queued" and abs(now.at - self._changed_at()) < STARTING_S
        return "queued" if is_new else "interrupted"

    def _is_starting(self, now: Moment) -> bool:
        """True if a worker was requested recently and has written nothing yet."""
        request = self.worker_request()
        if request is None or request.journal != self.journal_bytes():
            return False
        return abs(now.after(request)) < STARTING_S

    def _held_state(self, view: "RunView | Summary", now: Moment) -> State:
        """Return the state of a run that a worker holds, which may wait for a slot to resume a run that had ended."""
        beat = self.last_beat()
        if beat is None:
            return "queued"
        if now.after(beat) > STALLED_AFTER_S:
            return "stalled"
        return "queued" if beat.queued else view.phase

    def _changed_at(self) -> float:
        try:
            return self.path.stat().st_mtime
        except FileNotFoundError:
            return 0.0
