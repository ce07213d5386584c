"""A prompt cut to the context is mentioned in the report and on the card, and is rebuilt as it was sent."""

from dataclasses import replace
from pathlib import Path

import pytest

from tests.inspected import LABEL_CONFIG, LABELS, label_events
from tests.reporting.builders import run
from vpp.drawing.cards import CardMaker
from vpp.drawing.deck import deck_html
from vpp.events import Proposed
from vpp.runs.prompts import PromptMaker
from vpp.runs.reader import Snapshot
from vpp.wording.caveats import caveats


@pytest.fixture
def shortened(tmp_path: Path) -> Snapshot:
    """The run of labels, each of whose proposals was shown one row of two."""
    events = [
        replace(each, shown=1, thoughts="<b>It is even.</b>") if isinstance(each, Proposed) else each
        for each in label_events()
    ]
    return run(tmp_path, *events, data=LABELS, config=LABEL_CONFIG).refresh()


def test_the_report_says_how_many_prompts_were_shortened(shortened: Snapshot) -> None:
    assert any(
        "proposals were made from a shortened prompt, with 1 row of the batch" in sentence
        for sentence in caveats(shortened, LABELS)
    )


def test_the_card_says_what_was_shown_and_what_was_thought(shortened: Snapshot) -> None:
    view = shortened.view
    maker = CardMaker(view, shortened.spec.config, LABELS, PromptMaker(shortened.spec, LABELS))
    drawn = deck_html(maker.at(0), seed_text="")
    assert "shown 1 row of a batch of 2: the context had no room for more" in drawn
    assert "what it thought first" in drawn
    assert "&lt;b&gt;It is even.&lt;/b&gt;" in drawn


def test_the_prompt_is_rebuilt_with_the_rows_that_were_shown(shortened: Snapshot) -> None:
    prompt = PromptMaker(shortened.spec, LABELS).proposal(shortened.view, 0, 0)
    assert prompt is not None
    assert "[1]" in prompt
    assert "[2]" not in prompt
