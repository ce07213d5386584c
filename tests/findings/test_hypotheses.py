"""Hypotheses merged where they nearly agree, their cards, and what their weights say."""

import math
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import inspected
from tests.reporting.builders import SEED
from vpp.events import Constant
from vpp.findings import hypotheses as module
from vpp.findings.hypotheses import Hypothesis, deck, hypotheses, odds_words, order_words, shares_words, with_ranges
from vpp.findings.ideas import Ideas, merge_ideas, similarity
from vpp.findings.result import ConstantAnswer
from vpp.posterior.weights import Floats
from vpp.runs.reader import RunReader
from vpp.runs.view import RunView
from vpp.settings import Config
from vpp.show.cards import Deck
from vpp.show.render import html

RULE = "If proline is above {}, output class_0; otherwise, output {}."
NUMBERS = st.integers(0, 99_999).map(lambda tenths: f"{tenths / 10:,.1f}")


def plain(words: str) -> str:
    return words.replace("\N{NO-BREAK SPACE}", " ")


def found_in(reader: RunReader, *, threshold: float | None = None) -> tuple[Hypothesis, ...]:
    """The hypotheses of a run; only those with the same answers are one without a threshold."""
    ideas, near = of(reader)
    if threshold is not None:
        near = (near >= threshold).astype(float)
    return hypotheses(ideas, None if threshold is None else near, seed_text=SEED)


def of(reader: RunReader) -> tuple[Ideas, Floats]:
    ideas = merge_ideas(reader.refresh().view, reader.dataset())
    near = similarity(ideas, reader.dataset()) if ideas else None
    assert ideas
    assert near is not None
    return ideas, near


def deck_of(reader: RunReader, every: tuple[Hypothesis, ...]) -> Deck:
    snapshot = reader.refresh()
    return deck(every, snapshot.view, snapshot.spec.config, {})


# Ranges


@given(st.lists(NUMBERS, min_size=1, max_size=5), st.lists(NUMBERS, min_size=5, max_size=5))
def test_a_range_holds_the_numbers_of_all_texts_of_the_form(first: list[str], second: list[str]) -> None:
    texts = [RULE.format(one, other) for one, other in zip(first, second, strict=False)]
    ends = []
    for numbers in (first, second[: len(first)]):
        low, high = (f"{end(float(each.replace(',', '')) for each in numbers):,.1f}" for end in (min, max))
        ends.append(low if low == high else f"{low} to {high}")
    assert with_ranges(texts) == RULE.format(*ends)


@pytest.mark.parametrize(
    "other", [RULE.format(13, "class_2"), RULE.format(13, 3), "If proline is above 13, output class_0.", "Output v2.1."]
)
def test_a_text_of_another_form_or_with_another_label_makes_no_range(other: str) -> None:
    first = RULE.format("12.9", 2)
    assert with_ranges([first, other], labels=("2", "3")) == first


# Merging


def test_hypotheses_that_nearly_agree_are_one_with_the_shortest_text_of_the_heaviest(labels: RunReader) -> None:
    """EVEN and PAIR answer alike, BIG agrees with them on 80 % of the rows, ODD on 60 %."""
    apart, merged = found_in(labels), found_in(labels, threshold=0.8)
    texts = (inspected.EVEN, inspected.BIG, inspected.ODD)
    assert [f"{SEED} {each.words}" for each in apart] == list(texts)
    assert [each.weight for each in apart] == pytest.approx([0.6, 0.3, 0.1])
    assert [each.weight for each in merged] == pytest.approx([0.9, 0.1])
    assert [each.slots for each in merged] == [(0, 2, 1), (3,)]
    assert merged[0].words == apart[0].words
    assert len(merged[0].texts) == 3


def test_a_card_has_three_numbers_and_the_rest_in_folds(labels: RunReader) -> None:
    first, second, third = deck_of(labels, found_in(labels)).cards
    assert (plain(first.value), first.facts) == ("60 %", ("right on 4 of 4 training rows", "× 2 copies"))
    assert third.facts == ("right on 3 of 4 training rows",)
    assert first.whole == inspected.EVEN
    details = plain(html(first.folds))
    for words in ("Right on 5 of 6 test rows.", "From the first draw.", "Say yes if a can be halved", "weight 20 %"):
        assert words in details
    assert "1 answer unreadable" in html(third.folds)
    past = html(second.folds)
    assert past.index("first draw") < past.index("step 2") < past.index("rewritten, accepted")
    assert "a is <del>even,</del> <ins>above 6,</ins> else no." in past
    assert 'data-fold="history"' not in html(first.folds), "it was never rewritten"


# What the weights say


def test_a_heavier_hypothesis_that_fits_worse_is_explained(labels: RunReader) -> None:
    """BIG loses two training rows here, ODD one: BIG is heavier by its copies."""
    every = found_in(labels)
    config = replace(inspected.LABEL_CONFIG, final_weights="paper")
    assert order_words(every, config) == "heaviest first"
    train = every[0].members[0].train
    assert train
    worse = replace(every[0].members[0], train=replace(train, n_correct=2))
    explained = order_words((replace(every[0], members=(worse,)), *every[1:]), config)
    assert explained == "heaviest first; the second fits the training rows better, but has 1 copy, the first 2"


def test_shares_are_said_with_the_constant_answer_and_without_weights(labels: RunReader, tmp_path: Path) -> None:
    every, view = found_in(labels), labels.refresh().view
    assert plain(shares_words(every[:1], inspected.LABEL_CONFIG, view)) == "One hypothesis has all of the weight."
    chains = Config(method="mh", particles=4)
    assert shares_words(every, chains, view) == "Four chains end in three hypotheses; each chain counts alike."


@pytest.mark.parametrize(
    ("odds", "weight", "words"),
    [
        (40.0, None, "about 40 times more probable under the heaviest hypothesis than under always answering “no”."),
        (1e9, 1e-9, "over a million times more probable under the heaviest hypothesis than under"),
        (1 / 3, 0.3, "about 3 times more probable under always answering “no” than under the heaviest hypothesis."),
        (4.6, 0.91, "than under always answering “no”. Nothing was found."),
    ],
)
def test_the_odds_against_a_constant_answer_say_when_nothing_was_found(
    odds: float, weight: float | None, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    constant = Constant(answer="no", shares=(0.7, 0.3), log_likelihood=-9.0)
    found = ConstantAnswer(constant=constant, weight=weight, log_odds=math.log(odds))
    monkeypatch.setattr(module, "constant_answer", lambda *_: found)
    of_run = RunView(), inspected.LABEL_CONFIG, inspected.LABELS
    assert words in odds_words(*of_run)
