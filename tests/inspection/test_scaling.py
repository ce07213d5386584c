import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from vpp.inspection.hypothesis_map import aligned, classical_scaling, stress
from vpp.posterior.weights import Floats

ROOT_OF_ROUNDING = 1e-5
"""Coordinates are roots of eigenvalues, so one that should be 0 is the root of a rounding error."""
PLACES = arrays(np.float64, st.tuples(st.integers(2, 12), st.just(2)), elements=st.integers(-9, 9).map(float))


def distances_of(points: Floats) -> Floats:
    return np.asarray(np.linalg.norm(points[:, None] - points[None], axis=2), dtype=np.float64)


@given(PLACES)
def test_distances_in_a_plane_are_recovered_exactly(points: Floats) -> None:
    distances = distances_of(points)
    found = classical_scaling(distances)
    assert distances_of(found) == pytest.approx(distances, abs=ROOT_OF_ROUNDING)
    assert found.mean(axis=0) == pytest.approx([0, 0], abs=ROOT_OF_ROUNDING)
    assert found[:, 0].var() >= found[:, 1].var() - 1e-9


def test_the_side_of_each_axis_does_not_depend_on_the_eigenvectors() -> None:
    """Two points far right, one far left: the far left one is farthest from the mean, so it becomes positive."""
    found = classical_scaling(distances_of(np.array([[0.0, 0.0], [1.0, 0.0], [-9.0, 0.0]])))
    assert found[2, 0] == pytest.approx(19 / 3)
    assert found[:, 1] == pytest.approx([0, 0, 0], abs=1e-6)


@given(PLACES, st.floats(0, 6), st.booleans(), st.integers(-5, 5))
def test_alignment_undoes_a_turn_a_reflection_and_a_shift(
    points: Floats, angle: float, is_reflected: bool, shift: int
) -> None:
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    moved = points @ turn @ np.diag([1, -1 if is_reflected else 1]) + shift
    assert aligned(moved, moved, points) == pytest.approx(points, abs=1e-6)


def test_stress_is_the_root_of_the_squared_error_over_the_squared_distances_shown() -> None:
    points = np.array([[0.0, 0.0], [3.0, 0.0], [0.0, 4.0]])
    assert stress(distances_of(points), points) == 0
    given_distances = distances_of(points) + 1 - np.eye(3)
    assert stress(given_distances, points) == pytest.approx((3 / 50) ** 0.5)
