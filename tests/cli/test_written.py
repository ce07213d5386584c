"""A file that a command is asked to write is there whole, or is as it was."""

import os
import resource
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from vpp.cli.system import read_bytes, write_bytes
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


def test_a_link_is_written_through_and_a_pipe_into(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "file")
    write_bytes(tmp_path / "link", b"1")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "file").read_bytes() == b"1"
    os.mkfifo(tmp_path / "pipe")
    writer = threading.Thread(target=write_bytes, args=(tmp_path / "pipe", b"2"))
    writer.start()
    assert (tmp_path / "pipe").read_bytes() == b"2"
    writer.join()


def test_a_file_of_a_run_is_not_written_over_and_another_beside_it_is(tmp_path: Path) -> None:
    (tmp_path / "run.json").write_bytes(b"{}")
    (tmp_path / "data.csv").write_bytes(b"row\n")
    for name in ("run.json", "data.csv", "events.jsonl"):
        with pytest.raises(InputError, match=f"{name} is part of a run: choose another file"):
            write_bytes(tmp_path / name, b"# Report")
    assert (tmp_path / "run.json").read_bytes() == b"{}"
    write_bytes(tmp_path / "mine.md", b"# Report")
    assert (tmp_path / "mine.md").read_bytes() == b"# Report"


def test_reading_stops_once_a_file_is_too_large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "t.csv").write_bytes(b"x" * 100)
    monkeypatch.setattr("vpp.cli.system.MAX_BYTES", 7)
    assert len(read_bytes(str(tmp_path / "t.csv"))) == 8
