"""Rows whose label would tell most, on the two runs written by hand: every figure is worked out here."""

import math
from dataclasses import replace

from tests import inspected
from vpp.findings.points import Point, questions
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


def of_labels(reader: RunReader, **config) -> tuple[Point, ...]:
    answers = said(reader, inspected.ON_TEST, inspected.LABEL_SLOTS, inspected.LABEL_WEIGHTS)
    return questions(answers, reader.refresh().view, replace(inspected.LABEL_CONFIG, **config), reader.dataset())


def of_numbers(reader: RunReader, **config) -> dict[int, Point]:
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


def test_numbers_tell_at_most_what_their_spread_allows(numbers):
    row = of_numbers(numbers)[4]
    assert row.interval == (0.0, 2.0)
    assert 0 < row.bits <= 0.5 * math.log2(1 + 0.5)  # Var = .25 (1 - 2)^2 + .25 (1 - 0)^2 = .5
