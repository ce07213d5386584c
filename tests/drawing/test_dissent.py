"""The head of the Disagreement page."""

from tests import inspected
from tests.reporting.builders import evaluated
from vpp.drawing.dissent import decided_words, saying
from vpp.events import Evaluated
from vpp.findings.points import Point, points
from vpp.settings import Config


def labels_weighed(*weights: float) -> tuple[list[Point], Evaluated]:
    """The run of labels with other weights."""
    test = evaluated(inspected.LABELS, dict(inspected.ON_TEST), slots=inspected.LABEL_SLOTS, weights=weights)
    return points(test, inspected.LABELS), test


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


def test_a_tie_is_undecided() -> None:
    rows, _ = labels_weighed(0.25, 0.25, 0.25, 0.25)
    tied = [point for point in rows if point.leader is None]
    assert [(point.row.id, point.is_undecided, point.is_right, point.is_wrong) for point in tied] == [
        (8, True, False, False)
    ]
    assert decided_words(rows) == "4 of 5 decided rows right · “I don’t know” on 1 of 6"
