"""The files of results beside a journal are compared with it."""

import csv
import io
import json
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.inference import scripted
from tests.verification.kept import kept_run, write
from vpp.cli import main
from vpp.cli.stored import fault_line, verification_lines
from vpp.events import RunFailed, RunFinished
from vpp.reporting.document import ways, write_all
from vpp.runs.directory import RunDirectory
from vpp.verification import Fault, Verification, Ways, verify

FILES = ("posterior.json", "predictions.csv")


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> RunDirectory:
    """A finished run with all of its exports."""
    folder = tmp_path_factory.mktemp("exports") / "run"
    directory, _ = kept_run(folder, scripted.paper(method="smc", final_weights="rescored"), "regression")
    directory.amend(status="finished")
    write_all(directory)
    return directory


def spoiled(sound: RunDirectory, folder: Path, name: str, change: Callable[[bytes], bytes]) -> RunDirectory:
    shutil.copytree(sound.path, folder / sound.id)
    directory = RunDirectory(folder / sound.id)
    content = (directory.path / name).read_bytes()
    assert change(content) != content
    (directory.path / name).write_bytes(change(content))
    return directory


@pytest.fixture(scope="module")
def derived(sound: RunDirectory) -> Ways:
    """What the journal gives for each export, written once."""
    return {name: partial(bytes, write()) for name, write in ways(sound).items()}


def the_fault(directory: RunDirectory, derived: Ways) -> Fault:
    """The one export that differs."""
    (fault,) = verify(directory, derived).faults
    return fault


def checked(directory: RunDirectory) -> Verification:
    return verify(directory, ways(directory))


def reasons(found: Verification) -> str:
    return "\n".join(found.unchecked)


def test_exports_that_say_what_the_journal_says_hold(sound: RunDirectory, tmp_path: Path) -> None:
    moved = RunDirectory(shutil.copytree(sound.path, tmp_path / "elsewhere"))
    moved.amend(name="another name")
    found = checked(moved)
    assert (found.faults, found.counts["exports"]) == ((), (2, 2))


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Paths of every number in a JSON value."""
    if isinstance(value, dict):
        return [place for key, each in value.items() for place in places(each, (*path, key))]
    if isinstance(value, list):
        return [place for key, each in enumerate(value) for place in places(each, (*path, key))]
    return [path] if isinstance(value, int | float) and not isinstance(value, bool) else []


@settings(max_examples=25, deadline=None)
@given(st.data())
def test_any_changed_number_of_posterior_json_is_named(sound: RunDirectory, derived: Ways, data: st.DataObject) -> None:
    path = sound.path / "posterior.json"
    content = path.read_bytes()
    written = json.loads(content)
    *above, last = data.draw(st.sampled_from(places(written)))
    inner = written
    for key in above:
        inner = inner[key]
    inner[last] += 1
    try:
        path.write_text(json.dumps(written))
        fault = the_fault(sound, derived)
    finally:
        path.write_bytes(content)
    assert (fault.claim, fault.file, fault.written) == ("exports", "posterior.json", inner[last])


@settings(max_examples=15, deadline=None)
@given(st.data())
def test_any_changed_cell_of_predictions_csv_is_named(sound: RunDirectory, derived: Ways, data: st.DataObject) -> None:
    path = sound.path / "predictions.csv"
    content = path.read_bytes()
    lines = list(csv.reader(io.StringIO(content.decode(), newline="")))
    n = data.draw(st.integers(0, len(lines) - 1))
    k = data.draw(st.integers(0, len(lines[n]) - 1))
    lines[n][k] = f"7{lines[n][k]}"
    text = io.StringIO()
    csv.writer(text).writerows(lines)
    try:
        path.write_bytes(text.getvalue().encode())
        fault = the_fault(sound, derived)
    finally:
        path.write_bytes(content)
    assert fault_line(fault).startswith(f"predictions.csv: line {n + 1} column {k + 1} is ")


@pytest.mark.parametrize(
    ("name", "change", "told"),
    [
        ("predictions.csv", lambda text: text[: text.rindex(b"\r\n", 0, -2) + 2], "is nothing, and should be"),
        ("predictions.csv", lambda text: text + text.splitlines(keepends=True)[-1], "and should be nothing"),
        ("predictions.csv", lambda text: b"\xff" + text, "it cannot be read"),
        ("posterior.json", lambda text: text[:-3], "it cannot be read"),
        ("posterior.json", lambda text: text.replace(b'{\n  "schema"', b'{\n  "x": 1,\n  "schema"'), "x is 1"),
    ],
)
def test_lines_too_few_or_too_many_and_broken_files_are_faults(
    sound: RunDirectory, tmp_path: Path, name: str, change: Callable[[bytes], bytes], told: str
) -> None:
    found = checked(spoiled(sound, tmp_path, name, change))
    (fault,) = found.faults
    assert told in fault_line(fault)
    lines = list(verification_lines(found, run="run"))
    assert lines[-1].startswith(f"The journal is consistent, but {name} differs from it: `python -m vpp report run`")


@pytest.mark.parametrize("status", ["stopped", "failed"])
def test_a_status_that_is_not_how_the_run_ended_is_a_fault(sound: RunDirectory, tmp_path: Path, status: Any) -> None:
    directory = RunDirectory(shutil.copytree(sound.path, tmp_path / sound.id))
    directory.amend(status=status)
    (fault,) = checked(directory).faults
    assert (fault.file, fault.what, fault.written, fault.follows) == ("run.json", "status", status, "finished")


def test_a_run_that_failed_may_say_so_and_a_status_left_behind_is_not_checked(tmp_path: Path) -> None:
    directory, events = kept_run(tmp_path / "run", scripted.paper(method="mh", epochs=1))
    assert verify(directory).faults == ()
    whole = [event for event in events if not isinstance(event, RunFinished)]
    write(directory, [*whole, RunFailed(reason="endpoint", detail="gone")])
    directory.amend(status="failed")
    assert verify(directory).faults == ()
    directory.amend(status="stopped")
    assert [fault.what for fault in verify(directory).faults] == ["status"]


def test_exports_of_a_run_under_way_and_of_a_journal_that_does_not_hold_are_not_compared(
    sound: RunDirectory, tmp_path: Path
) -> None:
    directory = RunDirectory(shutil.copytree(sound.path, tmp_path / sound.id))
    whole = directory.journal.read_bytes().splitlines(keepends=True)
    directory.amend(status="running")
    for content in (whole[:-1], [whole[0], *whole[2:]]):
        directory.journal.write_bytes(b"".join(content))
        found = checked(directory)
        assert {fault.file for fault in found.faults} <= {""}
        assert all(f"{name}: compared only for a run that has ended" in reasons(found) for name in FILES)


def test_verify_ends_with_1_and_names_the_file(
    sound: RunDirectory, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["verify", str(sound.path), "--json"]) == 0
    directory = spoiled(sound, tmp_path, "predictions.csv", lambda text: text.replace(b"100", b"7", 1))
    capsys.readouterr()
    assert main(["verify", str(directory.path), "--json"]) == 1
    written = json.loads(capsys.readouterr().out)
    assert [fault["file"] for fault in written["faults"]] == ["predictions.csv"]
