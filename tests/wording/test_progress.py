"""What a page says of the calls and of the rewriting, on hand-made runs."""

from dataclasses import replace

import pytest

from vpp.runs.directory import State
from vpp.runs.spec import EndpointSpec
from vpp.settings import Config
from vpp.wording.status import pending_words

SMC = Config(particles=2, batch_size=2, epochs=1, mutate="every")
MH = replace(SMC, method="mh")
SERVER = EndpointSpec(base_url="http://127.0.0.1:9/v1", model="m")


@pytest.mark.parametrize("state", ["running", "stalled"])
def test_a_pending_command_says_whether_the_worker_responds(state: State) -> None:
    words = {pending_words(command, state) for command in ("stop", "pause")}
    assert len(words) == (1 if state == "stalled" else 2)
    assert all(("does not respond" in each) == (state == "stalled") for each in words)
