"""Who descends from whom, checked by hand on the run of labels, and on trees put together at random."""

from pathlib import Path

import pytest
from hypothesis import strategies as st

from tests.inspected import BIG, EVEN, LUCK, NONE, ODD, PAIR, label_events
from tests.reporting.builders import view_of
from tests.reporting.sampled import VARIANTS, sampled
from vpp.findings.genealogy import Genealogy, genealogy
from vpp.findings.scores import came_from
from vpp.runs.view import RunView
from vpp.settings import Config

SMC = Config(particles=3)
FIRST = LUCK + " Or yes."


@pytest.fixture(scope="module")
def labels() -> Genealogy:
    return found_in(view_of(*label_events()))


def found_in(view: RunView) -> Genealogy:
    found = genealogy(view)
    assert found
    return found


def texts(found: Genealogy, step: int) -> list[str]:
    return [node.text for node in found.generations[step + 1]]


def test_every_step_is_there_from_the_first_hypotheses_on(labels: Genealogy) -> None:
    assert texts(labels, -1) == [EVEN, FIRST, ODD, NONE]
    assert texts(labels, 0) == [EVEN, PAIR, ODD, NONE]
    assert texts(labels, 1) == [EVEN, BIG, PAIR, ODD]


def test_parents_are_the_slots_before_resampling(labels: Genealogy) -> None:
    assert [[node.parent for node in nodes] for nodes in labels.generations] == [
        [None, None, None, None],
        [0, 1, 2, 3],
        [0, 0, 1, 2],
    ]


def test_what_happened_is_told_of_each_particle(labels: Genealogy) -> None:
    assert [[node.happened for node in nodes] for nodes in labels.generations] == [
        ["first", "first", "first", "first"],
        ["unchanged", "accepted", "rejected", "rejected"],
        ["unparsable", "accepted", "rejected", "rejected"],
    ]


def test_a_particle_has_the_weight_with_which_it_was_next_weighed(labels: Genealogy) -> None:
    """Step 0 weighed the first hypotheses, step 1 what step 0 left; the last have those that predictions use."""
    assert [[node.weight for node in nodes] for nodes in labels.generations] == [
        [0.375, 0.125, 0.375, 0.125],
        [0.7, 0.1, 0.1, 0.1],
        [0.4, 0.3, 0.2, 0.1],
    ]


def test_the_ancestry_of_a_particle_follows_its_slots(labels: Genealogy) -> None:
    way = labels.ancestry(2)
    assert [(each.step, each.slot, each.text) for each in way] == [(-1, 1, FIRST), (0, 1, PAIR), (1, 2, PAIR)]
    assert [each.changed for each in way] == [True, True, False]
    assert [each.happened for each in way] == ["first", "accepted", "rejected"]
    assert [each.copied_from for each in way] == [None, None, 1]
    assert [each.weight for each in way] == [0.125, 0.1, 0.2]


@pytest.mark.parametrize("name", ["smc", "adaptive", "mh", "vml"])
def test_parents_are_those_that_the_samplers_kept(tmp_path: Path, name: str) -> None:
    view = sampled(tmp_path, VARIANTS[name]).refresh().view
    _, *later = view.finished_steps
    assert later
    for at in later:
        own_parents = [state.parent for state in at.population]
        assert [came_from(at, slot) for slot in range(len(at.population))] == own_parents


@st.composite
def resamplings(draw: st.DrawFn) -> list[list[int]]:
    """Ancestors of a few resamplings of a few particles."""
    k = draw(st.integers(1, 5))
    return draw(st.lists(st.lists(st.integers(0, k - 1), min_size=k, max_size=k), min_size=1, max_size=6))
