"""Pause, go on, stop: by the control file, by the commands, and by signals."""

import signal
import time
from io import StringIO
from itertools import pairwise
from pathlib import Path

import pytest

from tests.processes import (
    PENGUINS,
    Desk,
    Model,
    Outcome,
    but_times_and_ids,
    posterior,
    resumed_steps,
    stays,
    wait_until,
)
from vpp.cli.progress import Progress
from vpp.data.build import build_dataset
from vpp.data.split import SplitPlan
from vpp.data.table import Table
from vpp.events import RunPaused, StepFinished, Usage
from vpp.runs.directory import RunDirectory
from vpp.runs.journal import JournalReader, Record
from vpp.runs.keys import Keys
from vpp.runs.preparation import Preparation
from vpp.runs.process import Slots, launch
from vpp.runs.spec import EndpointSpec, RunSpec
from vpp.runs.view import RunView
from vpp.settings import Config

IN_A_STEP = 20
"""Calls answered in the first step of a small run, after the 13 of the initial draw."""


def hold_in_a_step(desk: Desk, served: Model, name: str = "run", *words: str, **environment: str) -> None:
    """A run in mid-step whose further calls get no answer yet."""
    served.hold_after = IN_A_STEP
    desk.run(name, *served.options, *words, **environment)
    wait_until(lambda: served.is_holding, "the run waits in its first step")


def slot_is_free(folder: Path) -> bool:
    slots = Slots(folder, count=1)
    taken = slots.take_now()
    slots.give_back()
    return taken


def is_like(desk: Desk, name: str, outcome: Outcome, shared_desk: Desk, undisturbed: dict[str, Outcome]) -> bool:
    same = posterior(desk.directory(name)) == posterior(shared_desk.directory("smc"))
    return same and but_times_and_ids(outcome.result) == but_times_and_ids(undisturbed["smc"].result)


def test_a_paused_run_asks_nothing_gives_its_slot_back_and_goes_on_to_the_same_result(
    desk: Desk, served: Model, shared_desk: Desk, undisturbed: dict[str, Outcome]
) -> None:
    hold_in_a_step(desk, served, VPP_MAX_RUNNING="1")
    assert not slot_is_free(desk.runs)
    paused = desk.vpp("pause", desk.folder / "run")
    assert (paused.code, paused.out) == (0, "run: paused\n")
    served.hold_after = None
    wait_until(lambda: served.answered == served.asked, "calls under way are answered")
    asked, beat = served.asked, desk.directory("run").last_beat()
    journal = desk.directory("run").journal.read_bytes()
    assert stays(lambda: served.asked, for_s=0.6)
    assert served.asked == asked < 100
    assert desk.directory("run").journal.read_bytes() == journal
    assert desk.state("run") == "paused"
    assert slot_is_free(desk.runs)
    wait_until(lambda: desk.directory("run").last_beat() != beat, "a paused run's heart beats")
    gone_on = desk.vpp("go-on", desk.folder / "run")
    assert (gone_on.code, gone_on.out) in ((0, "run: running\n"), (0, "run: finished\n"))
    outcome = desk.started[0].finish()
    assert outcome.code == 0
    assert is_like(desk, "run", outcome, shared_desk, undisturbed)


def test_a_run_whose_answers_are_cached_can_be_paused(desk: Desk, served: Model) -> None:
    """Pausing holds the steps, not only the calls."""
    words = ("run", str(desk.folder / "d.csv"), "--quiet", "--batch-size", "2", "--particles", "1", "--epochs", "1")
    rows = "\n".join(f"{i / 2},{i % 2}" for i in range(60))
    (desk.folder / "d.csv").write_text(f"x,parity\n{rows}\n")
    assert desk.vpp(*words, *served.options, "--run-dir", "first").code == 0
    asked = served.asked
    second = desk.start(*words, *served.options, "--run-dir", "second")
    wait_until(lambda: desk.state("second"), "the second run is there")
    desk.directory("second").send_command("pause")
    desk.wait_for("second", "paused")
    assert stays(lambda: desk.directory("second").journal.stat().st_size, for_s=0.4)
    desk.directory("second").send_command("go on")
    assert second.finish().code == 0
    assert served.asked == asked


def test_a_word_said_before_the_worker_is_up_is_obeyed(
    desk: Desk, served: Model, shared_desk: Desk, undisturbed: dict[str, Outcome]
) -> None:
    """But none that was said to an earlier one. As the app does: prepare, launch, and a user who pauses at once."""
    directory = prepare(desk, served)
    directory.send_command("stop")
    launch(directory, keys=Keys(), environment=desk.variables)
    directory.send_command("pause")
    wait_until(lambda: desk.state("run") == "paused", "it is paused")
    assert served.asked == 0
    directory.send_command("go on")
    wait_until(lambda: desk.state("run") == "finished" and not directory.is_held(), "it is finished")
    assert posterior(directory) == posterior(shared_desk.directory("smc"))
    assert not directory.log.exists() or "Traceback" not in directory.log.read_text()


def test_a_stopped_run_keeps_its_last_whole_step_evaluates_it_and_can_be_resumed(
    desk: Desk, served: Model, shared_desk: Desk, undisturbed: dict[str, Outcome]
) -> None:
    hold_in_a_step(desk, served)
    directory = desk.directory("run")
    directory.send_command("stop")
    wait_until(lambda: resumed_steps(directory) == [-1], "it goes back to the last whole step")
    served.hold_after = None
    outcome = desk.started[0].finish()
    assert outcome.code == 130
    assert outcome.result["status"] == desk.state("run") == "stopped"
    view = desk.look("run").view
    assert view.last_step == -1
    assert set(view.steps) == {-1}
    assert view.evaluated["test"].step == -1
    assert len(view.evaluated["test"].rows) == 10
    assert (desk.folder / "run" / "report.md").exists()
    resumed = desk.resume("run").finish()
    assert resumed.code == 0
    assert is_like(desk, "run", resumed, shared_desk, undisturbed)


def test_a_second_stop_does_without_the_test_rows(desk: Desk, served: Model) -> None:
    hold_in_a_step(desk, served)
    directory = desk.directory("run")
    directory.send_command("stop")
    wait_until(lambda: resumed_steps(directory) == [-1], "it goes back to the last whole step")
    assert desk.vpp("stop", directory.path).out == "run: stopped\n"
    outcome = desk.started[0].finish()
    assert outcome.code == 130
    assert outcome.result["metric"]["test"] is None


def test_what_keeps_calls_few_is_told_once_and_a_wait_with_each_line() -> None:
    spec = RunSpec(name="", config=Config(), endpoint=EndpointSpec(demo=True), dataset={})
    progress = Progress(told := StringIO(), spec)
    usage = Usage(window=80, narrowed_by="files", held_until=time.time() + 1000)
    ended = StepFinished(step=0, population=(), batch=(), tau=None)
    view = RunView(usage=usage)
    for _ in range(2):
        progress(view, Record(at=0.0, usage=usage, answers=0, event=ended))
    few, *lines = told.getvalue().splitlines()
    assert few == "80 calls at a time: this process may open no more files (ulimit -n)"
    assert [line.rpartition(", ")[2] for line in lines] == [
        "the server asked to wait: next calls in 2\u00a0min 00\u00a0s"
    ] * 2


def test_a_closed_standard_error_harms_no_run() -> None:
    spec = RunSpec(name="", config=Config(), endpoint=EndpointSpec(demo=True), dataset={})
    progress = Progress(None, spec)
    event = RunPaused(reason="user")
    progress(RunView(), Record(at=0.0, usage=Usage(), answers=0, event=event))
    progress.close()


def test_a_terminal_closed_before_the_first_hypotheses_leaves_a_run_without_any(desk: Desk, served: Model) -> None:
    served.hold_after = 5
    worker = desk.run("run", *served.options)
    wait_until(lambda: served.is_holding, "the run waits")
    worker.signal(signal.SIGHUP)
    outcome = worker.finish()
    assert outcome.code == 130
    assert outcome.result["weights"] == []
    served.hold_after = None
    assert desk.resume("run").finish().code == 0


def test_an_interrupt_at_the_terminal_still_evaluates_with_the_demo_model(desk: Desk) -> None:
    """The demo model is a child: the terminal's interrupt is not for it."""
    worker = desk.run("run", "--demo", "--method", "vml", "--batch-size", "2", "--epochs", "60")
    wait_until(lambda: desk.state("run") and (desk.look("run").view.last_step or -1) >= 1, "two steps are done")
    worker.signal(signal.SIGINT)
    outcome = worker.finish()
    assert outcome.code == 130
    assert outcome.result["metric"]["test"] is not None


def test_a_paused_run_can_be_stopped_and_its_pause_is_not_its_time(desk: Desk, served: Model) -> None:
    hold_in_a_step(desk, served)
    directory = desk.directory("run")
    directory.send_command("pause")
    desk.wait_for("run", "paused")
    served.hold_after = None
    directory.send_command("stop")
    outcome = desk.started[0].finish()
    assert outcome.code == 130
    assert outcome.result["metric"]["test"] is not None
    records = list(JournalReader(directory.journal).new_records())
    paused, after = next(pair for pair in pairwise(records) if isinstance(pair[0].event, RunPaused))
    lasted_s, pause_s = records[-1].at - records[0].at, after.at - paused.at
    assert pause_s > 0.005
    assert outcome.result["wall_s"] == pytest.approx(lasted_s - pause_s, abs=0.002)


def test_a_second_run_waits_for_a_slot_and_can_be_stopped_while_it_waits(desk: Desk, served: Model) -> None:
    hold_in_a_step(desk, served, "first", "--method", "vml", VPP_MAX_RUNNING="1")
    second = desk.run("second", *served.options, "--method", "vml", VPP_MAX_RUNNING="1")
    third = desk.run("third", *served.options, "--method", "vml", VPP_MAX_RUNNING="1")
    wait_until(lambda: desk.directory("second").is_held() and desk.directory("third").is_held(), "both are up")
    asked = served.asked
    assert desk.state("second") == desk.state("third") == "queued"
    assert stays(lambda: served.asked, for_s=0.4)
    assert desk.vpp("stop", desk.folder / "third").out == "third: stopped\n"
    assert third.finish().code == 130
    assert (desk.folder / "third" / "report.md").exists()
    assert served.asked == asked
    served.hold_after = None
    assert desk.started[0].finish().code == 0
    assert second.finish().code == 0
    assert desk.resume("third").finish().code == 0
    assert posterior(desk.directory("third")) == posterior(desk.directory("second"))


def test_a_second_worker_is_refused(desk: Desk, served: Model) -> None:
    hold_in_a_step(desk, served)
    directory = desk.directory("run")
    before = directory.journal.read_bytes()
    refused = desk.resume("run").finish()
    assert refused.code == 2
    assert "another worker" in refused.complaint
    deleted = desk.vpp("delete", directory.path)
    assert deleted.code == 2
    assert "another worker" in deleted.complaint
    assert directory.journal.read_bytes() == before
    assert desk.state("run") == "running"


def test_a_dead_workers_lock_and_slot_are_free_at_once(desk: Desk) -> None:
    """Though its child, the demo model, may live a moment longer."""
    worker = desk.run("run", "--demo", "--epochs", "60", VPP_MAX_RUNNING="1")
    wait_until(lambda: desk.state("run") == "running", "it runs")
    worker.process.kill()
    worker.process.wait()
    assert not desk.directory("run").is_held()
    assert slot_is_free(desk.runs)
    worker.kill()


def prepare(desk: Desk, served: Model) -> RunDirectory:
    """The run that `desk.run` starts, on disk only."""
    table = Table.read(PENGUINS.read_bytes(), name=PENGUINS.name)
    return Preparation(
        dataset=build_dataset(table, target="species", split=SplitPlan(train_size=30, test_size=10)),
        spec=RunSpec(
            name="",
            config=Config(particles=3, epochs=1),
            endpoint=EndpointSpec(base_url=served.base_url, model="demo", cache=False),
        ),
    ).create(desk.runs, run_dir=desk.folder / "run")
