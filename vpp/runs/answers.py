"""answers.jsonl: what the learner said, a line a (hypothesis, row), whole lines only."""

import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from vpp.problem import Prediction
from vpp.runs.journal import append_whole, write_atomically


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """One line."""

    hypothesis: str
    """Id of the text."""
    prediction: Prediction
    attempts: int
    """Calls it took, re-asks included."""


_ANSWER: TypeAdapter[Answer] = TypeAdapter(Answer)


class AnswerLog:
    """The one writer of a run's answers.jsonl; lines wait in memory until `flush`."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._waiting: list[bytes] = []
        self._open()

    def _open(self) -> None:
        self._file = self._path.open("ab", buffering=0)
        with self._path.open("rb") as file:
            self.lines = sum(1 for _ in file)
        """Lines written, those that wait included."""

    def keep_only(self, lines: int) -> None:
        """Forgets what was said after the first `lines` whole lines.

        The file is replaced, so that a reader notices however much is written afterwards.
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
        """Keeps an answer for the next flush."""
        answer = Answer(hypothesis=hypothesis, prediction=prediction, attempts=attempts)
        self._waiting.append(_ANSWER.dump_json(answer, exclude_defaults=True) + b"\n")
        self.lines += 1

    def flush(self) -> None:
        """Hands what waits to the operating system."""
        if self._waiting:
            append_whole(self._file, b"".join(self._waiting))
            self._waiting.clear()

    def sync(self) -> None:
        """Flushes, and makes sure that it survives a loss of power."""
        self.flush()
        os.fsync(self._file.fileno())

    def close(self) -> None:
        """Syncs and closes."""
        try:
            self.sync()
        finally:
            self._file.close()


def read_answers(path: Path) -> Iterator[Answer]:
    """Every whole line that can be read; a torn last line is left out."""
    if not path.exists():
        return
    with path.open("rb") as file:
        yield from _answers(file.read())


def _answers(content: bytes) -> Iterator[Answer]:
    *lines, _torn = content.split(b"\n")
    for line in lines:
        with suppress(ValidationError):
            yield _ANSWER.validate_json(line)


class AnswerReader:
    """Reads answers from where it last stopped."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._offset = 0
        self._inode = 0
        self.by_pair: dict[tuple[str, int], Prediction] = {}
        """What the learner said, by hypothesis id and row id."""

    def refresh(self) -> None:
        """Takes in whole lines since the last call; starts over where the file was replaced."""
        if not self._path.exists():
            return
        with self._path.open("rb") as file:
            self._start_over_if_replaced(os.fstat(file.fileno()))
            file.seek(self._offset)
            content = file.read()
        for answer in _answers(content):
            self.by_pair[answer.hypothesis, answer.prediction.row] = answer.prediction
        self._offset += content.rfind(b"\n") + 1

    def _start_over_if_replaced(self, now: os.stat_result) -> None:
        if now.st_ino != self._inode or now.st_size < self._offset:
            self._offset, self._inode, self.by_pair = 0, now.st_ino, {}
