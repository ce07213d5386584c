"""Points, sides, voices and the information of a label, on the two runs of known predictions."""

import pytest

from tests import inspected
from tests.asked import told_labels
from tests.reporting.builders import YES_NO, evaluated
from vpp.events import Evaluated
from vpp.findings.points import ABOVE, AT, BELOW, Point, points, questions, sides
from vpp.runs.journal import RunReader


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


def test_a_voice_of_tiny_weight_makes_a_point_uncertain() -> None:
    said = evaluated(
        YES_NO, {"a": ["yes", "no", "no"], "b": ["no", None, "no"]}, slots=("a", "b"), weights=(0.999, 0.001)
    )
    found = points(said, YES_NO)
    assert [point.row.id for point in found if point.is_uncertain] == [4]


def test_sides_are_those_of_a_vote_its_outcome_first(labels: RunReader) -> None:
    found = sides(of(labels)[8], inspected.LABEL_WEIGHTS)
    assert [(side.name, side.slots, side.weight, side.speaker) for side in found] == [
        ("yes", (0, 2), pytest.approx(0.6), 0),
        ("no", (1, 3), pytest.approx(0.4), 1),
    ]


def test_sides_of_numbers_are_those_of_their_mean(numbers: RunReader) -> None:
    found = of(numbers)
    # 1, 2 and 0 around 1; 4, 6 and 4 around 4.5; 2, no answer and 4 around 8/3.
    assert {row: [(s.name, s.slots) for s in sides(found[row], inspected.NUMBER_WEIGHTS)] for row in found} == {
        4: [(AT, (0,)), (ABOVE, (1,)), (BELOW, (2,))],
        5: [(AT, (0, 1, 2))],
        6: [(BELOW, (0, 2)), (ABOVE, (1,))],
        7: [(BELOW, (0,)), (ABOVE, (2,))],
    }


def test_inputs_come_by_the_bits_their_label_would_tell(labels: RunReader) -> None:
    found = questions(told_labels(), labels.refresh().view, inspected.LABEL_CONFIG, labels.dataset())
    assert [(q.row.id, round(q.bits, 4)) for q in found] == [
        (8, 0.6901),  # yes .6, no .4: H(.59) - H(.05)
        (7, 0.6180),  # no .7, yes .3: H(.32) - H(.05)
        (9, 0.2978),  # yes .9, no .1: H(.86) - H(.05)
        (6, 0.0952),  # yes .9, .1 abstains: H(.905) - (.9 H(.05) + .1)
        (4, 0.0),
        (5, 0.0),
    ]
