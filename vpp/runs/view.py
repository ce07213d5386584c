"""RunView: the fold over a run's events. A live, a finished and a crashed run are read by this one code."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, fields, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, TypeVar, cast

from vpp import events
from vpp.data.dataset import Dataset
from vpp.inference.population import UNSETTLED, Particle, Population, Settling
from vpp.posterior.weights import ess_of_sentences as weights_ess
from vpp.posterior.weights import normalise

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    from vpp.runs.directory import Record

T = TypeVar("T")
V = TypeVar("V", bound="DataclassInstance")
Phase = Literal["queued", "running", "paused", "finished", "stopped", "failed"]
Failure = Literal["endpoint", "input", "error", "disk"]
FinishReason = Literal["completed", "settled", "stopped", "limit"] | Failure


@dataclass(slots=True, kw_only=True)
class StepView:
    step: int
    scores: dict[int, events.Scored] = field(default_factory=dict)
    """By slot: the score that the step's weights or decisions began with."""
    proposal_scores: dict[int, events.Scored] = field(default_factory=dict)
    """By slot: the proposal's score, if one was needed."""
    reweighting: events.Reweighted | None = None
    resampling: events.Resampled | None = None
    """Resampling before the rewriting, because the ESS was low."""
    proposals: dict[int, events.Proposed] = field(default_factory=dict)
    end: events.StepFinished | None = None
    usage: events.Usage = field(default_factory=events.Usage)
    wall_s: float = 0.0
    _memory: dict[str, object] = field(default_factory=dict, init=False, repr=False, compare=False)

    def once(self, name: str, find: Callable[[], T]) -> T:
        """Return the result of `find`, remembered under the name once the step is finished."""
        memory = self._memory if self.end else {}
        if name not in memory:
            memory[name] = find()
        return cast(T, memory[name])

    @property
    def population(self) -> tuple[events.ParticleState, ...]:
        return self.end.population if self.end else ()

    @property
    def weights(self) -> tuple[float, ...]:
        """(K,) normalised, at the end of the step; empty before it."""
        return tuple(normalise([p.log_weight for p in self.population]).tolist()) if self.end else ()


@dataclass(slots=True)
class RunView:
    start: events.RunStarted | None = None
    phase: Phase = "queued"
    detail: str = ""
    paused_for: Literal["user", "endpoint", "budget"] | None = None
    retry_at: float | None = None
    """Unix time of the next try, of a run that waits for its endpoint."""
    gives_up_at: float | None = None
    failure: Failure | None = None
    texts: dict[str, str] = field(default_factory=dict)
    draws: dict[int, events.ParticleDrawn] = field(default_factory=dict)
    steps: dict[int, StepView] = field(default_factory=dict)
    """By step in order; the initial population is step -1."""
    final: events.Reweighted | None = None
    """Weights of the predictions, if computed after the last step."""
    final_scores: dict[int, events.Scored] = field(default_factory=dict)
    evaluations: dict[str, events.Evaluated] = field(default_factory=dict)
    """By split."""
    certificates: dict[str, events.Certified] = field(default_factory=dict)
    """By hypothesis id."""
    usage: events.Usage = field(default_factory=events.Usage)
    began_at: float | None = None
    last_at: float | None = None
    wall_s: float = 0.0
    """Seconds from the first event to the last, pauses and interruptions left out."""

    def apply(self, record: "Record") -> None:
        if self.began_at is None:
            self.began_at = record.at
        # Neither a pause before it goes on counts, nor a clock that was set back.
        if self.last_at is not None and not isinstance(record.event, events.RunStarted | events.RunResumed):
            self.wall_s += max(0.0, record.at - self.last_at)
        self.last_at, self.usage = record.at, record.usage
        add(self, record.event)

    def copy(self) -> "RunView":
        """Return a copy that later events do not change; finished steps do not change anyway."""
        copy = with_own_mappings(self)
        copy.steps = {step: at if at.end else with_own_mappings(at) for step, at in self.steps.items()}
        return copy

    @property
    def complete_steps(self) -> list[StepView]:
        """Finished steps in order, the initial population first."""
        return [view for _, view in sorted(self.steps.items()) if view.end]

    @property
    def last_step(self) -> int | None:
        """The last finished step; -1 for the initial population, None before it."""
        step = last_complete(self).step
        return step if step >= events.INITIAL_STEP else None

    @property
    def total_steps(self) -> int:
        return self.start.steps if self.start else 0

    @property
    def size(self) -> int:
        """K of the last finished step; 0 before the first population."""
        return len(self.population)

    @property
    def population(self) -> tuple[events.ParticleState, ...]:
        return last_complete(self).population

    @property
    def weights(self) -> tuple[float, ...]:
        """(K,) normalised: the final ones if computed, else the last finished step's."""
        return last_complete(self).weights if self.final is None else self.final.weights

    @property
    def ess_by_step(self) -> list[float]:
        """ESS of the weights before resampling, a value a step; empty for methods without weights."""
        return [v.reweighting.ess for v in self.complete_steps if v.reweighting]

    @property
    def proposals(self) -> list[events.Proposed]:
        return [p for _, v in sorted(self.steps.items()) for _, p in sorted(v.proposals.items())]

    @property
    def seed_text(self) -> str:
        return self.start.seed_text if self.start else ""

    @property
    def n_unique(self) -> int:
        return len({p.hypothesis for p in self.population})

    @property
    def is_at_cap(self) -> bool:
        """True if it has paused because its cap is reached: a higher one lets it go on, with or without a worker."""
        return self.phase == "paused" and self.paused_for == "budget"

    @property
    def has_ended(self) -> bool:
        return self.phase in ("finished", "stopped", "failed")

    @property
    def finish_reason(self) -> FinishReason | None:
        """Why no further step is made; None while the run goes on, is held by a person, or lost its worker."""
        if self.phase == "finished":
            return "completed" if self.last_step == self.total_steps - 1 else "settled"
        if self.phase == "failed":
            return self.failure
        return "stopped" if self.phase == "stopped" else "limit" if self.is_at_cap else None


def with_own_mappings(view: V) -> V:
    """Return a copy of a dataclass with copies of its mappings."""
    values = {each.name: getattr(view, each.name) for each in fields(view) if each.init}
    own: dict[str, Any] = {name: dict(value) for name, value in values.items() if isinstance(value, dict)}
    return replace(view, **own)


def scores_of(view: RunView) -> Iterator[events.Scored]:
    for step in view.steps.values():
        yield from step.scores.values()
        yield from step.proposal_scores.values()
    yield from view.final_scores.values()


def priors(view: RunView) -> tuple[float, ...]:
    """(K,) prior probabilities of sentences that are only weighed; empty in any other run."""
    first, is_weighing = view.steps.get(events.INITIAL_STEP), view.start and view.start.config["method"] == "weigh"
    return first.weights if first and is_weighing else ()


def last_complete(view: RunView) -> StepView:
    """Return the last finished step, from which a resume continues; an empty one, numbered -2, before there is one."""
    for at in reversed(view.steps.values()):
        if at.end:
            return at
    return StepView(step=events.INITIAL_STEP - 1)


def ess_of_sentences(view: RunView) -> float | None:
    """Effective number of distinct sentences, by the weights that predict; None before there are any."""
    if not view.population:
        return None
    return weights_ess([state.hypothesis for state in view.population], view.weights, constant=constant_weight(view))


def constant_weight(view: RunView) -> float:
    """Weight of the constant answer beside the sentences; 0 without one."""
    return view.final.constant.weight if view.final and view.final.constant else 0.0


def log_evidence(view: RunView) -> float | None:
    """Return the natural log of the evidence after the last finished step; None without carried weights."""
    return next((at.reweighting.log_evidence for at in reversed(view.complete_steps) if at.reweighting), None)


def fold(sampled: Iterable[events.Event]) -> RunView:
    """Return the view of events without their times and counts."""
    view = RunView()
    for event in sampled:
        add(view, event)
    return view


def add(view: RunView, event: events.Event) -> None:
    """Add an event that the view's times and counts include already."""
    match event:
        case events.RunStarted():
            view.start, view.phase, view.detail, view.failure = event, "running", "", None
        case events.ParticleDrawn():
            view.draws[event.particle] = event
            view.texts[event.hypothesis] = event.text
        case events.Scored(role="final"):
            view.final_scores[event.particle] = event
        case events.Scored(role="proposal"):
            _step(view, event.step).proposal_scores[event.particle] = event
        case events.Scored():
            _step(view, event.step).scores[event.particle] = event
        case events.Reweighted(role="final"):
            view.final = event
        case events.Reweighted():
            _step(view, event.step).reweighting = event
        case events.Resampled():
            _step(view, event.step).resampling = event
        case events.StepFinished():
            ended = replace(_step(view, event.step), end=event, usage=view.usage, wall_s=view.wall_s)
            view.steps[event.step] = ended
        case events.Proposed():
            _step(view, event.step).proposals[event.particle] = event
            if event.proposal is not None and event.text is not None:
                view.texts[event.proposal] = event.text
        case events.Evaluated():
            view.evaluations[event.split] = event
        case events.Certified():
            view.certificates[event.hypothesis] = event
        case events.RunPaused():
            view.phase, view.detail, view.paused_for = "paused", event.detail, event.reason
            view.retry_at, view.gives_up_at = event.retry_at, event.gives_up_at
        case events.RunResumed():
            view.phase, view.detail, view.failure = "running", "", None
            last = events.INITIAL_STEP - 1 if event.step is None else event.step
            if not view.start or last < view.total_steps:
                view.steps = {step: at for step, at in view.steps.items() if step <= last}
                view.final, view.final_scores, view.evaluations, view.certificates = None, {}, {}, {}
                view.draws = {} if last < events.INITIAL_STEP else view.draws
        case events.RunFinished():
            view.phase, view.detail = event.outcome, ""
        case events.RunFailed():
            view.phase, view.detail, view.failure = "failed", event.detail, event.reason


def _step(view: RunView, step: int) -> StepView:
    return view.steps.setdefault(step, StepView(step=step))


def candidates(view: RunView) -> set[str]:
    """Return the ids of the texts that were written up to the last finished step."""
    proposals = (each.proposal for at in view.complete_steps for each in at.proposals.values() if each.proposal)
    return {*(first.hypothesis for first in view.draws.values()), *proposals}


def settling_of(view: RunView, dataset: Dataset) -> Settling:
    settling = UNSETTLED
    for at in view.complete_steps:
        assert at.end is not None
        step: list[events.Event] = [*at.scores.values(), *at.proposal_scores.values(), at.end]
        settling = at.once("settling", partial(settling.after, step, dataset))
    return settling


def population_of(view: RunView) -> Population | None:
    last = last_complete(view)
    if last.end is None:
        return None
    particles = (
        Particle(
            text=view.texts[state.hypothesis],
            parent=state.parent,
            log_likelihood=state.log_likelihood,
            log_weight=state.log_weight,
            repeats=slot in last.proposals and last.proposals[slot].repeats,
        )
        for slot, state in enumerate(last.population)
    )
    return Population(
        step=last.step,
        particles=tuple(particles),
        exponent=last.end.exponent,
        log_evidence=last.end.log_evidence,
        n_candidates=len(candidates(view)),
    )
