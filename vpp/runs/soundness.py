"""Checks of a journal's record against those before it: steps, slots, texts and rows must exist, numbers be finite.

A record that decodes may still name a slot beyond the population, or a row that nobody has. No worker writes
such a record, so a reader stops there as at a line that cannot be read.
"""

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from vpp.data.dataset import Dataset
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
    StepFinished,
    Votes,
)
from vpp.posterior.prediction import Value
from vpp.usage import Usage

MOST_STEPS = 1_000_000
MOST_PARTICLES = 100_000
OFF_ONE = 1e-6
"""Tolerance of a sum of weights, and of an ESS beyond its bounds."""
NONE_FINISHED = INITIAL_STEP - 1
"""Stands for the last finished step before there is one."""
NEEDED_NUMBERS = ("beta_end", "ess_threshold", "particles_max")
"""Options that charts and verdicts take from the journal's first record."""


@dataclass(slots=True, kw_only=True)
class Known:
    """The run according to its records so far."""

    rows: Mapping[str, frozenset[int]] = field(default_factory=dict)
    """Row ids by split; empty if the rows cannot be read: then no row and no answer is checked."""
    task: str = ""
    """Task of the dataset; empty if it cannot be read."""
    labels: frozenset[Value | None] = frozenset()
    """Labels of the target, and None; empty if it is a number."""
    steps: int = MOST_STEPS
    """T, once the run has started."""
    texts: set[str] = field(default_factory=set)
    """Ids."""
    last: int = NONE_FINISHED
    """The last finished step."""
    size: int = 0
    """K of the last finished step; 0 before the first population."""
    phase: Literal["", "recording", "held", "over"] = ""
    """Not started, a sampler may record events, only a resume may follow, or nothing may."""
    places: set[tuple[Any, ...]] = field(default_factory=set)
    """Places taken by the events since the last finished step."""
    shrunk_to: int | None = None
    """K after the step under way, if it resampled to make K smaller."""

    @classmethod
    def of(cls, dataset: Dataset | None) -> "Known":
        """Return the state before the first record."""
        if dataset is None:
            return cls()
        rows = {"train": frozenset(row.id for row in dataset.train), "test": frozenset(row.id for row in dataset.test)}
        is_label = dataset.task == "classification" and dataset.classes
        return cls(rows=rows, task=dataset.task, labels=frozenset((None, *dataset.classes) if is_label else ()))

    def count(self, *place: Any) -> int:
        """Return how many events since the last finished step have a place that begins so."""
        return sum(each[: len(place)] == place for each in self.places)

    def add(self, event: Event) -> None:
        """Take a sound event into account."""
        if place := _place(event):
            self.places.add(place)
        match event:
            case RunStarted():
                self.steps, self.phase = event.steps, "recording"
            case ParticleDrawn():
                self.texts.add(event.hypothesis)
            case Proposed() if event.proposal is not None:
                self.texts.add(event.proposal)
            case Resampled(why="agreement"):
                self.shrunk_to = len(event.ancestors)
            case StepFinished():
                self.last, self.size = event.step, len(event.population)
                self._begin_step()
            case RunResumed():
                self.phase = "recording"
                if event.step is None or event.step < self.steps:
                    self._begin_step()
            case RunFinished(outcome="finished"):
                self.phase = "over"
            case RunPaused() | RunFailed() | RunFinished():
                self.phase = "held" if self.phase else ""

    def _begin_step(self) -> None:
        self.places, self.shrunk_to = set(), None


def _place(event: Event) -> tuple[Any, ...]:
    """Return the place of an event that comes once between two finished steps; empty for other events."""
    match event:
        case ParticleDrawn() | Proposed():
            return event.type, event.particle
        case Scored():
            return event.type, event.role, event.particle
        case Reweighted():
            return event.type, event.role
        case Resampled():
            return event.type, event.why
        case Evaluated():
            return event.type, event.split, event.step
    return ()


def check(event: Event, known: Known) -> None:
    """Raise ValueError, in a few words, if the event cannot come after those before it."""
    _require(known.phase != "over", "the run has finished before it")
    if not isinstance(event, RunStarted | RunPaused | RunResumed | RunFailed | RunFinished):
        _require(known.phase != "held", "no line run_resumed comes before it")
    check_numbers(event)
    match event:
        case RunStarted():
            _check_start(event, known)
        case ParticleDrawn():
            _check_step(event.step, known)
            _require(0 <= event.particle < MOST_PARTICLES, f"there is no slot {event.particle}")
        case Scored():
            _check_score(event, known)
        case Reweighted():
            _check_weights(event, known)
        case Resampled():
            _check_ancestors(event, known)
        case Proposed():
            _check_proposal(event, known)
        case StepFinished():
            _check_population(event, known)
        case Evaluated():
            _check_evaluation(event, known)
        case RunResumed():
            last = NONE_FINISHED if event.step is None else event.step
            _require(last == known.last or last >= known.steps, f"the last finished step is {known.last}")
    _require(_place(event) not in known.places, "the same event is recorded before it")


def check_counts(usage: Usage, answers: int) -> None:
    """Raise ValueError if a count is below zero."""
    counts = (usage.learner, usage.optimizer, usage.cached, usage.failed, usage.unparsable, usage.refused, usage.sent)
    _require(min(*counts, answers) >= 0 and 0 <= usage.cost < math.inf, "it counts below zero")


def check_numbers(event: Event) -> None:
    """Raise ValueError if a number of the event cannot be used in a calculation, whatever comes before it."""
    match event:
        case Scored():
            _check_log_likelihoods(event.log_likelihood)
        case Reweighted():
            _require(0 < event.beta < math.inf, f"β is {event.beta}")
            _check_log_weights(event.log_weights)
            _require(event.log_evidence is None or not math.isnan(event.log_evidence), "the evidence is no number")
        case Proposed():
            log_likelihoods = (event.log_likelihood, event.log_likelihood_proposal, event.log_likelihood_bound)
            _check_log_likelihoods(*log_likelihoods)
            _require(event.log_alpha is None or event.log_alpha <= OFF_ONE, f"log α is {event.log_alpha}")
            _require(event.u is None or 0 <= event.u <= 1, f"u is {event.u}")
        case Resampled():
            _require(0 <= event.u <= 1, f"u is {event.u}")
        case StepFinished():
            _check_log_weights([state.log_weight for state in event.population])
            _check_log_likelihoods(*(state.log_likelihood for state in event.population))
            is_number = math.isfinite(event.exponent) and not math.isnan(event.log_evidence)
            _require(is_number, "the evidence or exponent is no number")
            _require(event.tau is None or 0 < event.tau < math.inf, f"τ is {event.tau}")


def _require(holds: bool, reason: str) -> None:
    if not holds:
        raise ValueError(reason)


def _check_log_likelihoods(*values: float | None) -> None:
    for value in values:
        _require(value is None or value < math.inf, f"a log-likelihood is {value}")


def _check_log_weights(log_weights: Sequence[float]) -> None:
    _require(all(each < math.inf for each in log_weights), "a log-weight is infinite or no number")
    _require(max(log_weights, default=-math.inf) > -math.inf, "every weight is zero")


def _check_start(event: RunStarted, known: Known) -> None:
    is_first = not known.phase and not known.places and known.last == NONE_FINISHED
    _require(is_first, "events of the run come before it")
    _require(1 <= event.steps <= MOST_STEPS, f"a run cannot have {event.steps} steps")
    for name, value in event.config.items():
        _require(value is None or isinstance(value, str | int | float), f"the option {name} is no plain value")
        _require(name not in NEEDED_NUMBERS or _is_number(value), f"the option {name} is no number")


def _check_step(step: int, known: Known) -> None:
    """Check that the step is the one under way."""
    _require(INITIAL_STEP <= step < known.steps, f"there is no step {step}")
    _require(step > known.last, f"step {step} is over")
    _require(step == known.last + 1, f"lines of step {known.last + 1} are missing before it")


def _check_role(event: Scored | Reweighted, known: Known) -> None:
    """Check the step: the last one for final weights, else the one under way, which has a population before it."""
    if event.role == "final":
        _require(event.step == known.last, f"step {event.step} is not the last one")
    else:
        _check_step(event.step, known)
    _require(known.size > 0, "there is no population before it")


def _check_score(event: Scored, known: Known) -> None:
    _check_role(event, known)
    _check_slot(event.particle, known.size)
    if event.role != "proposal":
        _check_texts([event.hypothesis], known)
    _check_rows(event.rows, "train", known)
    _check_answers(event.predictions, len(event.rows), known)


def _check_weights(event: Reweighted, known: Known) -> None:
    _check_role(event, known)
    _check_normalised(event.weights)
    size = len(event.weights)
    sizes = (size, len(event.log_weights), known.size)
    _require(len(set(sizes)) == 1, f"it has {size} weights for {known.size} particles")
    _require(1 - OFF_ONE <= event.ess <= size * (1 + OFF_ONE), f"the ESS is {event.ess}")
    n_scored = known.count("scored", "buffer") + known.count("scored", "forward")
    _require(event.role == "final" or n_scored == size, "scores of its particles are missing before it")


def _check_ancestors(event: Resampled, known: Known) -> None:
    _check_step(event.step, known)
    for ancestor in event.ancestors:
        _check_slot(ancestor, known.size)
    n, size = len(event.ancestors), known.size
    _require(n == size if event.why == "ess" else 1 <= n < size, f"it has {n} ancestors for {size} particles")
    if event.why == "ess":
        _require(known.count("reweighted", "step") == 1, "lines of its weights are missing before it")


def _check_proposal(event: Proposed, known: Known) -> None:
    _check_step(event.step, known)
    _check_slot(event.particle, known.size)
    _check_texts([event.parent], known)
    is_unread = event.why == "unparsable"
    _require((event.text is None) == (event.proposal is None) == is_unread, "its text, id and reason contradict")
    can_be_accepted = event.why in ("likelihood", "taken")
    _require(can_be_accepted or not event.accepted, "it was accepted, and there was nothing to accept")
    if event.why == "likelihood" or event.unanswered:
        _check_decision(event)


def _check_decision(event: Proposed) -> None:
    """Check that the numbers that decided are recorded: those of all rows, or the bound of an early rejection."""
    of_all = (event.log_likelihood_proposal, event.log_alpha)
    needed: tuple[float | None, ...] = (event.log_likelihood, event.u)
    if event.unanswered == 0 and event.log_likelihood_bound is None:
        needed += of_all
    else:
        is_rejection = event.unanswered > 0 and not event.accepted and of_all == (None, None)
        _require(is_rejection, "a decision on some rows has the numbers of all rows")
        needed += (event.log_likelihood_bound,)
    _require(None not in needed, "a decision without its numbers")


def _check_population(event: StepFinished, known: Known) -> None:
    _check_step(event.step, known)
    n, newcomers = len(event.population), known.count("particle_drawn")
    due = known.shrunk_to or known.size + newcomers
    _require(0 < n <= MOST_PARTICLES and n == due, f"it has {n} particles, and the lines before it {due}")
    slots = {slot for _, slot in (each for each in known.places if each[0] == "particle_drawn")}
    _require(known.shrunk_to is not None or slots == set(range(known.size, n)), "lines of newcomers are missing")
    for state in event.population:
        _check_slot(state.parent, max(known.size, n))
    _check_texts([state.hypothesis for state in event.population], known)
    _check_rows(event.batch, "train", known)


def _check_evaluation(event: Evaluated, known: Known) -> None:
    _require(INITIAL_STEP <= event.step < known.steps, f"there is no step {event.step}")
    n = len(event.weights)
    _require(event.step != known.last or n == known.size, f"it has {n} weights for {known.size} particles")
    _check_texts(event.hypotheses, known)
    check_answers_of(event, known)


def check_answers_of(event: Evaluated, known: Known) -> None:
    """Raise ValueError if the evaluation's answers, weights and rows do not fit each other or the dataset."""
    _check_normalised(event.weights)
    n = len(event.weights)
    _require(n == len(event.hypotheses) == len(event.predictions), "it has answers of another number of particles")
    _check_rows(event.rows, event.split, known)
    _require(0 < len(event.rows) == len(set(event.rows)), "it has no rows, or one twice")
    for answers in (*event.predictions, *([event.averaged] if event.averaged else [])):
        _check_answers(answers, len(event.rows), known)
    is_of_labels = event.metric == "accuracy"
    _require(not known.task or is_of_labels == (known.task == "classification"), f"the metric is {event.metric}")
    _require(0 <= event.value <= (1 if is_of_labels else math.inf), f"{event.metric} is {event.value}")


def _check_slot(slot: int, size: int) -> None:
    _require(0 <= slot < size, f"there is no slot {slot}")


def _check_texts(hypotheses: Collection[str], known: Known) -> None:
    _require(known.texts.issuperset(hypotheses), "no line before it has the text of its hypothesis")


def _check_rows(rows: Sequence[int], split: str, known: Known) -> None:
    unknown = [row for row in rows if row not in known.rows[split]] if known.rows else []
    _require(not unknown, f"row {unknown[0] if unknown else ''} is no {split} row")


def _check_answers(answers: Votes, n: int, known: Known) -> None:
    _require(len(answers) == n, f"it has {len(answers)} answers for {n} rows")
    if known.labels:
        _require(known.labels.issuperset(answers), "an answer is none of the target's labels")
    elif known.task:
        _require(all(answer is None or _is_number(answer) for answer in answers), "an answer is no number")


def _check_normalised(weights: Iterable[float]) -> None:
    weights = tuple(weights)
    is_sound = all(0 <= weight <= 1 + OFF_ONE for weight in weights) and abs(sum(weights) - 1) <= OFF_ONE
    _require(is_sound, "the weights do not sum to 1")


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
