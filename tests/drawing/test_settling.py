"""The words of what would settle it."""

from tests.inspected import LABELS, NUMBERS
from vpp.data.dataset import Dataset, Row
from vpp.drawing.answering import consequence_words, reach_words
from vpp.findings.points import Consequence, Question
from vpp.posterior.prediction import Mixture, Value


def consequence(answer: Value, *against: int, contradicted: float) -> Consequence:
    return Consequence(
        answer=answer, behind=1 - contradicted, contradicted=contradicted, against=against, weights=(0.75, 0.25)
    )


def question(*consequences: Consequence, bits: float = 0.5, votes=("yes", "no"), weights=(0.6, 0.4)) -> Question:
    return Question(
        row=Row(id=7, inputs=(("<b>size</b>", "<i>"),), target=None),
        votes=votes,
        answers=votes,
        mixture=Mixture(weights=weights, classes=("no", "yes") if votes[0] == "yes" else ()),
        prediction=votes[0],
        bits=bits,
        consequences=consequences,
    )


BOTH = (consequence("yes", 1, contradicted=0.4), consequence("no", 0, contradicted=0.6))


def words(asked: Question, dataset: Dataset = LABELS, *, is_weighted: bool = True) -> list[str]:
    said = consequence_words(asked, dataset, is_weighted=is_weighted)
    return [line.replace("\N{NO-BREAK SPACE}", " ") for line in said]


def test_each_answer_names_the_weight_or_the_particles_it_contradicts() -> None:
    assert words(question(*BOTH)) == [
        "If yes: 40 % of the weight is contradicted (particle 1).",
        "If no: 60 % of the weight is contradicted (particle 0).",
    ]
    assert words(question(*BOTH), is_weighted=False) == [
        "If yes: 1 of 2 particles is contradicted (1).",
        "If no: 1 of 2 particles is contradicted (0).",
    ]


def test_numbers_are_camps() -> None:
    camps = question(consequence(4.0, 1, 2, contradicted=0.5), votes=(4.0, 6.0, 7.0), weights=(0.5, 0.25, 0.25))
    assert words(camps, NUMBERS) == ["If near 4: 50 % of the weight is contradicted (particles 1 and 2)."]
    third = question(consequence(7 / 3, 1, contradicted=0.5), votes=(2.0, 7.0))
    (said,) = words(third, NUMBERS)
    assert said.startswith("If near 2.3: 50 %")
    assert "more than 1 off" in reach_words(0.25)  # 2 sqrt(.25)
