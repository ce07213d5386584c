"""Systematic resampling: counts, their mean over u, and the corners of floating point."""

import math

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from vpp.posterior.weights import systematic_resample

ALMOST_ONE = math.nextafter(1.0, 0.0)

uniforms = st.floats(0, 1, exclude_max=True)
shares = st.lists(st.integers(0, 9), min_size=1, max_size=12).filter(any)
"""Weights as whole parts, so that K w is an exact fraction."""


def counts(weights, *, u):
    ancestors = systematic_resample(weights, u=u)
    assert len(ancestors) == len(weights)
    return np.bincount(ancestors, minlength=len(weights))


@settings(deadline=None, max_examples=50)
@given(shares, uniforms)
@example([1, 1, 1], ALMOST_ONE)
def test_every_particle_gets_floor_or_ceil_of_k_w_copies(parts, u):
    weights = np.array(parts) / sum(parts)
    expected = len(parts) * weights
    copies = counts(weights, u=u)
    # A pointer that falls on an edge may be rounded to either side of it.
    assert (copies >= np.floor(expected - 1e-9)).all() or on_an_edge(parts, u)
    assert (copies <= np.ceil(expected + 1e-9)).all() or on_an_edge(parts, u)


def on_an_edge(parts, u):
    """Whether a pointer lies within rounding of an edge between two particles."""
    edges = np.cumsum(parts) / sum(parts) * len(parts) - u
    return bool((np.abs(edges - np.round(edges)) < 1e-9).any())


@settings(deadline=None)
@given(shares)
def test_copies_averaged_over_a_grid_of_u_equal_k_w_exactly(parts):
    # Edges lie at multiples of 1 / sum(parts): mid-points of a grid that fine never touch one.
    grid = [(i + 0.5) / sum(parts) for i in range(sum(parts))]
    total = sum(counts(parts, u=u) for u in grid)
    assert total.tolist() == [part * len(parts) for part in parts]


@pytest.mark.parametrize("size", [1, 2, 3, 7, 9, 10, 1000])
def test_equal_weights_copy_each_particle_once_and_a_pointer_that_rounds_up_to_one_names_the_last(size):
    for u in (1e-9, 0.3, 1 - 1e-9):
        assert systematic_resample([1 / size] * size, u=u).tolist() == list(range(size))
    # (K - 1 + u) / K is 1.0 in floating point for the largest u below 1, and the running sum of ten ends below 1.
    assert systematic_resample(np.full(size, 1 / size), u=ALMOST_ONE)[-1] == size - 1
    assert np.cumsum([0.1] * 10)[-1] < 1


@settings(deadline=None, max_examples=50)
@given(st.lists(st.just(0.0) | st.floats(0, 1), min_size=1, max_size=30).filter(any), uniforms)
@example([1e-20, 1.0, 1e-20], ALMOST_ONE)
@example([0.1] * 10 + [0.0], ALMOST_ONE)
@example([0.0, 1.0, 0.0, 0.0], 0.0)
def test_ancestors_are_ascending_slots_with_weight(weights, u):
    ancestors = systematic_resample(weights, u=u)
    assert all(weights[a] > 0 for a in ancestors)
    assert (np.diff(ancestors) >= 0).all()
    assert 0 <= ancestors.min() <= ancestors.max() < len(weights)


@pytest.mark.parametrize("weights", [[], [0.0, 0.0], [0.5, -0.1], [math.nan, 1.0], [math.inf, 1.0]])
def test_weights_that_are_no_distribution_are_refused(weights):
    with pytest.raises(ValueError, match="weights must be"):
        systematic_resample(weights, u=0.5)
