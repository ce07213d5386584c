"""Points, camps, columns and voices of the two runs of known predictions."""

import pytest

from tests import inspected
from tests.reporting.builders import YES_NO, evaluated
from vpp.events import Evaluated
from vpp.findings.points import ABOVE, AT, BELOW, Point, camps, points, spread_reliability, vote_reliability
from vpp.runs.reader import RunReader


def on_test(reader: RunReader) -> Evaluated:
    return reader.refresh().view.evaluated["test"]


def of(reader: RunReader) -> dict[int, Point]:
    return {point.row.id: point for point in points(on_test(reader), reader.dataset())}


def test_an_abstention_counts_against_the_weight_behind_an_answer_but_not_among_those_that_answered(
    labels: RunReader,
) -> None:
    found = of(labels)
    assert {row: point.behind for row, point in found.items()} == {4: 1, 5: 1, 6: 0.9, 7: 0.7, 8: 0.6, 9: 0.9}
    assert {row: point.confidence for row, point in found.items()} == {4: 1, 5: 1, 6: 1, 7: 0.7, 8: 0.6, 9: 0.9}
    assert [found[row].prediction for row in range(4, 10)] == ["yes", "no", "yes", "no", "yes", "yes"]
    assert [row for row, point in found.items() if point.is_wrong] == [9]
    assert [row for row, point in found.items() if point.is_undecided] == [8]


def test_points_are_uncertain_by_count_of_voices(labels: RunReader) -> None:
    found = of(labels).values()
    assert {point.row.id for point in found if point.is_uncertain} == {7, 8, 9}


def test_a_voice_of_tiny_weight_makes_a_point_uncertain() -> None:
    said = evaluated(
        YES_NO, {"a": ["yes", "no", "no"], "b": ["no", None, "no"]}, slots=("a", "b"), weights=(0.999, 0.001)
    )
    found = points(said, YES_NO)
    assert [point.row.id for point in found if point.is_uncertain] == [4]


def test_camps_are_the_sides_of_a_vote_its_outcome_first(labels: RunReader) -> None:
    found = camps(of(labels)[8], inspected.LABEL_WEIGHTS)
    assert [(camp.name, camp.slots, camp.weight, camp.speaker) for camp in found] == [
        ("yes", (0, 2), pytest.approx(0.6), 0),
        ("no", (1, 3), pytest.approx(0.4), 1),
    ]


def test_camps_of_numbers_are_the_sides_of_their_mean(numbers: RunReader) -> None:
    found = of(numbers)
    # 1, 2 and 0 around 1; 4, 6 and 4 around 4.5; 2, no answer and 4 around 8/3.
    sides = {row: [(camp.name, camp.slots) for camp in camps(found[row], inspected.NUMBER_WEIGHTS)] for row in found}
    assert sides == {
        4: [(AT, (0,)), (ABOVE, (1,)), (BELOW, (2,))],
        5: [(AT, (0, 1, 2))],
        6: [(BELOW, (0, 2)), (ABOVE, (1,))],
        7: [(BELOW, (0,)), (ABOVE, (2,))],
    }


def test_whether_doubt_marks_error_in_the_run_of_labels(labels: RunReader) -> None:
    found = vote_reliability(list(of(labels).values()))
    assert (found.unanimous.n_right, found.unanimous.n) == (3, 3)
    assert (found.divided.n_right, found.divided.n, found.n_undecided) == (1, 2, 1)
    # Weight behind: 1 1 .9 .9 .7 .6, and one of the two at .9 is wrong.
    assert found.curve.risk == pytest.approx((0, 0, 1 / 6, 1 / 4, 1 / 5, 1 / 6))
    # Confidence: .6 right, .7 right, .9 wrong, and 1 three times right.
    assert [(each.n, each.n_right) for each in found.bins] == [(1, 1), (1, 1), (1, 0), (3, 3)]
    assert found.calibration_error == pytest.approx((0.4 + 0.3 + 0.9 + 0) / 6)
    assert found.brier == pytest.approx((2 * 0.3**2 + 2 * 0.4**2 + 2 * 0.9**2) / 6)
    # -log2 of .7, .6 and .1
    assert found.log_score == pytest.approx((0.5145732 + 0.7369656 + 3.3219281) / 6)
    assert (found.n_infinite, found.n_all_abstained, found.is_equally_sure) == (0, 0, False)


def test_the_log_score_is_the_mean_over_rows_whose_truth_has_weight() -> None:
    """-log2 of 1/4 and of 3/4; the truth of the last row has none."""
    said = {"a": ["yes", "yes", "yes"], "b": ["no", "no", "yes"]}
    found = vote_reliability(points(evaluated(YES_NO, said, slots=("a", "b"), weights=(0.25, 0.75)), YES_NO))
    assert found.log_score == pytest.approx((2 + 0.4150375) / 2)
    assert found.n_infinite == 1


def test_whether_spread_marks_error_in_the_run_of_numbers(numbers: RunReader) -> None:
    found = spread_reliability(list(of(numbers).values()), numbers.dataset())
    assert sorted(found.spreads) == pytest.approx((0, 0.5**0.5, 0.75**0.5, (8 / 9) ** 0.5))
    # Ranks of the spreads 2 1 3 4, of the errors 1.5 1.5 3 4: 4.5 over the root of 5 times 4.5.
    assert found.rank_correlation == pytest.approx(4.5 / 22.5**0.5)
    assert (found.n_covered, found.n) == (4, 4)
    assert found.curve.risk == pytest.approx((0, 0, 0.25 / 3, (0.25 + 4 / 9) / 4))
