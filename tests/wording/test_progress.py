"""What a page says of the calls and of the rewriting, on hand-made runs."""

import pytest

from vpp.runs.directory import State
from vpp.wording.status import pending_words


@pytest.mark.parametrize("state", ["running", "stalled"])
def test_a_pending_command_says_whether_the_worker_responds(state: State) -> None:
    words = {pending_words(command, state) for command in ("stop", "pause")}
    assert len(words) == (1 if state == "stalled" else 2)
    assert all(("does not respond" in each) == (state == "stalled") for each in words)
