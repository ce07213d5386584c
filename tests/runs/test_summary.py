"""A list of runs reads their summaries, and a journal only where a summary is missing or out of date."""

import json
import shutil
from pathlib import Path

import pytest

from pages.parts import frame
from tests import inspected
from vpp.cli import main
from vpp.runs.directory import RunDirectory
from vpp.runs.journal import JournalReader
from vpp.runs.reader import read_summary
from vpp.runs.store import EXAMPLES

SHIPPED = Path(__file__).parents[2] / "assets" / "examples"


@pytest.fixture
def run(tmp_path: Path) -> RunDirectory:
    return inspected.labels(tmp_path / "runs").directory


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
    """As after a worker that was killed between the two."""
    lines = run.journal.read_bytes().splitlines(keepends=True)
    run.journal.write_bytes(b"".join(lines[:-1]))
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
