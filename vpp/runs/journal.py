"""events.jsonl and answers.jsonl: one record a line, appended only.

A last line without its end is ignored by readers and cut by the worker that goes on. Any other line that cannot be read
stops its reader.
"""

import os
import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Annotated, Generic, TypeVar

from pydantic import Field, TypeAdapter, ValidationError
from pydantic_core import to_json

from vpp.errors import JournalDamaged
from vpp.events import Event, Usage
from vpp.problem import Prediction, TextAnswer, Translation
from vpp.runs.disk import write_atomically
from vpp.runs.spec import first_fault
from vpp.runs.view import RunView

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """A line of the journal: an event and the moment it was written."""

    at: float
    """Unix time in seconds."""
    usage: Usage
    """Counts of calls by then."""
    answers: int
    """Lines of answers.jsonl by then."""
    event: Annotated[Event, Field(discriminator="type")]
    """One of the events below, by `type`."""


def encode(record: Record) -> bytes:
    """Return the record as one line, newline included; infinity, which JSON lacks, is written as a string."""
    return to_json(record, inf_nan_mode="strings") + b"\n"


def decode(line: bytes) -> Record:
    return _adapter().validate_json(line)


@cache
def _adapter() -> TypeAdapter[Record]:
    """Return the reader of records; built at first use, so that a new run's first call does not wait for it."""
    return TypeAdapter(Record)


class _Log:
    """The one writer of a file of lines, which wait in memory until `flush`."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file = path.open("ab", buffering=0)
        self._waiting: list[bytes] = []

    @property
    def is_waiting(self) -> bool:
        return bool(self._waiting)

    def flush(self, *, sync: bool = False) -> None:
        """Write waiting lines, all of them or none: half a line would spoil the next one. sync: to the disk itself."""
        left, size = b"".join(self._waiting), self._file.seek(0, os.SEEK_END)
        try:
            while left:
                left = left[self._file.write(left) :]
        except OSError:
            self._file.truncate(size)
            raise
        self._waiting.clear()
        if sync:
            os.fsync(self._file.fileno())

    def forget(self) -> None:
        """Drop waiting lines."""
        self._waiting.clear()

    def close(self) -> None:
        try:
            self.flush(sync=True)
        finally:
            self._file.close()


class Journal(_Log):
    def add(self, event: Event, *, usage: Usage, answers: int) -> Record:
        """Add an event, stamped with the present time, for the next flush."""
        record = Record(at=time.time(), usage=usage, answers=answers, event=event)
        self._waiting.append(encode(record))
        return record


class LineReader(Generic[T]):
    """Reads the lines of a file that another process appends to, from the last position on."""

    def __init__(self, path: Path, decode: Callable[[bytes], T]) -> None:
        """decode: returns a line's value; raises ValueError if it has none."""
        self.number = 0
        self._path = path
        self._decode = decode
        self._offset = 0
        self._inode = 0

    def new(self) -> Iterator[T]:
        """Yield the values of lines since the last call; an unfinished last line waits.

        Raises JournalDamaged at a line that cannot be read, at each call until the file is another.
        """
        try:
            file = self._path.open("rb")
        except FileNotFoundError:
            return
        with file:
            file.seek(self._offset)
            try:
                while (line := file.readline()).endswith(b"\n"):
                    try:
                        value = self._decode(line[:-1])
                    except ValueError as error:
                        reason = first_fault(error) if isinstance(error, ValidationError) else str(error)
                        reason = reason.replace(" at line 1 column ", " at column ")  # of this line alone
                        where = f"{self._path}: line {self.number + 1} cannot be read ({reason})"
                        raise JournalDamaged(f"{where}: restore the file from a copy") from None
                    self.number, self._offset = self.number + 1, self._offset + len(line)
                    yield value
            finally:
                self._inode = os.fstat(file.fileno()).st_ino

    def is_another(self) -> bool:
        """True if the file was replaced, removed or shortened since it was read."""
        try:
            now = self._path.stat()
        except FileNotFoundError:
            return self._inode != 0
        return self._inode not in (0, now.st_ino) or now.st_size < self._offset


def cut_torn_tail(path: Path) -> None:
    """Remove a last line that has no end. Only the run's lock holder may call this."""
    if not path.exists():
        return
    with path.open("r+b") as file:
        whole = sum(len(line) for line in file if line.endswith(b"\n"))
        if whole < file.tell():
            file.truncate(whole)


# Reading a journal into its view


class JournalReader(LineReader[Record]):
    """Reads a journal from the last position on, and folds it into a view."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, decode)
        self.view = RunView()

    def new_records(self) -> Iterator[Record]:
        """Yield the records since the last call, in order. Raises JournalDamaged at a line that cannot be read."""
        for record in self.new():
            self.view.apply(record)
            yield record

    def read(self) -> RunView:
        """Read the records since the last call, and return the view of all. Raises JournalDamaged."""
        deque(self.new_records(), maxlen=0)
        return self.view


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """One line of answers.jsonl."""

    hypothesis: str
    """Id of the text."""
    prediction: Prediction
    attempts: int
    """Calls needed, repeats included."""


Entry = Answer | Translation | TextAnswer
_ENTRY: TypeAdapter[Entry] = TypeAdapter(Entry)


class AnswerLog(_Log):
    def __init__(self, path: Path) -> None:
        super().__init__(path)
        with path.open("rb") as file:
            self._n_written = sum(1 for _ in file)

    @property
    def lines(self) -> int:
        """Lines so far, waiting ones included."""
        return self._n_written + len(self._waiting)

    def flush(self, *, sync: bool = False) -> None:
        n_new = len(self._waiting)
        super().flush(sync=sync)
        self._n_written += n_new

    def keep_only(self, lines: int) -> None:
        """Drop all answers after the first `lines` complete lines.

        The file is replaced, so that a reader notices, however much is written afterwards.
        """
        self.flush()
        with self._path.open("rb") as file:
            kept = [line for line in islice(file, lines) if line.endswith(b"\n")]
        if len(kept) == self.lines:
            return
        self._file.close()
        write_atomically(self._path, b"".join(kept))
        self._file, self._n_written = self._path.open("ab", buffering=0), len(kept)

    def add(self, hypothesis: str, prediction: Prediction, attempts: int) -> None:
        """Add the learner's answer about a row; that of a program, which took no attempt, follows from the program."""
        if attempts:
            self.add_entry(Answer(hypothesis=hypothesis, prediction=prediction, attempts=attempts))

    def add_entry(self, entry: Entry) -> None:
        self._waiting.append(_ENTRY.dump_json(entry, exclude_defaults=True) + b"\n")


def read_answers(path: Path) -> Iterator[Entry]:
    """Yield the answers of all complete lines. Raises JournalDamaged at one that cannot be read."""
    return LineReader(path, _ENTRY.validate_json).new()


class AnswerReader:
    def __init__(self, path: Path) -> None:
        self._path = path
        self._start_over()

    def _start_over(self) -> None:
        self._lines = LineReader(self._path, _ENTRY.validate_json)
        self.by_pair: dict[tuple[str, int], Prediction] = {}
        """The learner's answers by hypothesis id and row id; of hypotheses without a program."""
        self.readings: dict[tuple[str, int], Prediction] = {}
        """What the learner read itself of hypotheses with a program."""
        self.translations: dict[str, Translation] = {}
        """By hypothesis id."""
        self.texts: dict[tuple[str, str], TextAnswer] = {}
        """Answers about texts, by question and text id."""

    def refresh(self) -> None:
        """Read complete lines added since the last call; start over if the file was replaced or shortened.

        Raises JournalDamaged at a line that cannot be read.
        """
        if self._lines.is_another():
            self._start_over()
        for answer in self._lines.new():
            match answer:
                case Translation():
                    self.translations[answer.hypothesis] = answer
                case TextAnswer():
                    self.texts[answer.question, answer.text] = answer
                case _:
                    translation = self.translations.get(answer.hypothesis)
                    answers = self.readings if translation and translation.code else self.by_pair
                    answers[answer.hypothesis, answer.prediction.row] = answer.prediction
