import math
from itertools import pairwise
from pathlib import Path

import pytest
from vpp.drawing.deck import Effect

from tests.inspected import BIG, EVEN, LABELS, ODD, labels, numbers
from tests.reporting.builders import drawn, finished, proposed, run, scored, started
from tests.reporting.sampled import VARIANTS, sampled_run
from vpp.drawing.cards import CardMaker
from vpp.runs.prompts import PromptMaker
from vpp.runs.reader import RunReader
from vpp.runs.view import StepView
from vpp.settings import Config
from vpp.show.deck import Card, Fold, deck_html
from vpp.show.words import NBSP

TASKS = ("classification", "regression")


def maker(reader: RunReader) -> CardMaker:
    snapshot, data = reader.refresh(), reader.dataset()
    return CardMaker(snapshot.view, snapshot.spec.config, data, PromptMaker(snapshot.spec, data))


def decks(reader: RunReader) -> dict[int, list[Card]]:
    """By step."""
    made = maker(reader)
    return {step: made.at(step) for step in reader.refresh().view.steps if step >= 0}


def all_cards(reader: RunReader) -> dict[int, list[Card]]:
    """Every particle's card by step, those in a stack included."""
    return {step: [each for card in cards for each in card.stack] for step, cards in decks(reader).items()}


def folds_of(card: Card) -> list[Fold]:
    return [each for fold in card.folds for each in (fold, *fold.inner)]


def words(cards: list[Card]) -> str:
    """What marks, facts and folds of some cards say."""
    written = [mark for card in cards for _, mark in (*card.marks, *card.fate)]
    written += [fact for card in cards for fact in card.rail]
    written += [line for card in cards for fold in folds_of(card) for line in (fold.title, *fold.notes)]
    return "\n".join(written)


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("name", VARIANTS)
def test_every_particle_of_every_step_has_a_card(name: str, task: str) -> None:
    reader = sampled_run(name, task)
    view = reader.refresh().view
    for cards in all_cards(reader).values():
        assert sorted(card.slot for card in cards) == list(range(view.size))
        if reader.refresh().spec.config.is_weighted:
            assert sum(card.weight or 0 for card in cards) == pytest.approx(1)
    assert sorted(each.slot for card in maker(reader).final() for each in card.stack) == list(range(view.size))


@pytest.mark.parametrize("name", ["smc", "mh", "always accept"])
def test_particles_share_a_card_if_and_only_if_they_gave_the_same_answers(name: str) -> None:
    reader = sampled_run(name)
    view = reader.refresh().view
    n_twins = n_alone = 0
    for step, cards in decks(reader).items():
        at = view.steps[step]

        def answers(card: Card, at: StepView = at) -> object:
            proposed = at.proposed.get(card.slot)
            is_new = card.is_chain and proposed is not None and proposed.accepted
            scored = at.proposals_scored.get(card.slot) if is_new else at.scored.get(card.slot)
            return (scored.rows, scored.predictions) if scored else card.slot

        given = [{answers(each) for each in card.stack} for card in cards]
        assert all(len(each) == 1 for each in given)
        assert len(set.union(*given)) == len(cards)
        n_twins += sum(len(card.twins) for card in cards)
        n_alone += sum(answers(card) == card.slot for card in cards)
        order = [card.log_likelihood if card.is_chain else card.total for card in cards]
        known = [value for value in order if value is not None]
        assert known == sorted(known, reverse=True) == order[: len(known)]
        assert all((a.weight or 0) >= (b.weight or 0) for card in cards for a, b in pairwise(card.stack))
    assert (n_twins > 0) == (name != "always accept"), "a text that is not scored yet stays alone"
    assert (n_alone > 0) == (name == "always accept")


def test_a_stack_sums_weights_and_names_its_particles_and_whom_they_descend_from(tmp_path: Path) -> None:
    """EVEN and PAIR of step 1 answer alike, with weights 0.7 and 0.1; the end descends from 0, 0, 1 and 2.

    EVEN and PAIR, in slots 0 and 2, answer alike there; BIG in slot 1 parts from them on test rows.
    """
    made = maker(labels(tmp_path))
    front, *_ = cards = made.at(1)
    assert [[each.slot for each in card.stack] for card in cards] == [[0, 1], [2], [3]]
    assert front.total == pytest.approx(0.8)
    html = deck_html([front], seed_text="")
    assert 'data-key="0" data-slots="0 1" data-from="0 1" style="--w:0.8000"' in html
    assert 'aria-label="Particle 0 and 1 other with the same answers, weight 0.800"' in html
    assert 'title="2 particles: same answers on the 4 rows of the buffer; 1 in other words">×2</span>' in html
    assert '<div class="twin" data-slot="1"><p class="cap">particle 1, weight 0.100</p>' in html
    assert [(card.slot, card.origin) for card in made.final()] == [(0, 0), (1, 0), (3, 2)]
    assert 'data-slots="0 2" data-from="0 1"' in deck_html(made.final(), seed_text="")
    assert 'data-from=""' in deck_html(made.initial(), seed_text=""), "nothing was there before"


def test_a_rewriting_says_what_it_did_on_the_rows_that_both_texts_answered(tmp_path: Path) -> None:
    """Slot 1: LUCK says no to rows 0 and 1, PAIR is right on both; LINE and SLOPE have no common rows."""
    cards = {each.slot: each for card in maker(labels(tmp_path / "labels")).at(1) for each in card.stack}
    assert {slot: card.effect and card.effect.words for slot, card in cards.items()} == {
        0: None, 1: "+1 row right", 2: None, 3: None,
    }  # fmt: skip
    assert cards[1].effect == Effect(mark="up", words="+1 row right", n_rows=2)
    assert all(card.effect is None for card in maker(numbers(tmp_path / "numbers")).final())


def test_a_chain_shows_its_likelihood_its_decision_and_the_text_it_rejected(tmp_path: Path) -> None:
    config = Config(method="mh", particles=3, batch_size=2)
    right, wrong = {0: "yes", 1: "no"}, {0: "no", 1: "no"}
    reader = run(
        tmp_path,
        started(config, LABELS, steps=1),
        *drawn(EVEN, EVEN, ODD),
        *(scored(0, k, text, right, log_lik=-0.5) for k, text in enumerate((EVEN, EVEN, ODD))),
        scored(0, 0, BIG, wrong, role="proposal", log_lik=-2.5),
        proposed(0, 0, EVEN, BIG, log_alpha=math.log(0.1404), u=0.2421),
        scored(0, 1, BIG, wrong, role="proposal", log_lik=-0.75),
        proposed(0, 1, EVEN, BIG, accepted=True, log_alpha=0.5, u=0.7134),
        scored(0, 2, BIG, wrong, role="proposal", log_lik=-2.5),
        proposed(0, 2, ODD, BIG, log_alpha=math.log(0.0944), u=0.0949),
        finished(0, (EVEN, BIG, ODD)),
        data=LABELS,
        config=config,
    )
    kept, taken = cards = maker(reader).at(0)
    assert [[each.slot for each in card.stack] for card in cards] == [[0, 2], [1]]
    chips = [each.marks for card in cards for each in card.stack]
    assert [chip for ((_, chip),) in chips] == [
        f"acceptance probability 14{NBSP}%, drew 0.24: rejected",
        f"acceptance probability 9.4{NBSP}%, drew 0.095: rejected",
        f"acceptance probability 100{NBSP}%, drew 0.71: accepted",
    ], "as many digits as tell the two numbers apart"
    html = deck_html([kept], seed_text="")
    assert ">×2 chains</span>" in html
    assert 'aria-label="Particle 0 and 1 other with the same answers, log-likelihood −0.5"' in html
    assert '<span class="wt num">−0.5</span>' in html
    assert 'style="--w:0.7788"' in html, "exp(−0.5 / 2)"
    assert "0.78 of 1, the geometric mean of the likelihood per row, over 2 rows" in html
    assert "Say yes if a is <del>above 6,</del> else no.</p>" in html
    assert "Rejected" not in deck_html([taken], seed_text="")
