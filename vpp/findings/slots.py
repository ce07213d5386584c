"""Grouping by a key; slots and rows of a step."""

from collections.abc import Hashable, Iterable
from typing import TypeVar

from vpp.events import INITIAL_STEP, Evaluated, Scored
from vpp.posterior.prediction import Value
from vpp.problem import batch_length, n_pool
from vpp.runs.view import RunView, StepView
from vpp.settings import Config

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")
RecordedAnswers = dict[str, dict[int, Value | None]]
"""Answer by hypothesis id and row id."""
DIGITS = 9
"""Significant digits to which numbers count as the same answer."""


def behaviour(answers: Iterable[Value | None]) -> Hashable:
    """Key that is equal for hypotheses with the same answers on every row."""
    return tuple(map(same_answer, answers))


def answers_of(scored: Scored) -> Hashable:
    """Key that is equal for hypotheses with the same answers on the same rows scored."""
    return scored.rows, behaviour(scored.predictions)


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
    groups: dict[K, list[V]] = {}
    for key, value in pairs:
        groups.setdefault(key, []).append(value)
    return groups


def totals(pairs: Iterable[tuple[K, float]]) -> dict[K, float]:
    return {key: sum(weights) for key, weights in grouped(pairs).items()}


def came_from(at: StepView, slot: int) -> int | None:
    """Slot, at the step before, of the parent of the particle that ends in `slot`; None for a first hypothesis."""
    if at.step == INITIAL_STEP:
        return None
    return at.resampled.ancestors[slot] if at.resampled else slot


def weights_of(view: RunView, generation: int, *, is_end: bool) -> tuple[float, ...]:
    """(K,) weights that the next step assigned to the population of a finished step; 1/K without weights.

    is_end: whether the weights that predictions use are asked for.
    """
    following = view.steps.get(generation + 1)
    if following and following.reweighted and not is_end:
        return following.reweighted.weights
    return view.weights if generation == view.last_step else view.steps[generation].weights


def batch_places(view: StepView, scored: Scored, config: Config, *, n_train: int) -> list[int]:
    """Places of the step's batch among the rows scored, by the last occurrence of each row.

    An unfinished step has not recorded its batch: return the end of the buffer, or nothing if all rows were scored.
    """
    last = {row: i for i, row in enumerate(scored.rows)}
    if view.finished:
        return [last[row] for row in view.finished.batch if row in last]
    if config.scored_on == "train":
        return []
    length = batch_length(view.step, n_train=n_pool(config, n_train), batch_size=config.batch_size)
    return list(range(len(scored.rows)))[-length:]


def scored_rows(config: Config) -> str:
    return {"train": "training rows", "buffer": "last rows", "batch": "rows of this step"}[config.scored_on]
