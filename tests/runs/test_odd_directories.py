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
from vpp.cli import main
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


FAULTS: tuple[tuple[Callable[[Content], object], str], ...] = (
    (lambda content: content["dataset"].update(n_train="<b>many</b>"), "dataset: n_train: Input should be a valid int"),
    (lambda content: content["dataset"].update(target="\ud800"), "unexpected end of hex escape"),
    (lambda content: content["dataset"]["columns"][0].update(kind="<b>"), "dataset: columns.0.kind: Input should be"),
    (lambda content: content["dataset"]["provenance"].update(n_rows="many"), "dataset: provenance.n_rows: Input"),
    (lambda content: content["dataset"].pop("classes"), "dataset: classes: Field required"),
    (lambda content: content["dataset"].update(classes=[]), "dataset: classes names no label"),
    (lambda content: content["dataset"].update(inputs=[]), "dataset: inputs names no column"),
    (
        lambda content: content["config"].update(beta_start=1e308),
        "beta_start is 1e+308: it must lie between 1e-09 and 1e",
    ),
    (lambda content: content.update(name="\ud800"), "unexpected end of hex escape"),
)


def test_a_wrong_field_of_run_json_is_named_in_one_line_by_every_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "new.csv").write_text("a\n1\n")
    sound = inspected.labels(tmp_path)
    for change, words in FAULTS:
        path = copied(sound, change).directory.path
        for command in (
            ("report",),
            ("verify",),
            ("resume",),
            ("predict", str(tmp_path / "new.csv"), "-o", str(tmp_path / "out.csv")),
        ):
            name, *options = command
            assert main([name, str(path), *options]) == 2
            error = capsys.readouterr().err
            assert error.startswith(f"vpp: {path}/run.json cannot be read ({words}")
            assert error.endswith("): restore it from a copy\n")
            assert error.count("\n") == 1
        shutil.rmtree(path)


def test_a_folder_of_any_name_is_watched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reader = copied(inspected.labels(tmp_path), lambda content: None)
    assert "toy" in shown(opened(app_over(tmp_path, monkeypatch), reader, "watch"))


def test_a_run_json_nested_deep_spoils_the_page_of_no_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reader = inspected.labels(tmp_path)
    copied(reader, lambda content: None)
    (tmp_path / "20260112-0000-odd__<b>-0000" / "run.json").write_text('{"a":' * 100_000)
    assert "toy" in shown(opened(app_over(tmp_path, monkeypatch), reader, "watch"))
