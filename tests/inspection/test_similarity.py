import pytest

from tests import inspected
from tests.reporting.builders import drawn, started, view_of
from vpp.inspection.ideas import merge_ideas
from vpp.inspection.similarity import Nearness, nearness
from vpp.runs.reader import RunReader
from vpp.settings import Config


def near_of(reader: RunReader) -> Nearness:
    ideas = merge_ideas(reader.refresh().view, reader.dataset())
    assert ideas is not None
    near = nearness(ideas, reader.dataset())
    assert near is not None
    return near


def test_labels_agree_on_the_rows_where_ideas_answer_alike(labels: RunReader) -> None:
    """EVEN and BIG: test rows 4, 5, 6, 9 and all 4 training rows; EVEN and ODD: 4, 5, 7 and 0, 1, 3;
    BIG and ODD: 4, 5, 8 and 0, 1, 3. An abstention of one alone, row 6 of ODD, is no agreement."""
    near = near_of(labels)
    assert near.similarity.tolist() == [[1.0, 0.8, 0.6], [0.8, 1.0, 0.6], [0.6, 0.6, 1.0]]
    assert near.pair(nearest=True) == (0, 1)
    assert near.pair(nearest=False) == (0, 2)


def test_groups_sum_the_weights_and_say_what_they_agree_on_at_least(labels: RunReader) -> None:
    near = near_of(labels)
    first, second = near.groups(0.8)
    assert (first.numbers, first.n_particles, first.least) == ((0, 1), 3, 0.8)
    assert (second.numbers, second.n_particles, second.least) == ((2,), 1, 1.0)
    assert (first.weight, second.weight) == (pytest.approx(0.9), pytest.approx(0.1))
    assert len(near.groups(0.81)) == 3
    assert len(near.groups(0.6)) == 1


def test_numbers_agree_by_their_difference_as_a_share_of_the_targets_range(numbers: RunReader) -> None:
    """The training targets range over 4. LINE and SLOPE: 1 0 2 and 4 (abstained), then 0 0 0 1: 22 / 8;
    LINE and FLAT: 1 0 0 2, 2 1 0 1: 11 / 8; SLOPE and FLAT: 2 0 2 4, 2 1 0 2: 33 / 8."""
    near = near_of(numbers)
    assert near.span == 4
    assert near.differences is not None
    differences = [near.differences[a, b] for a, b in ((0, 1), (0, 2), (1, 2))]
    assert differences == pytest.approx([(22 / 8) ** 0.5, (11 / 8) ** 0.5, (33 / 8) ** 0.5])
    assert near.similarity[0, 2] == pytest.approx(1 - (11 / 8) ** 0.5 / 4)
    assert [group.numbers for group in near.groups(0.7)] == [(0, 2), (1,)]


def test_nothing_is_said_of_ideas_that_words_alone_tell_apart() -> None:
    view = view_of(started(Config(particles=2), inspected.LABELS), *drawn("a", "b"))
    ideas = merge_ideas(view, inspected.LABELS)
    assert ideas is not None
    assert nearness(ideas, inspected.LABELS) is None
