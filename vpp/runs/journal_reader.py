"""Reading a journal up to the first damaged line: what a person reads about it, and how a worker continues."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

from pydantic import ValidationError

from vpp.data.dataset import Dataset
from vpp.errors import JournalDamaged, RunError
from vpp.runs.directory import RunDirectory
from vpp.runs.journal import Record, decode, set_aside
from vpp.runs.lines import LONGEST_LINE, Line, Lines, Lost
from vpp.runs.migration import NewerVersion
from vpp.runs.run_files import load_dataset
from vpp.runs.soundness import Domain, check, domain_of
from vpp.runs.view import RunView

REASON_LENGTH = 120


class JournalReader:
    """Reads a journal from the last position on, and stops at the first line that it cannot read."""

    def __init__(self, path: Path, *, dataset: Callable[[], Dataset] | None = None) -> None:
        """dataset: reads the run's rows; a record about other rows is not read, unless they cannot be read."""
        self._lines = Lines(path)
        self._dataset = dataset
        self._domain: Domain | None = None
        self.view = RunView()
        """The records read so far."""
        self.line = 0
        """Number of the line last read."""
        self.lost: Lost | None = None
        """The line at which reading stopped."""

    def new_records(self) -> Iterator[Record]:
        """Yield the records since the last call, in order."""
        if self.lost:
            return
        for line in self._lines.new():
            try:
                record = self._read(line)
            except ValueError as error:
                self.lost = _lost(line, error)
                return
            self.view.apply(record)
            self.line = line.number
            yield record

    def read(self) -> RunView:
        """Read the records since the last call, and return the view of all."""
        for _ in self.new_records():
            pass
        return self.view

    def is_another(self) -> bool:
        """True if the file no longer holds what was read: read it with a new reader.

        A damaged file that has changed may have been repaired anywhere.
        """
        return self._lines.is_another() or (self.lost is not None and self._lines.has_changed())

    def _read(self, line: Line) -> Record:
        """Return the line's record. Raises ValueError if it has none, or one that cannot come after those before."""
        if line.content is None:
            raise ValueError(f"it is longer than {LONGEST_LINE >> 20} MiB")
        record = decode(line.content)
        if self._domain is None:
            self._domain = domain_of(self._dataset) if self._dataset else Domain()
        check(record.event, self.view, self._domain)
        return record


def _lost(line: Line, error: ValueError) -> Lost:
    reason = error.errors()[0]["msg"] if isinstance(error, ValidationError) else str(error)
    reason = reason.replace(" at line 1 column ", " at column ")  # the decoder was given this line alone
    printable = "".join(sign if sign.isprintable() else " " for sign in reason)[:REASON_LENGTH]
    return Lost(line=line.number, start=line.start, reason=printable, is_newer=isinstance(error, NewerVersion))


def damage_of(directory: RunDirectory, lost: Lost | None) -> str:
    """Return where the journal is damaged and how to fix it, in one line; empty if it is sound.

    lost: the line at which reading stopped.
    """
    if not directory.journal.exists() and _has_begun(directory):
        return f"{directory.journal} is missing: {_fix(directory.path, 'begin again')}"
    if lost is None:
        return ""
    if lost.is_newer:
        return f"{directory.journal}: line {lost.line} is {lost.reason}: update vpp"
    shown = "only what comes before it is shown"
    return f"{directory.journal}: line {lost.line} cannot be read ({lost.reason}); {shown}: {_fix(directory.path)}"


def _fix(path: Path, otherwise: str = "continue from before the damage") -> str:
    return f"restore the file from a copy, or {otherwise} with `python -m vpp resume {path} --from-before-damage`"


def _has_begun(directory: RunDirectory) -> bool:
    """True if a worker has had the run."""
    with suppress(RunError):
        return directory.status() != "queued"
    return False


def view_to_go_on_from(directory: RunDirectory, *, from_before_damage: bool = False) -> RunView:
    """Return the view that a worker continues from. Only the run's lock holder may call this.

    from_before_damage: move a damaged journal's rest into a file beside it; never what a newer program wrote.
    Raises JournalDamaged if damage remains.
    """
    reader = JournalReader(directory.journal, dataset=lambda: load_dataset(directory, directory.spec()))
    view = reader.read()
    if from_before_damage and (reader.lost is None or not reader.lost.is_newer):
        if reader.lost:
            set_aside(directory.journal, reader.lost.start)
    elif damage := damage_of(directory, reader.lost):
        raise JournalDamaged(damage)
    return view
