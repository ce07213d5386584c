from pathlib import Path

import pytest

from tests.inspected import label_events, labels
from tests.reporting.builders import view_of
from tests.reporting.sampled import SMALL, VARIANTS, agreeing, sampled
from vpp.inspection.slots import UNCHANGED, Change, changes, place
from vpp.settings import Config


def test_a_weight_is_compared_with_what_the_step_before_left_and_a_place_with_its_places(tmp_path: Path) -> None:
    view = labels(tmp_path).refresh().view
    weighed = view.steps[1].reweighted
    assert weighed is not None
    found = changes(view, 1, weighed.weights)
    assert found[0] == Change(weight=pytest.approx(0.375))
    assert found[1] == Change(weight=pytest.approx(0.125), is_new=True)
    assert [place(weighed.weights, slot) for slot in range(4)] == [1, None, None, None], "none among equals"


def test_after_resampling_all_begin_alike_and_copies_say_whose_they_are(tmp_path: Path) -> None:
    view = labels(tmp_path).refresh().view
    found = changes(view, 2, view.weights)
    assert [found[slot].weight for slot in range(4)] == [pytest.approx(0.25)] * 4
    assert [found[slot].copied for slot in range(4)] == [None, 0, 1, 2]
    assert [found[slot].is_new for slot in range(4)] == [False, True, False, False]


def test_the_first_step_has_equal_weights_behind_it_and_nothing_is_new() -> None:
    view = view_of(*label_events())
    assert changes(view, 0, (0.375, 0.125, 0.375, 0.125))[0] == Change(weight=0.25)
    assert changes(view, -1, (0.25,) * 4) == {}


def test_newcomers_are_new_and_have_no_place_before(tmp_path: Path) -> None:
    view = sampled(tmp_path, VARIANTS["growing"], task="regression").refresh().view
    step = next(step for step, at in view.steps.items() if at.joined)
    weighed = view.steps[step + 1].reweighted
    assert weighed is not None
    found = changes(view, step + 1, weighed.weights)
    for slot in view.steps[step].joined:
        assert (found[slot].is_new, found[slot].place, found[slot].copied) == (True, None, None)


def test_a_particle_that_a_shrinking_k_numbered_anew_is_compared_with_itself(tmp_path: Path) -> None:
    config = Config(**{**SMALL, "epochs": 2}, particles_max=8, particles_min=2)
    view = sampled(tmp_path, config, answer=agreeing).refresh().view
    step = next(step for step, at in view.steps.items() if at.shrunk)
    weighed = view.steps[step + 1].reweighted
    assert weighed is not None
    assert sorted(changes(view, step + 1, weighed.weights)) == [0, 1]
    assert changes(view, step + 1, weighed.weights).get(2, UNCHANGED) == UNCHANGED
