"""The weighted vote and the weighted mean (Eq. 7 and 8)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vpp.posterior.prediction import Mixture, decide, leader, vote_shares, weighted_mean, winner

votes_and_parts = st.lists(
    st.tuples(st.none() | st.sampled_from(["no", "yes", "maybe"]), st.integers(0, 8)), min_size=1, max_size=12
)
"""A vote and a weight in whole sixteenths, so that sums are exact."""


def unzip(pairs):
    return [vote for vote, _ in pairs], [part / 16 for _, part in pairs]


@given(votes_and_parts)
def test_shares_are_literal_sums_and_abstentions_carry_none(pairs):
    votes, weights = unzip(pairs)
    literal = {label: sum(w for v, w in zip(votes, weights, strict=True) if v == label) for label in votes if label}
    assert vote_shares(votes, weights) == literal


def test_a_graded_answer_votes_with_its_weight():
    assert vote_shares([{"no": 0.25, "yes": 0.75}, "no"], [0.5, 0.25]) == {"no": 0.375, "yes": 0.375}


@given(votes_and_parts)
def test_the_winner_is_the_argmax_and_a_tie_goes_to_the_lowest_label(pairs):
    votes, weights = unzip(pairs)
    shares = vote_shares(votes, weights)
    literal = min(shares, key=lambda label: (-shares[label], label)) if shares else None
    assert winner(shares) == literal
    assert next(iter(shares), None) == literal


@pytest.mark.parametrize(
    ("votes", "weights", "leads", "decides"),
    [
        (["b", "b", "b", "a"], [0.1, 0.2, 0.3, 0.6], None, None),
        (["a", "a", "b"], [1 / 3] * 3, "a", "a"),
        (["a", "a", "b"], [0.33, 0.33, 0.34], "a", None),
        (["a", None], [0.1, 0.9], "a", "a"),
        ([None, None], [0.5, 0.5], None, None),
        (["a", None], [0.0, 1.0], "a", None),
    ],
    ids=["a tie by rounding", "two thirds", "below two thirds", "abstentions", "silence", "no weight"],
)
def test_two_thirds_of_the_answers_decide_and_a_tie_does_not(votes, weights, leads, decides):
    shares = vote_shares(votes, weights)
    assert (leader(shares), decide(shares)) == (leads, decides)


def test_shares_that_differ_by_rounding_alone_are_tied():
    assert winner(vote_shares(["b", "b", "b", "a"], [0.1, 0.2, 0.3, 0.6])) == "a"
    assert 0.1 + 0.2 + 0.3 > 0.6, "the case that is tested: rounding puts b ahead"
    assert (winner({"b": 0.5 + 5e-10, "a": 0.5}), winner({"b": 0.5 + 2e-9, "a": 0.5})) == ("a", "b")


def test_the_mixture_has_each_sentences_noise_and_the_constants_share():
    """Three labels: 0.6 (a, errs in 0.1), 0.2 (b, errs in 0.4), 0.1 silent, so a blind guess, 0.1 the constant."""
    constant = {"a": 0.5, "b": 0.3, "c": 0.2}
    mixture = Mixture(weights=(0.6, 0.2, 0.1, 0.1), classes=("a", "b", "c"), noise=(0.1, 0.4, 0.2), constant=constant)
    shares = mixture.shares(["a", "b", None])
    assert shares == pytest.approx(
        {
            "a": 0.6 * 0.9 + 0.2 * 0.2 + 0.1 / 3 + 0.05,
            "b": 0.6 * 0.05 + 0.2 * 0.6 + 0.1 / 3 + 0.03,
            "c": 0.6 * 0.05 + 0.2 * 0.2 + 0.1 / 3 + 0.02,
        }
    )
    assert mixture.average(["a", "b", None]) == "a"
    assert (decide(shares, clear=0.66), decide(shares, clear=0.67)) == ("a", None)
    # A graded answer errs too; without noise the votes are the paper's.
    assert mixture.shares([{"a": 0.5, "c": 0.5}, None, None])["a"] == pytest.approx(
        0.6 * (0.5 * 0.9 + 0.5 * 0.05) + 0.3 / 3 + 0.05
    )
    assert Mixture(weights=(0.75, 0.25), classes=("a", "b")).shares(["a", "b"]) == {"a": 0.75, "b": 0.25}
    assert Mixture(weights=(0.5, 0.25, 0.25), constant=8.0).average([1.0, 2.0]) == 3.0


@given(st.floats(0.01, 0.99), st.floats(0.01, 0.99))
def test_an_answer_is_given_where_its_error_costs_less_than_the_doubt(probability, cost):
    """Chow's rule: the expected error of the likelier label against the cost of “I don’t know”."""
    shares = {"a": probability, "b": 1 - probability}
    answers = decide(shares, clear=1 - cost) is not None
    error = min(shares.values())
    if abs(error - cost) > 1e-8 and abs(probability - 0.5) > 1e-8:
        assert answers == (error < cost)


@given(st.lists(st.tuples(st.none() | st.floats(-1e6, 1e6), st.floats(0.01, 1)), min_size=1, max_size=12))
def test_the_mean_rescales_the_weights_of_those_that_answered(pairs):
    answered = [(p, w) for p, w in pairs if p is not None]
    mean = weighted_mean([p for p, _ in pairs], [w for _, w in pairs])
    if not answered:
        assert mean is None
    else:
        literal = sum(p * w for p, w in answered) / sum(w for _, w in answered)
        assert mean == pytest.approx(literal, rel=1e-9, abs=1e-6)


NUMBERS = (18.702, 12.001, -9.499, 24.268, 0.1, 1e300)


@pytest.mark.parametrize(
    ("answers", "weights", "mean"),
    [
        ([1.0, 3.0, 1e300], [0.5, 0.5, 0.0], 2.0),  # a weight of zero moves nothing
        ([1.0, 2.0, None], [0.0, 0.0, 1.0], 1.5),  # those that answered weigh nothing: they count equally
        ([0.25, None], [5e-324, 1.0], 0.25),
        *(([number] * n, [1 / n] * n, number) for number in NUMBERS for n in (3, 7, 10)),
    ],
)
def test_the_mean_of_equal_numbers_or_weights_is_exact_to_the_bit(answers, weights, mean):
    assert weighted_mean(answers, weights) == mean
