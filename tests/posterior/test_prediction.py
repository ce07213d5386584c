"""The weighted vote and mean (Eq. 7 and 8), how far particles disagree, and the expected information of a label."""

import math

import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from vpp.posterior import disagreement
from vpp.posterior.likelihood import ZeroOneLikelihood
from vpp.posterior.prediction import Mixture, decide, leader, vote_shares, weighted_mean, winner

votes_and_weights = st.lists(
    st.tuples(st.none() | st.sampled_from(["no", "yes", "maybe"]), st.integers(0, 8).map(lambda part: part / 16)),
    min_size=1,
    max_size=12,
)
"""A vote and a weight in whole sixteenths, so that sums are exact."""


def unzip(pairs):
    return [vote for vote, _ in pairs], [weight for _, weight in pairs]


@given(votes_and_weights)
def test_shares_are_literal_sums_without_abstentions_and_the_winner_the_argmax_or_at_a_tie_the_lowest_label(pairs):
    votes, weights = unzip(pairs)
    literal = {label: sum(w for v, w in zip(votes, weights, strict=True) if v == label) for label in votes if label}
    shares = vote_shares(votes, weights)
    assert shares == literal
    first = min(literal, key=lambda label: (-literal[label], label)) if literal else None
    assert winner(shares) == next(iter(shares), None) == first


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


def test_shares_that_differ_by_rounding_alone_are_tied_and_a_graded_answer_votes_with_its_weight():
    assert vote_shares([{"no": 0.25, "yes": 0.75}, "no"], [0.5, 0.25]) == {"no": 0.375, "yes": 0.375}
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


weights_some_zero = st.just(0.0) | st.floats(1e-6, 1)
labelled = st.lists(st.tuples(st.none() | st.sampled_from(["a", "b", "c"]), weights_some_zero), min_size=1, max_size=10)
numbered = st.lists(
    st.tuples(st.none() | st.sampled_from([0.1, 0.3, -7.0, 1e3]), weights_some_zero), min_size=1, max_size=10
)


def voices(pairs):
    return [(vote, weight) for vote, weight in pairs if vote is not None and weight > 0]


@given(labelled | numbered)
def test_a_point_is_certain_exactly_when_those_with_a_voice_are_unanimous(pairs):
    assert disagreement.is_uncertain(*unzip(pairs)) == (len({vote for vote, _ in voices(pairs)}) != 1)


@given(labelled)
@example([("a", 1.0), ("b", 1e-300)])  # a vanishing minority still disagrees
def test_entropy_equals_the_literal_sum_and_is_zero_exactly_when_the_voices_are_unanimous(pairs):
    assume(voices(pairs))
    entropy = disagreement.vote_entropy(*unzip(pairs))
    assert (entropy == 0) == (not disagreement.is_uncertain(*unzip(pairs)))
    assert 0 <= entropy <= math.log2(3) + 1e-12
    total = sum(weight for _, weight in voices(pairs))
    shares = [sum(w for v, w in voices(pairs) if v == label) / total for label in "abc"]
    literal = -sum(share * math.log2(share) for share in shares if share)
    assert entropy == pytest.approx(literal, abs=1e-9)


@pytest.mark.parametrize(
    ("votes", "weights", "spread", "interval"),
    [
        ([1.0, 9.0], [1.0, 0.0], 0, (1.0, 1.0)),  # a particle of weight 0 has no voice
        ([2.0, None, 2.0], [0.3, 0.4, 0.3], 0, (2.0, 2.0)),  # an abstention does not break unanimity
        ([None, None], [0.5, 0.5], math.inf, None),
        ([1.0, None], [0.0, 1.0], math.inf, None),  # only a particle without a voice answered
    ],
)
def test_only_answers_with_weight_have_a_voice_and_without_any_doubt_is_infinite(votes, weights, spread, interval):
    labels = [None if vote is None else str(vote) for vote in votes]
    assert (disagreement.weighted_spread(votes, weights), disagreement.weighted_interval(votes, weights)) == (
        spread,
        interval,
    )
    assert disagreement.vote_entropy(labels, weights) == spread
    assert disagreement.is_uncertain(labels, weights) == (spread > 0)


@given(numbered)
@example([(0.1, 1 / 3), (0.1, 1 / 3), (0.1, 1 / 3)])
@example([(0.1, 0.1)] * 10)
def test_spread_equals_the_literal_standard_deviation_and_is_zero_exactly_when_the_voices_are_unanimous(pairs):
    assume(voices(pairs))
    assert (disagreement.weighted_spread(*unzip(pairs)) == 0) == (not disagreement.is_uncertain(*unzip(pairs)))
    total = sum(w for _, w in voices(pairs))
    mean = sum(p * w for p, w in voices(pairs)) / total
    literal = math.sqrt(sum(w * (p - mean) ** 2 for p, w in voices(pairs)) / total)
    assert disagreement.weighted_spread(*unzip(pairs)) == pytest.approx(literal, rel=1e-6, abs=1e-9)


def test_voices_of_no_weight_to_speak_of_add_no_spread():
    assert disagreement.weighted_spread([2.0, 3.0], [1.0, 1e-19]) == 0
    assert disagreement.weighted_spread([2.0, 3.0], [1.0, 1e-17]) == pytest.approx(10**-8.5)
    assert disagreement.weighted_spread([-1.5e308, 1.5e308], [0.75, 0.25]) > 1e308
    assert disagreement.weighted_spread([0.0, 2e200], [0.5, 0.5]) == pytest.approx(1e200)


@given(
    st.lists(st.tuples(st.integers(-5, 5), st.integers(0, 6)), min_size=1, max_size=10),
    st.sampled_from([0.5, 0.75, 0.875]),
)
def test_the_interval_is_the_two_brute_force_quantiles(pairs, mass):
    population = sorted(value for value, part in pairs for _ in range(part))
    assume(population)
    # Whole parts: the q-quantile is the first value at or past q of the sorted copies.
    tail = (1 - mass) / 2 * len(population)
    low = population[max(math.ceil(tail), 1) - 1]
    high = population[math.ceil(len(population) - tail) - 1]
    weights = [part / 8 for _, part in pairs]
    assert disagreement.weighted_interval([float(v) for v, _ in pairs], weights, mass=mass) == (low, high)


@given(numbered, st.sampled_from([1e-200, 1e-14, 1e6]))
def test_the_interval_does_not_depend_on_the_scale_of_the_weights_nor_on_a_heavy_abstention(pairs, scale):
    predictions, weights = unzip(pairs)
    whole = disagreement.weighted_interval(predictions, weights)
    assert disagreement.weighted_interval(predictions, [w * scale for w in weights]) == whole
    assert disagreement.weighted_interval([1.0, 2.0, 3.0, None], [1e-13, 1e-13, 1e-13, 1.0]) == (1.0, 3.0)


laws = st.lists(
    st.tuples(st.none() | st.floats(-50, 50), st.floats(0.01, 1), st.floats(0.1, 20)), min_size=1, max_size=6
)


@given(laws, st.sampled_from([0.5, 0.9]))
def test_a_predictive_interval_leaves_out_equal_tails_of_the_mixture_of_gaussians(laws, mass):
    predictions, weights, noise = zip(*laws, strict=True)
    assume(any(f is not None for f in predictions))
    low, high = disagreement.predictive_interval(predictions, weights, noise, mass=mass)
    heard = [(f, w, sigma) for f, w, sigma in laws if f is not None]
    at = np.linspace(-250, 250, 200_001)
    density = sum(w * np.exp(-(((at - f) / sigma) ** 2) / 2) / sigma for f, w, sigma in heard)
    below = np.cumsum(density) / density.sum()
    expected = np.interp([(1 - mass) / 2, (1 + mass) / 2], below, at)
    assert [low, high] == pytest.approx(expected, abs=0.02)


def test_without_noise_the_interval_is_that_of_the_weights_and_none_if_all_abstain():
    votes, weights = [1.0, None, 2.0], [0.5, 0.3, 0.2]
    assert disagreement.predictive_interval(votes, weights, ()) == disagreement.weighted_interval(votes, weights)
    assert disagreement.predictive_interval([None], [1.0], [0.5]) is None


LABELS = ("a", "b", "c")
NOISE = ZeroOneLikelihood(epsilon=0.05)
CLOSE = 1e-9
BY_QUADRATURE = 2e-3
"""Bits by which a quadrature over 48 points may miss."""


def given_voices(answers):
    """(Votes, weights that sum to 1)."""
    return st.lists(st.tuples(answers, st.floats(0.01, 1)), min_size=1, max_size=6).map(
        lambda pairs: ([vote for vote, _ in pairs], [w / sum(w for _, w in pairs) for _, w in pairs])
    )


votes_of_labels = given_voices(st.sampled_from([*LABELS, None]))
votes_of_numbers = given_voices(st.none() | st.floats(-20, 20))


def bits(said, epsilon=0.05, labels=LABELS):
    votes, weights = said
    return disagreement.label_information(votes, weights, labels, [ZeroOneLikelihood(epsilon=epsilon)] * len(votes))


def test_two_camps_of_labels_and_an_abstention_by_hand():
    # p(yes) = .6 x .95 + .4 x .05 = .59; H(.59) = .976500; H(.05) = .286397
    information = disagreement.label_information(["yes", "no"], [0.6, 0.4], ("no", "yes"), [NOISE] * 2)
    assert information == pytest.approx(0.976500 - 0.286397, abs=1e-6)
    # p(yes) = .9 x .95 + .1 x .5 = .905; H(.905) = .452943; less .9 x .286397 + .1 x 1
    information = disagreement.label_information(["yes", None], [0.9, 0.1], ("no", "yes"), [NOISE] * 2)
    assert information == pytest.approx(0.452943 - 0.357757, abs=1e-6)


def test_the_law_of_labels_sums_to_one_whatever_the_mass_of_an_error_and_an_abstention_makes_all_alike():
    # whole: .95, .05, .05 over 1.05; shared: .95, .025, .025
    shared = ZeroOneLikelihood(epsilon=0.05, n_shares=2)
    assert disagreement.label_laws(["a"], LABELS, [NOISE])[0] == pytest.approx([0.95 / 1.05, 0.05 / 1.05, 0.05 / 1.05])
    assert disagreement.label_laws(["a"], LABELS, [shared])[0] == pytest.approx([0.95, 0.025, 0.025])
    assert disagreement.label_laws([None], ("no", "yes"), [NOISE]).tolist() == [[0.5, 0.5]]


@given(st.sampled_from([*LABELS, None]), votes_of_labels, st.floats(0.001, 0.6), st.floats(0.1, 0.9))
def test_a_label_tells_at_most_what_there_is_to_tell_and_copies_tell_as_one(vote, said, epsilon, part):
    votes, weights = said
    assert bits(([vote] * len(weights), weights)) == 0.0
    found = bits(said, epsilon)
    assert 0 <= found <= math.log2(len(LABELS)) + CLOSE
    assert found <= float(disagreement.entropy(weights)) + CLOSE
    first, *rest = weights
    split = ([votes[0], *votes, "a"], [first * part, first * (1 - part), *rest, 0.0])
    assert bits(split) == pytest.approx(bits(said), abs=CLOSE)


def test_numbers_far_apart_tell_their_camp_and_those_that_agree_nothing():
    assert disagreement.number_information([3.0, 3.0, None], [0.5, 0.3, 0.2], tau=1.0) == 0.0
    assert disagreement.number_information([3.0, 4.0], [1.0, 0.0], tau=1.0) == 0.0
    # the noise never confuses them: H(.5, .5) = 1 and H(.75, .25) = .811278
    assert disagreement.number_information([0.0, 100.0], [0.5, 0.5], tau=1.0) == pytest.approx(1.0)
    assert disagreement.number_information([0.0, 1e300], [0.75, 0.25], tau=1.0) == pytest.approx(0.811278, abs=1e-6)


@given(votes_of_numbers, st.floats(0.2, 5))
def test_the_quadrature_agrees_with_a_fine_grid(said, tau):
    predictions, weights = said
    answered = [(f, w) for f, w in zip(predictions, weights, strict=True) if f is not None]
    if not answered:
        assert disagreement.number_information(predictions, weights, tau=tau) == 0
        return
    total = sum(w for _, w in answered)
    y = np.linspace(-40, 40, 20_001)
    density = sum(w / total * np.exp(-((y - f) ** 2) / (2 * tau)) / math.sqrt(2 * math.pi * tau) for f, w in answered)
    of_mixture = -np.trapezoid(np.where(density > 0, density * np.log2(np.maximum(density, 1e-300)), 0), y)
    of_noise = 0.5 * math.log2(2 * math.pi * math.e * tau)
    found = disagreement.number_information(predictions, weights, tau=tau)
    assert found == pytest.approx(total * (of_mixture - of_noise), abs=BY_QUADRATURE)
