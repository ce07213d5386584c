"""A list reads the ends of a large journal alone, and says of the run what its pages say."""

import json
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

import pytest

from pages.parts import frame
from tests import inspected
from vpp.cli import main
from vpp.errors import RunError
from vpp.inspection.summary import result
from vpp.runs import glance as glances
from vpp.runs.directory import RunDirectory
from vpp.runs.glance import FROM_ENDS, glance, is_large
from vpp.runs.journal_reader import JournalReader
from vpp.runs.reader import RunReader
from vpp.wording.listing import listed, when_words

MADE = when_words(datetime(2026, 1, 1), datetime(2026, 1, 2))
KINDS = (inspected.labels, inspected.numbers)


@pytest.fixture(params=KINDS, ids=["labels", "numbers"])
def run(tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> RunDirectory:
    """A finished run, larger than what is read of it."""
    make: Callable[[Path], RunReader] = request.param
    directory = make(tmp_path / "runs").directory
    end = directory.journal.stat().st_size * 3 // 4
    monkeypatch.setattr(glances, "LARGE_BYTES", end)
    monkeypatch.setattr(glances, "END_BYTES", end)
    assert is_large(directory)
    return directory


def cut(directory: RunDirectory, kind: str) -> None:
    """Ends the journal after the last record of a kind."""
    lines = directory.journal.read_bytes().splitlines(keepends=True)
    last = max(i for i, line in enumerate(lines) if json.loads(line)["event"]["type"] == kind)
    directory.journal.write_bytes(b"".join(lines[: last + 1]))


@pytest.mark.parametrize("until", ["run_finished", "evaluated", "step_finished"])
def test_a_list_says_the_same_of_the_ends_as_of_the_complete_journal(run: RunDirectory, until: str) -> None:
    cut(run, until)
    seen, complete = glance(run), RunReader(run).refresh()
    assert (seen.damage, complete.damage) == ("", "")
    assert (seen.state, seen.view.last_step, seen.usage) == (complete.state, complete.view.last_step, complete.usage)
    assert listed(run.id, seen, MADE) == listed(run.id, complete, MADE)
    ends, whole = result(run, seen.view), result(run, complete.view)
    assert {name: ends[name] for name in FROM_ENDS} == {name: whole[name] for name in FROM_ENDS}


def test_the_lines_between_are_not_read(
    run: RunDirectory, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("VPP_RUNS_DIR", str(run.path.parent))
    monkeypatch.delattr(JournalReader, "new_records")
    assert main(["list"]) == 0
    assert "finished" in capsys.readouterr().out
    assert main(["list", "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert (row["status"], row["partial"], row["n_unique"]) == ("finished", True, None)
    assert row["metric"]["test"] is not None


def test_the_list_of_a_page_reads_the_ends_too(run: RunDirectory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(JournalReader, "new_records")
    assert frame._listed(run).mark == "done"


def test_a_journal_that_has_grown_is_looked_at_anew(run: RunDirectory) -> None:
    complete = run.journal.read_bytes()
    cut(run, "step_finished")
    assert glance(run).state != "finished"
    run.journal.write_bytes(complete)
    assert glance(run).state == "finished"


@pytest.mark.parametrize("at", [0, -3])
def test_lines_of_the_ends_that_cannot_be_read_are_told(run: RunDirectory, at: int) -> None:
    lines = run.journal.read_bytes().splitlines(keepends=True)
    lines[at] = b"?" + lines[at]
    run.journal.write_bytes(b"".join(lines))
    seen = glance(run)
    assert "one of its first or last lines cannot be read" in seen.damage


def test_an_evaluation_of_other_rows_is_not_taken_in(run: RunDirectory) -> None:
    lines = run.journal.read_text().replace('"split":"test","rows":[4', '"split":"test","rows":[999')
    run.journal.write_text(lines)
    seen = glance(run)
    assert "cannot be read" in seen.damage
    assert "test" not in seen.view.evaluated


def test_a_large_journal_without_a_run_is_told(run: RunDirectory) -> None:
    (run.path / "run.json").write_text("{")
    with pytest.raises(RunError, match=r"run\.json cannot be read"):
        glance(run)
