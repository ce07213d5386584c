"""Grouping: hypotheses by their answers, and anything else by a key."""

from collections.abc import Hashable, Iterable
from typing import TypeVar

from vpp.events import Evaluated, Scored
from vpp.posterior.prediction import Value

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")
RecordedAnswers = dict[str, dict[int, Value | None]]
"""Answer by hypothesis id and row id."""
DIGITS = 9
"""Significant digits to which numbers count as the same answer."""


def behaviour(answers: Iterable[Value | None]) -> Hashable:
    """Key that is equal for hypotheses with the same answers on every row."""
    return tuple(map(same_answer, answers))


def same_answer(answer: Value | None) -> Hashable:
    """Key that is equal for answers that count as the same: 0.1 + 0.2 equals 0.3, but a label never equals a number."""
    return (answer,) if answer is None or isinstance(answer, str) else f"{answer:.{DIGITS}g}"


def recorded_answers(events: Iterable[Evaluated | Scored]) -> RecordedAnswers:
    """Answers in the events; of several to the same row, the last."""
    known: RecordedAnswers = {}
    for event in events:
        hypotheses = (event.hypothesis,) if isinstance(event, Scored) else event.hypotheses
        predictions = (event.predictions,) if isinstance(event, Scored) else event.predictions
        for hypothesis, votes in zip(hypotheses, predictions, strict=True):
            known.setdefault(hypothesis, {}).update(zip(event.rows, votes, strict=True))
    return known


def grouped(pairs: Iterable[tuple[K, V]]) -> dict[K, list[V]]:
    """Values by key, both in the order given."""
    groups: dict[K, list[V]] = {}
    for key, value in pairs:
        groups.setdefault(key, []).append(value)
    return groups


def totals(pairs: Iterable[tuple[K, float]]) -> dict[K, float]:
    """Sum of the weights by key, in the order given."""
    return {key: sum(weights) for key, weights in grouped(pairs).items()}
