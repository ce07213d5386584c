"""The genealogy in words, as a table, as what is drawn, and as one particle's ancestors."""

from tests.inspected import BIG, EVEN, NONE, PAIR, SEED, label_events
from tests.reporting.builders import YES_NO, drawn, finished, resampled, reweighted, started, view_of
from vpp.drawing.genealogy import (
    ancestry_html,
    drawing,
    founders_table,
    genealogy_alt,
    genealogy_caption,
    genealogy_sentence,
    outcome_sentence,
)
from vpp.events import Event
from vpp.inspection.genealogy import Genealogy, Place, genealogy
from vpp.settings import Config

SMC = Config(particles=3)


def family_of(*events: Event) -> Genealogy:
    family = genealogy(view_of(*events))
    assert family
    return family


def redrawn(*ancestors: int) -> Genealogy:
    """Three first hypotheses and one step that resamples them."""
    texts = ("a", "b", "c")
    step = (reweighted(0, (0.5, 0.3, 0.2)), resampled(0, *ancestors))
    kept = finished(0, [texts[k] for k in ancestors], ancestors=ancestors)
    return family_of(started(SMC, YES_NO), *drawn(*texts), *step, kept)


def ancestors_html(family: Genealogy, slot: int, *, most: int | None = None) -> str:
    return ancestry_html(family, Place(family.last_step, slot), seed_text=SEED, is_weighted=True, most=most)


FAMILY = family_of(*label_events())


def test_the_run_of_labels_in_words_and_as_a_table() -> None:
    assert genealogy_sentence(FAMILY) == (
        "3 of 4 first hypotheses have living descendants; the largest family is 2 particles of first hypothesis 0."
    )
    assert genealogy_alt(FAMILY).endswith(" Resampled at step 1.")
    assert genealogy_caption(FAMILY, is_weighted=True) == (
        "One column per step, one row per particle; solid lines survive to step 1, dotted lines died out; "
        "larger dots hold more weight."
    )
    table = founders_table(FAMILY, seed_text=SEED, is_weighted=True)
    assert '<td>First hypothesis 0</td><td>2: particles 0 and 1</td><td class="r">0.700</td>' in table
    assert '<td>First hypothesis 3</td><td>none</td><td class="r">0.000</td><td>Say yes.</td>' in table
    assert table.count("<tr>") == 5
    assert outcome_sentence(FAMILY, Place(0, 0)) == "Particles 0 and 1 of step 1 descend from it."
    assert outcome_sentence(FAMILY, Place(0, 1)) == "Particle 2 of step 1 descends from it."
    assert outcome_sentence(FAMILY, Place(-1, 3)) == "No particle of step 1 descends from it: its line ended at step 1."
    assert outcome_sentence(FAMILY, Place(1, 0)) == ""


def test_who_has_descendants() -> None:
    """Resampled to each once, to one thrice, and to two twice each."""
    first = family_of(started(SMC, YES_NO), *drawn("a", "b"))
    assert genealogy_sentence(first) == "2 first hypotheses; no step is complete yet."
    written = [genealogy_sentence(redrawn(*ancestors)) for ancestors in ((0, 1, 2), (1, 1, 1), (0, 0, 2, 2))]
    assert written == [
        "3 of 3 first hypotheses have living descendants.",
        "1 of 3 first hypotheses has living descendants; the largest family is 3 particles of first hypothesis 1.",
        "2 of 3 first hypotheses have living descendants; the largest family is 2 particles of each of 2 founders.",
    ]


def test_the_drawing_carries_each_text_once_and_a_column_a_step() -> None:
    data = drawing(FAMILY, seed_text=SEED, is_weighted=True, steps=6)
    assert data["total"] == 7
    assert len(data["texts"]) == 6 == len({EVEN, PAIR, BIG, NONE, "LUCK Or yes.", "ODD"})
    assert data["columns"][2]["parents"] == [0, 0, 1, 2]
    assert data["columns"][1]["alive"] == "1110"
    assert [data["fates"][int(code)] for code in data["columns"][1]["fates"]][3] == "resampled away next"
    assert [data["happened"][int(code)] for code in data["columns"][2]["happened"]][1] == "rewritten, accepted"
    assert data["breaks"] == [{"column": 2, "words": "resampled"}]
    assert data["texts"][data["columns"][0]["texts"][3]] == "Say yes."


def test_ancestors_stand_oldest_first_with_what_changed() -> None:
    html = ancestors_html(FAMILY, 1)
    assert html.index("first hypothesis") < html.index("step 0") < html.rindex("step 1")
    assert "Unchanged: 1 proposal of the same words." in html
    assert "a is <del>even,</del> <ins>above 6,</ins> else no." in html
    assert "copied from particle 0" in html
    assert "weight 0.375" in html
    assert "weight 0.300" in html
    assert "since step 1" in html
