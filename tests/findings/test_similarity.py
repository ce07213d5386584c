import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vpp.findings.ideas import closeness, groups_at, merge_ideas, share_alike, similarity
from vpp.posterior.weights import Floats
from vpp.runs.reader import RunReader

LABELS = st.integers(1, 8).flatmap(
    lambda n: st.lists(st.lists(st.sampled_from(["yes", "no", None]), min_size=6, max_size=6), min_size=n, max_size=n)
)
THRESHOLDS = st.integers(0, 100).map(lambda percent: percent / 100)


def near_of(reader: RunReader) -> Floats:
    ideas = merge_ideas(reader.refresh().view, reader.dataset())
    assert ideas is not None
    near = similarity(ideas, reader.dataset())
    assert near is not None
    return near


def test_labels_agree_on_the_rows_where_ideas_answer_alike(labels: RunReader) -> None:
    """EVEN and BIG: test rows 4, 5, 6, 9 and all 4 training rows; EVEN and ODD: 4, 5, 7 and 0, 1, 3;
    BIG and ODD: 4, 5, 8 and 0, 1, 3. An abstention of one alone, row 6 of ODD, is no agreement."""
    near = near_of(labels)
    assert near.tolist() == [[1.0, 0.8, 0.6], [0.8, 1.0, 0.6], [0.6, 0.6, 1.0]]
    assert tuple(groups_at(near, threshold=t) for t in (0.81, 0.8, 0.6)) == (
        ((0,), (1,), (2,)),
        ((0, 1), (2,)),
        ((0, 1, 2),),
    )


def test_numbers_agree_by_their_difference_as_a_share_of_the_targets_range(numbers: RunReader) -> None:
    """The training targets range over 4. LINE and SLOPE: 1 0 2 and 4 (abstained), then 0 0 0 1: 22 / 8;
    LINE and FLAT: 1 0 0 2, 2 1 0 1: 11 / 8; SLOPE and FLAT: 2 0 2 4, 2 1 0 2: 33 / 8."""
    near = near_of(numbers)
    alike = [1 - near[a, b] for a, b in ((0, 1), (0, 2), (1, 2))]
    assert alike == pytest.approx([(22 / 8) ** 0.5 / 4, (11 / 8) ** 0.5 / 4, (33 / 8) ** 0.5 / 4])
    assert groups_at(near, threshold=0.7) == ((0, 2), (1,))


def test_numbers_are_close_by_their_root_mean_squared_difference() -> None:
    """Differences 3, 0, and 8 for the one abstention: sqrt((9 + 0 + 64) / 3) of 8; two abstentions are alike."""
    found = closeness([[1.0, 2.0, None], [4.0, 2.0, 7.0]], span=8.0)
    assert found[0, 1] == found[1, 0] == pytest.approx(1 - (73 / 3) ** 0.5 / 8)
    assert closeness([[None], [None]], span=4.0).tolist() == [[1, 1], [1, 1]]
    assert closeness([[1.0], [2.0]], span=0.0).tolist() == [[1, 0], [0, 1]]


def test_groups_are_those_of_complete_linkage() -> None:
    """0 and 1 are 0.9 alike, 1 and 2 are 0.8, but 0 and 2 only 0.5: at 0.8 the chain is not one group."""
    alike = np.array([[1.0, 0.9, 0.5], [0.9, 1.0, 0.8], [0.5, 0.8, 1.0]])
    assert groups_at(alike, threshold=0.8) == ((0, 1), (2,))
    assert groups_at(alike, threshold=0.5) == ((0, 1, 2),)
    assert groups_at(alike, threshold=0.95) == ((0,), (1,), (2,))


@given(LABELS)
def test_similarity_is_symmetric_and_whole_only_for_equal_answers(answers: list[list[str | None]]) -> None:
    alike = share_alike(answers)
    assert (alike == alike.T).all()
    equal = [[a == b for b in answers] for a in answers]
    assert ((alike == 1) == np.array(equal)).all()


@given(LABELS, THRESHOLDS, THRESHOLDS)
def test_any_two_of_a_group_are_as_similar_as_asked_and_no_two_groups_can_join(
    answers: list[list[str | None]], threshold: float, other: float
) -> None:
    alike = share_alike(answers)
    groups = groups_at(alike, threshold=threshold)
    for i, first in enumerate(groups):
        assert alike[np.ix_(first, first)].min() >= threshold
        for second in groups[:i]:
            both = (*first, *second)
            assert alike[np.ix_(both, both)].min() < threshold
    assert sorted(sum(groups, ())) == list(range(len(answers)))
    others = groups_at(alike, threshold=other)
    assert (len(groups) <= len(others)) or other < threshold
