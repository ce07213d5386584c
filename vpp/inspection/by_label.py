"""How the averaged prediction does on the test rows of each label, and what it takes them for otherwise."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from vpp.data.dataset import Dataset
from vpp.events import Evaluated
from vpp.inspection.scores import rows_of
from vpp.posterior.prediction import Value
from vpp.runs.averages import averages

FEW_LABELS = 2
"""With no more labels, the two shares are in the balanced accuracy and the vote already."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelLine:
    """The test rows of one label."""

    label: str
    n: int
    n_correct: int
    mistaken: tuple[Value | None, int] | None
    """The commonest wrong answer, None for an abstention, and how often it was given; None where all are right."""
    n_trained: int
    """Training rows of the label."""


def by_label(evaluated: Evaluated | None, dataset: Dataset) -> tuple[LabelLine, ...]:
    """A line for every label of the data, in the data's order; empty for regression, two labels, or before the test."""
    if evaluated is None or len(dataset.classes) <= FEW_LABELS:
        return ()
    truths = [row.target for row in rows_of(evaluated, dataset)]
    said = list(zip(truths, averages(evaluated), strict=True))
    trained = Counter(row.target for row in dataset.train)
    return tuple(_line(label, [a for truth, a in said if truth == label], trained[label]) for label in dataset.classes)


def _line(label: str, answers: Sequence[Value | None], n_trained: int) -> LabelLine:
    wrong = Counter(answer for answer in answers if answer != label)
    commonest = min(wrong.items(), key=lambda each: (-each[1], str(each[0]))) if wrong else None
    return LabelLine(
        label=label,
        n=len(answers),
        n_correct=len(answers) - wrong.total(),
        mistaken=commonest,
        n_trained=n_trained,
    )
