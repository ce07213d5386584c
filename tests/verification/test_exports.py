"""The files of results beside a journal are compared with it."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.inference import scripted
from tests.verification.kept import kept_run
from vpp.cli import main
from vpp.cli.stored import fault_line, verification_lines
from vpp.reporting.document import ways, write_all
from vpp.runs.directory import RunDirectory
from vpp.verification import Verification, verify


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> RunDirectory:
    """A finished run with all of its exports."""
    folder = tmp_path_factory.mktemp("exports") / "run"
    directory, _ = kept_run(folder, scripted.paper(method="smc", final_weights="rescored"), "regression")
    write_all(directory)
    return directory


def copy_of(sound: RunDirectory, folder: Path) -> RunDirectory:
    return RunDirectory(shutil.copytree(sound.path, folder / sound.id))


def checked(directory: RunDirectory) -> Verification:
    return verify(directory, ways(directory))


def test_exports_that_say_what_the_journal_says_hold(sound: RunDirectory, tmp_path: Path) -> None:
    moved = RunDirectory(shutil.copytree(sound.path, tmp_path / "elsewhere"))
    moved.amend(name="another name")
    found = checked(moved)
    assert (found.faults, found.counts["exports"]) == ((), (2, 2))


@pytest.mark.parametrize(
    ("name", "change", "words"),
    [
        ("predictions.csv", lambda text: text[: text.rindex(b"\r\n", 0, -2) + 2], "is nothing, and should be"),
        ("predictions.csv", lambda text: text + text.splitlines(keepends=True)[-1], "and should be nothing"),
        ("predictions.csv", lambda text: text.replace(b"\r\n", b"\r\n7", 1), "line 2 column 1 is 7"),
        ("predictions.csv", lambda text: b"\xff" + text, "it cannot be read"),
        ("posterior.json", lambda text: text[:-3], "it cannot be read"),
        ("posterior.json", lambda text: text.replace(b'{\n  "schema"', b'{\n  "x": 1,\n  "schema"'), "x is 1"),
        ("posterior.json", lambda text: text.replace(b'"target": "', b'"target": "7', 1), "target is 7"),
    ],
)
def test_a_change_of_an_export_is_named(
    sound: RunDirectory, tmp_path: Path, name: str, change: Callable[[bytes], bytes], words: str
) -> None:
    directory = copy_of(sound, tmp_path)
    content = (directory.path / name).read_bytes()
    assert change(content) != content
    (directory.path / name).write_bytes(change(content))
    found = checked(directory)
    (fault,) = found.faults
    assert words in fault_line(fault)
    assert fault_line(fault).startswith(f"{name}: ")
    lines = list(verification_lines(found, run="run"))
    assert lines[-1].startswith(f"The journal is consistent, but {name} differs from it: `python -m vpp report run`")


def test_exports_beside_an_unfinished_or_faulty_journal_are_not_compared(sound: RunDirectory, tmp_path: Path) -> None:
    directory = copy_of(sound, tmp_path)
    whole = directory.journal.read_bytes().splitlines(keepends=True)
    for content in (whole[:-1], [whole[0], *whole[2:]]):
        directory.journal.write_bytes(b"".join(content))
        found = checked(directory)
        assert {fault.file for fault in found.faults} <= {""}
        assert "posterior.json: compared only for a run that has ended" in "\n".join(found.unchecked)


def test_verify_ends_with_1_and_names_the_file(
    sound: RunDirectory, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["verify", str(sound.path), "--json"]) == 0
    directory = copy_of(sound, tmp_path)
    path = directory.path / "predictions.csv"
    path.write_bytes(path.read_bytes().replace(b"100", b"7", 1))
    capsys.readouterr()
    assert main(["verify", str(directory.path), "--json"]) == 1
    written = json.loads(capsys.readouterr().out)
    assert [fault["file"] for fault in written["faults"]] == ["predictions.csv"]
