"""A run with a cap pauses there, keeps all, and goes on to the same result."""

from tests.processes import Desk, Model, Outcome, but_times_and_ids, posterior
from vpp.events import RunFailed, RunPaused
from vpp.runs.journal import JournalReader


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
