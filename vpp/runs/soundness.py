"""Checks of a journal's record against the run so far: its step is due, and its slots, texts, rows and answers exist.

A record that decodes may still name a slot beyond the population, or a row that nobody has: no page could draw it. No
worker writes such a record, so a reader stops there as at a line that cannot be read. `vpp verify` finds other changes.
"""

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from vpp.data.dataset import PARTS, Dataset
from vpp.errors import DataError, RunError
from vpp.events import (
    INITIAL_STEP,
    Evaluated,
    Event,
    ParticleDrawn,
    Proposed,
    Resampled,
    Reweighted,
    RunFailed,
    RunFinished,
    RunPaused,
    RunResumed,
    RunStarted,
    Scored,
    Shares,
    StepFinished,
    Votes,
)
from vpp.posterior.prediction import Value, winner
from vpp.runs.view import RunView, StepView, last_finished

MOST_STEPS = 1_000_000
OFF_ONE = 1e-6
"""Tolerance of a sum of weights."""
NEEDED_NUMBERS = ("particles_max",)
"""Options that charts and verdicts take from the journal's first record."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Domain:
    """Rows and answers that a record may name; empty fields allow any."""

    rows: Mapping[str, frozenset[int]] = field(default_factory=dict)
    """Row ids by split."""
    task: str = ""
    labels: frozenset[Value | None] = frozenset()
    """Labels of the target, and None; empty if it is a number."""


def domain_of(dataset: Callable[[], Dataset]) -> Domain:
    """Return the domain of a run. dataset: reads its rows; the domain allows any record if it cannot."""
    try:
        run = dataset()
    except (RunError, DataError):
        return Domain()
    rows: dict[str, frozenset[int]] = {part: frozenset(row.id for row in run.part(part)) for part in PARTS}
    is_label = run.task == "classification" and run.classes
    return Domain(rows=rows, task=run.task, labels=frozenset((None, *run.classes) if is_label else ()))


def check(event: Event, view: RunView, domain: Domain) -> None:
    """Raise ValueError, in a few words, if the event cannot come next. view: the events before it."""
    _require(view.phase != "finished", "the run has finished before it")
    if not isinstance(event, RunStarted | RunPaused | RunResumed | RunFailed | RunFinished):
        _require(view.phase in ("queued", "running"), "no line run_resumed comes before it")
    match event:
        case RunStarted():
            _check_start(event, view)
        case ParticleDrawn():
            _check_step(event.step, view)
        case Scored():
            _check_role(event, view)
            _check_slots([event.particle], view.size)
            _check_texts([] if event.role == "proposal" else [event.hypothesis], view)
            _check_rows(event.rows, "train", domain)
            _check_answers(event.predictions, len(event.rows), domain)
            if event.shares:
                _check_shares(event.shares, event.predictions, domain)
        case Reweighted():
            _check_role(event, view)
            _check_weights(event.weights, view.size)
            _check_log_weights(event.log_weights, view.size)
            has_scores = event.role == "final" or len(_at(view, event.step).scored) == view.size
            _require(has_scores, "scores of its particles are missing before it")
        case Resampled():
            _check_step(event.step, view)
            _check_slots(event.ancestors, view.size)
            n, size = len(event.ancestors), view.size
            is_size = n == size if event.why == "ess" else 1 <= n < size
            _require(is_size, f"it has {n} ancestors for {size} particles")
            is_due = event.why == "agreement" or _at(view, event.step).reweighted is not None
            _require(is_due, "lines of its weights are missing before it")
        case Proposed():
            _check_step(event.step, view)
            _check_slots([event.particle], view.size)
            _check_texts([event.parent], view)
            is_unread = event.why == "unparsable"
            _require((event.text is None) == (event.proposal is None) == is_unread, "text, id and reason contradict")
        case StepFinished():
            _check_population(event, view)
            _check_rows(event.batch, "train", domain)
        case Evaluated():
            _require(INITIAL_STEP <= event.step < _steps(view), f"there is no step {event.step}")
            _check_texts(event.hypotheses, view)
            check_evaluation(event, domain)
        case RunResumed():
            last = last_finished(view).step
            goes_on = event.step is not None and event.step >= _steps(view)
            _require(goes_on or event.step == view.last_step, f"the last finished step is {last}")
    _require(not _is_recorded(event, view), "the same event is recorded before it")


def check_evaluation(event: Evaluated, domain: Domain) -> None:
    """Raise ValueError if the evaluation's answers, weights and rows do not fit each other or the dataset."""
    _check_weights(event.weights, len(event.hypotheses))
    _require(len(event.predictions) == len(event.hypotheses), "it has answers of another number of particles")
    _check_rows(event.rows, event.split, domain)
    _require(0 < len(event.rows) == len(set(event.rows)), "it has no rows, or one twice")
    for answers in (*event.predictions, *([event.averaged] if event.averaged else [])):
        _check_answers(answers, len(event.rows), domain)
    for shares, answers in zip(event.shares, event.predictions, strict=bool(event.shares)):
        _check_shares(shares, answers, domain)
    is_of_labels = event.metric == "accuracy"
    _require(not domain.task or is_of_labels == (domain.task == "classification"), f"the metric is {event.metric}")
    _require(0 <= event.value <= (1 if is_of_labels else math.inf), f"{event.metric} is {event.value}")


def _is_recorded(event: Event, view: RunView) -> bool:
    """True if the view has an event in this one's place."""
    match event:
        case ParticleDrawn(step=step):
            drawn = view.drawn if step == INITIAL_STEP else _at(view, step).joined
            return event.particle in drawn
        case Scored(role="final"):
            return event.particle in view.final_scored
        case Scored(role="proposal"):
            return event.particle in _at(view, event.step).proposals_scored
        case Scored():
            return event.particle in _at(view, event.step).scored
        case Reweighted():
            return (view.final if event.role == "final" else _at(view, event.step).reweighted) is not None
        case Resampled():
            at = _at(view, event.step)
            return (at.resampled if event.why == "ess" else at.shrunk) is not None
        case Proposed():
            return event.particle in _at(view, event.step).proposed
        case Evaluated():
            place = (last_finished(view).step, event.split, event.step)
            return any((after, e.split, e.step) == place for after, e in view.evaluations)
    return False


def _at(view: RunView, step: int) -> StepView:
    return view.steps.get(step) or StepView(step=step)


def _steps(view: RunView) -> int:
    return view.total_steps or MOST_STEPS


def _require(holds: bool, reason: str) -> None:
    if not holds:
        raise ValueError(reason)


def _check_start(event: RunStarted, view: RunView) -> None:
    _require(view.started is None and not view.drawn, "events of the run come before it")
    _require(1 <= event.steps <= MOST_STEPS, f"a run cannot have {event.steps} steps")
    for name, value in event.config.items():
        _require(value is None or isinstance(value, str | int | float), f"the option {name} is no plain value")
        _require(name not in NEEDED_NUMBERS or _is_number(value), f"the option {name} is no number")


def _check_step(step: int, view: RunView) -> None:
    """Check that the step is the one under way."""
    due = last_finished(view).step + 1
    _require(INITIAL_STEP <= step < _steps(view), f"there is no step {step}")
    _require(step >= due, f"step {step} is over")
    _require(step == due, f"lines of step {due} are missing before it")


def _check_role(event: Scored | Reweighted, view: RunView) -> None:
    """Check the step: the last one for final weights, else the one under way."""
    if event.role == "final":
        _require(event.step == last_finished(view).step, f"step {event.step} is not the last one")
    else:
        _check_step(event.step, view)


def _check_population(event: StepFinished, view: RunView) -> None:
    _check_step(event.step, view)
    at, n = _at(view, event.step), len(event.population)
    newcomers = view.drawn if event.step == INITIAL_STEP else at.joined
    due = len(at.shrunk.ancestors) if at.shrunk else view.size + len(newcomers)
    _require(0 < n == due, f"it has {n} particles, and the lines before it {due}")
    _check_slots([state.parent for state in event.population], max(view.size, n))
    _check_texts([state.hypothesis for state in event.population], view)
    _check_log_weights([state.log_weight for state in event.population], n)


def _check_slots(slots: Iterable[int], size: int) -> None:
    for slot in slots:
        _require(0 <= slot < size, f"there is no slot {slot}")


def _check_texts(hypotheses: Collection[str], view: RunView) -> None:
    _require(all(each in view.texts for each in hypotheses), "no line before it has the text of its hypothesis")


def _check_rows(rows: Sequence[int], split: str, domain: Domain) -> None:
    unknown = [row for row in rows if row not in domain.rows[split]] if domain.rows else []
    _require(not unknown, f"row {unknown[0] if unknown else ''} is no {split} row")


def _check_answers(answers: Votes, n: int, domain: Domain) -> None:
    _require(len(answers) == n, f"it has {len(answers)} answers for {n} rows")
    if domain.labels:
        _require(domain.labels.issuperset(answers), "an answer is none of the target's labels")
    elif domain.task:
        _require(all(answer is None or _is_number(answer) for answer in answers), "an answer is no number")


def _check_shares(shares: Shares, answers: Votes, domain: Domain) -> None:
    """Check label probabilities, and that `answers` are the likeliest labels."""
    _require(len(shares) == len(answers), f"it has {len(shares)} graded answers for {len(answers)} answers")
    for share, answer in zip(shares, answers, strict=True):
        each = share or {}
        _require(math.fsum(each.values()) <= 1 + OFF_ONE, "the probabilities of an answer sum to more than 1")
        _require(not domain.labels or domain.labels.issuperset(each), "a probability is of no label of the target")
        _require(winner(each) == answer, "a prediction is not its likeliest label")


def _check_weights(weights: Sequence[float], size: int) -> None:
    _require(len(weights) == size, f"it has {len(weights)} weights for {size} particles")
    is_sound = all(0 <= weight <= 1 + OFF_ONE for weight in weights) and abs(sum(weights) - 1) <= OFF_ONE
    _require(is_sound, "the weights do not sum to 1")


def _check_log_weights(log_weights: Sequence[float], size: int) -> None:
    _require(len(log_weights) == size, f"it has {len(log_weights)} log-weights for {size} particles")
    _require(max(log_weights, default=-math.inf) > -math.inf, "every weight is zero")


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
