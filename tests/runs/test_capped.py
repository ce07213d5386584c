"""A run with a cap pauses there, keeps all, and goes on to the same result."""

import os
import signal

from tests.processes import Desk, Model, Outcome, but_times_and_ids, posterior, wait_until
from tests.runs.test_control import prepare
from vpp.events import RunFailed, RunPaused
from vpp.llm.limits import Cap
from vpp.runs.journal import JournalReader
from vpp.runs.keys import Keys
from vpp.runs.process import launch


def test_a_capped_run_pauses_at_its_cap_and_ends_like_an_uncapped_one(
    desk: Desk, served: Model, shared_desk: Desk, undisturbed: dict[str, Outcome]
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
    assert ended.code == 0
    assert but_times_and_ids(ended.result) == but_times_and_ids(undisturbed["smc"].result)
    assert posterior(desk.directory("run")) == posterior(shared_desk.directory("smc"))
    events = [record.event for record in JournalReader(desk.directory("run").journal).new_records()]
    assert [event.reason for event in events if isinstance(event, RunPaused)] == ["budget"] * 3
    assert not any(isinstance(event, RunFailed) for event in events)
    assert served.asked == ended.result["spent"]["requests"]


def test_a_worker_of_the_app_waits_at_the_cap_and_goes_on_or_is_killed_and_resumed(
    desk: Desk, served: Model, shared_desk: Desk, undisturbed: dict[str, Outcome]
) -> None:
    directory = prepare(desk, served)
    directory.amend(cap=Cap(calls=60))
    pid = launch(directory, keys=Keys(), environment=desk.variables)
    desk.wait_for("run", "paused")
    assert directory.is_held()
    assert served.asked == 60
    directory.amend(cap=Cap(calls=110))
    directory.send_command("go on")
    wait_until(lambda: served.asked == 110 and desk.state("run") == "paused", "it has paused again")
    os.kill(pid, signal.SIGKILL)
    wait_until(lambda: not directory.is_held(), "its worker is gone")
    assert desk.state("run") == "paused"
    ended = desk.start("resume", directory.path, "--json", "--quiet", "--limit", "calls=0").finish()
    assert ended.code == 0
    assert posterior(directory) == posterior(shared_desk.directory("smc"))
    assert ended.result["spent"]["requests"] == served.asked


def test_the_plan_is_told_without_a_call_and_without_a_run(desk: Desk, served: Model) -> None:
    words = ("--plan", "--price", "0.5,0", "--limit", "calls=10")
    told = desk.run("run", *served.options, *words).finish()
    assert told.code == 0
    assert "\nMoney  " in told.out
    assert "The run pauses at 10 calls" in told.out
    assert served.asked == 0
    assert not (desk.folder / "run").exists()
