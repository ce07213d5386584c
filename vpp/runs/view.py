"""RunView: the fold over a run's events. A live, a finished and a crashed run are read by this one code."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from math import inf
from typing import Literal, TypeVar, cast

from vpp.events import (
    INITIAL_STEP,
    Evaluated,
    ParticleDrawn,
    ParticleState,
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
)
from vpp.posterior.weights import normalise
from vpp.runs.journal import Record
from vpp.runs.lines import Lost
from vpp.usage import Usage

T = TypeVar("T")
Phase = Literal["queued", "running", "paused", "finished", "stopped", "failed"]


@dataclass(slots=True, kw_only=True)
class StepView:
    """What happened in one step, so far."""

    step: int
    scored: dict[int, Scored] = field(default_factory=dict)
    """By slot: the score that the step's weights or decisions began with."""
    proposals_scored: dict[int, Scored] = field(default_factory=dict)
    """By slot: the proposal's score, where one was needed."""
    reweighted: Reweighted | None = None
    resampled: Resampled | None = None
    """Before the rewriting, where ESS was low."""
    shrunk: Resampled | None = None
    """At the step's end, where all agreed and K fell."""
    joined: dict[int, ParticleDrawn] = field(default_factory=dict)
    """By slot: who came in at the step's end, where K grew."""
    proposed: dict[int, Proposed] = field(default_factory=dict)
    """By slot."""
    finished: StepFinished | None = None
    is_torn: bool = False
    """Whether lines of it are lost: it has its population, and none of its scores and decisions."""
    _known: dict[str, object] = field(default_factory=dict, init=False, repr=False, compare=False)

    def once(self, what: str, find: Callable[[], T]) -> T:
        """What `find` finds in the step, known as `what`; in a whole one, to which nothing is added, it looks once."""
        if self.finished is None:
            return find()
        if what not in self._known:
            self._known[what] = find()
        return cast(T, self._known[what])

    @property
    def population(self) -> tuple[ParticleState, ...]:
        """The slots at the end of the step; empty while it goes on."""
        return self.finished.population if self.finished else ()

    @property
    def weights(self) -> tuple[float, ...]:
        """(K,) normalised, as the step ends; empty while it goes on."""
        return tuple(normalise([p.log_weight for p in self.population]).tolist()) if self.finished else ()

    def copy(self) -> "StepView":
        """As it is now; a whole step is itself, since nothing is added to it."""
        if self.finished:
            return self
        return replace(
            self,
            scored=dict(self.scored),
            proposals_scored=dict(self.proposals_scored),
            proposed=dict(self.proposed),
            joined=dict(self.joined),
        )


@dataclass(slots=True)
class RunView:
    """All that a run's events tell."""

    started: RunStarted | None = None
    phase: Phase = "queued"
    detail: str = ""
    """Why it paused or failed."""
    paused_for: Literal["user", "endpoint", "budget"] | None = None
    """Whose doing the pause was, of a run that paused."""
    retry_at: float | None = None
    """Unix time of the next try, of a run that waits for its endpoint."""
    gives_up_at: float | None = None
    """Unix time until which it tries."""
    failure: Literal["endpoint", "input", "error", "disk"] | None = None
    """What failed, of a run that failed."""
    texts: dict[str, str] = field(default_factory=dict)
    """Hypothesis text by id."""
    drawn: dict[int, ParticleDrawn] = field(default_factory=dict)
    steps: dict[int, StepView] = field(default_factory=dict)
    """By step, the initial population's -1 included, in order."""
    final: Reweighted | None = None
    """The weights that predictions use, where they were made after the last step."""
    final_scored: dict[int, Scored] = field(default_factory=dict)
    evaluations: list[tuple[int, Evaluated]] = field(default_factory=list)
    """Each with the last whole step before it."""
    usage: Usage = field(default_factory=Usage)
    usage_kept: Usage = field(default_factory=Usage)
    """As of the last whole step: what a resumed run begins with."""
    answers_kept: int = 0
    """Lines of answers.jsonl as of the last whole step."""
    began_at: float | None = None
    """Unix time of the first event."""
    last_at: float | None = None
    wall_s: float = 0.0
    """Seconds from the first event to the last, pauses and interruptions left out."""
    usage_by_step: dict[int, Usage] = field(default_factory=dict)
    """What had been asked when each whole step ended."""
    recent: list[tuple[int, float]] = field(default_factory=list)
    """(step, wall_s when it ended), for the time left."""
    n_lost: int = 0
    """Lines that cannot be read."""
    first_lost: Lost | None = None
    torn_since: int | None = None
    """Lines of this step, and maybe of later ones, are lost: until a step is whole again, none is taken to pieces."""

    def apply(self, record: Record | Lost) -> None:
        """Takes one more event into account, or that one is lost."""
        if isinstance(record, Lost):
            self._lose(record)
            return
        self._clock(record)
        if self.n_lost:
            self.phase = "running"
        self.usage = record.usage
        event = record.event
        match event:
            case RunStarted():
                self.started, self.phase, self.detail, self.failure = event, "running", "", None
            case ParticleDrawn():
                self._draw(event)
            case Scored():
                self._score(event)
            case Reweighted():
                self._reweight(event)
            case Resampled():
                self._resample(event)
            case Proposed():
                self._propose(event)
            case StepFinished():
                self._finish(event, record)
            case Evaluated():
                if not self.is_damaged or self._stood(event):
                    self.evaluations.append((_whole(self.last_step), event))
            case RunPaused():
                self.phase, self.detail, self.paused_for = "paused", event.detail, event.reason
                self.retry_at, self.gives_up_at = event.retry_at, event.gives_up_at
            case RunResumed():
                self._resume(event)
            case RunFinished():
                self.phase, self.detail = event.outcome, ""
            case RunFailed():
                self.phase, self.detail, self.failure = "failed", event.detail, event.reason

    def _clock(self, record: Record) -> None:
        """A gap before the run begins or goes on is not its time; a clock set back adds nothing."""
        if self.began_at is None:
            self.began_at = record.at
        if self.last_at is not None and not isinstance(record.event, RunStarted | RunResumed):
            self.wall_s += max(0.0, record.at - self.last_at)
        self.last_at = record.at

    def _step(self, step: int) -> StepView:
        """The step's view; one that is thrown away where lines are lost that it may need."""
        if self.torn_since is not None:
            return StepView(step=step)
        if step not in self.steps:
            self.steps[step] = StepView(step=step)
        return self.steps[step]

    def _lose(self, lost: Lost) -> None:
        self.n_lost += 1
        self.first_lost = self.first_lost or lost
        self._tear(_whole(self.last_step) + 1)

    def _tear(self, step: int) -> None:
        """Lines of the step are lost, nobody knows which: what it had so far is not to be taken for all."""
        self.torn_since = step if self.torn_since is None else self.torn_since
        self.steps = {step: view for step, view in self.steps.items() if view.finished}

    def _finish(self, event: StepFinished, record: Record) -> None:
        """A step is whole where all that its population needs is there."""
        self.steps = {step: view for step, view in self.steps.items() if step <= event.step}
        if not self._stands(event):
            self._tear(event.step)
            return
        if not self._is_complete(event.step):
            self._tear(event.step)
        whole, is_torn = self._step(event.step), self.torn_since is not None
        self.steps[event.step] = replace(whole, finished=event, is_torn=is_torn)
        self.torn_since = None
        self.recent.append((event.step, self.wall_s))
        self.usage_by_step[event.step] = record.usage
        self.usage_kept, self.answers_kept = record.usage, record.answers

    def _stands(self, event: StepFinished) -> bool:
        """Whether every text of a population is known, and its weights are weights."""
        log_weights = [state.log_weight for state in event.population]
        are_weights = all(log_weight < inf for log_weight in log_weights)
        return bool(log_weights) and are_weights and all(s.hypothesis in self.texts for s in event.population)

    def _is_complete(self, step: int) -> bool:
        """Whether no line before the end of a step is seen to be missing."""
        at = self._step(step)
        is_scored = not (at.reweighted and at.scored) or len(at.scored) == len(at.reweighted.weights)
        return is_scored and (step == INITIAL_STEP or self._is_whole(step - 1))

    def _stood(self, event: Evaluated) -> bool:
        """Whether it is about the population of a whole step."""
        at = self.steps.get(event.step)
        return at is not None and event.hypotheses == tuple(state.hypothesis for state in at.population)

    def _is_whole(self, step: int) -> bool:
        return step in self.steps and self.steps[step].finished is not None

    def _draw(self, event: ParticleDrawn) -> None:
        drawn = self.drawn if event.step == INITIAL_STEP else self._step(event.step).joined
        drawn[event.particle] = event
        self.texts[event.hypothesis] = event.text

    def _resample(self, event: Resampled) -> None:
        if event.why == "ess":
            self._step(event.step).resampled = event
        else:
            self._step(event.step).shrunk = event

    def _score(self, event: Scored) -> None:
        if event.role == "final":
            if not self.is_damaged or self._is_of_the_end(event.particle, event.hypothesis):
                self.final_scored[event.particle] = event
        elif event.role == "proposal":
            self._step(event.step).proposals_scored[event.particle] = event
        else:
            self._step(event.step).scored[event.particle] = event

    def _reweight(self, event: Reweighted) -> None:
        if event.role == "final":
            if not self.is_damaged or (self._is_at_its_end(len(event.weights)) and len(self.final_scored) == self.size):
                self.final = event
        else:
            self._step(event.step).reweighted = event

    def _propose(self, event: Proposed) -> None:
        self._step(event.step).proposed[event.particle] = event
        if event.proposal is not None and event.text is not None:
            self.texts[event.proposal] = event.text

    def _resume(self, event: RunResumed) -> None:
        """Voids what came after the step named; what follows the last step counts as step T."""
        self.phase, self.detail, self.failure = "running", "", None
        last = _whole(event.step)
        if self.started and last >= self.total_steps:
            return
        if self.torn_since is not None and (event.step is None or self._is_whole(last)):
            self.torn_since = None
        self.steps = {step: view for step, view in self.steps.items() if step <= last}
        self.recent = [(step, at) for step, at in self.recent if step <= last]
        self.usage_by_step = {step: usage for step, usage in self.usage_by_step.items() if step <= last}
        self.evaluations = [(after, e) for after, e in self.evaluations if after < last]
        self.final, self.final_scored = None, {}
        if event.step is None:
            self.drawn = {}

    def copy(self) -> "RunView":
        """As it is now: what is applied later does not show in it."""
        return replace(
            self,
            texts=dict(self.texts),
            drawn=dict(self.drawn),
            steps={step: view.copy() for step, view in self.steps.items()},
            final_scored=dict(self.final_scored),
            evaluations=list(self.evaluations),
            recent=list(self.recent),
            usage_by_step=dict(self.usage_by_step),
        )

    def _is_at_its_end(self, size: int) -> bool:
        """Whether the last step is whole, and K is `size`."""
        is_last = self.last_step == self.total_steps - 1 if self.started else self.torn_since is None
        return is_last and self.size == size

    def _is_of_the_end(self, slot: int, hypothesis: str) -> bool:
        return self._is_at_its_end(self.size) and slot < self.size and self.population[slot].hypothesis == hypothesis

    # What follows is read from the fold, never stored.

    @property
    def is_damaged(self) -> bool:
        """Whether lines cannot be read, or are missing."""
        return self.n_lost > 0 or self.torn_since is not None or bool(self.lost_steps or self.torn_steps)

    @property
    def lost_steps(self) -> list[int]:
        """Steps that are not whole though a later one is, or was begun."""
        end = max(_whole(self.last_step), _whole(self.torn_since))
        return [step for step in range(INITIAL_STEP, end) if not self._is_whole(step)]

    @property
    def torn_steps(self) -> list[int]:
        """Whole steps whose scores and decisions are not all there."""
        return [view.step for view in self.finished_steps if view.is_torn]

    @property
    def evaluated(self) -> dict[str, Evaluated]:
        """The last evaluation by split."""
        return {evaluation.split: evaluation for _, evaluation in self.evaluations}

    @property
    def finished_steps(self) -> list[StepView]:
        """Whole steps in order, the initial population first."""
        return [view for _, view in sorted(self.steps.items()) if view.finished]

    @property
    def last_step(self) -> int | None:
        """The last whole step; -1 for the initial population, None before it."""
        return max((step for step, view in self.steps.items() if view.finished), default=None)

    @property
    def total_steps(self) -> int:
        """T; 0 before the run has started."""
        return self.started.steps if self.started else 0

    @property
    def size(self) -> int:
        """K of the last whole population; 0 before the first."""
        return len(self.population)

    @property
    def population(self) -> tuple[ParticleState, ...]:
        """The slots after the last whole step."""
        return self.finished_steps[-1].population if self.finished_steps else ()

    @property
    def weights(self) -> tuple[float, ...]:
        """(K,) normalised: the final ones where they were made, else the last whole step's."""
        if self.final is not None:
            return self.final.weights
        return self.finished_steps[-1].weights if self.finished_steps else ()

    @property
    def ess_by_step(self) -> list[float]:
        """ESS of the weights before resampling, a value a step; empty for methods without weights."""
        return [v.reweighted.ess for v in self.finished_steps if v.reweighted]

    @property
    def size_by_step(self) -> list[int]:
        """K after each whole step, the initial population first."""
        return [len(v.population) for v in self.finished_steps]

    @property
    def log_evidence(self) -> float | None:
        """Natural log of the evidence after the last whole step; None where weights are made anew each step."""
        made = [v.reweighted for v in self.finished_steps if v.reweighted]
        return made[-1].log_evidence if made else None

    @property
    def resampled_at(self) -> list[int]:
        """Steps at which the population was resampled."""
        return [v.step for v in self.finished_steps if v.resampled]

    @property
    def proposals(self) -> list[Proposed]:
        """Every proposal of the steps that count, by step and slot."""
        return [p for _, v in sorted(self.steps.items()) for _, p in sorted(v.proposed.items())]

    @property
    def decided_by_likelihood(self) -> list[Proposed]:
        """Proposals that an acceptance step judged."""
        return [p for p in self.proposals if p.why == "likelihood"]

    @property
    def acceptance_rate(self) -> float | None:
        """Accepted share of the proposals that were judged; None where all are taken."""
        judged = self.decided_by_likelihood
        return sum(p.accepted for p in judged) / len(judged) if judged else None

    @property
    def n_unique(self) -> int:
        """Distinct texts in the last whole population."""
        return len({p.hypothesis for p in self.population})

    @property
    def is_at_cap(self) -> bool:
        """Whether it has paused because its cap is reached: with a higher one it goes on, with or without a worker."""
        return self.phase == "paused" and self.paused_for == "budget"

    @property
    def has_ended(self) -> bool:
        """Whether no more events are expected without a resume."""
        return self.phase in ("finished", "stopped", "failed")


def _whole(last_step: int | None) -> int:
    """A last whole step as a number, where there may be none."""
    return INITIAL_STEP - 1 if last_step is None else last_step


def fold(records: Iterable[Record | Lost]) -> RunView:
    """The view of a whole journal."""
    view = RunView()
    for record in records:
        view.apply(record)
    return view
