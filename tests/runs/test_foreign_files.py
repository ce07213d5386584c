"""A runs folder in which somebody left links, pipes and hostile names: nothing outside is read, named or removed."""

import shutil
from pathlib import Path

import pytest

from vpp.runs.directory import RunDirectory
from vpp.runs.store import EXAMPLE, RunStore, delete

SHIPPED = Path(__file__).parents[2] / "assets" / "examples" / EXAMPLE


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    """A folder with one sound run."""
    shutil.copytree(SHIPPED, tmp_path / "runs" / "sound")
    return tmp_path / "runs"


def listed(runs: Path) -> list[str]:
    return [run.id for run in RunStore(runs).runs()]


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
