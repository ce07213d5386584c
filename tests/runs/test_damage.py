"""A journal with damage in its middle: what is shown, and how a worker goes on."""

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.processes import Desk
from tests.runs.test_old_runs import OLD
from vpp.cli import main
from vpp.drawing.cards import CardMaker
from vpp.errors import RunError
from vpp.events import Event, Proposed
from vpp.problem import Prediction
from vpp.reporting.markdown import report_markdown
from vpp.reporting.posterior_json import posterior_json
from vpp.runs.answers import AnswerLog, AnswerReader
from vpp.runs.directory import RunDirectory
from vpp.runs.journal import cut_torn_tail, decode
from vpp.runs.journal_reader import JournalReader, Lines
from vpp.runs.prompts import PromptMaker
from vpp.runs.reader import RunReader, Snapshot
from vpp.runs.view import fold
from vpp.wording.happening import happened
from vpp.wording.progress import headline, metrics

GARBAGE = b'{"v":2,"at":\n'


@pytest.fixture
def run(tmp_path: Path) -> RunDirectory:
    return RunDirectory(shutil.copytree(OLD / "last" / "smc", tmp_path / "run"))


def lines_of(run: RunDirectory) -> list[bytes]:
    return run.journal.read_bytes().splitlines(keepends=True)


def place(run: RunDirectory, wanted: Callable[[Event], bool]) -> int:
    """Of the first line whose event is wanted; from 0."""
    return next(i for i, line in enumerate(lines_of(run)) if wanted(decode(line).event))


def spoil(run: RunDirectory, *places: int, with_: bytes = GARBAGE) -> None:
    lines = lines_of(run)
    for each in places:
        lines[each] = with_
    run.journal.write_bytes(b"".join(lines))


def draw(reader: RunReader) -> Snapshot:
    """What Watch, the report and posterior.json make of a run, every step of it."""
    snapshot = reader.refresh()
    view, config = snapshot.view, snapshot.spec.config
    maker = CardMaker(view, config, reader.dataset(), PromptMaker(snapshot.spec, reader.dataset()))
    maker.initial()
    for step in range(view.total_steps) if view.last_step is not None else ():
        maker.at(step)
        assert all((headline(snapshot, step), metrics(snapshot, step), happened(view, step, config)))
    if view.last_step is not None:
        maker.final()
        posterior_json(reader)
    report_markdown(reader, simple_models=False)
    return snapshot


@pytest.mark.parametrize("of", ["smc", "mh"])
def test_whatever_line_is_lost_it_is_named_and_what_comes_before_it_is_drawn(of: str, tmp_path: Path) -> None:
    whole = RunDirectory(OLD / "last" / of)
    lines = lines_of(whole)
    for i in range(0, len(lines), 3):
        run = RunDirectory(shutil.copytree(whole.path, tmp_path / str(i)))
        spoil(run, i)
        snapshot = draw(RunReader(run))
        assert f"line {i + 1} cannot be read (Invalid JSON" in snapshot.damage
        assert "at line 1 " not in snapshot.damage
        assert snapshot.view == fold(map(decode, lines[:i]))


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b"\0" * 5000 + b"\n", "Invalid JSON|no JSON object|invalid|expected value"),
        (b'{"v":2}\n', "Field required"),
        (b'"\xc3"\n', "Invalid JSON|no JSON object|invalid"),
        (b'{"a":"' + b"x" * 11_000 + b'"}\n', "it is longer than"),
        (b"[" * 2900 + b"\n", "recursion|Invalid JSON"),
        (b'{"v":1,"at":1e300,"usage":{},"answers":0,"event":{"type":"run_paused","reason":"user"}}\n', "no moment"),
    ],
)
def test_reading_stops_at_a_line_that_is_no_record(
    line: bytes, reason: str, run: RunDirectory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Lines.__init__, "__kwdefaults__", {"longest": 10_000})
    lines = lines_of(run)
    run.journal.write_bytes(b"".join([*lines[:4], line, *lines[4:]]))
    reader = JournalReader(run.journal)
    assert list(reader.new_records()) == list(map(decode, lines[:4]))
    assert list(reader.new_records()) == []
    assert reader.lost is not None
    assert (reader.lost.line, reader.lost.start) == (5, sum(map(len, lines[:4])))
    assert re.search(reason, reader.lost.reason), reader.lost.reason


@pytest.mark.parametrize("tail", [b"\0" * 70_000, '{"v":2,"text":"é'.encode()[:-1], b'{"v":2,"at":12'])
def test_a_tail_of_zeros_or_half_a_sign_is_ignored_and_cut(tail: bytes, run: RunDirectory) -> None:
    whole = run.journal.read_bytes()
    with run.journal.open("ab") as file:
        file.write(tail)
    snapshot = RunReader(run).refresh()
    assert (snapshot.damage, snapshot.state) == ("", "finished")
    cut_torn_tail(run.journal)
    assert run.journal.read_bytes() == whole


def test_a_reader_notices_that_the_journal_was_shortened_replaced_or_written_over(run: RunDirectory) -> None:
    lines, reader = lines_of(run), RunReader(run)
    whole = reader.refresh().view

    def shows(content: bytes) -> bool:
        return reader.refresh().view == fold(map(decode, content.splitlines()))

    for content in (b"".join(lines[:12]), b"".join(lines[:20])):
        run.journal.write_bytes(content)
        assert shows(content)
    other = (OLD / "last" / "mh" / "events.jsonl").read_bytes()
    run.journal.write_bytes(other)
    assert shows(other)
    copy = run.path / "copy"
    copy.write_bytes(b"".join(lines))
    copy.rename(run.journal)
    assert reader.refresh().view == whole
    spoil(run, 7)
    assert "line 8" in reader.refresh().damage
    run.journal.write_bytes(b"".join(lines))
    assert (reader.refresh().damage, reader.refresh().view) == ("", whole)


def test_damaged_answers_are_passed_over(tmp_path: Path) -> None:
    log, path = AnswerLog(tmp_path / "answers.jsonl"), tmp_path / "answers.jsonl"
    for row in range(4):
        log.add("h", Prediction(row=row, value="a"), 1)
    log.close()
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(lines[0] + b'{"hypo\xff\n' + b"\0" * 50 + b"\n" + lines[3] + lines[2][:10])
    reader = AnswerReader(path)
    reader.refresh()
    assert set(reader.by_pair) == {("h", 0), ("h", 3)}
    path.write_bytes(lines[1])
    reader.refresh()
    assert set(reader.by_pair) == {("h", 1)}


def test_a_run_deleted_under_a_reader_says_that_there_is_none(run: RunDirectory) -> None:
    reader = RunReader(run)
    assert reader.refresh().state == "finished"
    run.journal.unlink()
    snapshot = reader.refresh()
    assert snapshot.view.size == 0
    assert snapshot.damage.startswith(f"{run.journal} is missing: restore the file from a copy, or begin again with")
    shutil.rmtree(run.path)
    with pytest.raises(RunError, match="holds no run: give a directory"):
        reader.refresh()


def test_a_run_without_its_rows_says_so_in_one_line(run: RunDirectory) -> None:
    run.data.unlink()
    with pytest.raises(RunError, match=r"data.csv cannot be read \(No such file or directory\): restore it"):
        RunReader(run).dataset()


def test_a_run_json_that_does_not_describe_its_rows_is_told_in_one_line(run: RunDirectory) -> None:
    spec = json.loads((run.path / "run.json").read_text())
    spec["dataset"] = {}
    (run.path / "run.json").write_text(json.dumps(spec))
    with pytest.raises(RunError, match=r"data.csv is not as run.json describes it: restore both from a copy"):
        RunReader(run).dataset()


def test_a_resume_refuses_damage_and_goes_on_from_before_it_when_told_to(desk: Desk) -> None:
    run = RunDirectory(shutil.copytree(OLD / "last" / "smc", desk.folder / "run"))
    whole, lines = RunReader(run).refresh().view, lines_of(run)
    assert lines.pop().endswith(b'"type":"run_finished","outcome":"finished"}}\n')
    lost = place(run, lambda e: isinstance(e, Proposed) and e.step == 1)
    run.journal.write_bytes(b"".join([*lines[:lost], GARBAGE, *lines[lost + 1 :]]))
    damaged = run.journal.read_bytes()
    (run.path / "events.jsonl.damaged").write_bytes(b"earlier")
    refused = desk.resume("run").finish()
    assert refused.code == 2
    assert f"line {lost + 1} cannot be read" in refused.complaint
    assert f"`python -m vpp resume {run.path} --from-before-damage`" in refused.complaint
    assert run.journal.read_bytes() == damaged
    resumed = desk.start("resume", run.path, "--json", "--quiet", "--from-before-damage").finish()
    assert resumed.code == 0
    assert (run.path / "events.jsonl.damaged").read_bytes() == b"earlier"
    assert (run.path / "events.jsonl.damaged.1").read_bytes() == GARBAGE + b"".join(lines[lost + 1 :])
    view = RunReader(run).refresh().view
    assert view.phase == "finished"
    assert (view.last_step, view.evaluated.keys()) == (whole.last_step, whole.evaluated.keys())
    assert [view.steps[step] for step in (-1, 0)] == [whole.steps[step] for step in (-1, 0)]
    assert main(["verify", str(run.path)]) == 0
