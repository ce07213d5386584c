"""Reading a run's journal into its view."""

from collections.abc import Iterator
from pathlib import Path

from vpp.runs.journal import LineReader, Record, decode
from vpp.runs.view import RunView


class JournalReader:
    """Reads a journal from the last position on, and folds it into a view."""

    def __init__(self, path: Path) -> None:
        self._lines = LineReader(path, decode)
        self.view = RunView()
        """The records read so far."""

    @property
    def line(self) -> int:
        """Number of the line last read."""
        return self._lines.number

    def new_records(self) -> Iterator[Record]:
        """Yield the records since the last call, in order. Raises JournalDamaged at a line that cannot be read."""
        for record in self._lines.new():
            self.view.apply(record)
            yield record

    def read(self) -> RunView:
        """Read the records since the last call, and return the view of all. Raises JournalDamaged."""
        for _ in self.new_records():
            pass
        return self.view

    def is_another(self) -> bool:
        """True if the file no longer holds what was read: read it with a new reader."""
        return self._lines.is_another()
