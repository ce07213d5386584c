"""answers.jsonl: the learner's answers, one line for each (hypothesis, row)."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from pydantic import TypeAdapter

from vpp import files
from vpp.problem import Prediction
from vpp.runs.journal import LineReader, append_whole, write_atomically


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """One line of answers.jsonl."""

    hypothesis: str
    """Id of the text."""
    prediction: Prediction
    attempts: int
    """Calls needed, repeats included."""


_ANSWER: TypeAdapter[Answer] = TypeAdapter(Answer)


class AnswerLog:
    """The one writer of a run's answers.jsonl; lines wait in memory until `flush`."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._waiting: list[bytes] = []
        self._open()

    def _open(self) -> None:
        self._file = files.appended(self._path)
        with self._path.open("rb") as file:
            self.lines = sum(1 for _ in file)
        """Lines so far, waiting ones included."""

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
        self._open()

    def add(self, hypothesis: str, prediction: Prediction, attempts: int) -> None:
        """Add an answer for the next flush."""
        answer = Answer(hypothesis=hypothesis, prediction=prediction, attempts=attempts)
        self._waiting.append(_ANSWER.dump_json(answer, exclude_defaults=True) + b"\n")
        self.lines += 1

    @property
    def is_waiting(self) -> bool:
        """True if a flush has something to write."""
        return bool(self._waiting)

    def flush(self) -> None:
        """Hand waiting answers to the operating system."""
        if self._waiting:
            append_whole(self._file, b"".join(self._waiting))
            self._waiting.clear()

    def sync(self) -> None:
        """Flush, and make the answers survive a loss of power."""
        self.flush()
        os.fsync(self._file.fileno())

    def close(self) -> None:
        """Sync and close the file."""
        try:
            self.sync()
        finally:
            self._file.close()


def read_answers(path: Path) -> Iterator[Answer]:
    """Yield the answers of all complete lines. Raises JournalDamaged at one that cannot be read."""
    return LineReader(path, _ANSWER.validate_json).new()


class AnswerReader:
    """Reads answers from where it last stopped."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._start_over()

    def _start_over(self) -> None:
        self._lines = LineReader(self._path, _ANSWER.validate_json)
        self.by_pair: dict[tuple[str, int], Prediction] = {}
        """The learner's answers by hypothesis id and row id."""

    def refresh(self) -> None:
        """Read complete lines added since the last call; start over if the file was replaced or shortened.

        Raises JournalDamaged at a line that cannot be read.
        """
        if self._lines.is_another():
            self._start_over()
        for answer in self._lines.new():
            self.by_pair[answer.hypothesis, answer.prediction.row] = answer.prediction
