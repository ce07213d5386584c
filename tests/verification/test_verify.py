"""Runs as the samplers make them hold, whichever way their steps go; every kind of change to their files is found."""

import json
import math
import shutil
from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from tests.inference import scripted
from tests.processes import ROOT
from tests.sampled import Learner, kept_run, write
from vpp.cli import main
from vpp.cli.stored import fault_line
from vpp.errors import JournalDamaged
from vpp.events import (
    Certified,
    Evaluated,
    Event,
    ParticleDrawn,
    Proposed,
    Resampled,
    Reweighted,
    RunFinished,
    RunPaused,
    RunResumed,
    RunStarted,
    Scored,
    StepFinished,
)
from vpp.runs.directory import Journal, RunDirectory
from vpp.runs.store import EXAMPLES
from vpp.settings import Config
from vpp.verification import Fault, verify


def faults(directory: RunDirectory) -> list[str]:
    return [fault_line(fault) for fault in verify(directory).faults]


OPTIONS: list[dict[str, Any]] = [
    {"tau": "auto"},
    {"final_weights": "rescored"},
    {"final_weights": "train"},
    {"mutate": "filtered"},
    {"particles": 1},
    {"batch_size": 20, "epochs": 1, "tempering": "adaptive"},
]


HELD = [
    *((scripted.variant(name), "classification") for name in scripted.VARIANTS),
    *(
        (scripted.paper(method="smc", **options), task)
        for options in OPTIONS
        for task in ("classification", "regression")
    ),
]


@pytest.mark.parametrize(("config", "task"), HELD)
def test_a_run_of_every_variant_and_option_that_weights_depend_on_holds(
    config: Config, task: str, tmp_path: Path
) -> None:
    assert faults(kept_run(tmp_path / "run", config, task)[0]) == []


def test_a_run_that_goes_on_from_another_holds(tmp_path: Path) -> None:
    assert faults(kept_run(tmp_path / "run", scripted.paper(method="mh"), start=scripted.TEXTS[:5])[0]) == []


def test_what_a_resume_discarded_is_not_checked(tmp_path: Path) -> None:
    directory, events = kept_run(tmp_path / "run", scripted.variant("smc filtered"))
    ends = [number for number, event in enumerate(events) if isinstance(event, StepFinished)]
    cut, again = ends[3] - 4, ends[2] + 1
    discarded = [replace(e, u=0.123) if isinstance(e, Proposed) and e.u else e for e in events[again:cut]]
    write(directory, [*events[:again], *discarded, RunPaused(reason="endpoint"), RunResumed(step=1), *events[again:]])
    assert faults(directory) == []


def test_a_run_under_way_holds_as_far_as_it_has_come(tmp_path: Path) -> None:
    directory, events = kept_run(tmp_path / "run", scripted.variant("smc adaptive"))
    for end in range(0, len(events), 13):
        write(directory, events[:end])
        assert faults(directory) == [], end
    assert not verify(directory).has_ended


def test_a_run_that_was_stopped_holds_and_a_resume_from_another_step_does_not(tmp_path: Path) -> None:
    config = scripted.paper(method="smc", final_weights="rescored")
    directory, events = kept_run(tmp_path / "run", config)
    end = next(n for n, event in enumerate(events) if isinstance(event, StepFinished) and event.step == 1) + 1
    population = scripted.populations(events[:end])[-1]
    roles, log = scripted.Script("classification"), Journal(directory.journal)
    problem = replace(scripted.make_problem(config, roles), learner=Learner(roles, log))
    ending = scripted.run_conclusion(problem, config, population)
    log.close()
    stopped = [*events[: end + 3], RunResumed(step=1), *ending, RunFinished(outcome="stopped")]
    for n in (len(stopped), end + 5):  # a second stop ends the evaluation
        write(directory, [*stopped[:n], RunFinished(outcome="stopped")])
        assert faults(directory) == []
    write(directory, [*stopped, RunResumed(step=1), *events[end:]])
    assert faults(directory) == []
    write(directory, [*stopped, RunResumed(step=0), *events[end:]])
    assert faults(directory)


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_shipped_example_holds(name: str) -> None:
    found = verify(RunDirectory(ROOT / "assets" / "examples" / name))
    assert [fault_line(fault) for fault in found.faults] == []
    assert found.has_ended


Run = tuple[RunDirectory, list[Event]]
RUNS: dict[str, tuple[str, dict[str, Any], dict[str, Any]]] = {
    "filtered": (
        "classification",
        {"method": "smc", "mutate": "filtered", "final_weights": "rescored", "epochs": 1},
        {},
    ),
    "graded": (
        "classification",
        {"method": "smc", "likelihood": "logprobs", "epochs": 1, "mutate": "filtered"},
        {"grade": scripted.grade},
    ),
    "carried": ("regression", {"method": "smc", "tempering": "adaptive", "tau": "auto", "epochs": 1}, {}),
    "chains": ("classification", {"method": "mh", "epochs": 1}, {}),
    "programs": ("classification", {"method": "smc", "reading": "auto", "epochs": 1}, {}),
}


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Run]:
    folder = tmp_path_factory.mktemp("sound")
    made: dict[str, Run] = {}
    for name, (task, options, script) in RUNS.items():
        made[name] = kept_run(folder / name, scripted.paper(**options), task, **script)
        assert verify(made[name][0]).holds
    return made


def copy_of(run: Run, folder: Path) -> Run:
    shutil.copytree(run[0].path, folder / "copy")
    return RunDirectory(folder / "copy"), list(run[1])


def place_of(events: list[Event], kind: type[Event], **where: Any) -> int:
    found = [
        i for i, e in enumerate(events) if isinstance(e, kind) and all(getattr(e, k) == v for k, v in where.items())
    ]
    assert found, f"the run tells no {kind.__name__} of {where}"
    return found[len(found) // 2]


KINDS: list[tuple[str, type[Event], dict[str, Any]]] = [
    ("filtered", RunStarted, {}),
    ("filtered", ParticleDrawn, {}),
    ("filtered", Scored, {"role": "buffer"}),
    ("filtered", Scored, {"role": "final"}),
    ("filtered", Reweighted, {"role": "final"}),
    ("filtered", Resampled, {}),
    ("filtered", Proposed, {"why": "likelihood"}),
    ("filtered", Evaluated, {"split": "test"}),
    ("graded", Scored, {"role": "buffer"}),
    ("carried", Reweighted, {}),
    ("carried", StepFinished, {}),
    ("chains", Proposed, {"why": "likelihood"}),
    ("programs", Certified, {}),
    ("programs", Evaluated, {"split": "train"}),
]
"""Every kind of line that a run has, in the run that has it."""
UNDERIVED = {"type", "versions", "templates", "raw", "reason", "shown", "thoughts", "refused"}
"""Fields that no file of the run decides."""
IDENTITIES = {"step", "particle", "hypothesis", "text"}
"""Fields that other fields and lines are derived from: their change is found there."""


def changes(value: Any) -> Iterator[Any]:
    """Values that differ from this one in one place."""
    if isinstance(value, tuple) and value:
        yield from ((each, *value[1:]) for each in changes(value[0]))
    elif isinstance(value, dict) and value:
        name = next(iter(value))
        yield from ({**value, name: each} for each in changes(value[name]))
    elif is_dataclass(value):
        yield from (replace(value, **change) for _, change in field_changes(value))
    elif isinstance(value, bool):
        yield not value
    elif isinstance(value, str):
        yield f"{value}!"
    elif isinstance(value, int):
        yield value + 1
    elif isinstance(value, float):
        yield value + 1e-8 * max(1, abs(value))
        yield math.nan


def field_changes(event: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    """Name of a field, and the field with a change, for each that follows from the run's files."""
    for each in fields(event):
        if each.name not in UNDERIVED:
            yield from ((each.name, {each.name: value}) for value in changes(getattr(event, each.name)))


def found(directory: RunDirectory) -> tuple[Fault, ...]:
    try:
        return verify(directory).faults
    except JournalDamaged as error:
        line = int(str(error).partition("line ")[2].partition(" ")[0])
        return (Fault(line=line, what="record", written=str(error), follows="a record"),)


@pytest.mark.parametrize(("run", "kind", "where"), KINDS)
def test_a_changed_field_is_found_at_its_line_and_one_that_is_missing_or_stands_twice(
    run: str, kind: type[Event], where: dict[str, Any], runs: dict[str, Run], tmp_path: Path
) -> None:
    directory, events = copy_of(runs[run], tmp_path)
    place = place_of(events, kind, **where)
    for name, change in field_changes(events[place]):
        write(directory, [*events[:place], replace(events[place], **change), *events[place + 1 :]])
        faults = found(directory)
        here = [fault for fault in faults if fault.line == place + 1]
        is_named = any(fault.what.startswith(("record", f"{events[place].type} {name}")) for fault in here)
        assert is_named or (name in IDENTITIES and faults), (name, change, faults)
    write(directory, events[:place] + events[place + 1 :])
    assert not verify(directory).holds
    write(directory, events[: place + 1] + events[place:])
    assert "record" in {fault.what for fault in verify(directory).faults}


def test_another_answer_and_the_files_of_another_run_are_found(runs: dict[str, Run], tmp_path: Path) -> None:
    directory, _ = copy_of(runs["chains"], tmp_path)
    lines = directory.journal.read_text().splitlines()
    told = json.loads(lines[-1])
    told["prediction"]["value"] = "maybe"
    directory.journal.write_text("\n".join([*lines[:-1], json.dumps(told), ""]))
    (fault,) = verify(directory).faults
    assert fault.follows == "maybe"

    directory, _ = copy_of(runs["filtered"], tmp_path / "files")
    for name in ("run.json", "data.csv"):
        shutil.copy(runs["carried"][0].path / name, directory.path / name)
    (fault,) = verify(directory).faults
    assert fault.line == 1


def test_the_command_tells_what_holds_and_what_does_not(
    runs: dict[str, Run], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    directory, events = copy_of(runs["filtered"], tmp_path)
    assert main(["verify", str(directory.path)]) == 0
    out = capsys.readouterr().out
    assert out.splitlines()[-1].startswith("The journal is consistent")
    place = place_of(events, Reweighted)
    events[place] = replace(events[place], ess=1.25)
    write(directory, events)
    assert main(["verify", str(directory.path)]) == 1
    out = capsys.readouterr().out
    assert f"does not hold: line {place + 1}: reweighted ess is 1.25, and should be " in out
    assert out.splitlines()[-1].startswith("The journal is inconsistent: ")
    assert main(["verify", str(directory.path), "--json"]) == 1
    told = json.loads(capsys.readouterr().out)
    assert told["holds"] is False
    assert [(fault["line"], fault["what"]) for fault in told["faults"]] == [(place + 1, "reweighted ess")]
    assert told["n_compared"] > 1
