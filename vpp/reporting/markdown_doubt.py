"""The report's account of doubt: where the particles disagree, and whether that marks their errors."""

from collections.abc import Iterator, Sequence

from vpp.data.dataset import Dataset
from vpp.drawing.trust import (
    VOICES_OF_LABELS,
    VOICES_OF_NUMBERS,
    spread_metrics,
    spread_saying,
    voice_table,
    vote_metrics,
    vote_saying,
    why_not_judged,
)
from vpp.events import Evaluated
from vpp.inspection.points import Point, points
from vpp.inspection.reliability import spread_reliability, vote_reliability
from vpp.inspection.scores import rows_by_id
from vpp.inspection.voices import voices
from vpp.reporting.markdown_cells import NONE, answer_cell, inputs_cell
from vpp.runs.view import RunView
from vpp.wording.escaping import markdown_table
from vpp.wording.verdicts import too_few_words
from vpp.wording.words import counted, integer, number, particles, percent, target_text

MOST_POINTS = 50
"""Uncertain points shown; predictions.csv has all."""
MOST_VOICES = 50
"""Particles shown one by one; predictions.csv has every answer of all."""
WIDEST_POINTS = 10
"""Points shown for regression, where all differ."""


def disagreement(view: RunView, dataset: Dataset) -> Iterator[str]:
    """The uncertain test points with their votes, or the points with the widest spread."""
    test = view.evaluated.get("test")
    if test is None:
        yield "The test rows are not evaluated yet."
    elif len(test.weights) == 1:
        yield "There is one hypothesis: it cannot disagree with itself."
    else:
        found = points(test, rows_by_id(dataset))
        yield from _spreads(found, dataset.target_decimals) if dataset.task == "regression" else _votes(found)
        yield from _voices(test, dataset)


def _votes(found: Sequence[Point]) -> Iterator[str]:
    uncertain = [point for point in found if point.is_uncertain]
    if not uncertain:
        yield _nowhere(found)
        return
    shown = uncertain[:MOST_POINTS]
    cut = f" (the first {integer(len(shown))}; predictions.csv has all)" if len(shown) < len(uncertain) else ""
    yield f"{integer(len(uncertain))} of {counted(len(found), 'test row')}, the most divided first{cut}."
    yield markdown_table(
        ("row", "inputs", "true", "the vote", "camps, by weight"),
        [(str(p.row.id), inputs_cell(p.row), answer_cell(p.row.target), _vote(p), _camps(p)) for p in shown],
        right=(0,),
    )


def _nowhere(found: Sequence[Point]) -> str:
    return f"Nowhere: the particles agree on all {counted(len(found), 'test row')}."


def _vote(point: Point) -> str:
    if point.prediction is None:
        return "all abstained: wrong"
    return f"“{answer_cell(point.prediction)}”: {'wrong' if point.is_wrong else 'right'}"


def _camps(point: Point) -> str:
    camps = [f"“{answer_cell(label)}” {percent(share)} ({_who_said(point, label)})" for label, share in point.shares]
    if None in point.votes:
        camps.append(f"no answer {percent(point.abstained)} ({_who_said(point, None)})")
    return "; ".join(camps)


def _who_said(point: Point, label: str | None) -> str:
    return particles([slot for slot, vote in enumerate(point.votes) if vote == label])


def _spreads(found: Sequence[Point], decimals: int | None) -> Iterator[str]:
    if not any(point.doubt for point in found):
        yield _nowhere(found)
        return
    shown = found[:WIDEST_POINTS]
    yield (
        f"The {counted(len(shown), 'test row')} with the widest spread, of {integer(len(found))}. Spread is the "
        "weighted standard deviation of the particles' numbers; the range holds 90 % of the particles' weight. Both "
        "say how far the particles differ; noise is not included."
    )
    head = ("row", "inputs", "true", "prediction", "spread", "90 % of the particles")
    yield markdown_table(head, [_spread(point, decimals) for point in shown], right=(0, 2, 3, 4))


def _spread(point: Point, decimals: int | None) -> tuple[str, ...]:
    row = (str(point.row.id), inputs_cell(point.row), answer_cell(point.row.target))
    if point.prediction is None or point.interval is None:
        return (*row, "no answer", "all abstained", NONE)
    mean, low, high = (target_text(value, decimals) for value in (float(point.prediction), *point.interval))
    return (*row, mean, number(point.doubt), f"{low} to {high}")


def _voices(test: Evaluated, dataset: Dataset) -> Iterator[str]:
    """How often each particle answers, is contradicted, and is right."""
    head, lines = voice_table(voices(test, dataset))
    shown = lines[:MOST_VOICES]
    cut = f" the heaviest {integer(len(shown))} of {integer(len(lines))}," if len(shown) < len(lines) else ""
    yield f"### Particle by particle,{cut} on the test rows"
    yield VOICES_OF_NUMBERS if dataset.task == "regression" else VOICES_OF_LABELS
    yield markdown_table(head, shown, right=range(1, len(head)))


# Whether doubt marks error


def doubt_and_error(view: RunView, dataset: Dataset) -> Iterator[str]:
    """How often it is right where all agree and where they differ, and the proper scores; or why that says nothing."""
    test = view.evaluated.get("test")
    if test is None:
        yield "The test rows are not evaluated yet."
        return
    why_not = why_not_judged(len(test.weights))
    if why_not:
        yield why_not
        return
    found = points(test, rows_by_id(dataset))
    is_label = dataset.task == "classification"
    if is_label:
        votes = vote_reliability(found)
        saying, metrics = vote_saying(votes), vote_metrics(votes, n_labels=len(dataset.classes))
    else:
        spread = spread_reliability(found, dataset)
        saying, metrics = spread_saying(spread), spread_metrics(spread)
    yield " ".join(filter(None, (saying, too_few_words(len(found)))))
    rows = [(each.name, f"{each.value} {each.scale}".strip(), each.words) for each in metrics]
    yield markdown_table(("measure", "value", "in words"), rows, right=(1,))
