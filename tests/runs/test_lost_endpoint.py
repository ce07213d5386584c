"""An endpoint that goes, refuses, or does not know the key."""

from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from tests.llm.stub import Reply, chat, refusal
from tests.processes import (
    Desk,
    Model,
    Outcome,
    answers_at,
    but_times_and_ids,
    demo_server,
    free_port,
    posterior,
    wait_until,
)
from vpp.events import RunPaused
from vpp.runs.journal import JournalReader

VML = ("--method", "vml")


@pytest.fixture(scope="module")
def outages(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    """Two runs that lose their server: one gets it back, the other gives up and is resumed. It takes the retries."""
    desk = Desk(tmp_path_factory.mktemp("outages"))
    port, other_port = free_port(), free_port()
    nobody = ("--base-url", f"http://127.0.0.1:{other_port}/v1", "--model", "demo", *VML)
    with ExitStack() as stack:
        gives_up = desk.run("gives up", *nobody, "--limit", "wait=0.2")
        with demo_server(port=port, latency_ms=40) as (url, process):
            loses = desk.run("loses", "--base-url", url, "--model", "demo")
            wait_until(lambda: desk.state("loses") and desk.look("loses").view.last_step == 0, "a step is whole")
            process.kill()
            process.wait()
        desk.wait_for("loses", "paused")
        stack.enter_context(demo_server(port=port))
        desk.outcomes["gives up"] = gives_up.finish()
        desk.states["gives up"] = desk.state("gives up")
        stack.enter_context(demo_server(port=other_port))
        wait_until(lambda: answers_at(f"http://127.0.0.1:{other_port}/v1"), "the other server is up")
        resumed = desk.resume("gives up")
        desk.outcomes["loses"] = loses.finish()
        desk.outcomes["resumed"] = resumed.finish()
        yield desk
    desk.close()


def test_a_run_waits_for_its_endpoint_and_goes_on_by_itself_to_the_same_result(
    outages: Desk, shared_desk: Desk, undisturbed: dict[str, Outcome]
) -> None:
    events = [record.event for record in JournalReader(outages.directory("loses").journal).new_records()]
    pauses = [event for event in events if isinstance(event, RunPaused)]
    assert pauses
    assert all(pause.reason == "endpoint" for pause in pauses)
    assert all(pause.retry_at and pause.gives_up_at and pause.retry_at <= pause.gives_up_at for pause in pauses)
    assert "is the server up" in pauses[0].detail
    outcome = outages.outcomes["loses"]
    assert outcome.code == 0
    assert but_times_and_ids(outcome.result) == but_times_and_ids(undisturbed["smc"].result)
    assert posterior(outages.directory("loses")) == posterior(shared_desk.directory("smc"))


def test_a_run_that_has_waited_too_long_fails_and_can_be_resumed(
    outages: Desk, shared_desk: Desk, undisturbed: dict[str, Outcome]
) -> None:
    given_up = outages.outcomes["gives up"]
    assert "the run waited for 0.2 s (--limit wait=N) and gave up: resume it" in given_up.complaint
    assert given_up.code == 3
    assert "is the server up" in given_up.complaint
    assert given_up.result["status"] == outages.states["gives up"] == "failed"
    assert outages.outcomes["resumed"].code == 0
    assert but_times_and_ids(outages.outcomes["resumed"].result) == but_times_and_ids(undisturbed["vml"].result)
    assert posterior(outages.directory("gives up")) == posterior(shared_desk.directory("vml"))


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
