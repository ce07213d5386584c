"""A run's files, whoever wrote them: a line that says what is wrong, or a view that every page can draw."""

import atexit
import copy
import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from tests import inspected
from tests.fuzz.choices import Choices, mutate
from tests.fuzz.pages import draw_all
from tests.fuzz.promises import promise
from vpp.errors import RunError, VppError
from vpp.runs.answers import AnswerReader, read_answers
from vpp.runs.directory import RunDirectory
from vpp.runs.journal import cut_torn_tail
from vpp.runs.journal_reader import JournalReader, Lost
from vpp.runs.reader import RunReader
from vpp.runs.run_files import Moment
from vpp.runs.store import EXAMPLE
from vpp.runs.view import RunView
from vpp.verification import verify

SHIPPED = Path(__file__).parents[2] / "assets" / "examples" / EXAMPLE
FILES = ("run.json", "data.csv", "events.jsonl", "answers.jsonl")
MOST_RECORDS = 120
"""Of the shipped example, which is the largest run."""
IN_MEMORY = Path("/dev/shm") if os.access("/dev/shm", os.W_OK) else None


@cache
def folder() -> Path:
    """This process's own, in memory where there is such a place; a campaign gives and removes it."""
    if given := os.environ.get("FUZZ_FOLDER"):
        return Path(given)
    made = tempfile.mkdtemp(prefix="vpp-fuzz-", dir=IN_MEMORY)
    atexit.register(shutil.rmtree, made, ignore_errors=True)
    return Path(made)


@cache
def originals() -> tuple[tuple[Path, list[Any]], ...]:
    """(Run directory, records): labels, numbers, and the shipped example."""
    made = [
        inspected.labels(folder() / "labels").directory.path,
        inspected.numbers(folder() / "numbers").directory.path,
    ]
    return tuple((path, _records(path / "events.jsonl")[:MOST_RECORDS]) for path in (*made, SHIPPED))


def _records(path: Path) -> list[Any]:
    return [json.loads(line) for line in path.read_bytes().splitlines()]


def _lines(records: list[Any]) -> bytes:
    return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records).encode("utf-8", "replace")


def _copied(source: Path, **changed: bytes) -> RunDirectory:
    """A run of the source's files, some of them others."""
    target = folder() / source.name
    target.mkdir(exist_ok=True)
    for old in target.iterdir():
        old.unlink()
    for name in FILES:
        kept = changed.get(name.partition(".")[0])
        (target / name).write_bytes((source / name).read_bytes() if kept is None else kept)
    return RunDirectory(target)


def by_records(data: bytes) -> None:
    """A journal of records in order as JSON, whose fields are not what they were."""
    choices = Choices(data)
    # The shipped example is the largest: it comes up one time in eight.
    source, records = originals()[(0, 1, 0, 1, 0, 1, 0, 2)[choices.below(8)]]
    changed = copy.deepcopy(records) if len(records) < 100 else list(records)
    mutate(changed, choices)
    _look(_copied(source, events=_lines(changed)))


def choice_seeds() -> Iterator[bytes]:
    for run in range(8):
        yield bytes([run])
        for at in range(0, 250, 31):
            yield bytes([run, at, 4, 1, 5, 7, 1, 9, 3, at, 8, 2, 6])


def by_bytes(data: bytes) -> None:
    """A journal of bytes: read at once, and as it grows, it tells the same."""
    choices = Choices(data)
    cuts = sorted(int.from_bytes(choices.bytes(2), "big") for _ in range(choices.below(6)))
    content = choices.rest()
    directory = _copied(originals()[0][0], events=b"")
    growing, grown = JournalReader(directory.journal), RunView()
    told = None
    for cut in (*cuts, len(content)):
        directory.journal.write_bytes(content[:cut])
        told = _take_in(growing, grown)
    whole = RunView()
    at_once = _take_in(JournalReader(directory.journal), whole)
    promise((told, grown) == (at_once, whole), "a journal that grew reads otherwise than a whole one")
    _look(directory)
    cut_torn_tail(directory.journal)
    promise(_take_in(JournalReader(directory.journal), RunView()) == at_once, "a cut tail reads otherwise")


def _take_in(reader: JournalReader, view: RunView) -> Lost | None:
    """Return the line at which reading stopped."""
    for record in reader.new_records():
        view.apply(record)
    return reader.lost


def byte_seeds() -> Iterator[bytes]:
    for path, _ in originals()[:2]:
        lines = (path / "events.jsonl").read_bytes().splitlines(keepends=True)
        yield b"\x02\x00\x99\x03\x99" + b"".join(lines)
        yield b"\x00" + b"".join(lines[:9])
        yield b"\x01\x01\x11" + b"".join(lines[:1])


def answers(data: bytes) -> None:
    """What the learner said: as it grows and at once, and on the page that quotes it."""
    choices = Choices(data)
    cut = int.from_bytes(choices.bytes(2), "big")
    content = choices.rest()
    source = originals()[choices.below(2)][0]
    directory = _copied(source, answers=content[:cut])
    reader = AnswerReader(directory.answers)
    reader.refresh()
    with directory.answers.open("ab") as file:
        file.write(content[cut:])
    reader.refresh()
    at_once = {(said.hypothesis, said.prediction.row): said.prediction for said in read_answers(directory.answers)}
    promise(repr(reader.by_pair) == repr(at_once), "answers that grew read otherwise than whole ones")
    draw_all(RunReader(directory))


def answer_seeds() -> Iterator[bytes]:
    for path, _ in originals()[:2]:
        yield b"\x01\x00" + (path / "answers.jsonl").read_bytes()


def run_files(data: bytes) -> None:
    """run.json, heartbeat, control and asked; a lock that somebody holds."""
    choices = Choices(data)
    source, _ = originals()[choices.below(2)]
    spec = [json.loads((source / "run.json").read_bytes())]
    small: list[Any] = [{"pid": 1, "at": 1.0, "queued": False, "usage": {"learner": 1}}]
    small += [{"command": "pause", "at": 1.0}, {"at": 1.0}]
    which = choices.byte() % 3
    if which:
        mutate(small, choices, most=4)
    if which != 1:
        mutate(spec, choices, most=4)
    directory = _copied(source, run=_lines(spec[:1]))
    for name, value in zip(("heartbeat", "control", "asked"), small, strict=False):
        (directory.path / name).write_bytes(_lines([value]) if choices.byte() % 8 else choices.bytes(20))
    directory.last_command()
    directory.last_beat()
    try:
        view = RunReader(directory).refresh().view
        for now in (Moment(at=0.0), Moment(at=2.0), Moment.now()):
            directory._held_state(view, now)
            directory.state(view, now=now)
        _look(directory)
        directory.amend(name="other")
    except VppError as error:
        is_named = isinstance(error, RunError) or "data.csv" in str(error) or " template " in str(error)
        promise(is_named, f"not told as the run's fault: {error!r}")


def _look(directory: RunDirectory) -> None:
    """Pages and exports draw it, and it is verified, or it says in a line why not."""
    with suppress(RunError):
        verify(directory)
    reader = RunReader(directory)
    if "data.csv" not in _why_no_rows(reader):
        draw_all(reader)


def _why_no_rows(reader: RunReader) -> str:
    try:
        reader.dataset()
    except VppError as error:
        return f"data.csv: {error}"
    return ""
