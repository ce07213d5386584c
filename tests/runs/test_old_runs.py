"""Runs that older programs wrote: today's reads, reports and resumes them."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from tests.processes import Desk
from vpp.cli import main
from vpp.errors import RunError
from vpp.events import SCHEMA_VERSION
from vpp.reporting.markdown import report_markdown
from vpp.reporting.posterior_json import posterior_json
from vpp.runs import journal
from vpp.runs.directory import RunDirectory
from vpp.runs.journal import NewerVersion, decode, spec_of_today
from vpp.runs.reader import RunReader

OLD = Path(__file__).parents[1] / "old_runs"
ENDED = [f"{age}/{method}" for age in ("first", "middle", "last") for method in ("smc", "mh")]


@pytest.mark.parametrize("name", ENDED)
def test_an_old_run_is_read_and_reported(name: str) -> None:
    reader = RunReader(RunDirectory(OLD / name))
    snapshot = reader.refresh()
    assert (snapshot.state, snapshot.damage, snapshot.view.size) == ("finished", "", 3)
    assert [at.step for at in snapshot.view.finished_steps] == [-1, 0, 1, 2]
    assert snapshot.spec.cell_limit is None, "cells are shown as they were"
    report = report_markdown(reader, simple_models=False)
    written = json.loads(posterior_json(reader))
    for state in snapshot.view.population:
        assert snapshot.view.texts[state.hypothesis] in {each["text"] for each in written["particles"]}
    assert "Damaged journal" not in report
    assert len(reader.read_answers().by_pair) > 0


@pytest.mark.parametrize("age", ["first", "middle", "last"])
def test_an_old_run_has_repeats_in_its_buffer_and_no_filter_as_it_did_then(age: str) -> None:
    config = RunDirectory(OLD / age / "smc").spec().config
    assert (config.buffer_repeats, config.mutate, config.final_weights) == (True, "every", "rescored")


def test_old_runs_are_listed(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VPP_RUNS_DIR", str(OLD / "first"))
    assert main(["list", "--json"]) == 0
    rows = {row["run"]: row["status"] for row in json.loads(capsys.readouterr().out)}
    assert rows == {"smc": "finished", "mh": "finished", "interrupted": "interrupted"}


def test_old_interrupted_runs_are_resumed_to_a_sound_end_from_the_steps_they_had(desk: Desk) -> None:
    """The steps that were missing ask today's demo model, which may write other rules than the one of then."""
    ages = ("first", "middle", "last")
    for age in ages:
        shutil.copytree(OLD / age / "interrupted", desk.folder / age)
    resumed = {age: desk.resume(age) for age in ages}
    for age in ages:
        assert resumed[age].finish().code == 0
        view, before = desk.look(age).view, RunReader(RunDirectory(OLD / age / "interrupted")).refresh().view
        assert (view.phase, view.last_step) == ("finished", 2)
        for step in before.finished_steps:
            assert view.steps[step.step].population == step.population
        assert main(["verify", str(desk.folder / age)]) == 0
        assert json.loads((desk.folder / age / "run.json").read_text())["schema"] == SCHEMA_VERSION


def test_a_record_is_lifted_version_by_version(monkeypatch: pytest.MonkeyPatch) -> None:
    line = (OLD / "first" / "smc" / "events.jsonl").read_bytes().splitlines()[-1]
    assert b'"v":1' in line
    assert decode(line).v == SCHEMA_VERSION

    def renamed(fields: journal.Fields) -> journal.Fields:
        return {**fields, "at": 7.0}

    monkeypatch.setattr(journal, "RECORD_STEPS", {1: renamed})
    assert decode(line) == replace(decode(line), at=7.0)


@pytest.mark.parametrize(
    "line", [b"[]", b"7", b'{"v":0}', b'{"v":true}', b'{"v":"2"}', b"[" * 100_000, b'{"v":2,', b"\xff"]
)
def test_what_is_no_record_of_any_version_is_a_value_error(line: bytes) -> None:
    with pytest.raises(ValueError):
        decode(line)


def test_what_a_newer_program_wrote_asks_for_an_update(tmp_path: Path) -> None:
    run = RunDirectory(shutil.copytree(OLD / "last" / "smc", tmp_path / "run"))
    lines = run.journal.read_bytes().splitlines(keepends=True)
    run.journal.write_bytes(b"".join(lines[:-1]) + lines[-1].replace(b'{"v":1,', b'{"v":3,'))
    damage = RunReader(run).refresh().damage
    assert damage == f"{run.journal}: line {len(lines)} is written by a newer vpp, as version 3: update vpp"
    content = json.loads((run.path / "run.json").read_text())
    with pytest.raises(NewerVersion):
        spec_of_today({**content, "schema": 3})
    (run.path / "run.json").write_text(json.dumps({**content, "schema": 3}))
    with pytest.raises(RunError, match=r"run.json was written by a newer vpp, as version 3: update vpp$"):
        run.spec()
