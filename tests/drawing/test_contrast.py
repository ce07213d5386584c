"""A point opened, and whether doubt means error, in words."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests import inspected
from tests.reporting.builders import SEED, evaluated
from vpp.data.dataset import Dataset, Value
from vpp.drawing import dissent
from vpp.drawing.matrix import Opened, answer_rows, contrast_html
from vpp.events import Evaluated
from vpp.findings.points import Point, by_answers, camps, points
from vpp.runs.reader import RunReader
from vpp.show.blocks import Metric
from vpp.show.deck import without_seed
from vpp.show.words import NBSP


def on_test(reader: RunReader) -> tuple[Evaluated, dict[int, Point]]:
    test = reader.refresh().view.evaluated["test"]
    return test, {point.row.id: point for point in points(test, reader.dataset())}


def contrasted(reader: RunReader, row: int) -> str:
    test, by_row = on_test(reader)
    texts = reader.refresh().view.texts
    said = [without_seed(texts[hypothesis], SEED) for hypothesis in test.hypotheses]
    return contrast_html(camps(by_row[row], test.weights), said, "weight", {})


def opened(reader: RunReader, held: str = "weight") -> Opened:
    view = reader.refresh().view
    test = view.evaluated["test"]
    return Opened(test=test, view=view, columns=by_answers(test), held=held)


@pytest.fixture
def labels(tmp_path: Path) -> RunReader:
    return inspected.labels(tmp_path)


@pytest.fixture
def numbers(tmp_path: Path) -> RunReader:
    return inspected.numbers(tmp_path)


def test_the_heaviest_sentences_of_two_camps_are_side_by_side_with_the_words_that_differ_marked(
    labels: RunReader,
) -> None:
    # Row 8: EVEN and PAIR say yes, BIG and ODD say no; EVEN and BIG are the heaviest.
    html = contrasted(labels, 8).replace(NBSP, " ")
    assert "<b>yes</b> 60 % of the weight · particle 0, the heaviest of 2" in html
    assert "<b>no</b> 40 % of the weight · particle 1, the heaviest of 2" in html
    assert "Say yes if a is <mark>even,</mark> else no." in html
    assert "Say yes if a is <mark>above 6,</mark> else no." in html
    assert SEED not in html
    # Sentences that share little are shown as they are; where all agree the heaviest stands alone.
    test, by_row = on_test(labels)
    said = ("Say yes if a is even, else no.", "Odd numbers are no.", "", "")
    html = contrast_html(camps(by_row[8], test.weights), said, "chains", {})
    assert '<p class="hyp">Odd numbers are no.</p>' in html
    assert "Fewer than half the words are shared: none are marked." in html
    assert f"40{NBSP}% of the chains" in html
    html = contrasted(labels, 4)
    assert "All that answered agree. The heaviest, particle 0, says:" in html
    assert html.count("hyp") == 1


def test_particles_with_the_same_answers_or_reason_are_one_entry_camp_by_camp(labels: RunReader) -> None:
    _, by_row = on_test(labels)
    said = labels.read_answers().by_pair
    # EVEN and PAIR answer every row alike; BIG and ODD give one reason here.
    assert answer_rows(by_row[8], opened(labels), said) == [
        ("0 and 2 (×2)", "0.600", "yes", "because yes"),
        ("1 and 3 (×2)", "0.400", "no", "because no"),
    ]
    assert answer_rows(by_row[8], opened(labels, "chains"), said)[0][1] == "2"
    silent = answer_rows(by_row[6], opened(labels), said)[-1]
    assert silent == ("3", "0.100", "no readable answer", "the answer has no “Output:” line")


def judged(rows: Iterable[Point], data: Dataset) -> tuple[Any, str, dict[str, Metric]]:
    """How agreement compares with the truth, in one sentence, and in figures by name."""
    result, said, metrics = dissent.judged(list(rows), data, "weight")
    return result, said, {metric.name: metric for metric in metrics}


def answered(
    data: Dataset, answers: dict[str, Sequence[Value | None]], *, slots: str, weights: Sequence[float] = ()
) -> list[Point]:
    """The test rows as answered. slots: the text each particle holds, a letter each."""
    return points(evaluated(data, answers, slots=tuple(slots), weights=weights), data)
