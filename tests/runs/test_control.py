"""Pause, go on, stop: by the control file, by the commands, by signals, and at a cap."""

import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.llm.stub import Reply, chat, refusal
from tests.processes import Desk, Model, demo_server, free_port, posterior, resumed_steps, stays, wait_until
from tests.runs.conftest import penguins
from vpp.data.split import SplitPlan
from vpp.errors import RunLocked
from vpp.events import RunFailed, RunPaused
from vpp.runs.directory import JournalReader
from vpp.runs.process import Slots, launch
from vpp.runs.spec import EndpointSpec, Keys

IN_A_STEP = 20
"""Calls answered in the first step of a small run, after the 13 of the initial draw."""


def hold_in_a_step(desk: Desk, served: Model, name: str = "run", *words: str, **environment: str) -> None:
    """A run in mid-step whose further calls get no answer yet."""
    served.hold_after = IN_A_STEP
    desk.run(name, *served.options, *words, **environment)
    wait_until(lambda: served.is_holding, "the run waits in its first step")


def slot_is_free(folder: Path) -> bool:
    slots = Slots(folder, count=1)
    taken = slots.take()
    slots.give_back()
    return taken


def test_a_paused_run_asks_nothing_gives_its_slot_back_and_goes_on_to_the_same_result(
    desk: Desk, served: Model, check_end: Callable[..., None]
) -> None:
    hold_in_a_step(desk, served, VPP_MAX_RUNNING="1")
    assert not slot_is_free(desk.runs)
    paused = desk.vpp("pause", desk.folder / "run")
    assert (paused.code, paused.out) == (0, "run: paused\n")
    served.hold_after = None
    wait_until(lambda: served.answered == served.asked, "calls under way are answered")
    asked, beat = served.asked, desk.directory("run").last_beat()
    assert stays(lambda: served.asked, for_s=0.6)
    assert served.asked == asked < 100
    journal = desk.directory("run").journal.read_bytes()
    wait_until(lambda: desk.directory("run").last_beat() != beat, "a paused run's heart beats")
    assert desk.directory("run").journal.read_bytes() == journal
    assert desk.state("run") == "paused"
    assert slot_is_free(desk.runs)
    gone_on = desk.vpp("go-on", desk.folder / "run")
    assert (gone_on.code, gone_on.out) in ((0, "run: running\n"), (0, "run: finished\n"))
    check_end(desk.started[0].finish())


def test_a_stopped_run_keeps_its_last_whole_step_evaluates_it_and_can_be_resumed(
    desk: Desk, served: Model, check_end: Callable[..., None]
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
    assert view.evaluations["test"].step == -1
    assert len(view.evaluations["test"].rows) == 10
    assert (desk.folder / "run" / "report.md").exists()
    check_end(desk.resume("run").finish())


def test_a_second_stop_does_without_the_test_rows(desk: Desk, served: Model) -> None:
    hold_in_a_step(desk, served)
    directory = desk.directory("run")
    directory.send_command("stop")
    wait_until(lambda: resumed_steps(directory) == [-1], "it goes back to the last whole step")
    assert desk.vpp("stop", directory.path).out == "run: stopped\n"
    outcome = desk.started[0].finish()
    assert outcome.code == 130
    assert outcome.result["metric"]["test"] is None


def test_an_interrupt_at_the_terminal_still_evaluates_with_the_demo_model(desk: Desk) -> None:
    """The demo model is a child: the terminal's interrupt is not for it."""
    worker = desk.run("run", "--demo", "--method", "vml", "--batch-size", "2", "--epochs", "60")
    wait_until(lambda: desk.state("run") and (desk.look("run").view.last_step or -1) >= 1, "two steps are done")
    worker.signal(signal.SIGINT)
    outcome = worker.finish()
    assert outcome.code == 130
    assert outcome.result["metric"]["test"] is not None


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
    before = desk.look("run").view
    refused = desk.resume("run").finish()
    assert refused.code == 2
    assert "another worker" in refused.complaint
    assert desk.look("run").view == before
    assert desk.state("run") == "running"


def test_of_two_workers_that_are_started_at_once_one_runs(desk: Desk, served: Model) -> None:
    endpoint, split = EndpointSpec(base_url=served.base_url, model="demo"), SplitPlan(train_size=30, test_size=10)
    prepared = penguins(endpoint, split=split, particles=3, epochs=1, reading="rows")
    served.hold_after, directory = IN_A_STEP, prepared.create(desk.runs, run_dir=desk.folder / "run")
    launch(directory, keys=Keys(), environment=desk.variables)
    assert directory.is_held(), "from its launch on"
    with pytest.raises(RunLocked, match="held by another worker"):
        launch(directory, keys=Keys(), environment=desk.variables)
    wait_until(lambda: served.is_holding, "the first asks its model")
    served.hold_after = None
    wait_until(lambda: desk.state("run") == "finished" and not directory.is_held(), "it has ended")


# At a cap


def test_a_capped_run_pauses_at_its_cap_and_ends_like_an_uncapped_one(
    desk: Desk, served: Model, check_end: Callable[..., None]
) -> None:
    capped = desk.run("run", *served.options, "--limit", "calls=100").finish()
    assert capped.code == 3
    assert served.asked == served.answered == capped.result["spent"]["requests"] == 100
    assert capped.result["status"] == desk.state("run") == "paused"
    assert "the cap of 100 calls is reached: 100 calls sent" in capped.complaint
    still = desk.start("resume", desk.folder / "run", "--json", "--quiet").finish()
    assert (still.code, served.asked) == (3, 100)
    words = ("resume", desk.folder / "run", "--json", "--quiet", "--limit")
    assert desk.start(*words, "calls=120").finish().code == 3
    assert served.asked == 120
    ended = desk.start(*words, "calls=0").finish()
    check_end(ended)
    events = [record.event for record in JournalReader(desk.directory("run").journal).new_records()]
    assert [event.reason for event in events if isinstance(event, RunPaused)] == ["budget"] * 3
    assert not any(isinstance(event, RunFailed) for event in events)
    assert served.asked == ended.result["spent"]["requests"]


# A lost endpoint


VML = ("--method", "vml")


def test_a_run_waits_for_its_endpoint_and_goes_on_by_itself_to_the_same_result(
    desk: Desk, check_end: Callable[..., None]
) -> None:
    port = free_port()
    with demo_server(port=port, latency_ms=40) as (url, process):
        running = desk.run("run", "--base-url", url, "--model", "demo")
        wait_until(lambda: desk.state("run") and desk.look("run").view.last_step == 0, "a step is whole")
        process.kill()
        process.wait()
    desk.wait_for("run", "paused")
    with demo_server(port=port):
        check_end(running.finish())
    events = [record.event for record in JournalReader(desk.directory("run").journal).new_records()]
    pauses = [event for event in events if isinstance(event, RunPaused)]
    assert pauses
    assert all(pause.reason == "endpoint" for pause in pauses)
    assert all(pause.retry_at and pause.gives_up_at and pause.retry_at <= pause.gives_up_at for pause in pauses)
    assert "is the server up" in pauses[0].detail


def test_a_run_that_has_waited_too_long_fails_and_can_be_resumed(desk: Desk, check_end: Callable[..., None]) -> None:
    port = free_port()
    words = ("--base-url", f"http://127.0.0.1:{port}/v1", "--model", "demo", *VML, "--limit", "wait=0.2")
    given_up = desk.run("run", *words).finish()
    assert "the run waited for 0.2 s (--limit wait=N) and gave up: resume it" in given_up.complaint
    assert given_up.code == 3
    assert "is the server up" in given_up.complaint
    assert given_up.result["status"] == desk.state("run") == "failed"
    with demo_server(port=port):
        check_end(desk.resume("run").finish(), "vml")


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (refusal(401, "no such key"), ("key refused", "no such key")),
        (refusal(404, "no such model"), ("unknown model", "no such model")),
        (
            chat(None, finish="length", reasoning="hm"),
            ("cut off at its limit of tokens: allow more tokens (--limit learner=N", "got an answer to use"),
        ),
    ],
    ids=["key", "model", "thoughts"],
)
def test_what_no_retry_can_change_ends_the_run_at_once(
    desk: Desk, served: Model, answer: Reply, words: tuple[str, ...]
) -> None:
    served.refusal = answer
    outcome = desk.run("run", *served.options, *VML).finish()
    assert (outcome.code, desk.state("run"), served.answered) == (3, "failed", 0)
    assert all(each in outcome.complaint for each in words)
    answers = JournalReader(desk.directory("run").journal).read().answers.by_pair
    assert not [each for each in answers.values() if each.value is not None]
    events = [record.event for record in JournalReader(desk.directory("run").journal).new_records()]
    assert not any(isinstance(event, RunPaused) for event in events)
    served.refusal = None
    assert desk.resume("run").finish().code == 0
