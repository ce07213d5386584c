"""The words of what would settle it."""

from dataclasses import replace

import pytest

from tests.inspected import LABELS, NUMBERS
from vpp.data.dataset import Dataset, Row
from vpp.drawing.settling import (
    asking_words,
    consequence_words,
    finding,
    question_html,
    reach_words,
    slots_text,
    source_words,
)
from vpp.inspection.settling import Consequence, Contender, Question
from vpp.posterior.prediction import Value


def consequence(answer: Value, *against: int, contradicted: float) -> Consequence:
    return Consequence(
        answer=answer, behind=1 - contradicted, contradicted=contradicted, against=against, weights=(0.75, 0.25)
    )


def question(*consequences: Consequence, bits: float = 0.5, votes=("yes", "no"), weights=(0.6, 0.4)) -> Question:
    return Question(
        row=Row(id=7, inputs=(("<b>size</b>", "<i>"),), target=None),
        votes=votes,
        answers=votes,
        weights=weights,
        is_label=votes[0] == "yes",
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


def test_labels_that_nobody_gives_and_abstentions_are_not_forgotten() -> None:
    one = question(consequence("yes", contradicted=0.0), votes=("yes", None), weights=(0.75, 0.25))
    assert words(one, replace(LABELS, classes=("maybe", "no", "yes"))) == [
        "If yes: nothing is contradicted.",
        "If anything else: every particle that answered is contradicted.",
        "25 % of the weight gave no readable answer: that counts as wrong.",
    ]


def test_numbers_are_camps() -> None:
    camps = question(consequence(4.0, 1, 2, contradicted=0.5), votes=(4.0, 6.0, 7.0), weights=(0.5, 0.25, 0.25))
    assert words(camps, NUMBERS) == ["If near 4: 50 % of the weight is contradicted (particles 1 and 2)."]
    third = question(consequence(7 / 3, 1, contradicted=0.5), votes=(2.0, 7.0))
    (said,) = words(third, NUMBERS)
    assert said.startswith("If near 2.3: 50 %")
    assert "more than 1 off" in reach_words(0.25)  # 2 sqrt(.25)


def test_many_particles_are_counted() -> None:
    assert slots_text([1, 4]) == "1 and 4"
    assert slots_text(range(15)) == "0, 1, 2, 3, 4, 5 and 9 more"


def test_the_weights_after_each_answer_are_folded_away() -> None:
    held = [Contender(text="one", slots=(0,), weight=0.6), Contender(text="other", slots=(1,), weight=0.4)]
    html = question_html(question(*BOTH), held, LABELS, name="row 7", seed_text="", is_weighted=True)
    assert '<td>one</td><td class="r">0.600</td><td class="r">0.750</td>' in html
    assert '<td>other</td><td class="r">0.400</td><td class="r">0.250</td>' in html


@pytest.mark.parametrize(
    ("bits", "said"),
    [
        ((0.9, 0.2, 0.001), "first label: 0.90 of 1.00 bits. 2 of 3 inputs would tell something."),
        ((0.001, 0.0), "On all 2 inputs nearly all hypotheses agree"),
        ((0.0,), "On the one input nearly all"),
    ],
)
def test_the_headline_says_how_much_the_answers_would_tell(bits: tuple[float, ...], said: str) -> None:
    assert said in finding([question(*BOTH, bits=each) for each in bits], ceiling=1.0)


def test_the_button_names_its_price_and_the_source_its_limits() -> None:
    assert asking_words(24, 240, again=False) == "Ask the posterior about 24 inputs: 240 calls"
    assert asking_words(1, 1, again=True) == "Ask the posterior about 1 other input: 1 call"
    assert source_words("unlabelled", n=11, n_kept=11, wanted=24).startswith("11 of the 11 rows that came without")
    assert source_words("made up", n=3, n_kept=0, wanted=24).endswith(
        "Only 3 could be made up that are not labelled already."
    )
