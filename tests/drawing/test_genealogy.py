"""The genealogy in words, as a table, as what is drawn, and as one particle's ancestors."""

from tests.inspected import BIG, EVEN, NONE, PAIR, SEED, label_events
from tests.reporting.builders import YES_NO, drawn, finished, proposed, resampled, reweighted, started, view_of
from vpp.drawing.genealogy import (
    ancestry_html,
    drawing,
    founders_table,
    genealogy_alt,
    genealogy_caption,
    genealogy_sentence,
    outcome_sentence,
)
from vpp.events import Event, ParticleDrawn, hypothesis_id
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


def test_one_particle_is_one_line() -> None:
    family = family_of(
        started(Config(method="vml"), YES_NO),
        *drawn(SEED),
        proposed(0, 0, SEED, f"{SEED} A.", why="taken", accepted=True),
        finished(0, (f"{SEED} A.",)),
        proposed(1, 0, f"{SEED} A.", f"{SEED} A.", why="unchanged"),
        finished(1, (f"{SEED} A.",)),
    )
    assert genealogy_sentence(family) == "One particle, one line: its text changed at 1 of 2 steps."
    assert genealogy_caption(family, is_weighted=False) == "One column per step, read from left to right."
    assert "the seed sentence alone" in ancestors_html(family, 0)
    assert "of the words kept" not in ancestors_html(family, 0)


def test_newcomers_are_counted_apart() -> None:
    joined = ParticleDrawn(particle=2, hypothesis=hypothesis_id("c"), text="c", temperature=1.0, raw="c", step=0)
    family = family_of(started(SMC, YES_NO), *drawn("a", "b"), joined, finished(0, "abc"), finished(1, "abc"))
    assert genealogy_sentence(family) == (
        "2 of 2 first hypotheses have living descendants; 1 of 1 newcomer has living descendants."
    )
    assert "Newcomer 2 of step 0" in founders_table(family, seed_text=SEED, is_weighted=True)
    assert "Its ancestors, from newcomer 2 of step 0 on" in ancestors_html(family, 2)


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


def test_weights_are_rounded_but_never_to_nothing_or_all_and_many_long_texts_are_cut() -> None:
    family = family_of(started(SMC, YES_NO), *drawn("a", "b"), finished(0, "ab", weights=(1 - 1e-9, 1e-9)))
    assert drawing(family, seed_text="", is_weighted=True, steps=1)["columns"][1]["weights"] == [0.9999, 0.0001]
    assert drawing(family, seed_text="", is_weighted=False, steps=1)["columns"][1]["weights"] is None
    family = family_of(started(SMC, YES_NO), *drawn(*(f"{k} " + "word " * 2000 for k in range(3))))
    assert [len(words) for words in drawing(family, seed_text="", is_weighted=True, steps=1)["texts"]] == [600] * 3


def test_ancestors_stand_oldest_first_with_what_changed() -> None:
    html = ancestors_html(FAMILY, 1)
    assert html.index("first hypothesis") < html.index("step 0") < html.rindex("step 1")
    assert "Unchanged: 1 proposal of the same words." in html
    assert "a is <del>even,</del> <ins>above 6,</ins> else no." in html
    assert "copied from particle 0" in html
    assert "weight 0.375" in html
    assert "weight 0.300" in html
    assert "since step 1" in html


def test_a_text_of_which_little_was_kept_is_shown_clean_with_the_one_before_in_a_fold() -> None:
    before, after = f"{SEED} one two three four", f"{SEED} four five six seven"
    chain = started(Config(method="mh", particles=1), YES_NO), *drawn(before)
    html = ancestors_html(family_of(*chain, proposed(0, 0, before, after, accepted=True), finished(0, (after,))), 0)
    assert "<ins>" not in html
    title = "what it said before: 25\N{NO-BREAK SPACE}% kept"
    assert f'<summary>{title}</summary><p class="hyp">one two three four</p>' in html


def test_a_long_way_shows_its_newest_changes_and_how_many_it_leaves_out() -> None:
    texts = [f"{SEED} text number {n}." for n in range(6)]
    events: list[Event] = [started(Config(method="vml"), YES_NO, steps=5), *drawn(texts[0])]
    for step in range(5):
        events += [proposed(step, 0, texts[step], texts[step + 1], why="taken", accepted=True)]
        events += [finished(step, (texts[step + 1],))]
    html = ancestors_html(family_of(*events), 0, most=2)
    assert "3 changes not shown, before step 3." in html
    assert [f"<b>step {step}</b>" in html for step in range(5)] == [False, False, False, True, True]
    assert "not shown" not in ancestors_html(family_of(*events), 0, most=5)
