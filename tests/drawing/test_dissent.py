"""The head of the Disagreement page."""

from pathlib import Path

import pytest

from tests import inspected
from tests.reporting.builders import YES_NO, evaluated, view_of
from vpp.drawing.dissent import asked_words, decided_words, in_dispute, metrics, recorded_words, saying
from vpp.events import Evaluated
from vpp.inspection.points import Point, points
from vpp.settings import Config


def labels_weighed(*weights: float) -> tuple[list[Point], Evaluated]:
    """The run of labels with other weights."""
    test = evaluated(inspected.LABELS, dict(inspected.ON_TEST), slots=inspected.LABEL_SLOTS, weights=weights)
    return points(test, {row.id: row for row in inspected.LABELS.test}), test


def numbers_weighed(*weights: float) -> tuple[list[Point], Evaluated]:
    """The run of numbers with other weights."""
    said = dict(inspected.NUMBERS_ON_TEST)
    test = evaluated(inspected.NUMBERS, said, slots=inspected.NUMBER_SLOTS, weights=weights)
    return points(test, {row.id: row for row in inspected.NUMBERS.test}), test


def test_the_headline_counts_the_rows_without_a_clear_answer_and_says_the_rule() -> None:
    """EVEN and PAIR answer alike. BIG dissents on rows 7 and 8, ODD on 8 and 9; ODD gives no answer to row 6."""
    divided, config = "The particles disagree on three of six test rows.", inspected.LABEL_CONFIG
    backed = "None is “I don’t know”: every answer has at least two thirds of the weight"
    unknown = "no label has two thirds of the {} that answered: the answer is “I don’t know”."
    # Behind the answers to rows 7, 8 and 9: 0.94, 0.93 and 0.99; then 0.64, 0.62 and 0.98.
    assert saying(*labels_weighed(0.5, 0.06, 0.43, 0.01), config) == f"{divided} {backed} that answered."
    on_two = f"{divided} On two of them {unknown.format('weight')}"
    assert saying(*labels_weighed(0.5, 0.36, 0.12, 0.02), config) == on_two
    # ODD holds no weight: all of it answered.
    assert saying(*labels_weighed(0.5, 0.1, 0.4, 0.0), config).endswith(f"on two of six test rows. {backed}.")
    # Chains have no weights: EVEN and PAIR tie with BIG and ODD on row 8, and three of four agree on rows 7 and 9.
    chains = saying(*labels_weighed(0.25, 0.25, 0.25, 0.25), Config(method="mh", particles=4))
    assert chains.endswith(f"On one of them {unknown.format('chains')}")


@pytest.mark.parametrize(("faint", "agrees"), [(1e-20, True), (1e-6, False)])
def test_a_voice_too_faint_to_hear_makes_no_spread(faint: float, agrees: bool) -> None:
    said = saying(*numbers_weighed(1 - 2 * faint, faint, faint), inspected.NUMBER_CONFIG)
    assert (said == "Practically all of the weight says the same on every row.") is agrees


def test_the_counts_of_a_vote_say_what_they_count(tmp_path: Path) -> None:
    snapshot = inspected.labels(tmp_path / "labels").refresh()
    of_labels = metrics(*labels_weighed(*inspected.LABEL_WEIGHTS), snapshot, inspected.LABELS)
    strip = {m.name: (m.value, m.scale) for m in of_labels}
    assert strip["Uncertain points"] == ("3", "of 6")
    # Row 8 has 0.6 behind its answer, and row 9 is wrong.
    assert (strip["Decided rows right"], strip["Rows decided"]) == (("4", "of 5"), ("5", "of 6"))
    (recorded,) = (m for m in of_labels if m.name == "Vote accuracy, all rows")
    assert recorded.words.startswith("5 of 6, as in the paper: undecided rows count too")
    assert strip["Weakly backed"] == ("4", "of 6")
    # Entropies of .7/.3, .6/.4 and .9/.1: .8813, .9710 and .4690, over six rows.
    assert strip["Mean vote entropy"] == ("0.39", "bits")
    assert strip["Abstained"] == ("1", "of 24")
    # Means 1, 3, 4.5, 8/3 for 1, 3, 5, 2.
    snapshot = inspected.numbers(tmp_path / "numbers").refresh()
    of_numbers = metrics(*numbers_weighed(*inspected.NUMBER_WEIGHTS), snapshot, inspected.NUMBERS)
    assert [m.value for m in of_numbers][-2:] == ["0.2917", "0.921"]


def test_a_tie_is_undecided_though_the_recorded_accuracy_settles_it() -> None:
    rows, _ = labels_weighed(0.25, 0.25, 0.25, 0.25)
    tied = [point for point in rows if point.leader is None]
    assert [(point.row.id, point.is_undecided, point.is_right, point.is_wrong) for point in tied] == [
        (8, True, False, False)
    ]
    assert decided_words(rows) == "4 of 5 decided rows right · “I don’t know” on 1 of 6"
    words = recorded_words(rows)
    assert (
        words == "4 of 6, as in the paper: undecided rows count too (1 tie, settled by the first label in sort order)."
    )


def test_rows_that_nobody_answered_come_last_of_those_in_dispute() -> None:
    test = evaluated(YES_NO, {"a": [None, "no", "no"], "b": [None, "no", "yes"]}, slots=("a", "b"))
    rows = in_dispute(points(test, {row.id: row for row in YES_NO.test}))
    assert [point.row.id for point in rows] == [6, 4]


def test_a_live_page_says_of_which_step_the_answers_are() -> None:
    test = evaluated(YES_NO, {"a": ["yes", "no", "no"]}, slots=("a",), step=3)
    every = asked_words(test, view_of(), live=True)
    assert "They are asked again at the end; this page follows." in every
    assert "again" not in asked_words(test, view_of(), live=False)
