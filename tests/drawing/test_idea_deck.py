from dataclasses import replace
from pathlib import Path

import pytest

from tests import inspected
from tests.reporting.builders import SEED, drawn, scored, started, view_of
from vpp.drawing.idea_deck import compared_words, first_seen, held_sentence, held_text, ideas_html, more_words
from vpp.events import hypothesis_id
from vpp.inspection.ideas import Ideas, merge_ideas
from vpp.inspection.quoted import with_quotes
from vpp.problem import Prediction
from vpp.runs.reader import RunReader


def ideas_of(reader: RunReader) -> Ideas:
    ideas = merge_ideas(reader.refresh().view, reader.dataset())
    assert ideas is not None
    return ideas


def test_an_idea_is_shown_with_its_errors_its_particles_and_when_it_came(tmp_path: Path) -> None:
    ideas = ideas_of(inspected.labels(tmp_path))
    html = ideas_html(ideas, seed_text=SEED)
    assert f'data-copy="{inspected.EVEN}"' in html
    assert html.count('class="copy"') == 4
    first, second, third = html.split("<article")[1:]
    for words in ("0.600", "idea 1", "2 particles", "5 of 6 test rows right", "4 of 4 training rows right"):
        assert words in first
    assert "first seen in the first draw, particle 0" in first
    assert "weight 0.200 · first seen at step 0, particle 1" in first
    assert "first seen at step 1, particle 1" in second
    assert "<span>1 of them unreadable</span>" not in second
    assert "1 answer unreadable" in third
    for origin, words in (("yours", "yours, given at the start"), ("continued", "taken over from the earlier run")):
        given = replace(ideas.all[0].wordings[0], origin=origin)
        assert first_seen(given) == f"{words}, particle 0"


def test_words_that_an_idea_quotes_in_several_rows_stand_on_its_card(tmp_path: Path) -> None:
    ideas, (column, target) = ideas_of(inspected.labels(tmp_path)), inspected.LABELS.columns
    rows = (replace(row, inputs=(("a", f"The <Staff> of room {row.id} was loud."),)) for row in inspected.LABELS.test)
    data = replace(inspected.LABELS, columns=(replace(column, kind="text"), target), test=tuple(rows))
    one, other = (hypothesis_id(wording.text) for wording in ideas.all[0].wordings)
    said = {
        (one, 4): '"<staff>" and "room 4 was loud"',
        (other, 5): '"<Staff>", "a pool" and "The <Staff> of room 5 was"',
        (one, 6): '"<staff>", "<staff>", "a pool", "was loud."',
        (other, 7): '"was  loud" and “of”',
    }
    answers = {key: Prediction(row=key[1], value="yes", explanation=words) for key, words in said.items()}
    first, second, _ = ideas_html(with_quotes(ideas, lambda: answers, data), seed_text=SEED).split("<article")[1:]
    assert "Reasons quote most: “&lt;staff&gt;” in 3 rows.<" in first
    assert "quote most" not in second
    assert with_quotes(ideas, lambda: pytest.fail("read in vain"), inspected.LABELS) == ideas, "no column of text"


def test_a_wording_of_little_weight_never_reads_as_none_and_the_shortest_can_stand_first(tmp_path: Path) -> None:
    ideas = ideas_of(inspected.labels(tmp_path))
    heaviest, other = ideas.all[0].wordings
    light = replace(ideas, all=(replace(ideas.all[0], wordings=(heaviest, replace(other, weight=0.0004))),))
    assert "weight under 0.001 · first seen" in ideas_html(light, seed_text=SEED)
    longer = replace(heaviest, text=inspected.EVEN + " That is all, and nothing else.")
    alone = replace(ideas, all=(replace(ideas.all[0], wordings=(longer, other)),))
    assert '<p class="hyp">Say yes if a is even, else no. That is all' in ideas_html(alone, seed_text=SEED)
    first, second = ideas_html(alone, seed_text=SEED, shown="shortest").split('<p class="hyp">')[1:]
    assert first.startswith("Say yes if a can be halved")
    assert second.startswith("Say yes if a is even")


def test_the_errors_of_numbers_name_their_rows(tmp_path: Path) -> None:
    html = ideas_html(ideas_of(inspected.numbers(tmp_path)), seed_text=SEED)
    assert "test MSE 0.25 on 4 rows" in html
    assert "training MSE 2.25 on 4 rows" in html


def test_without_weights_an_idea_holds_a_number_of_particles(tmp_path: Path) -> None:
    ideas = ideas_of(inspected.labels(tmp_path))
    assert held_text(0.6, 2, ideas, is_weighted=False) == "2/4"
    shown = [held_text(weight, 1, ideas, is_weighted=True) for weight in (0.0, 1e-5, 0.25, 0.9999, 1.0)]
    assert shown == ["0.000", "< 0.001", "0.250", "> 0.999", "1.000"]


def test_the_caption_names_the_rows_compared(tmp_path: Path) -> None:
    ideas = ideas_of(inspected.labels(tmp_path))
    assert compared_words(ideas) == "Compared on 10 rows: 6 test and 4 training"
    four = replace(ideas, all=(*ideas.all, ideas.all[1]))
    assert more_words(four, 1, is_weighted=True).replace("\N{NO-BREAK SPACE}", " ") == (
        "Show 3 more ideas, 70 % of the weight"
    )
    assert more_words(ideas, 1, is_weighted=True) == "", "two are drawn without a button"
    assert held_sentence(ideas) == "Four particles hold three ideas"
    config = inspected.LABEL_CONFIG
    drawn_only = merge_ideas(view_of(started(config, inspected.LABELS), *drawn("a", "b")), inspected.LABELS)
    assert drawn_only is not None
    assert compared_words(drawn_only).startswith("Compared by their words only")
    asked = view_of(
        started(config, inspected.LABELS), *drawn("a", "b"), *(scored(0, k, t, {0: "yes"}) for k, t in enumerate("ab"))
    )
    by_step = merge_ideas(asked, inspected.LABELS)
    assert by_step is not None
    assert compared_words(by_step) == "Compared on the 1 training row that all have answered since step 0"
    assert "1 of 1 row right" in ideas_html(by_step, seed_text="")
