"""Sentences, and the step that brought in each."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.inspected import SEED
from tests.reporting.builders import YES_NO, drawn, finished, proposed, started, view_of
from vpp.inspection.genealogy import genealogy, origins, sentences
from vpp.settings import Config


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Say yes. Else no.", ["Say yes.", "Else no."]),
        ("If x > 3.5, say A. Otherwise B!", ["If x > 3.5, say A.", "Otherwise B!"]),
        ("Take an island (e.g. Biscoe) first. Then go.", ["Take an island (e.g. Biscoe) first.", "Then go."]),
        ("Say no. Otherwise yes.", ["Say no.", "Otherwise yes."]),
        ("See No. 5 first.", ["See No. 5 first."]),
        ("Is it even? “Yes.” It is", ["Is it even?", "“Yes.”", "It is"]),
        ("1. If a: yes.\n2. Else no.\n\n- Done", ["1. If a: yes.", "2. Else no.", "- Done"]),
        ("Add 1, 2, ... and so on.", ["Add 1, 2, ... and so on."]),
        ("no stop", ["no stop"]),
        ("", []),
    ],
)
def test_a_text_is_split_where_its_sentences_end(text: str, found: list[str]) -> None:
    assert list(sentences(text)) == found


@given(st.text(st.sampled_from("ab .!?\n\u201c\u201d(5")))
def test_no_letter_of_a_text_is_lost(text: str) -> None:
    assert "".join("".join(sentences(text)).split()) == "".join(text.split())


def told(*texts: str) -> list[tuple[str, int]]:
    """The origins of the last of these texts, each of which one step's rewriting brought."""
    events = [started(Config(method="vml"), YES_NO), *drawn(texts[0])]
    for step, (before, after) in enumerate(pairwise(texts)):
        why = "unchanged" if before == after else "taken"
        events += [proposed(step, 0, before, after, why=why, accepted=before != after), finished(step, (after,))]
    found = genealogy(view_of(*events))
    assert found
    return [(each.sentence, each.step) for each in origins(found.ancestry(0), seed_text=SEED)]


def test_a_sentence_has_stood_since_the_step_that_brought_it_in() -> None:
    assert told(f"{SEED} A one.", f"{SEED} A one. B two.", f"{SEED} A one. B two.", f"{SEED} C. A one.  B two.") == [
        ("C.", 2),
        ("A one.", -1),
        ("B two.", 0),
    ]


def test_a_sentence_that_was_dropped_and_written_again_counts_from_then() -> None:
    assert told(f"{SEED} A one. B two.", f"{SEED} B two.", f"{SEED} A one. B two.") == [("A one.", 1), ("B two.", -1)]


def test_the_seed_sentence_alone_has_stood_from_the_first() -> None:
    assert told(SEED, SEED) == [(SEED, -1)]
