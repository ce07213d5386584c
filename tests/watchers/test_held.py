"""What a client holds is forgotten when a browser forgets it: no sooner, and no later."""

from collections.abc import Callable

import pytest
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from tests.watchers.held import Held

Status = ForwardMsg.ScriptFinishedStatus
OLDEST = 2
"""Runs after which a message that did not come again is forgotten."""


def test_a_fragment_ages_its_own_messages_alone() -> None:
    held = holding("", "chart", "table")
    for _ in range(OLDEST + 1):
        run(held, "chart")
    assert held.ask() == ["of ", "of table"]


def test_a_run_of_the_whole_script_ages_all() -> None:
    held = holding("", "chart", "table")
    for _ in range(OLDEST + 1):
        run(held)
    assert held.ask() == []


@pytest.mark.parametrize("again", [lambda held: held.step("of chart"), lambda held: keep(held, "chart")])
def test_what_comes_again_stays(again: Callable[[Held], object]) -> None:
    held = holding("chart")
    for _ in range(OLDEST + 1):
        again(held)
        run(held)
    assert held.ask() == ["of chart"]


def test_nothing_that_the_server_was_told_of_is_forgotten_before_it_answers() -> None:
    held = holding("chart")
    for _ in range(OLDEST):
        run(held, "chart")
    begin(held)
    told = held.ask()
    finish(held, "chart")
    assert [held.step(name) for name in told] == [7]


def test_a_run_that_ends_early_to_begin_anew_ages_nothing() -> None:
    held = holding("chart")
    for _ in range(OLDEST + 1):
        run(held, status=ForwardMsg.FINISHED_EARLY_FOR_RERUN)
    assert held.ask() == ["of chart"]


def test_only_what_the_server_may_send_as_its_hash_is_held() -> None:
    held = Held()
    held.keep(ForwardMsg(hash="small"), None)
    with pytest.raises(KeyError):
        held.step("small")


def holding(*fragments: str) -> Held:
    """A message of each."""
    held = Held()
    for fragment in fragments:
        keep(held, fragment)
    return held


def keep(held: Held, fragment: str) -> None:
    message = ForwardMsg(hash=f"of {fragment}")
    message.metadata.cacheable = True
    message.delta.fragment_id = fragment
    held.keep(message, 7)


def run(held: Held, *fragments: str, status: Status.ValueType = ForwardMsg.FINISHED_SUCCESSFULLY) -> None:
    held.ask()
    begin(held)
    finish(held, *fragments, status=status)


def begin(held: Held) -> None:
    message = ForwardMsg()
    message.new_session.config.max_cached_message_age = OLDEST
    held.begin(message)


def finish(held: Held, *fragments: str, status: Status.ValueType = ForwardMsg.FINISHED_SUCCESSFULLY) -> None:
    message = ForwardMsg(script_finished=status)
    message.metadata.run.script_run_id = "run"
    message.metadata.run.fragment_ids.extend(fragments)
    held.finish(message)
