"""Parents and children of hypotheses, by hand on the run of labels and on runs of the samplers."""

from pathlib import Path

import pytest

from tests.inspected import BIG, EVEN, LUCK, ODD, PAIR, label_events
from tests.reporting.builders import view_of
from tests.reporting.sampled import VARIANTS, sampled
from vpp.errors import InputError
from vpp.findings.hypotheses import Node, ancestry, came_from

FIRST = LUCK + " Or yes."


@pytest.fixture(scope="module")
def lines() -> list[tuple[Node, ...]]:
    """The ancestors of the four last particles."""
    view = view_of(*label_events())
    return [ancestry(view, slot) for slot in range(view.size)]


def test_the_ancestry_of_a_particle_follows_its_slots_through_the_resampling(lines: list[tuple[Node, ...]]) -> None:
    assert [[node.text for node in line] for line in lines] == [
        [EVEN, EVEN, EVEN], [EVEN, EVEN, BIG], [FIRST, PAIR, PAIR], [ODD, ODD, ODD],
    ]  # fmt: skip
    parents = [[node.parent for node in line] for line in lines]
    assert parents == [[None, 0, 0], [None, 0, 0], [None, 1, 1], [None, 2, 2]]
    assert [[node.slot for node in line] for line in lines] == [[0, 0, 0], [0, 0, 1], [1, 1, 2], [2, 2, 3]]
    assert [node.changed for node in lines[2]] == [True, True, False]


def test_what_happened_is_known_of_each_particle(lines: list[tuple[Node, ...]]) -> None:
    assert [[node.happened for node in line] for line in lines] == [
        ["first", "unchanged", "unparsable"],
        ["first", "unchanged", "accepted"],
        ["first", "accepted", "rejected"],
        ["first", "rejected", "rejected"],
    ]


def test_a_particle_has_the_weight_with_which_it_was_next_weighed(lines: list[tuple[Node, ...]]) -> None:
    """Step 0 weighed the first hypotheses, step 1 what step 0 left; the last have those that predictions use."""
    weights = [[node.weight for node in line] for line in lines]
    assert weights == [[0.375, 0.7, 0.4], [0.375, 0.7, 0.3], [0.125, 0.1, 0.2], [0.375, 0.1, 0.1]]


def test_an_unknown_particle_is_refused() -> None:
    with pytest.raises(InputError, match="give one from 0 to 3"):
        ancestry(view_of(*label_events()), 4)


@pytest.mark.parametrize("name", ["smc", "adaptive", "mh", "vml"])
def test_parents_are_those_that_the_samplers_kept(tmp_path: Path, name: str) -> None:
    view = sampled(tmp_path, VARIANTS[name]).refresh().view
    _, *later = view.finished_steps
    assert later
    for at in later:
        assert [came_from(at, slot) for slot in range(len(at.population))] == [state.parent for state in at.population]
