"""Records on disk, and reading them while they are written."""

import shutil
import tempfile
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.processes import Desk, Outcome
from vpp.events import Certified, Evaluated, Event, RunStarted, Scored
from vpp.problem import Prediction
from vpp.runs.directory import RunDirectory
from vpp.runs.journal import AnswerLog, AnswerReader, JournalReader, Record, cut_torn_tail, decode, encode, read_answers
from vpp.runs.reader import RunReader
from vpp.runs.view import RunView, fold

st.register_type_strategy(float, st.floats(allow_nan=False))
st.register_type_strategy(int, st.integers(-(2**60), 2**60))
JSON = st.dictionaries(st.text(), st.none() | st.booleans() | st.integers(-(2**60), 2**60) | st.text(), max_size=3)


def events() -> st.SearchStrategy[Any]:
    """Any event of any kind, infinities included."""
    votes = st.lists(st.none() | st.text() | st.floats(allow_nan=False, allow_infinity=False)).map(tuple)
    given_by_hand = {
        RunStarted: {"config": JSON, "dataset": JSON},
        Scored: {"predictions": votes},
        Certified: {"program": votes, "reading": votes},
        Evaluated: {"predictions": st.lists(votes, max_size=3).map(tuple), "averaged": votes},
    }
    return st.one_of(*(st.builds(kind, **given_by_hand.get(kind, {})) for kind in get_args(Event)))


@given(st.builds(Record, at=st.floats(0, 4e9), event=events()))
def test_every_event_survives_the_journal(record: Record) -> None:
    line = encode(record)
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    assert decode(line) == record


@pytest.fixture
def run(shared_desk: Desk, undisturbed: dict[str, Outcome], tmp_path: Path) -> RunDirectory:
    """A run without events yet, but for what a test copies from a finished one."""
    shutil.copy(shared_desk.folder / "smc" / "run.json", tmp_path)
    return RunDirectory(tmp_path)


@pytest.fixture
def lines(shared_desk: Desk, undisturbed: dict[str, Outcome]) -> list[bytes]:
    return shared_desk.directory("smc").journal.read_bytes().splitlines(keepends=True)


@given(data=st.data())
@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture]
)
def test_reading_bit_by_bit_equals_reading_at_once(data: st.DataObject, lines: list[bytes]) -> None:
    whole = b"".join(lines)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(whole)), max_size=12)))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "events.jsonl"
        reader, view = JournalReader(path), RunView()
        for start, end in zip([0, *cuts], [*cuts, len(whole)], strict=True):
            with path.open("ab") as file:
                file.write(whole[start:end])
            for record in reader.new_records():
                view.apply(record)
    assert view == fold(map(decode, lines))


def test_a_watchers_snapshot_does_not_change_under_it(run: RunDirectory, lines: list[bytes]) -> None:
    run.journal.write_bytes(b"".join(lines[:30]))
    reader = RunReader(run)
    before = reader.refresh().view
    with run.journal.open("ab") as file:
        file.write(b"".join(lines[30:]))
    assert reader.refresh().view == fold(map(decode, lines))
    assert before == fold(map(decode, lines[:30]))
    assert reader.refresh().view is reader.refresh().view


def test_a_torn_tail_is_cut_and_whole_lines_stay(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    cut_torn_tail(path)
    for content, kept in ((b"", b""), (b"torn", b""), (b"a\nb\n", b"a\nb\n"), (b"a\nb\ntorn", b"a\nb\n")):
        path.write_bytes(content)
        cut_torn_tail(path)
        assert path.read_bytes() == kept


def test_answers_are_read_as_they_come_and_start_over_where_some_were_forgotten(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    log, reader = AnswerLog(path), AnswerReader(path)
    for row in range(4):
        log.add("kept" if row < 2 else "void", Prediction(row=row, value="a"), 1)
    assert log.lines == 4
    reader.refresh()
    assert reader.by_pair == {}
    log.flush()
    reader.refresh()
    assert set(reader.by_pair) == {("kept", 0), ("kept", 1), ("void", 2), ("void", 3)}
    log.keep_only(2)
    for row in range(2, 9):
        log.add("again", Prediction(row=row, value=None, raw="?", reason="unreadable"), 3)
    log.close()
    reader.refresh()
    assert set(reader.by_pair) == {("kept", 0), ("kept", 1), *(("again", row) for row in range(2, 9))}
    assert [a.attempts for a in read_answers(path)] == [1, 1, *[3] * 7]
    assert log.lines == 9
