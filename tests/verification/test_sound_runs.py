"""Runs as the samplers make them hold, whichever way their steps go."""

from dataclasses import replace
from pathlib import Path

import pytest

from tests.inference import scripted
from tests.processes import ROOT
from tests.verification.kept import Learner, kept_run, write
from vpp.cli.stored import fault_line
from vpp.events import Proposed, RunFinished, RunPaused, RunResumed, StepFinished
from vpp.runs.directory import RunDirectory
from vpp.runs.journal import Journal
from vpp.runs.store import EXAMPLES
from vpp.verification import verify

TASKS = pytest.mark.parametrize("task", ["classification", "regression"])


def faults(directory: RunDirectory) -> list[str]:
    return [fault_line(fault) for fault in verify(directory).faults]


@pytest.mark.parametrize("name", scripted.VARIANTS)
def test_every_variant_holds(name: str, tmp_path: Path) -> None:
    directory, _ = kept_run(tmp_path / "run", scripted.variant(name))
    assert faults(directory) == []


OPTIONS = {
    "tau from the data": {"tau": "auto"},
    "rescored on the buffer": {"final_weights": "rescored"},
    "rescored on all rows": {"final_weights": "train"},
    "filtered": {"mutate": "filtered"},
    "one particle": {"particles": 1},
    "one step": {"batch_size": 20, "epochs": 1, "tempering": "adaptive"},
}


@TASKS
@pytest.mark.parametrize("name", OPTIONS)
def test_every_option_that_weights_depend_on_holds(name: str, task: str, tmp_path: Path) -> None:
    directory, _ = kept_run(tmp_path / "run", scripted.paper(method="smc", **OPTIONS[name]), task)
    assert faults(directory) == []


def test_a_run_that_goes_on_from_another_holds(tmp_path: Path) -> None:
    directory, _ = kept_run(tmp_path / "run", scripted.paper(method="mh"), start=scripted.TEXTS[:5])
    assert faults(directory) == []


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
