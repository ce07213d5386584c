"""Run directories made elsewhere: one that cannot be shown or read harms no other."""

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests import inspected
from tests.app.drawn import app_over, opened, shown
from vpp.errors import RunError
from vpp.runs.reader import RunReader
from vpp.runs.store import RunStore

Content = dict[str, Any]


def copied(reader: RunReader, change: Callable[[Content], object]) -> RunReader:
    """A copy of the run beside it, its run.json changed."""
    path = reader.directory.path.with_name("20260112-0000-odd__<b>-0000")
    shutil.copytree(reader.directory.path, path)
    content = json.loads((path / "run.json").read_text())
    change(content)
    (path / "run.json").write_text(json.dumps(content))
    return RunReader(type(reader.directory)(path))


def test_a_folder_whose_name_is_no_text_is_passed_over(tmp_path: Path) -> None:
    reader = inspected.labels(tmp_path)
    try:
        shutil.copytree(os.fsencode(reader.directory.path), os.fsencode(tmp_path) + b"/20260111-0000-\xff-smc")
    except OSError:
        pytest.skip("this file system takes UTF-8 names alone")
    assert [run.id for run in RunStore(tmp_path).runs()] == [reader.directory.id]


@pytest.mark.parametrize(
    "change",
    [
        lambda content: content["dataset"].update(n_train="<b>many</b>"),
        lambda content: content["dataset"].update(target="\ud800"),
        lambda content: content["dataset"]["columns"][0].update(kind="<b>"),
        lambda content: content["dataset"]["provenance"].update(n_rows="many"),
        lambda content: content["dataset"].pop("classes"),
        lambda content: content.update(name="\ud800"),
    ],
)
def test_a_run_json_of_other_types_is_told_and_not_read(tmp_path: Path, change: Callable[[Content], object]) -> None:
    reader = copied(inspected.labels(tmp_path), change)
    with pytest.raises(RunError, match=r"run\.json cannot be read"):
        reader.directory.spec()


def test_a_folder_of_any_name_is_watched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reader = copied(inspected.labels(tmp_path), lambda content: None)
    assert "toy" in shown(opened(app_over(tmp_path, monkeypatch), reader, "watch"))


def test_a_run_json_nested_deep_spoils_the_page_of_no_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reader = inspected.labels(tmp_path)
    copied(reader, lambda content: None)
    (tmp_path / "20260112-0000-odd__<b>-0000" / "run.json").write_text('{"a":' * 100_000)
    assert "toy" in shown(opened(app_over(tmp_path, monkeypatch), reader, "watch"))
