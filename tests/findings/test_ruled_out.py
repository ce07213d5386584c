from typing import Any

import pytest

from tests import inspected
from tests.reporting.builders import (
    NUMBERS,
    SEED,
    YES_NO,
    drawn,
    finished,
    proposed,
    resampled,
    reweighted,
    scored,
    started,
    view_of,
)
from vpp.data.dataset import Dataset
from vpp.events import ParticleDrawn, hypothesis_id
from vpp.findings.ruled_out import ruled_out, ruled_out_heading, ruled_out_lines
from vpp.runs.directory import RunReader
from vpp.settings import Config
from vpp.show.blocks import Heading
from vpp.show.markup import html

MH, SMC = Config(method="mh", particles=2), Config(particles=3)


DECIDED = (
    # Row 1 is wrong under both texts, so it decided nothing; row 2 did.
    (YES_NO, {1: "yes", 2: "yes"}, {1: "yes", 2: "no"}, [2, 1]),
    # Of numbers only the rows that it misses by more than the current text.
    (NUMBERS, {0: 0.5, 1: 1.0, 2: 5.0}, {0: 1.0, 1: 4.0, 2: 2.5}, [1, 0]),
    # An abstention is an error of the range of the targets.
    (NUMBERS, {0: 0.0, 1: 1.0}, {0: 0.1, 1: None}, [1, 0]),
)


@pytest.mark.parametrize(("data", "current", "bad", "rows"), DECIDED)
def test_the_rows_that_decided_come_first(data: Dataset, current: Any, bad: Any, rows: list[int]) -> None:
    view = view_of(
        started(MH, data),
        *drawn("kept", "kept"),
        scored(0, 0, "kept", current),
        scored(0, 0, "bad", bad, role="proposal"),
        proposed(0, 0, "kept", "bad"),
    )
    assert [each.row.id for each in ruled_out(view, data)[0].contradictions] == rows


def test_accepted_taken_and_unchanged_proposals_are_not_ruled_out() -> None:
    view = view_of(
        started(MH, YES_NO),
        *drawn("a", "b"),
        proposed(0, 0, "a", "better", accepted=True),
        proposed(0, 1, "b", "b", why="unchanged"),
        proposed(1, 1, "b", "c", why="taken", accepted=True),
    )
    assert ruled_out(view, YES_NO) == ()


@pytest.mark.parametrize(
    ("kept", "last", "gone"),
    [
        ({0: "yes", 1: "no"}, "kept", ["lost"]),
        ({0: "yes", 1: "yes"}, "kept", []),  # a text with the same answers was drawn
        ({0: "yes", 1: "no"}, "lost", []),  # written again since
    ],
)
def test_a_text_that_resampling_drops_is_ruled_out_unless_its_answers_live_on(
    kept: Any, last: str, gone: list[str]
) -> None:
    """Slots 0 and 2 hold the lost text; the kept one is copied."""
    answers = {"lost": {0: "yes", 1: "yes"}, "kept": kept}
    view = view_of(
        started(SMC, YES_NO),
        *drawn("lost", "kept", "lost"),
        *(scored(0, k, text, answers[text], role="buffer") for k, text in enumerate(("lost", "kept", "lost"))),
        reweighted(0, (0.05, 0.9, 0.05)),
        resampled(0, 1, 1, 1),
        finished(0, ("kept", "kept", last)),
    )
    found = ruled_out(view, YES_NO)
    assert [(each.reason, each.text) for each in found] == [("resampled away", text) for text in gone]
    assert [[c.row.id for c in each.contradictions] for each in found] == [[1] for _ in gone]


def test_unreadable_answers_are_kept_whole_with_the_reason() -> None:
    unread = ParticleDrawn(
        particle=0, hypothesis=hypothesis_id("seed"), text="seed", temperature=0.3, raw="I cannot", reason="no rule"
    )
    view = view_of(
        started(SMC, YES_NO),
        unread,
        proposed(0, 2, "a", None, why="unparsable", raw="I cannot", reason="no rule"),
        proposed(0, 1, "a", None, why="unparsable", raw="I cannot", reason="empty"),
    )
    found = {each.why_unread: (each.text, each.step, each.times) for each in ruled_out(view, YES_NO)}
    assert found == {"no rule": ("I cannot", 0, 2), "empty": ("I cannot", 0, 1)}


def test_after_a_resampling_a_proposal_is_held_against_the_text_that_its_slot_was_given(labels: RunReader) -> None:
    """At step 1 slot 2 held ODD, wrong on row 2, and was given PAIR, right there: so row 2 decided on LUCK."""
    found = {out.text: out for out in ruled_out(labels.refresh().view, labels.dataset())}
    contradictions = found[inspected.LUCK].contradictions
    assert [(each.row.id, each.is_decisive) for each in contradictions] == [(2, True)]


def test_a_text_is_a_line_of_eight_words_which_opens_to_the_rows_that_decided(labels: RunReader) -> None:
    """SEVEN at step 0 for ODD or NONE: wrong on both rows, NONE is right on row 0."""
    entries = ruled_out(labels.refresh().view, labels.dataset())
    lines = ruled_out_lines(entries, seed_text=SEED).items
    assert [(line.status, line.words, line.reason) for line in lines] == [
        ("rejected", "Say no.", "step 2, wrong on 1 of 2 rows"),
        ("dropped", "Say yes.", "step 2, wrong on 2 of 4 rows"),
        ("unreadable", "Sorry.", "step 2"),
        ("rejected", "Say yes if a holds a 7, else no.", "step 1, wrong on 2 of 2 rows"),
    ]
    assert all(len(line.reason.split()) <= 8 for line in lines)
    shown = html(lines[3].details)
    for words in ("At step 1.", "does better on 1 of 2 such rows.", "<td>0</td>"):
        assert words in shown
    assert "Three times, last at step 2." in html(lines[0].details)
    assert "The answer has no “New rule:” line." in html(lines[2].details)
    (head,) = ruled_out_heading(entries, SMC)
    assert isinstance(head, Heading)
    assert head.caption == "2 rejected, 1 dropped and 1 unreadable"


def test_a_method_that_drops_nothing_has_no_section() -> None:
    assert len(list(ruled_out_heading((), SMC))) == 2
    assert not list(ruled_out_heading((), Config(method="vml")))
