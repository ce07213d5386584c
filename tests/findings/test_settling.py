"""What would settle it, on the two runs written by hand: every figure is worked out here."""

import math
from dataclasses import replace

import pytest

from tests import inspected
from vpp.findings.points import Question, contenders, most_bits, questions
from vpp.problem import Prediction
from vpp.runs.asking import Answers
from vpp.runs.reader import RunReader


def said(reader: RunReader, by_text: dict, slots: tuple[str, ...], weights: tuple[float, ...]) -> Answers:
    """The run's particles, asked about its own test rows as if their truth were not known."""
    dataset = reader.dataset()
    rows = tuple(replace(row, target=None) for row in dataset.test)
    predictions = tuple(
        tuple(Prediction(row=row.id, value=value) for row, value in zip(rows, by_text[text], strict=True))
        for text in slots
    )
    return Answers(
        rows=rows,
        texts=slots,
        weights=weights,
        predictions=predictions,
        task=dataset.task,
        target=dataset.target,
        classes=dataset.classes,
    )


def of_labels(reader: RunReader, **config) -> tuple[Question, ...]:
    answers = said(reader, inspected.ON_TEST, inspected.LABEL_SLOTS, inspected.LABEL_WEIGHTS)
    return questions(answers, reader.refresh().view, replace(inspected.LABEL_CONFIG, **config), reader.dataset())


def of_numbers(reader: RunReader, **config) -> dict[int, Question]:
    answers = said(reader, inspected.NUMBERS_ON_TEST, inspected.NUMBER_SLOTS, inspected.NUMBER_WEIGHTS)
    config = replace(inspected.NUMBER_CONFIG, **config)
    return {q.row.id: q for q in questions(answers, reader.refresh().view, config, reader.dataset())}


def test_inputs_come_by_the_bits_their_label_would_tell(labels):
    found = of_labels(labels)
    assert [(q.row.id, round(q.bits, 4)) for q in found] == [
        (8, 0.6901),  # yes .6, no .4: H(.59) - H(.05)
        (7, 0.6180),  # no .7, yes .3: H(.32) - H(.05)
        (9, 0.2978),  # yes .9, no .1: H(.86) - H(.05)
        (6, 0.0952),  # yes .9, .1 abstains: H(.905) - (.9 H(.05) + .1)
        (4, 0.0),
        (5, 0.0),
    ]


def test_what_each_label_would_do(labels):
    yes, no = of_labels(labels)[0].consequences
    assert (yes.answer, yes.against, yes.contradicted, yes.behind) == (
        "yes",
        (1, 3),
        pytest.approx(0.4),
        pytest.approx(0.6),
    )
    assert (no.answer, no.against, no.contradicted, no.behind) == ("no", (0, 2), pytest.approx(0.6), pytest.approx(0.4))
    # .4 x .95, .3 x .05, .2 x .95, .1 x .05 over .59
    assert yes.weights == pytest.approx([0.644068, 0.025424, 0.322034, 0.008475], abs=1e-6)
    # .4 x .05, .3 x .95, .2 x .05, .1 x .95 over .41
    assert no.weights == pytest.approx([0.048780, 0.695122, 0.024390, 0.231707], abs=1e-6)


def test_an_abstention_is_not_contradicted_and_keeps_its_weight(labels):
    question = next(q for q in of_labels(labels) if q.row.id == 6)
    (only,) = question.consequences
    assert (question.abstained, only.against, only.contradicted, only.behind) == (0.1, (), 0, pytest.approx(0.9))
    assert only.weights[3] == pytest.approx(0.1)
    assert question.shares == (("yes", pytest.approx(0.9)),)


def test_ideas_contend_not_wordings(labels):
    answers = said(labels, inspected.ON_TEST, inspected.LABEL_SLOTS, inspected.LABEL_WEIGHTS)
    held = contenders(answers, labels.refresh().view, labels.dataset())
    assert [(c.slots, round(c.weight, 9)) for c in held] == [((0, 2), 0.6), ((1,), 0.3), ((3,), 0.1)]
    assert held[0].text == inspected.EVEN
    yes, _ = of_labels(labels)[0].consequences
    assert held[0].weight_after(yes) == pytest.approx((0.38 + 0.19) / 0.59)
    # H(.6, .3, .1) = 1.295 bits is more than one label of two can tell
    assert most_bits(held, labels.dataset()) == 1.0


def test_numbers_within_the_noise_are_one_camp(numbers):
    row_4, row_6 = of_numbers(numbers)[4], of_numbers(numbers)[6]
    # tau = 1, so that 0, 1 and 2 are within 2 of the heaviest, 1; and 6 is just within 2 of 4
    assert [(c.answer, c.against, c.behind) for c in row_4.consequences] == [(1.0, (), 1.0)]
    assert [(c.answer, c.against) for c in row_6.consequences] == [(4.0, ())]
    assert row_4.interval == (0.0, 2.0)
    assert 0 < row_4.bits <= 0.5 * math.log2(1 + 0.5)  # Var = .25 (1 - 2)^2 + .25 (1 - 0)^2 = .5


def test_numbers_beyond_the_noise_are_camps(numbers):
    # tau = .25 makes the reach 2 x .5 = 1
    near_4, near_6 = of_numbers(numbers, tau=0.25)[6].consequences
    assert (near_4.answer, near_4.against, near_4.contradicted, near_4.behind) == (4.0, (1,), 0.25, 0.75)
    assert (near_6.answer, near_6.against, near_6.contradicted, near_6.behind) == (6.0, (0, 2), 0.75, 0.25)
    # (6 - 4)^2 / (2 x .25) = 8
    assert near_6.weights == pytest.approx(
        [w / (0.25 + 0.75 * math.exp(-8)) for w in (0.5 * math.exp(-8), 0.25, 0.25 * math.exp(-8))]
    )
