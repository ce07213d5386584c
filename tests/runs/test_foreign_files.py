"""A runs folder in which somebody left links, pipes and hostile names: nothing outside is read, named or removed."""

import logging
import os
import shutil
from pathlib import Path

import pytest

from vpp.cli.running import _Log
from vpp.errors import RunError
from vpp.runs.directory import RunDirectory
from vpp.runs.journal import AnswerLog, Journal
from vpp.runs.store import EXAMPLE, FILES, RunStore, delete

SHIPPED = Path(__file__).parents[2] / "assets" / "examples" / EXAMPLE


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    """A folder with one sound run."""
    shutil.copytree(SHIPPED, tmp_path / "runs" / "sound")
    return tmp_path / "runs"


def listed(runs: Path) -> list[str]:
    return [run.id for run in RunStore(runs).runs()]


@pytest.mark.parametrize("name", sorted(FILES))
@pytest.mark.parametrize("kind", ["link", "pipe", "folder"])
def test_a_folder_whose_files_are_not_plain_is_no_run(runs: Path, name: str, kind: str) -> None:
    odd = runs / "odd"
    shutil.copytree(SHIPPED, odd)
    (odd / name).unlink(missing_ok=True)
    if kind == "link":
        (odd / name).symlink_to("/etc/passwd")
    elif kind == "pipe":
        os.mkfifo(odd / name)
    else:
        (odd / name).mkdir()
    assert listed(runs) == ["sound"]
    with pytest.raises(RunError):
        RunStore(runs).get("odd")


def test_a_link_to_a_run_elsewhere_is_not_listed_and_delete_does_not_follow_it(runs: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    shutil.copytree(SHIPPED, elsewhere)
    (runs / "linked").symlink_to(elsewhere)
    assert listed(runs) == ["sound"]
    with pytest.raises(RunError, match="nothing was deleted"):
        delete(RunDirectory(runs / "linked"))
    assert sorted(path.name for path in elsewhere.iterdir()) == sorted(path.name for path in SHIPPED.iterdir())


def test_delete_does_not_follow_links_inside_a_run(runs: Path, tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    kept.mkdir()
    (kept / "file").write_text("mine")
    (runs / "sound" / "notes").mkdir()
    (runs / "sound" / "notes" / "out").symlink_to(kept)
    delete(RunDirectory(runs / "sound"))
    assert listed(runs) == []
    assert (kept / "file").read_text() == "mine"


def test_runs_and_their_folder_are_private(tmp_path: Path) -> None:
    directory = RunStore(tmp_path / "runs")
    sound = RunDirectory(SHIPPED)
    from datetime import datetime

    made = directory.create(sound.spec(), sound.data.read_bytes(), now=datetime(2026, 1, 1))
    assert [path.stat().st_mode & 0o777 for path in (tmp_path / "runs", made.path)] == [0o700, 0o700]


def test_journals_and_answers_are_for_their_owner_alone(tmp_path: Path) -> None:
    Journal(tmp_path / "events.jsonl").close()
    AnswerLog(tmp_path / "answers.jsonl").close()
    log = _Log(tmp_path / "worker.log", delay=True)
    log.emit(logging.makeLogRecord({"msg": "a line"}))
    log.close()
    assert (tmp_path / "worker.log").read_text() == "a line\n"
    modes = {path.name: path.stat().st_mode & 0o777 for path in tmp_path.iterdir()}
    assert modes == dict.fromkeys(("events.jsonl", "answers.jsonl", "worker.log"), 0o600)
