"""Pipes and links where a run's small files are opened, and a run.json made to harm: refused at once, nothing outside

is made or changed.
"""

import json
import os
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests import inspected
from vpp.errors import DiskRefused, RunError
from vpp.files import read_json
from vpp.runs.directory import RunDirectory
from vpp.runs.disk import locked
from vpp.runs.process import Slots

USES: dict[str, Callable[[RunDirectory], object]] = {
    "lock": lambda run: ExitStack().enter_context(run.lock()),
    ".run.json.lock": lambda run: run.amend(name="new"),
    ".heartbeat.part": lambda run: run.beat({}, queued=False),
    ".slot-0": lambda run: Slots(run.path, count=1).take_now(),
    ".lock": lambda run: ExitStack().enter_context(locked(run.path / ".lock")),
}


@pytest.fixture
def run(tmp_path: Path) -> RunDirectory:
    return inspected.labels(tmp_path).directory


@pytest.mark.parametrize("name", USES)
def test_a_link_or_a_pipe_where_a_file_is_written_is_refused(run: RunDirectory, name: str) -> None:
    elsewhere = run.path.parent / "elsewhere"
    for make in (lambda path: path.symlink_to(elsewhere), os.mkfifo):
        (run.path / name).unlink(missing_ok=True)
        make(run.path / name)
        with pytest.raises((DiskRefused, OSError), match="it is a link, a pipe or a folder"):
            USES[name](run)
    assert not elsewhere.exists()


@pytest.mark.parametrize("content", ['{"a":' + "[" * 100_000, '{"a":' + "[" * 900 + "]" * 900 + "}"])
def test_a_run_json_nested_deep_is_told(run: RunDirectory, content: str) -> None:
    (run.path / "run.json").write_text(content)
    with pytest.raises(RunError, match=r"run\.json cannot be read \(recursion limit"):
        run.spec()
    with pytest.raises(RunError):
        run.status()


def test_a_run_json_of_any_size_is_not_read_in(run: RunDirectory) -> None:
    os.truncate(run.path / "run.json", 2**40)
    with pytest.raises(ValueError, match="larger than 16 MiB"):
        read_json(run.path / "run.json")


def test_a_run_json_with_an_integer_beyond_64_bits_is_told(run: RunDirectory) -> None:
    content = json.loads((run.path / "run.json").read_text())
    (run.path / "run.json").write_text(json.dumps({**content, "more": [{"deep": -(10**400)}]}))
    with pytest.raises(RunError, match=r"run\.json cannot be read \(it holds an integer beyond 64 bits\)"):
        run.spec()
