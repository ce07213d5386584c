"""Hypotheses merged where they nearly agree, their cards, and what their weights say."""

import json
from collections import Counter
from dataclasses import replace
from itertools import pairwise
from operator import eq
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests import inspected
from tests.inspected import BIG, EVEN, LUCK, ODD, PAIR, label_events, plain
from tests.reporting.builders import SEED, YES_NO, drawn, evaluated, finished, reweighted, scored, started, view_of
from tests.sampled import VARIANTS, sampled, sampled_run
from vpp.errors import InputError
from vpp.findings import hypotheses
from vpp.findings.hypotheses import Hypothesis
from vpp.findings.result import novelty, weights_words
from vpp.findings.step import Cards, Names
from vpp.posterior.disagreement import closeness, missing_mass, rough_closeness, share_alike
from vpp.posterior.weights import Floats
from vpp.runs.directory import RunDirectory, RunReader
from vpp.settings import Config
from vpp.show.blocks import Deck
from vpp.show.markup import html
from vpp.show.words import number

TITANIC = Path(__file__).parents[2] / "assets" / "examples" / "example-titanic"
RULE = "If proline is above {}, output class_0; otherwise, output {}."
NUMBERS = st.integers(0, 99_999).map(lambda tenths: f"{tenths / 10:,.1f}")


def found_in(reader: RunReader, *, threshold: float | None = None) -> tuple[Hypothesis, ...]:
    """The hypotheses of a run; only those with the same answers are one without a threshold."""
    return hypotheses.hypotheses_of(reader.refresh().view, reader.dataset(), threshold=threshold)


def similarity_in(reader: RunReader) -> Floats:
    ideas = hypotheses.merge_ideas(reader.refresh().view, reader.dataset())
    near = hypotheses.similarity(ideas, reader.dataset())
    assert near is not None
    return near


def deck_of(reader: RunReader, every: tuple[Hypothesis, ...]) -> Deck:
    snapshot = reader.refresh()
    return hypotheses.deck(every, snapshot.view, snapshot.spec.config, {}, Names(snapshot.view).end(every))


@given(st.lists(NUMBERS, min_size=1, max_size=5), st.lists(NUMBERS, min_size=5, max_size=5))
def test_a_range_holds_the_numbers_of_all_texts_of_the_form(first: list[str], second: list[str]) -> None:
    texts = [RULE.format(one, other) for one, other in zip(first, second, strict=False)]
    ends = []
    for numbers in (first, second[: len(first)]):
        low, high = (f"{end(float(each.replace(',', '')) for each in numbers):,.1f}" for end in (min, max))
        ends.append(low if low == high else f"[{low} to {high}]")
    assert hypotheses.with_ranges(texts) == RULE.format(*ends)


def test_a_text_of_another_form_or_with_another_label_makes_no_range() -> None:
    first = RULE.format("12.9", 2)
    other_forms = ("If proline is above 13, output class_0.", "Output v2.1.")
    for other in (RULE.format(13, "class_2"), RULE.format(13, 3), *other_forms):
        assert hypotheses.with_ranges([first, other], labels=("2", "3")) == first, other


def test_hypotheses_that_nearly_agree_are_one_with_the_shortest_text_of_the_heaviest(labels: RunReader) -> None:
    """EVEN and PAIR answer alike, BIG agrees with them on 80 % of the rows, ODD on 60 %."""
    apart, merged = found_in(labels), found_in(labels, threshold=0.8)
    texts = (inspected.EVEN, inspected.BIG, inspected.ODD)
    assert [f"{SEED} {each.words}" for each in apart] == list(texts)
    assert [each.weight for each in apart] == pytest.approx([0.6, 0.3, 0.1])
    assert [each.weight for each in merged] == pytest.approx([0.9, 0.1])
    assert [each.slots for each in merged] == [(0, 2, 1), (3,)]
    assert merged[0].words == apart[0].words
    assert len(merged[0].wordings) == 3


def test_a_card_has_its_number_of_the_last_step_three_figures_and_the_rest_in_folds(labels: RunReader) -> None:
    first, second, third = cards = deck_of(labels, found_in(labels)).cards
    assert [plain(part) for part in (first.value, *first.facts)] == [
        "60 %",
        "right on 75 to 99.8 %, by the training rows",
    ]
    assert first.copies == 1, "final weights count each text once"
    assert plain(*third.facts) == "right on 64 to 98 %, by the training rows", (
        "its noise, one standard deviation either way"
    )
    assert first.whole == inspected.EVEN
    details = plain(html(first.folds))
    for words in (
        "Right on 5 of 6 test rows. Right on 4 of 4 training rows.",
        "Say yes if a can be halved",
        "weight 20 %",
    ):
        assert words in details
    assert "1 answer unreadable" in html(third.folds)
    past = html(second.folds)
    assert past.index("first draw") < past.index("step 2") < past.index("rewritten, accepted")
    assert "a is <del>even,</del> <ins>above 6,</ins> else no." in past
    assert 'data-fold="history"' not in html(first.folds), "it was never rewritten"
    snapshot = labels.refresh()
    last = Cards(labels.dataset(), snapshot.spec.config).at(Names(snapshot.view), 1)
    assert {each.key: each.words for each in cards} == {each.key: each.words for each in last}


@pytest.mark.parametrize("task", ["classification", "regression"])
@pytest.mark.parametrize("name", VARIANTS)
def test_the_constant_answer_is_a_card_at_every_weight_that_it_has(name: str, task: str) -> None:
    reader = sampled_run(name, task)
    view, config, data = (snapshot := reader.refresh()).view, snapshot.spec.config, reader.dataset()
    every = hypotheses.hypotheses_of(view, data)
    page, (report, *_) = deck_of(reader, every), hypotheses.weight_cards(every, view, config, data)
    assert isinstance(report, Deck)
    always = f"“{data.constant}”" if task == "classification" else number(float(data.constant))
    for cards in (hypotheses.with_constant(page, view, data).cards, report.cards):
        constant = [card.bar for card in cards if card.name == "constant answer"]
        assert {card.words for card in cards if card.key < 0} <= {f"Always {always}"}
        assert constant == ([view.final.constant.weight] if view.final and view.final.constant else [])
        assert [card.bar for card in cards] == sorted((card.bar for card in cards), reverse=True)
        assert sum(card.bar for card in cards) == pytest.approx(1)
    begins = "right on" if task == "classification" else "errors of" if config.is_weighted else "off by"
    assert all(card.facts[0].startswith(begins) for card in page.cards)


# What the weights say


def test_weights_that_only_count_copies_are_no_odds(labels: RunReader) -> None:
    """The last step of the run copied by weight; here nothing was weighed after it."""
    every, view = found_in(labels), replace(labels.refresh().view, final=None)
    assert hypotheses.weight_words(every[0], view, inspected.LABEL_CONFIG) == "2 of 4 copies"
    assert hypotheses.shares_words(every, inspected.LABEL_CONFIG, view) == (
        "Two of four copies hold one hypothesis. The last step copied by weight, so a share counts copies, not odds."
    )

    one = hypotheses.shares_words(every[:1], inspected.LABEL_CONFIG, labels.refresh().view)
    assert plain(one) == "One hypothesis has all of the weight."
    chains = Config(method="mh", particles=4)
    assert (
        hypotheses.shares_words(every, chains, labels.refresh().view)
        == "Four chains end in three hypotheses; each chain counts alike."
    )


def test_a_difference_on_the_training_rows_alone_parts_two_ideas() -> None:
    slots, weights = ("even", "always no", "sum is even", "even"), (0.2, 0.1, 0.5, 0.2)
    on_test = {"even": ["yes", "no", "no"], "sum is even": ["yes", "no", "no"], "always no": ["no"] * 3}
    on_train = {"even": ["yes"] * 4, "sum is even": ["yes", "yes", "yes", "no"], "always no": ["no"] * 4}
    events = [started(Config(particles=4), YES_NO), *drawn(*slots), finished(1, slots)]
    for split, answers in (("test", on_test), ("train", on_train)):
        events.append(evaluated(YES_NO, answers, slots=slots, weights=weights, split=split))
    ideas = hypotheses.merge_ideas(view_of(*events, reweighted(1, weights, role="final")), YES_NO)
    assert [[w.text for w in idea.wordings] for idea in ideas.all] == [["sum is even"], ["even"], ["always no"]]
    assert [idea.weight for idea in ideas.all] == pytest.approx([0.5, 0.4, 0.1])
    assert len(ideas.rows) == 7


def test_before_an_evaluation_ideas_are_told_apart_on_the_rows_that_a_step_asked_all_about() -> None:
    answers: dict[str, dict[int, str | float | None]] = {
        "a": {0: "yes", 1: "no", 2: "no"},
        "b": {0: "yes", 1: "no"},
        "c": {0: "no", 1: "no"},
    }
    view = view_of(
        started(Config(particles=3), YES_NO),
        *drawn("a", "b", "c"),
        *(scored(0, k, text, said) for k, (text, said) in enumerate(answers.items())),
    )
    ideas = hypotheses.merge_ideas(view, YES_NO)
    assert (ideas.by, ideas.rows) == ("step", (0, 1))
    assert [idea.slots for idea in ideas.all] == [(0, 1), (2,)]
    assert [idea.compared.n_correct for idea in ideas.all if idea.compared] == [2, 1]
    assert ideas.all[0].test is None


LABELS = st.integers(1, 8).flatmap(
    lambda n: st.lists(st.lists(st.sampled_from(["yes", "no", None]), min_size=6, max_size=6), min_size=n, max_size=n)
)
THRESHOLDS = st.integers(0, 100).map(lambda percent: percent / 100)


def test_labels_agree_on_the_rows_where_ideas_answer_alike(labels: RunReader) -> None:
    """EVEN and BIG: test rows 4, 5, 6, 9 and all 4 training rows; EVEN and ODD: 4, 5, 7 and 0, 1, 3;
    BIG and ODD: 4, 5, 8 and 0, 1, 3. An abstention of one alone, row 6 of ODD, is no agreement."""
    near = similarity_in(labels)
    assert near.tolist() == [[1.0, 0.8, 0.6], [0.8, 1.0, 0.6], [0.6, 0.6, 1.0]]
    assert tuple(hypotheses.groups_at(near, threshold=t) for t in (0.81, 0.8, 0.6)) == (
        ((0,), (1,), (2,)),
        ((0, 1), (2,)),
        ((0, 1, 2),),
    )


def test_numbers_agree_by_their_difference_as_a_share_of_the_targets_range(numbers: RunReader) -> None:
    """The training targets range over 4. LINE and SLOPE: 1 0 2 and 4 (abstained), then 0 0 0 1: 22 / 8;
    LINE and FLAT: 1 0 0 2, 2 1 0 1: 11 / 8; SLOPE and FLAT: 2 0 2 4, 2 1 0 2: 33 / 8."""
    near = similarity_in(numbers)
    alike = [1 - near[a, b] for a, b in ((0, 1), (0, 2), (1, 2))]
    assert alike == pytest.approx([(22 / 8) ** 0.5 / 4, (11 / 8) ** 0.5 / 4, (33 / 8) ** 0.5 / 4])
    assert hypotheses.groups_at(near, threshold=0.7) == ((0, 2), (1,))


@given(LABELS, THRESHOLDS, THRESHOLDS)
def test_any_two_of_a_group_are_as_similar_as_asked_and_no_two_groups_can_join(
    answers: list[list[str | None]], threshold: float, other: float
) -> None:
    alike = share_alike(answers)
    groups = hypotheses.groups_at(alike, threshold=threshold)
    for i, first in enumerate(groups):
        assert alike[np.ix_(first, first)].min() >= threshold
        for second in groups[:i]:
            both = (*first, *second)
            assert alike[np.ix_(both, both)].min() < threshold
    assert sorted(sum(groups, ())) == list(range(len(answers)))
    others = hypotheses.groups_at(alike, threshold=other)
    assert (len(groups) <= len(others)) or other < threshold


FIRST = LUCK + " Or yes."


def test_the_lineage_of_a_particle_follows_its_slots_through_the_resampling() -> None:
    view = view_of(*label_events())
    lines = [hypotheses.lineage(view, slot) for slot in range(view.size)]
    assert [[(each.step, each.text) for each in line] for line in lines] == [
        [(-1, EVEN)], [(-1, EVEN), (1, BIG)], [(-1, FIRST), (0, PAIR)], [(-1, ODD)],
    ]  # fmt: skip
    with pytest.raises(InputError, match="give one from 0 to 3"):
        hypotheses.lineage(view, 4)


@pytest.mark.parametrize("name", VARIANTS)
def test_a_lineage_has_a_text_for_every_change_and_ends_with_the_particles_own(name: str) -> None:
    view = sampled_run(name).refresh().view
    for slot, state in enumerate(view.population):
        line = hypotheses.lineage(view, slot)
        assert line[-1].text == view.texts[state.hypothesis]
        assert all(one.text != other.text for one, other in pairwise(line))


@pytest.mark.parametrize("name", ["smc", "adaptive", "mh", "vml"])
def test_parents_are_those_that_the_samplers_kept(tmp_path: Path, name: str) -> None:
    view = sampled(tmp_path, VARIANTS[name]).refresh().view
    _, *later = view.complete_steps
    assert later
    for at in later:
        ancestors = at.resampling.ancestors if at.resampling else range(len(at.population))
        assert [state.parent for state in at.population] == [*ancestors]


def test_the_mass_of_sentences_never_written_is_near_the_probability_of_a_new_one() -> None:
    """Two thousand samples of 50 draws: the estimate's bias is below 1/50, and the standard error of its mean 0.002."""
    law, rng = 1 / np.arange(1, 61) / (1 / np.arange(1, 61)).sum(), np.random.default_rng(0)
    samples = [np.unique(rng.choice(60, size=50, p=law), return_counts=True) for _ in range(2_000)]
    estimates = [missing_mass(counts, np.eye(len(kinds))) for kinds, counts in samples]
    assert np.mean(estimates) == pytest.approx(np.mean([1 - law[kinds].sum() for kinds, _ in samples]), abs=0.03)
    assert missing_mass([1, 1, 2], [[1, 0.95, 0], [0.95, 1, 0], [0, 0, 1]]) == 0, "those that are near one another"
    assert missing_mass([1, 1, 2], np.eye(3)) == 0.5


def test_sentences_written_that_are_near_no_other_are_counted_over_the_whole_run() -> None:
    run = RunReader(RunDirectory(TITANIC))
    events = [json.loads(line) for line in run.directory.journal.read_text("utf-8").splitlines()]
    events = [event.get("event", event) for event in events]
    answers = {each["hypothesis"]: each["predictions"] for each in events if each.get("type") == "scored"}
    written = [
        each.get("proposal") or each["hypothesis"]
        for each in events
        if each.get("type") in ("particle_drawn", "proposed")
    ]

    def are_near(one: str, other: str) -> bool:
        return sum(map(eq, answers[one], answers[other])) >= 95

    alone = [sum(are_near(one, other) for other in written) == 1 for one in written]
    snapshot = run.refresh()
    missing = novelty(snapshot.view, snapshot.spec.config, run.dataset())
    assert missing == pytest.approx(np.mean(alone))
    assert "of the sentences written are less than 95" in weights_words(snapshot, missing)


def test_all_sentences_written_count_where_steps_score_fewer_rows_than_the_final_weights(tmp_path: Path) -> None:
    config = Config(particles=4, batch_size=4, score_rows=12, seed=1)
    run = sampled(tmp_path, config)
    view, dataset = run.refresh().view, run.dataset()
    assert {len(each.rows) for each in view.final_scores.values()} == {len(dataset.train)}
    by_text = {each.hypothesis: each.predictions for at in view.steps.values() for each in at.scores.values()}
    by_text |= {each.hypothesis: each.predictions for at in view.steps.values() for each in at.proposal_scores.values()}
    written = [*(each.hypothesis for each in view.draws.values()), *(each.proposal for each in view.proposals)]
    kinds = Counter(by_text[text] for text in written if text in by_text)
    assert kinds.total() > len(view.population), "rejected ones too"
    mass = novelty(view, config, dataset)
    assert mass == missing_mass([*kinds.values()], share_alike([*kinds]))
    continued = {slot: replace(each, origin="continued") for slot, each in view.draws.items()}
    assert novelty(replace(view, draws=continued), config, dataset) is None
    unreadable = {slot: replace(each, reason="no sentence") for slot, each in view.draws.items()}
    rewrites = Counter(by_text[each.proposal] for each in view.proposals if each.proposal in by_text)
    of_rewrites = missing_mass([*rewrites.values()], share_alike([*rewrites]))
    assert novelty(replace(view, draws=unreadable), config, dataset) == of_rewrites != mass


ANSWERS = st.none() | st.floats(-10, 10)


@given(st.integers(1, 4).flatmap(lambda n: st.lists(st.lists(ANSWERS, min_size=n, max_size=n), min_size=1, max_size=5)))
@example([[1.0, 1.0, 2e8], [1.0, 1.1, 1e308], [1.0, None, -1e308], [None, None, None]])
def test_closeness_by_a_product_of_matrices_is_that_of_pairs(answers: list[list[float | None]]) -> None:
    for span in (0.7, 5.0):
        pairs = closeness([[a and max(min(a, 1e4), -1e4) for a in votes] for votes in answers], span=span)
        assert rough_closeness(answers, span=span) == pytest.approx(pairs, abs=1e-4)
