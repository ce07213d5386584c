"""What a page says of the calls and of the rewriting, on hand-made runs."""

from dataclasses import replace
from pathlib import Path

import pytest

from tests.reporting.builders import YES_NO, drawn, run, started
from vpp.cli.summary import summary
from vpp.events import Usage
from vpp.inspection.summary import result
from vpp.reporting.markdown import calls
from vpp.runs.directory import State
from vpp.runs.spec import EndpointSpec
from vpp.settings import Config
from vpp.wording.brief import caveats
from vpp.wording.progress import calls_metric
from vpp.wording.status import pending_words

SMC = Config(particles=2, batch_size=2, epochs=1, mutate="every")
MH = replace(SMC, method="mh")
SERVER = EndpointSpec(base_url="http://127.0.0.1:9/v1", model="m")


@pytest.mark.parametrize(("count", "words"), [(0, ""), (1, "1 label"), (1200, "1,200 labels")])
def test_labels_read_from_explanations_are_shown_everywhere_once_there_are_any(
    tmp_path: Path, count: int, words: str
) -> None:
    reader = run(tmp_path, started(SMC, YES_NO), *drawn("one", "two"), config=SMC, endpoint=SERVER)
    snapshot = replace(reader.refresh(), usage=Usage(learner=2000, inferred=count))
    snapshot.view.usage = snapshot.usage
    assert result(reader.directory, snapshot.view)["calls"]["inferred"] == count
    shown = (
        (calls_metric(snapshot).words, f"{words} read from explanations; 0 tokens"),
        (summary(reader.directory, snapshot.view), f"\n{words} read from explanations without an Output: line"),
        (" ".join(caveats(snapshot, YES_NO)), f"The parser took {words} from explanations"),
        ("".join(calls(snapshot)), f"| labels read from an explanation | {count:,} |"),
    )
    for text, expected in shown:
        assert (expected in text) == (count > 0)
        assert ("explanation" in text) == (count > 0)


@pytest.mark.parametrize("state", ["running", "stalled"])
def test_a_pending_command_says_whether_the_worker_responds(state: State) -> None:
    words = {pending_words(command, state) for command in ("stop", "pause")}
    assert len(words) == (1 if state == "stalled" else 2)
    assert all(("does not respond" in each) == (state == "stalled") for each in words)
