"""The head of the Disagreement page."""

import pytest

from tests import inspected
from tests.reporting.builders import evaluated
from vpp.drawing.dissent import READ, number_strip, saying, vote_strip
from vpp.events import Evaluated
from vpp.inspection.points import Point, points
from vpp.wording.words import NBSP


def labels_weighed(*weights: float) -> tuple[list[Point], Evaluated]:
    """The run of labels with other weights."""
    test = evaluated(inspected.LABELS, dict(inspected.ON_TEST), slots=inspected.LABEL_SLOTS, weights=weights)
    return points(test, {row.id: row for row in inspected.LABELS.test}), test


def numbers_weighed(*weights: float) -> tuple[list[Point], Evaluated]:
    """The run of numbers with other weights."""
    said = dict(inspected.NUMBERS_ON_TEST)
    test = evaluated(inspected.NUMBERS, said, slots=inspected.NUMBER_SLOTS, weights=weights)
    return points(test, {row.id: row for row in inspected.NUMBERS.test}), test


def test_voices_of_little_weight_are_counted_but_kept_apart() -> None:
    # Rows 7, 8 and 9 are divided; EVEN and PAIR answer alike, so 0.98 stands behind each answer.
    assert saying(*labels_weighed(0.49, 0.01, 0.49, 0.01)) == (
        "The particles disagree on three of six test points. "
        "On each of them at least 95\N{NO-BREAK SPACE}% of the weight backs the answer."
    )


def test_where_only_some_are_weakly_backed_it_says_how_many() -> None:
    # BIG, 0.06, dissents on rows 7 and 8; ODD, 0.01, on 8 and 9: 0.94, 0.93 and 0.99 stand behind the answers.
    said = saying(*labels_weighed(0.5, 0.06, 0.43, 0.01))
    assert said.endswith("On two of them less than 95\N{NO-BREAK SPACE}% of the weight backs the answer: " + READ + ".")


def test_the_answer_is_unknown_only_where_less_than_two_thirds_back_it() -> None:
    # BIG, 0.36, dissents on rows 7 and 8; ODD, 0.02, on 8 and 9: 0.64, 0.62 and 0.98 stand behind the answers.
    said = saying(*labels_weighed(0.5, 0.36, 0.12, 0.02))
    assert said.endswith("On two of them less than two thirds does, and the answer is “I don’t know”.")
    assert "I don’t know" not in saying(*labels_weighed(0.5, 0.06, 0.43, 0.01))


@pytest.mark.parametrize(("faint", "agrees"), [(1e-20, True), (1e-6, False)])
def test_a_voice_too_faint_to_hear_makes_no_spread(faint: float, agrees: bool) -> None:
    said = saying(*numbers_weighed(1 - 2 * faint, faint, faint))
    assert (said == "Practically all of the weight says the same on every test row.") is agrees


def test_the_strip_has_the_other_figures_of_the_same_answers() -> None:
    """By hand: 3 of 3 and 2 of 3; means 1, 3, 4.5, 8/3 for 1, 3, 5, 2."""
    found, test = labels_weighed(*inspected.LABEL_WEIGHTS)
    strip = {m.name: m.value for m in vote_strip(found, test, inspected.LABEL_CONFIG)}
    assert strip["Balanced accuracy"] == f"83.3{NBSP}%"
    found, test = numbers_weighed(*inspected.NUMBER_WEIGHTS)
    strip = {m.name: m.value for m in number_strip(found, test, inspected.NUMBER_CONFIG, beyond=4.0)}
    assert (strip["Mean absolute error"], strip["R²"]) == ("0.2917", "0.921")
