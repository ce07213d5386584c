"""A file that a command is asked to write is there whole, or is as it was."""

import resource
from collections.abc import Iterator
from pathlib import Path

import pytest

from vpp.cli.system import write_bytes
from vpp.errors import InputError


@pytest.fixture
def little_room() -> Iterator[None]:
    """No file may grow beyond a kilobyte."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1024, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_failed_write_leaves_the_old_file(tmp_path: Path, little_room: None) -> None:
    earlier = tmp_path / "task.csv"
    write_bytes(earlier, b"a,b\n")
    with pytest.raises(InputError, match="cannot be written"):
        write_bytes(earlier, b"x" * 2048)
    assert earlier.read_bytes() == b"a,b\n"
    assert list(tmp_path.iterdir()) == [earlier]


def test_a_file_of_a_run_is_not_written_over_and_another_beside_it_is(tmp_path: Path) -> None:
    (tmp_path / "run.json").write_bytes(b"{}")
    (tmp_path / "data.csv").write_bytes(b"row\n")
    for name in ("run.json", "data.csv", "events.jsonl"):
        with pytest.raises(InputError, match=f"{name} is part of a run: choose another file"):
            write_bytes(tmp_path / name, b"# Report")
    assert (tmp_path / "run.json").read_bytes() == b"{}"
    write_bytes(tmp_path / "mine.md", b"# Report")
    assert (tmp_path / "mine.md").read_bytes() == b"# Report"
