"""What a journal's record may say after those before it: rows, slots and texts that there are, weights that are some.

A record that can be decoded may still tell of what cannot be: a slot beyond the population, a row that nobody has. No
worker writes such a record, so it is damage like a line that cannot be read, and is told in its place.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from vpp.data.dataset import Dataset
from vpp.events import (
    INITIAL_STEP,
    Evaluated,
    Event,
    ParticleDrawn,
    Proposed,
    Resampled,
    Reweighted,
    RunResumed,
    RunStarted,
    Scored,
    StepFinished,
)
from vpp.posterior.prediction import Value
from vpp.usage import Usage

MOST_STEPS = 1_000_000
MOST_PARTICLES = 100_000
OFF_ONE = 1e-6
"""How far a sum of weights may be from 1, and an ESS beyond its bounds."""
NONE_OVER = INITIAL_STEP - 1
"""Stands for the last step that is over, where there is none."""
NEEDED_NUMBERS = ("beta_end", "ess_threshold", "particles_max")
"""Options that charts and verdicts take from the journal's first record."""

Faults = Iterator[str | None]
"""Why a record cannot stand, if any of them is a reason."""
Checks = Mapping[type, Callable[[Any], Faults]]
"""By kind of event; one that has none can always stand."""


class Soundness:
    """What is known of a run by its records so far."""

    def __init__(self, dataset: Callable[[], Dataset | None] | None = None) -> None:
        """dataset: the run's rows, where they can be read; without them no row and no answer is judged."""
        self._read = dataset
        self._dataset: Dataset | None = None
        self._rows: dict[str, frozenset[int]] = {}
        self._steps = MOST_STEPS
        self._has_started = False
        self._texts: set[str] = set()
        self._sizes: dict[int, int] = {}
        """K after each step that is over."""
        self._over = NONE_OVER
        """The last of them."""
        self._answers: frozenset[Value | None] = frozenset()
        """A target's labels, and no answer; empty where it is a number."""
        self._faults: Checks = {
            RunStarted: self._of_start,
            ParticleDrawn: self._of_draw,
            Scored: self._of_score,
            Reweighted: self._of_weights,
            Resampled: self._of_ancestors,
            Proposed: self._of_proposal,
            StepFinished: self._of_step,
            Evaluated: self._of_evaluation,
            RunResumed: self._of_resume,
        }
        self._scored: set[int] = set()
        """Slots, in the step under way."""
        self._is_weighed = False
        self._is_torn = False

    def fault(self, event: Event, usage: Usage, answers: int) -> str:
        """Why the record cannot stand where it does, in a few words; empty where it can, and then it counts."""
        self._load()
        calls = (usage.learner, usage.optimizer, usage.cached, usage.failed)
        counts = (*calls, usage.unparsable, usage.refused, usage.sent, answers)
        if not (min(counts) >= 0 and 0 <= usage.cost < math.inf):
            return "it counts below zero"
        why = undefined(event) or _first(self._faults, event)
        if why:
            self.lose()
        else:
            self._keep(event)
        return why

    def lose(self) -> None:
        """A line could not be read: what it told is not known from here on."""
        self._is_torn = True

    def _load(self) -> None:
        if self._read is None:
            return
        self._dataset, self._read = self._read(), None
        if self._dataset is not None:
            parts = {"train": self._dataset.train, "test": self._dataset.test}
            self._rows = {name: frozenset(row.id for row in rows) for name, rows in parts.items()}
            if self._dataset.task == "classification" and self._dataset.classes:
                self._answers = frozenset((None, *self._dataset.classes))

    def _keep(self, event: Event) -> None:
        match event:
            case RunStarted():
                self._has_started, self._steps = True, event.steps
            case ParticleDrawn():
                self._texts.add(event.hypothesis)
            case Proposed() if event.proposal is not None:
                self._texts.add(event.proposal)
            case Scored() if event.role not in ("proposal", "final"):
                self._scored.add(event.particle)
            case Reweighted():
                self._is_weighed = True
            case StepFinished():
                self._sizes[event.step] = len(event.population)
                self._over = max(self._over, event.step)
                self._begin_anew()
                self._is_torn = False
            case RunResumed():
                last = NONE_OVER if event.step is None else event.step
                self._sizes = {step: size for step, size in self._sizes.items() if step <= last}
                self._over = max(self._sizes, default=NONE_OVER)
                if last < self._steps:
                    self._begin_anew()

    def _begin_anew(self) -> None:
        """What follows is of another step."""
        self._scored, self._is_weighed = set(), False

    def _of_start(self, event: RunStarted) -> Faults:
        yield "the run has started before" if self._has_started or self._sizes else None
        yield f"a run of {event.steps} steps" if not 1 <= event.steps <= MOST_STEPS else None
        given = (event.config[name] for name in NEEDED_NUMBERS if name in event.config)
        yield "an option that must be a number is none" if not all(map(_is_finite, given)) else None
        yield "an option that is no plain value" if not all(map(_is_plain, event.config.values())) else None

    def _of_draw(self, event: ParticleDrawn) -> Faults:
        yield self._no_next_step(event.step) if event.step != INITIAL_STEP else self._no_first(event)
        yield f"there is no slot {event.particle}" if not 0 <= event.particle < MOST_PARTICLES else None
        yield _no_temperature(event.temperature)
        yield self._no_shown(event.shown)

    def _no_first(self, event: ParticleDrawn) -> str | None:
        return "the first hypotheses are drawn already" if INITIAL_STEP in self._sizes else None

    def _of_score(self, event: Scored) -> Faults:
        is_final = event.role == "final"
        yield self._no_step(event.step) if is_final else self._no_next_step(event.step)
        yield self._no_slot(event.particle, at=event.step if is_final else event.step - 1)
        yield self._no_text(event.hypothesis) if event.role != "proposal" else None
        yield self._no_rows(event.rows, "train")
        yield self._no_answers(event.predictions, len(event.rows))

    def _of_weights(self, event: Reweighted) -> Faults:
        is_final = event.role == "final"
        yield self._no_end(event.step) if is_final else self._no_next_step(event.step)
        yield self._no_size(len(event.weights), at=event.step if is_final else event.step - 1)
        yield _no_weights(event.weights)
        yield "weights of another number" if len(event.log_weights) != len(event.weights) else None
        size = len(event.weights)
        yield f"an ESS of {event.ess}" if not 1 - OFF_ONE <= event.ess <= size * (1 + OFF_ONE) else None
        yield (
            "an evidence that is no number"
            if event.log_evidence is not None and math.isnan(event.log_evidence)
            else None
        )

    def _of_ancestors(self, event: Resampled) -> Faults:
        yield self._no_next_step(event.step)
        yield self._not_weighed() if event.why == "ess" else None
        size = self._sizes.get(event.step - 1)
        bound = MOST_PARTICLES if size is None else size
        yield "an ancestor that there is not" if any(not 0 <= a < bound for a in event.ancestors) else None
        yield "more or fewer ancestors than slots" if not self._is_size_after(event, size) else None
        yield f"u of {event.u}" if not 0 <= event.u <= 1 else None

    def _is_size_after(self, event: Resampled, size: int | None) -> bool:
        n = len(event.ancestors)
        return n >= 1 and (size is None or self._is_torn or (n == size if event.why == "ess" else n < size))

    def _of_proposal(self, event: Proposed) -> Faults:
        yield self._no_next_step(event.step)
        yield self._no_slot(event.particle, at=event.step - 1)
        yield self._no_text(event.parent)
        yield (
            "a text without its id, or an id without its text"
            if (event.proposal is None) != (event.text is None)
            else None
        )
        is_read = event.why != "unparsable"
        yield "a proposal that was read and was not" if is_read != (event.text is not None) else None
        yield (
            "it was taken, and nothing could be"
            if event.accepted and event.why in ("unparsable", "unchanged")
            else None
        )
        numbers = (event.log_likelihood, event.log_likelihood_proposal, event.log_likelihood_bound, event.log_alpha)
        yield _no_decision(event)
        yield from map(_no_likelihood, (x for x in numbers if x is not None))
        yield f"log α of {event.log_alpha}" if event.log_alpha is not None and event.log_alpha > OFF_ONE else None
        yield f"u of {event.u}" if event.u is not None and not 0 <= event.u <= 1 else None
        yield _no_temperature(event.temperature)
        yield self._no_shown(event.shown)

    def _of_step(self, event: StepFinished) -> Faults:
        yield self._no_new_step(event.step) if event.step != INITIAL_STEP else None
        yield "a population of none" if not 0 < len(event.population) <= MOST_PARTICLES else None
        before = self._sizes.get(event.step - 1)
        bound = MOST_PARTICLES if before is None or event.step == INITIAL_STEP else max(before, len(event.population))
        for state in event.population:
            yield self._no_text(state.hypothesis)
            yield f"there is no slot {state.parent} before it" if not 0 <= state.parent < bound else None
            yield self._no_exchange(state.exchange, event.step) if state.exchange is not None else None
        yield "weights that are all nothing" if _are_nothing(state.log_weight for state in event.population) else None
        yield self._no_rows(event.batch, "train")
        yield f"τ of {event.tau}" if event.tau is not None and not 0 < event.tau < math.inf else None

    def _of_evaluation(self, event: Evaluated) -> Faults:
        yield self._no_step(event.step)
        yield self._no_size(len(event.weights), at=event.step)
        yield _no_weights(event.weights)
        sizes = {len(event.hypotheses), len(event.predictions), len(event.weights)}
        yield "answers of another number of particles" if len(sizes) > 1 else None
        yield from map(self._no_text, event.hypotheses)
        yield self._no_rows(event.rows, event.split)
        yield "no rows, or one twice" if not event.rows or len(set(event.rows)) < len(event.rows) else None
        for answers in event.predictions:
            yield self._no_answers(answers, len(event.rows))
        yield self._no_answers(event.averaged, len(event.rows)) if event.averaged else None
        yield self._no_metric(event)

    def _of_resume(self, event: RunResumed) -> Faults:
        yield self._no_step(event.step) if event.step is not None else None

    # What there is, and what a value must be.

    def _no_metric(self, event: Evaluated) -> str | None:
        if self._dataset is not None and (event.metric == "accuracy") != (self._dataset.task == "classification"):
            return f"{event.metric} is not the measure of this target"
        most = 1 if event.metric == "accuracy" else math.inf
        return f"{event.metric} of {event.value}" if not 0 <= event.value <= most else None

    def _no_step(self, step: int) -> str | None:
        return f"there is no step {step}" if not INITIAL_STEP <= step <= self._steps else None

    def _no_end(self, step: int) -> str | None:
        return self._no_step(step) or ("no step is over" if not self._sizes and not self._is_torn else None)

    def _no_new_step(self, step: int) -> str | None:
        """Whether the step is over, never was to be, or comes too early."""
        if not 0 <= step < max(self._steps, 1):
            return f"there is no step {step}"
        return f"step {step} is over" if step <= self._over else None

    def _no_next_step(self, step: int) -> str | None:
        """Whether it is not the one that comes next: parts of a step stand on the population before it."""
        is_early = step - 1 not in self._sizes and not self._is_torn
        return self._no_new_step(step) or (f"lines of step {step - 1} are missing before it" if is_early else None)

    def _not_weighed(self) -> str | None:
        is_known = self._is_weighed and len(self._scored) == self._sizes.get(self._over, 0)
        return None if is_known or self._is_torn else "lines of its weights are missing before it"

    def _no_slot(self, slot: int, *, at: int) -> str | None:
        size = self._sizes.get(at, MOST_PARTICLES)
        return f"there is no slot {slot}" if not 0 <= slot < size else None

    def _no_size(self, n: int, *, at: int) -> str | None:
        size = self._sizes.get(at)
        return f"{n} weights for {size} particles" if n == 0 or (size is not None and n != size) else None

    def _no_text(self, hypothesis: str) -> str | None:
        """A text that was lost with a line is missed where it is looked up."""
        return "a hypothesis that nothing tells of" if hypothesis not in self._texts and not self._is_torn else None

    def _no_rows(self, rows: Sequence[int], part: str) -> str | None:
        if not self._rows or self._rows[part].issuperset(rows):
            return None
        return f"row {next(row for row in rows if row not in self._rows[part])} is no {part} row"

    def _no_shown(self, shown: int | None) -> str | None:
        return f"{shown} rows shown" if shown is not None and shown < 0 else None

    def _no_exchange(self, exchange: tuple[int, int], step: int) -> str | None:
        at, slot = exchange
        return "an exchange that was not" if not (0 <= at <= step and 0 <= slot < MOST_PARTICLES) else None

    def _no_answers(self, answers: Sequence[Value | None], n: int) -> str | None:
        if len(answers) != n:
            return f"{len(answers)} answers for {n} rows"
        if self._dataset is None:
            return None
        is_label = bool(self._answers)
        can_be = self._answers.issuperset(answers) if is_label else all(a is None or _is_finite(a) for a in answers)
        return None if can_be else "an answer that the target cannot have"


def _no_decision(event: Proposed) -> str | None:
    """Whether the numbers that decided are there: those of all rows, or the bound of a rejection made without some."""
    of_all = (event.log_likelihood_proposal, event.log_alpha)
    if event.unanswered == 0 and event.log_likelihood_bound is None:
        is_without = event.why == "likelihood" and None in (event.log_likelihood, event.u, *of_all)
        return "a decision without its numbers" if is_without else None
    is_rejection = event.why == "likelihood" and not event.accepted and event.unanswered > 0
    are_there = None not in (event.log_likelihood, event.u, event.log_likelihood_bound) and of_all == (None, None)
    return None if is_rejection and are_there else "a decision on some rows without its numbers"


def undefined(event: Event) -> str:
    """Which of its numbers no weight can be made of, whatever stands before it; empty where there is none."""
    return _first(_UNDEFINED, event)


def _first(checks: Checks, event: Event) -> str:
    """The first reason against the event; empty where there is none."""
    check = checks.get(type(event))
    return "" if check is None else next(filter(None, check(event)), "")


def _undefined_score(event: Scored) -> Faults:
    yield _no_likelihood(event.log_likelihood)


def _undefined_weights(event: Reweighted) -> Faults:
    yield "a weight without end" if any(not x < math.inf for x in event.log_weights) else None
    yield f"β of {event.beta}" if not 0 < event.beta < math.inf else None


def _undefined_step(event: StepFinished) -> Faults:
    for state in event.population:
        yield "a weight that is none" if not state.log_weight < math.inf else None
        yield _no_likelihood(state.log_likelihood) if state.log_likelihood is not None else None
    is_number = _is_finite(event.exponent) and not math.isnan(event.log_evidence)
    yield None if is_number else "an evidence or exponent that is no number"


_UNDEFINED: Checks = {Scored: _undefined_score, Reweighted: _undefined_weights, StepFinished: _undefined_step}


def _is_finite(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _is_plain(value: Any) -> bool:
    return value is None or isinstance(value, str | int | float)


def _are_nothing(log_weights: Iterable[float]) -> bool:
    return max(log_weights, default=-math.inf) == -math.inf


def _no_weights(weights: Sequence[float]) -> str | None:
    """Whether they are normalised."""
    is_sound = all(0 <= weight <= 1 + OFF_ONE for weight in weights) and abs(sum(weights) - 1) <= OFF_ONE
    return None if is_sound else "weights that do not sum to 1"


def _no_likelihood(value: float) -> str | None:
    return f"a log-likelihood of {value}" if math.isnan(value) or value == math.inf else None


def _no_temperature(value: float) -> str | None:
    return f"a temperature of {value}" if not 0 <= value < math.inf else None
