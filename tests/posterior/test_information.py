"""Expected information in bits: values worked out by hand, and what always holds."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vpp.posterior.disagreement import entropy, label_information, label_laws, number_information
from vpp.posterior.likelihood import ZeroOneLikelihood

LABELS = ("a", "b", "c")
NOISE = ZeroOneLikelihood(epsilon=0.05)
CLOSE = 1e-9
BY_QUADRATURE = 2e-3
"""Bits by which a quadrature over 48 points may miss."""


def voices(answers):
    """(Votes, weights that sum to 1)."""
    return st.lists(st.tuples(answers, st.floats(0.01, 1)), min_size=1, max_size=6).map(
        lambda pairs: ([vote for vote, _ in pairs], [w / sum(w for _, w in pairs) for _, w in pairs])
    )


votes_of_labels = voices(st.sampled_from([*LABELS, None]))
votes_of_numbers = voices(st.none() | st.floats(-20, 20))


def bits(said, epsilon=0.05, labels=LABELS):
    votes, weights = said
    return label_information(votes, weights, labels, [ZeroOneLikelihood(epsilon=epsilon)] * len(votes))


def test_two_camps_of_labels_by_hand():
    # p(yes) = .6 x .95 + .4 x .05 = .59; H(.59) = .976500; H(.05) = .286397
    information = label_information(["yes", "no"], [0.6, 0.4], ("no", "yes"), [NOISE] * 2)
    assert information == pytest.approx(0.976500 - 0.286397, abs=1e-6)


def test_an_abstention_makes_every_label_equally_likely():
    # p(yes) = .9 x .95 + .1 x .5 = .905; H(.905) = .452943; less .9 x .286397 + .1 x 1
    assert label_laws([None], ("no", "yes"), [NOISE]).tolist() == [[0.5, 0.5]]
    information = label_information(["yes", None], [0.9, 0.1], ("no", "yes"), [NOISE] * 2)
    assert information == pytest.approx(0.452943 - 0.357757, abs=1e-6)


def test_the_law_of_labels_sums_to_one_whatever_the_mass_of_an_error():
    # whole: .95, .05, .05 over 1.05; shared: .95, .025, .025
    assert label_laws(["a"], LABELS, [NOISE])[0] == pytest.approx([0.95 / 1.05, 0.05 / 1.05, 0.05 / 1.05])
    assert label_laws(["a"], LABELS, [ZeroOneLikelihood(epsilon=0.05, n_shares=2)])[0] == pytest.approx(
        [0.95, 0.025, 0.025]
    )


@given(st.sampled_from([*LABELS, None]), votes_of_labels)
def test_what_all_agree_on_tells_nothing(vote, said):
    assert bits(([vote] * len(said[1]), said[1])) == 0.0


@given(votes_of_labels, st.floats(0.001, 0.6))
def test_a_label_tells_no_more_than_there_is_to_tell(said, epsilon):
    found = bits(said, epsilon)
    assert 0 <= found <= math.log2(len(LABELS)) + CLOSE
    assert found <= float(entropy(said[1])) + CLOSE


@given(votes_of_labels, st.floats(0.1, 0.9))
def test_a_particle_in_two_copies_tells_as_one_and_without_weight_nothing(said, part):
    votes, (first, *weights) = said
    split = ([votes[0], *votes, "a"], [first * part, first * (1 - part), *weights, 0.0])
    assert bits(split) == pytest.approx(bits(said), abs=CLOSE)


def test_numbers_far_apart_tell_their_camp_and_those_that_agree_nothing():
    assert number_information([3.0, 3.0, None], [0.5, 0.3, 0.2], tau=1.0) == 0.0
    assert number_information([3.0, 4.0], [1.0, 0.0], tau=1.0) == 0.0
    # the noise never confuses them: H(.5, .5) = 1 and H(.75, .25) = .811278
    assert number_information([0.0, 100.0], [0.5, 0.5], tau=1.0) == pytest.approx(1.0)
    assert number_information([0.0, 1e300], [0.75, 0.25], tau=1.0) == pytest.approx(0.811278, abs=1e-6)


@given(votes_of_numbers, st.floats(0.2, 5))
def test_the_quadrature_agrees_with_a_fine_grid(said, tau):
    predictions, weights = said
    answered = [(f, w) for f, w in zip(predictions, weights, strict=True) if f is not None]
    if not answered:
        assert number_information(predictions, weights, tau=tau) == 0
        return
    total = sum(w for _, w in answered)
    y = np.linspace(-40, 40, 20_001)
    density = sum(w / total * np.exp(-((y - f) ** 2) / (2 * tau)) / math.sqrt(2 * math.pi * tau) for f, w in answered)
    of_mixture = -np.trapezoid(np.where(density > 0, density * np.log2(np.maximum(density, 1e-300)), 0), y)
    of_noise = 0.5 * math.log2(2 * math.pi * math.e * tau)
    found = number_information(predictions, weights, tau=tau)
    assert found == pytest.approx(total * (of_mixture - of_noise), abs=BY_QUADRATURE)
