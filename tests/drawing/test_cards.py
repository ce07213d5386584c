import re
from pathlib import Path

import pytest

from tests.inspected import labels, numbers
from tests.reporting.sampled import SMALL, VARIANTS, agreeing, sampled, sampled_run
from vpp.drawing.cards import CardMaker
from vpp.drawing.deck import Card, deck_html
from vpp.runs.prompts import PromptMaker
from vpp.runs.reader import RunReader
from vpp.settings import Config

TASKS = ("classification", "regression")


def maker(reader: RunReader) -> CardMaker:
    snapshot, data = reader.refresh(), reader.dataset()
    return CardMaker(snapshot.view, snapshot.spec.config, data, PromptMaker(snapshot.spec, data))


def all_cards(reader: RunReader) -> dict[int, list[Card]]:
    """By step."""
    made = maker(reader)
    return {step: made.at(step) for step in reader.refresh().view.steps if step >= 0}


def words(cards: list[Card]) -> str:
    """What marks, facts and folds of some cards say."""
    written = [mark for card in cards for _, mark in card.marks]
    written += [fact for card in cards for fact in card.rail]
    written += [line for card in cards for fold in card.folds for line in (fold.title, *fold.notes)]
    return "\n".join(written)


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("name", VARIANTS)
def test_every_particle_of_every_step_has_a_card(name: str, task: str) -> None:
    reader = sampled_run(name, task)
    view = reader.refresh().view
    for step, cards in all_cards(reader).items():
        before, joined = view.steps[step - 1].population, view.steps[step].joined
        assert sorted(card.slot for card in cards) == list(range(len(before) + len(joined)))
        assert sum(card.weight or 0 for card in cards) == pytest.approx(1)
    assert sorted(card.slot for card in maker(reader).final()) == list(range(view.size))


def test_a_change_of_weight_or_place_has_a_shape_and_a_word(tmp_path: Path) -> None:
    """Weights of step 0: 3/8, 1/8, 3/8, 1/8; of step 1: 0.7, then 0.1 each."""
    cards = maker(labels(tmp_path)).at(1)
    assert {card.slot: card.moved for card in cards} == {
        0: (("up", "from 0.375"),),
        1: (("down", "from 0.125"),),
        2: (("down", "from 0.375"),),
        3: (("down", "from 0.125"),),
    }, "of equals none has a place to rise or fall from"
    heard = deck_html([card for card in cards if card.slot == 1], seed_text="")
    written = [re.sub("<[^>]*>", "", part) for part in heard.split('<span class="sr">')[1:2]]
    assert written[0].startswith("down from 0.125")


@pytest.mark.parametrize("name", ["smc filtered", "incremental", "adaptive", "mh", "mh on train", "mh on buffer"])
def test_each_judged_proposal_shows_its_arithmetic(name: str) -> None:
    reader = sampled_run(name)
    notes = [n for cards in all_cards(reader).values() for c in cards for f in c.folds for n in f.notes]
    judged = reader.refresh().view.decided_by_likelihood
    assert {p.accepted for p in judged} == {True, False}
    assert sum("log α = " in note for note in notes) == len(judged)
    assert sum("is not below log u" in note for note in notes) == sum(p.accepted for p in judged)
    assert any("times φ = " in note for note in notes) == VARIANTS[name].is_telescoping


def test_a_rejected_proposal_is_a_fold_of_the_particle_that_keeps_its_text() -> None:
    reader = sampled_run("smc filtered")
    view = reader.refresh().view
    rejected = next(p for p in view.decided_by_likelihood if not p.accepted)
    folds = [f for card in all_cards(reader)[rejected.step] for f in card.folds if f.mark == "rej"]
    kept = next(f for f in folds if f.title == f"particle {rejected.particle} keeps it: proposal rejected")
    assert rejected.text is not None
    assert rejected.text.endswith(kept.sentence)


@pytest.mark.parametrize("name", ["smc", "incremental", "mh", "mh on train", "mh on buffer", "vml5"])
def test_hits_are_those_of_the_batch_whatever_was_scored(name: str) -> None:
    reader = sampled_run(name)
    view, truth = reader.refresh().view, {row.id: row.target for row in reader.dataset().train}
    for step, cards in all_cards(reader).items():
        finished = view.steps[step].finished
        assert finished is not None
        for card in (card for card in cards if card.hits):
            scored = [view.steps[step].scored[card.slot], view.steps[step].proposals_scored.get(card.slot)]
            answers = [dict(zip(s.rows, s.predictions, strict=True)) for s in scored if s]
            written = [
                tuple(None if a[row] is None else a[row] == truth[row] for row in finished.batch) for a in answers
            ]
            assert card.hits in written
    assert any(card.hits for cards in all_cards(reader).values() for card in cards)


def test_cards_of_texts_that_were_not_rewritten_say_why() -> None:
    reader = sampled_run("smc duplicates")
    view = reader.refresh().view
    quiet = [step for step in range(5) if not view.steps[step].proposed]
    assert quiet, "the run has a step without resampling"
    for step in quiet:
        marks = [[words for _, words in card.marks] for card in all_cards(reader)[step]]
        assert all("not rewritten: only copies are" in each for each in marks)


@pytest.mark.parametrize("name", ["mh", "adaptive"])
def test_fresh_draws_from_the_prior_are_named_whether_accepted_or_rejected(name: str) -> None:
    reader = sampled_run(name)
    fresh = [p for p in reader.refresh().view.proposals if p.origin == "prior" and p.why == "likelihood"]
    assert {p.accepted for p in fresh} == {True, False}
    later = int(name == "adaptive")  # weighed at the next step
    marks = {
        (step - later, card.slot): " ".join(words for _, words in card.marks)
        for step, cards in all_cards(reader).items()
        for card in cards
    }
    for p in (p for p in fresh if (p.step, p.particle) in marks):
        words = marks[p.step, p.particle]
        assert ("drawn afresh from the prior, without data" in words) == p.accepted
        assert (f"rejected a proposal drawn afresh from the prior at step {p.step}" in words) != p.accepted
    # A fresh draw is not compared with the text it replaced.
    cards = [card for cards in all_cards(reader).values() for card in cards]
    parents = {card.parent for card in cards if "drawn afresh from the prior, without" in str(card.marks)}
    assert parents == {None} != {card.parent for card in cards}


@pytest.mark.parametrize("name", ["growing", "growing mh"])
def test_newcomers_have_cards_at_the_step_that_took_them_in(name: str) -> None:
    reader = sampled_run(name, "regression")
    view = reader.refresh().view
    grown = [step for step, at in view.steps.items() if at.joined]
    assert grown
    for step in grown:
        cards = all_cards(reader)[step]
        came = [card for card in cards if ("", f"joined at step {step}") in card.marks]
        assert [card.slot for card in came] == sorted(view.steps[step].joined)
        assert [card.weight for card in came] == [None] * len(came)


@pytest.mark.parametrize("method", ["smc", "mh"])
def test_a_shrinking_k_says_who_was_dropped_and_under_which_number_the_others_go_on(
    tmp_path: Path, method: str
) -> None:
    config = Config(**{**SMALL, "epochs": 2}, method=method, particles_max=8, particles_min=2)
    reader = sampled(tmp_path, config, answer=agreeing)
    view = reader.refresh().view
    step = next(step for step, at in view.steps.items() if at.shrunk)
    said = words(all_cards(reader)[step])
    assert said.count(f"dropped at step {step}: all agreed") == 2
    assert view.steps[step].shrunk is not None
    for new, old in enumerate(view.steps[step].shrunk.ancestors):
        assert new == old or f"kept as particle {new}" in said
    after = all_cards(reader)[step + 1]
    assert len(after) == 2
    for card in after if method == "smc" else ():
        proposed = view.steps[step].proposed[view.steps[step].shrunk.ancestors[card.slot]]
        if proposed.accepted:
            assert (proposed.text or "").endswith(card.sentence)
            assert view.texts[proposed.parent].endswith(card.parent or "no parent")


def test_cards_of_the_end_show_the_rows_of_the_last_batch_or_that_the_text_was_not_scored(tmp_path: Path) -> None:
    weighed_again = {card.slot: card for card in maker(labels(tmp_path / "labels")).final()}
    assert [len(weighed_again[slot].hits) for slot in range(4)] == [2] * 4
    assert weighed_again[3].rail[:2] == ("2 of 2 right", "3 of 4 rows of the buffer")
    kept = {card.slot: card.rail[0] for card in maker(numbers(tmp_path / "numbers")).final()}
    assert kept[1] == "not scored", "rewritten by the last step, and taken unseen"
    assert kept[0].startswith("off by ")


@pytest.mark.parametrize(("name", "shown"), [("vml5", "1/5"), ("always accept", "1/4"), ("mh", "1/4")])
def test_without_weights_a_card_says_how_it_counts(name: str, shown: str) -> None:
    html = deck_html(maker(sampled_run(name)).final(), seed_text="")
    assert f'<span class="wt num">{shown}</span>' in html
    assert "weight 0." not in html
