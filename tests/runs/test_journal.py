"""Lines on disk, and reading them while they are written."""

import json
import re
import shutil
import tempfile
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pages.parts import frame
from tests import inspected
from tests.processes import Desk, Outcome
from tests.reporting.builders import folded
from vpp.cli import main
from vpp.errors import JournalDamaged, RunError
from vpp.events import Certified, Evaluated, Event, RunResumed, RunStarted, Scored, StepFinished, Usage
from vpp.problem import Prediction
from vpp.runs.directory import (
    Answer,
    Journal,
    JournalReader,
    Record,
    RunDirectory,
    RunReader,
    complete_answers,
    decode,
    encode,
    read_summary,
    read_view,
)
from vpp.runs.store import EXAMPLES
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


def test_a_watchers_snapshot_does_not_change_under_it(tmp_path: Path, lines: list[bytes], shared_desk: Desk) -> None:
    shutil.copy(shared_desk.folder / "smc" / "run.json", tmp_path)
    empty = RunDirectory(tmp_path)
    empty.journal.write_bytes(b"".join(lines[:200]))
    reader = RunReader(empty)
    before = reader.refresh().view
    with empty.journal.open("ab") as file:
        file.write(b"".join(lines[200:]))
    assert reader.refresh().view == view_of(lines)
    assert before == view_of(lines[:200])
    assert reader.refresh().view is reader.refresh().view


def test_a_resume_counts_the_answers_up_to_the_last_complete_step(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    journal = Journal(path)
    whole = StepFinished(step=-1, population=(), batch=())
    steps: list[tuple[str, Event]] = [
        ("first", RunStarted(config={}, dataset={}, seed_text="s", steps=2, templates={}, versions={}, models={})),
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


def test_the_size_is_that_of_the_file_after_the_next_flush(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "events.jsonl")
    journal.add(RunResumed(step=None), usage=Usage())
    size = journal.size
    assert (tmp_path / "events.jsonl").stat().st_size == 0
    journal.close()
    assert (tmp_path / "events.jsonl").stat().st_size == size > 0


# Files that cannot be read, or are behind; and a list of runs, which reads their summaries


GARBAGE = b'{"at":\n'


@pytest.fixture
def run(tmp_path: Path) -> RunDirectory:
    return inspected.labels(tmp_path / "runs").directory


def lines_of(run: RunDirectory) -> list[bytes]:
    return run.journal.read_bytes().splitlines(keepends=True)


def spoil(run: RunDirectory, place: int, line: bytes = GARBAGE) -> None:
    lines = lines_of(run)
    lines[place] = line
    run.journal.write_bytes(b"".join(lines))


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b"\0" * 5000 + b"\n", "Invalid JSON"),
        (b'{"at":2}\n', "usage: Field required"),
        (b'"\xc3"\n', "Invalid JSON"),
        (b"[" * 2900 + b"\n", "Invalid JSON"),
        (b"\n", "Invalid JSON"),
        (b'{"hypothesis":"\xff"}\n', ""),
    ],
)
def test_a_reader_stops_at_a_line_that_is_no_record(line: bytes, reason: str, run: RunDirectory) -> None:
    spoil(run, 4, line)
    reader = JournalReader(run.journal)
    said = re.escape(f"{run.journal}: line 5 cannot be read (") + f"{reason}.*: restore the file from a copy$"
    for _ in range(2):
        with pytest.raises(JournalDamaged, match=said) as raised:
            reader.read()
        assert "at line 1 " not in str(raised.value)


def test_every_command_says_so_and_a_list_shows_the_line(
    run: RunDirectory, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    spoil(run, 4)
    monkeypatch.setenv("VPP_RUNS_DIR", str(run.path.parent))
    before = run.journal.read_bytes()
    for command in ("resume", "report", "verify"):
        assert main([command, str(run.path)]) == 2
        assert f"{run.journal}: line 5 cannot be read" in capsys.readouterr().err
    assert main(["list"]) == 0
    out = capsys.readouterr().out
    assert out.startswith(f"{run.id}  unreadable ")
    assert f"{run.journal}: line 5 cannot be read" in out
    assert main(["list", "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert (row["status"], "line 5 cannot be read" in row["problem"]) == ("unreadable", True)
    assert run.journal.read_bytes() == before


@pytest.mark.parametrize("tail", [b"\0" * 70_000, '{"text":"é'.encode()[:-1], b'{"at":12'])
def test_a_last_line_without_its_end_is_ignored_and_cut(tail: bytes, run: RunDirectory) -> None:
    whole = run.journal.read_bytes()
    with run.journal.open("ab") as file:
        file.write(tail)
    assert RunReader(run).refresh().state == "finished"
    Journal(run.journal).close()
    assert run.journal.read_bytes() == whole


def test_a_reader_goes_on_with_a_journal_that_was_restored_replaced_or_shortened(run: RunDirectory) -> None:
    lines, whole = lines_of(run), RunReader(run).refresh().view
    spoil(run, 7)
    reader = RunReader(run)
    with pytest.raises(RunError, match="line 8"):
        reader.refresh()
    run.journal.write_bytes(b"".join(lines))
    assert reader.refresh().view == whole
    run.journal.write_bytes(b"".join(lines[:12]))
    assert reader.refresh().view == read_view(run.journal) != whole
    assert reader.read_answers().by_pair == {}
    (run.path / "copy").write_bytes(b"".join(lines))
    (run.path / "copy").rename(run.journal)
    assert reader.refresh().view == whole
    assert reader.read_answers().by_pair


def test_a_run_deleted_under_a_reader_says_that_there_is_none(run: RunDirectory) -> None:
    reader = RunReader(run)
    assert reader.refresh().state == "finished"
    shutil.rmtree(run.path)
    with pytest.raises(RunError, match="holds no run: give a directory"):
        reader.refresh()


def test_a_run_json_that_does_not_describe_its_rows_is_told_in_one_line(run: RunDirectory) -> None:
    spec = json.loads((run.path / "run.json").read_text())
    spec["dataset"] = {}
    (run.path / "run.json").write_text(json.dumps(spec))
    with pytest.raises(RunError, match=r"data.csv is not as this version reads run.json: .* or start a new run"):
        RunReader(run).dataset()


# A list reads summaries, and a journal only where a summary is missing or out of date

SHIPPED = Path(__file__).parents[2] / "assets" / "examples"


def forbid_journals(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("a journal is opened")

    monkeypatch.setattr(JournalReader, "__init__", refuse)


def test_a_list_opens_no_journal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The journals are overwritten with as many bytes of garbage."""
    runs = [RunDirectory(shutil.copytree(SHIPPED / name, tmp_path / "runs" / name)) for name in EXAMPLES]
    monkeypatch.setenv("VPP_RUNS_DIR", str(tmp_path / "runs"))
    assert main(["list", "--json"]) == 0
    before = capsys.readouterr().out
    lines = [frame._listed(run) for run in runs]
    for run in runs:
        run.journal.write_bytes(b"?" * run.journal_bytes())
    forbid_journals(monkeypatch)
    assert main(["list", "--json"]) == 0
    assert capsys.readouterr().out == before
    assert [frame._listed(run) for run in runs] == lines
    rows = json.loads(before)
    assert {row["run"]: row["status"] for row in rows} == dict.fromkeys(EXAMPLES, "finished")
    assert all(row["metric"]["train"] is not None for row in rows)


def test_a_summary_behind_its_journal_is_made_again(run: RunDirectory) -> None:
    """A worker can be killed after it has written the journal and before it writes the summary."""
    lines = run.journal.read_bytes().splitlines(keepends=True)
    run.journal.write_bytes(b"".join(line for line in lines if b'"run_finished"' not in line))
    assert read_summary(run).phase == "running"
    assert run.state(read_summary(run)) == "interrupted"
    run.journal.write_bytes(b"".join(lines))
    assert read_summary(run).phase == "finished"


def test_a_living_workers_summary_is_taken_as_it_is(run: RunDirectory, monkeypatch: pytest.MonkeyPatch) -> None:
    made = read_summary(run)
    with run.journal.open("ab") as file:
        file.write(b'{"at":')
    forbid_journals(monkeypatch)
    with run.lock():
        assert read_summary(run) == made
