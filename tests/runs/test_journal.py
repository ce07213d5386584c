"""Lines on disk, and reading them while they are written."""

import shutil
import tempfile
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.processes import Desk, Outcome
from tests.reporting.builders import folded
from vpp.events import Certified, Evaluated, Event, RunResumed, RunStarted, Scored, StepFinished, Usage
from vpp.problem import Prediction
from vpp.runs.directory import RunDirectory
from vpp.runs.journal import Answer, Journal, JournalReader, Record, RunReader, complete_answers, decode, encode
from vpp.runs.view import RunView

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


VALUES = st.none() | st.text() | st.floats(allow_nan=False, allow_infinity=False)
ANSWERS = st.builds(Answer, prediction=st.builds(Prediction, value=VALUES, shares=st.none()))


@given(st.builds(Record, at=st.floats(0, 4e9), event=events()) | ANSWERS)
def test_every_line_survives_the_journal(value: Record | Answer) -> None:
    line = encode(value)
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    assert decode(line) == value


@pytest.fixture
def run(shared_desk: Desk, undisturbed: dict[str, Outcome], tmp_path: Path) -> RunDirectory:
    """A run without events yet, but for what a test copies from a finished one."""
    shutil.copy(shared_desk.folder / "smc" / "run.json", tmp_path)
    return RunDirectory(tmp_path)


@pytest.fixture
def lines(shared_desk: Desk, undisturbed: dict[str, Outcome]) -> list[bytes]:
    return shared_desk.directory("smc").journal.read_bytes().splitlines(keepends=True)


def view_of(lines: list[bytes]) -> RunView:
    return folded(record for record in map(decode, lines) if isinstance(record, Record))


@given(data=st.data())
@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture]
)
def test_reading_bit_by_bit_equals_reading_at_once(data: st.DataObject, lines: list[bytes]) -> None:
    whole = b"".join(lines)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(whole)), max_size=12)))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "events.jsonl"
        reader = JournalReader(path)
        for start, end in zip([0, *cuts], [*cuts, len(whole)], strict=True):
            with path.open("ab") as file:
                file.write(whole[start:end])
            reader.read()
        assert reader.answers == JournalReader(path).read().answers
    assert reader.view == view_of(lines)


def test_a_watchers_snapshot_does_not_change_under_it(run: RunDirectory, lines: list[bytes]) -> None:
    run.journal.write_bytes(b"".join(lines[:200]))
    reader = RunReader(run)
    before = reader.refresh().view
    with run.journal.open("ab") as file:
        file.write(b"".join(lines[200:]))
    assert reader.refresh().view == view_of(lines)
    assert before == view_of(lines[:200])
    assert reader.refresh().view is reader.refresh().view


STARTED = RunStarted(config={}, dataset={}, seed_text="s", steps=2, templates={}, versions={}, models={})


def test_a_resume_counts_the_answers_up_to_the_last_complete_step(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    journal = Journal(path)
    whole = StepFinished(step=-1, population=(), batch=())
    steps: list[tuple[str, Event]] = [
        ("first", STARTED),
        ("second", whole),
        ("void", RunResumed(step=-1)),
        ("third", RunResumed(step=2)),  # after a pause, which makes nothing void
        ("fourth", StepFinished(step=0, population=(), batch=())),
        ("void", RunResumed(step=0)),
    ]
    for row, (hypothesis, event) in enumerate(steps):
        journal.add_answer(hypothesis, Prediction(row=row, value="a"), 1)
        journal.add_answer(hypothesis, Prediction(row=row, value="by a program", branch=0), 0)
        journal.add(event, usage=Usage())
    assert complete_answers(path) == []
    journal.close()
    answers = complete_answers(path)
    assert [each.hypothesis for each in answers if isinstance(each, Answer)] == ["first", "second", "third", "fourth"]
    assert len(JournalReader(path).read().answers.by_pair) == len(steps)


def test_a_torn_last_line_is_cut(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    path.write_bytes(b"{}\n" + b"{}")
    Journal(path).close()
    assert path.read_bytes() == b"{}\n"


def test_the_size_is_that_of_the_file_after_the_next_flush(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "events.jsonl")
    journal.add(RunResumed(step=None), usage=Usage())
    size = journal.size
    assert (tmp_path / "events.jsonl").stat().st_size == 0
    journal.close()
    assert (tmp_path / "events.jsonl").stat().st_size == size > 0
