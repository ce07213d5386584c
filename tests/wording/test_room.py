"""A prompt cut to the context is mentioned in the report and on the card, and is rebuilt as it was sent."""

from dataclasses import replace
from pathlib import Path

import pytest

from tests.inspected import LABEL_CONFIG, LABELS, label_events
from tests.reporting.builders import run
from vpp.events import Proposed
from vpp.runs.prompts import PromptMaker
from vpp.runs.reader import Snapshot


@pytest.fixture
def shortened(tmp_path: Path) -> Snapshot:
    """The run of labels, each of whose proposals was shown one row of two."""
    events = [
        replace(each, shown=1, thoughts="<b>It is even.</b>") if isinstance(each, Proposed) else each
        for each in label_events()
    ]
    return run(tmp_path, *events, data=LABELS, config=LABEL_CONFIG).refresh()


def test_the_prompt_is_rebuilt_with_the_rows_that_were_shown(shortened: Snapshot) -> None:
    prompt = PromptMaker(shortened.spec, LABELS).proposal(shortened.view, 0, 0)
    assert prompt is not None
    assert "[1]" in prompt
    assert "[2]" not in prompt
