"""The records a run consists of: the sampler yields them, the journal keeps them, every view is a fold over them.

Each event is frozen; its `type` is its tag on disk. A hypothesis' text is stored by the event that
brings it (`particle_drawn`, `proposed`) and referred to by id afterwards. Steps count from 0; the initial population,
before the first step, has step -1.
"""

import hashlib
import math
import time
from collections.abc import Hashable, Iterable
from dataclasses import asdict, dataclass, field, fields
from typing import Annotated, Any, Literal

from annotated_types import Ge, Gt, Le, Lt
from pydantic import Field

from vpp.posterior.prediction import Answer, Mixture, Value


def hypothesis_id(text: str) -> str:
    """Return the id under which `text` is stored once and referred to everywhere else."""
    return hashlib.sha256(text.encode()).hexdigest()[:12]


INITIAL_STEP = -1


TextFirst = Field(union_mode="left_to_right")
"""Has a decoder try text, then number, and weigh neither against the other: no JSON value is both."""
Votes = tuple[Annotated[Value, TextFirst] | None, ...]
Log = Annotated[float, Lt(math.inf)]
"""Natural logarithm: -inf is allowed, NaN is not."""
Positive = Annotated[float, Gt(0), Lt(math.inf)]
Amount = Annotated[float, Ge(0), Lt(math.inf)]
Unit = Annotated[float, Ge(0), Le(1)]
"""From 0 to 1."""
Branches = tuple[int | None, ...]
Shares = tuple[dict[str, Unit] | None, ...]
"""Row by row, the probability of each label. A row without a readable answer has null."""
DIGITS = 9
"""Significant digits to which numbers count as the same answer."""


def same_answer(answer: Value | None) -> Hashable:
    """Key that is equal for answers that count as the same: 0.1 + 0.2 equals 0.3, but a label never equals a number."""
    return (answer,) if answer is None or isinstance(answer, str) else f"{answer:.{DIGITS}g}"


def behaviour(answers: Iterable[Value | None]) -> Hashable:
    """Key that is equal for hypotheses with the same answers on every row."""
    return tuple(map(same_answer, answers))


@dataclass(frozen=True, slots=True, kw_only=True)
class RunStarted:
    """The run begins: everything needed to repeat it."""

    type: Literal["run_started"] = "run_started"
    config: dict[str, Any]
    """Every option of the method, by name."""
    dataset: dict[str, Any]
    """Name, target, task, classes, columns, inputs, row counts and provenance."""
    seed_text: str
    """The sentence every hypothesis begins with, the user's prior included."""
    steps: int
    """T, the number of steps planned."""
    templates: dict[str, str]
    """SHA-256 of the template of each role: learner, optimizer, and prior for draws without data."""
    versions: dict[str, str]
    """Of vpp, Python and the libraries that decide a result."""
    models: dict[str, str]
    """Model name by role; the demo model is named `demo`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Writing:
    """The optimizer's answer, a part of `particle_drawn` and `proposed`."""

    raw: str
    """The raw answer; empty where nothing was asked."""
    temperature: float
    """Sampling temperature of the call; 0 where nothing was asked."""
    reason: str | None = None
    """Why no text could be read, or why it was refused."""
    refused: bool = False
    """Whether the last text was readable but no rule for this table."""
    shown: int | None = None
    """Number of first batch rows that fitted into the prompt; null if all did."""
    thoughts: str = ""
    """The first 2,000 characters of what a thinking model thought."""


def writing_fields(source: Writing) -> dict[str, Any]:
    return {each.name: getattr(source, each.name) for each in fields(Writing)}


@dataclass(frozen=True, slots=True, kw_only=True)
class ParticleDrawn(Writing):
    """An initial particle: the optimizer's answer to the seed sentence and the first batch."""

    type: Literal["particle_drawn"] = "particle_drawn"
    particle: int
    """Slot k, from 0."""
    hypothesis: str
    """Id of the text."""
    text: str
    """The complete hypothesis; the seed sentence alone if the answer was unreadable."""
    step: int = INITIAL_STEP
    """-1: the initial population."""
    origin: Literal["drawn", "continued", "yours"] = "drawn"
    """`continued`: copied from the run that this one continues; `yours`: given by a person."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scored:
    """A hypothesis was applied to rows with known targets."""

    type: Literal["scored"] = "scored"
    step: int
    particle: int
    hypothesis: str
    """Id of the text that was scored."""
    role: Literal["forward", "proposal", "buffer", "final"]
    """Forward pass on the batch, a proposal on its decision's rows, the weights' rows, the final weights' rows."""
    rows: tuple[int, ...]
    """Row ids in order; a row may repeat."""
    predictions: Votes
    """The answer for each row; null is an abstention."""
    log_likelihood: Log
    """Natural log, summed over the rows (Eq. 5 or 6)."""
    shares: Shares = ()
    """Probability of each label, for each row; empty if answers are not graded. `predictions` are the likeliest."""
    branches: Branches = ()
    """Index of the program's return that answered each row; empty if the learner read the rows itself."""

    @property
    def answers(self) -> tuple[Answer, ...]:
        """(M,) answers that the likelihood is computed from."""
        return self.shares or self.predictions

    @property
    def behaviour(self) -> Hashable:
        """Key that is equal for hypotheses with the same answers on the same rows."""
        return self.rows, behaviour(self.predictions)


@dataclass(frozen=True, slots=True, kw_only=True)
class Constant:
    """The standing sentence of a posterior: the answer does not depend on the row."""

    answer: Annotated[Value, TextFirst]
    """The commonest training label (of equal ones the first in sort order), or the mean of the training targets."""
    shares: tuple[Unit, ...] = ()
    """(C,) probability of each label, as often as it occurs; empty for numbers."""
    log_likelihood: Log
    """Natural log, on the rows that made the weights; of labels with their shares integrated out."""
    weight: Unit = 0.0
    """Its share of the posterior; half of the prior is its."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reweighted:
    """Weights were computed from the log-likelihoods (Eq. 10)."""

    type: Literal["reweighted"] = "reweighted"
    step: int
    beta: Positive
    """Divides the log-likelihood: 10 is flat, 1 is sharp."""
    log_weights: tuple[Log, ...]
    """Unnormalised, natural log, one a particle."""
    weights: tuple[float, ...]
    """Normalised, the constant's weight included."""
    ess: Positive
    """Effective sample size of `weights`; the final one is over distinct sentences, the constant's weight spread."""
    role: Literal["step", "final"] = "step"
    """`final`: computed after the last step, for predictions."""
    log_evidence: Log | None = None
    """Natural log of the estimated evidence so far; null without such tempering."""
    constant: Constant | None = None
    """Beside the final weights; null else."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Resampled:
    """Systematic resampling; weights are equal afterwards."""

    type: Literal["resampled"] = "resampled"
    step: int
    u: Unit
    """The one uniform number."""
    ancestors: tuple[int, ...]
    """Old slot that each new slot copies."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposed(Writing):
    """A rewrite of a particle, and the decision about it."""

    type: Literal["proposed"] = "proposed"
    step: int
    particle: int
    parent: str
    """Id of the hypothesis that was rewritten."""
    proposal: str | None
    """Id of the new text; null if unreadable."""
    text: str | None
    """The complete new text, accepted or not."""
    accepted: bool
    """Whether the particle holds the proposal now; false if unchanged."""
    why: Literal["likelihood", "taken", "unchanged", "unparsable"]
    """Eq. 9; a method that takes every proposal; the parent's text again; unreadable."""
    log_likelihood: Log | None = None
    """Of the parent on the decision's rows; null if not needed."""
    log_likelihood_proposal: Log | None = None
    """Of the proposal on the same rows; null if not needed, like `log_alpha`."""
    log_alpha: Log | None = None
    """Natural log of the acceptance probability (Eq. 9)."""
    u: Unit | None = None
    """Uniform number it is compared with."""
    origin: Literal["refined", "prior"] = "refined"
    """Refined from parent and batch, or drawn from the prior without data."""
    rows: tuple[int, ...] = ()
    """Ids of the rows in the prompt, if they are not the batch's."""

    @property
    def repeats(self) -> bool:
        return self.why == "unchanged" and self.origin == "refined"


@dataclass(frozen=True, slots=True, kw_only=True)
class ParticleState:
    """A slot at the end of a step."""

    hypothesis: str
    """Id of the text."""
    parent: int
    """Slot it came from at the previous step (its own, unless resampled)."""
    log_likelihood: Log | None
    """Of the ancestor on the rows that made the weights; null for methods without."""
    log_weight: Log
    """Natural log, unnormalised; 0 for all after resampling."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StepFinished:
    """The population after a step: enough to resume from."""

    type: Literal["step_finished"] = "step_finished"
    step: int
    """-1 for the initial population."""
    population: tuple[ParticleState, ...]
    """A state a slot, in order."""
    batch: tuple[int, ...]
    """Row ids of the step's batch."""
    exponent: Amount = 0.0
    """The exponent that incremental or adaptive tempering reached; else 0."""
    log_evidence: Log = 0.0
    """Natural log of the evidence up to the last resampling."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluated:
    """All particles were applied to all rows of a split."""

    type: Literal["evaluated"] = "evaluated"
    step: int
    split: Literal["train", "test", "calibration"]
    """Which rows of the dataset."""
    rows: tuple[int, ...]
    """Row ids."""
    hypotheses: tuple[str, ...]
    """Id a particle."""
    predictions: tuple[Votes, ...]
    """A tuple for each particle, in the order of `rows`."""
    weights: tuple[float, ...]
    """As used by the averaged prediction; with the constant's they sum to 1."""
    metric: Literal["accuracy", "mse"]
    """Accuracy (fraction), or mean squared error in squared units of the target."""
    value: float
    """Of the averaged prediction (Eq. 7 or 8); wrong where all abstain."""
    averaged: Votes
    """The averaged prediction for each row."""
    shares: tuple[Shares, ...] = ()
    """The same for each particle; empty if answers are not graded."""
    branches: tuple[Branches, ...] = ()
    """The program's return that answered, for each particle and row; empty without programs."""
    noise: tuple[Positive, ...] = ()
    """Mass of each particle's wrong labels in the averaged prediction; of numbers the standard deviation of errors, the
    constant answer's last. Empty with a given noise."""
    constant: Constant | None = None
    """The constant answer in the averaged prediction."""

    @property
    def answers(self) -> tuple[tuple[Answer, ...], ...]:
        """(K, N) answers that the vote averages."""
        return self.shares or self.predictions


@dataclass(frozen=True, slots=True, kw_only=True)
class Certified:
    """The learner read a hypothesis itself, beside its program."""

    type: Literal["certified"] = "certified"
    step: int
    hypothesis: str
    """Id of the text."""
    rows: tuple[int, ...]
    """Ids of training rows, from every branch in turn."""
    program: Votes
    """What the program gives for each."""
    reading: Votes
    """What the learner reads; null is an abstention."""


def mixture_of(
    weights: tuple[float, ...], noise: tuple[float, ...], constant: Constant | None, classes: tuple[str, ...]
) -> Mixture:
    """The predictive law of weighted sentences, with the constant's part. classes: of the target."""
    beside = (constant.weight,) if constant else ()
    answer: Answer = constant.answer if constant else None
    if constant and constant.shares:
        answer = dict(zip(classes, constant.shares, strict=True))
    return Mixture(weights=(*weights, *beside), classes=classes, noise=noise, constant=answer)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunPaused:
    """No more calls are sent for now."""

    type: Literal["run_paused"] = "run_paused"
    reason: Literal["user", "endpoint", "budget"]
    """`budget`: the cap on calls or money is reached."""
    detail: str = ""
    """The server's short reason; for `budget` the cap and what is left."""
    retry_at: float | None = None
    """Unix time of the next retry; null without one."""
    gives_up_at: float | None = None
    """Unix time at which it gives up."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunResumed:
    """The run continues; earlier events of steps after `step` are void."""

    type: Literal["run_resumed"] = "run_resumed"
    step: int | None
    """Last step whose events count; null voids every step, T voids none (final weights and evaluation are step T)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFinished:
    """The run ended with a posterior."""

    type: Literal["run_finished"] = "run_finished"
    outcome: Literal["finished", "stopped"]
    """`stopped`: ended early by the user, with the last complete step."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFailed:
    """The run ended without a posterior; it can be read and resumed."""

    type: Literal["run_failed"] = "run_failed"
    reason: Literal["endpoint", "input", "error", "disk"]
    """The model's server, the data or options, the program, or the disk."""
    detail: str
    """One line: what, where, how to fix it."""


SamplerEvent = ParticleDrawn | Scored | Reweighted | Resampled | Proposed | StepFinished | Evaluated | Certified
"""The events that a sampler yields."""
Event = RunStarted | SamplerEvent | RunPaused | RunResumed | RunFinished | RunFailed
"""Any record of a run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Counts of calls, cached or sent. A call counts when its answer arrives; in `sent` and `cost` when it is sent."""

    learner: int = 0
    """Learner calls, re-asks included."""
    optimizer: int = 0
    """Optimizer calls, re-asks included."""
    cached: int = 0
    """Of these, how many the cache answered."""
    failed: int = 0
    """Calls given up after every retry."""
    unparsable: int = 0
    """Answers that could not be read."""
    refused: int = 0
    """Optimizer answers that are no rule for this table; up to three a proposal."""
    contradictory: int = 0
    """Answers to rows that contradict their own explanation."""
    prompt_tokens: int = 0
    completion_tokens: int = 0
    faults: dict[str, int] = field(default_factory=dict, compare=False)
    """Failed attempts by kind of fault; at most 20 kinds."""
    refused_fields: tuple[str, ...] = field(default=(), compare=False)
    """Optional request fields that a server refused, with the model; left out, renamed or changed since."""
    unkept: int = field(default=0, compare=False)
    """Answers that the cache could not keep."""
    cache_fault: str = field(default="", compare=False)
    """Why the cache failed."""

    sent: int = field(default=0, compare=False)
    """Requests sent to a server, retries and refusals included; never reduced by a resume."""
    cost: float = field(default=0.0, compare=False)
    """Their cost; 0 without prices; never reduced by a resume."""
    held_until: float = field(default=0.0, compare=False)
    """Unix time at which the last `Retry-After` ends; 0.0 without one."""

    @property
    def calls(self) -> int:
        return self.learner + self.optimizer


@dataclass(eq=False)
class Traffic:
    """Calls in flight at one server."""

    held_until: float = 0.0
    """Unix time until which the server wants no call; 0.0 if any time."""
    began: list[float] = field(default_factory=list)
    """Times (`time.monotonic`) at which the calls in flight began."""


class Counters:
    """A mutable `Usage`, shared by one run's endpoints and roles (one event loop, so no lock).

    A call is counted when its answer arrives, so a call repeated after an outage counts once. A call that is given up
    counts as failed.
    """

    def __init__(self) -> None:
        self.counts: dict[str, Any] = asdict(Usage())  # changed several times a call, which a frozen record makes slow
        self.servers: set[Traffic] = set()

    def restore(self, usage: Usage) -> None:
        """Continue from `usage`, as a resumed run does; calls sent and money paid are never reduced."""
        most = {name: max(self.counts[name], getattr(usage, name)) for name in ("sent", "cost")}
        self.counts = asdict(usage) | most

    def add(self, **counts: float) -> None:
        """Add to the named counts. Raises KeyError for a name that `Usage` does not have."""
        for name, count in counts.items():
            self.counts[name] += count

    def fault(self, kind: str) -> None:
        """Count an attempt that failed, or whose answer has another form than asked for."""
        faults = self.counts["faults"]
        self.counts["faults"] = {**faults, kind: faults.get(kind, 0) + 1}

    def cannot_keep(self, reason: str, unkept: int = 0) -> None:
        """Count answers that the cache could not store, with the latest reason."""
        self.counts["cache_fault"] = reason
        self.add(unkept=unkept)

    def refuse(self, field: str) -> None:
        self.counts["refused_fields"] = tuple(dict.fromkeys((*self.counts["refused_fields"], field)))

    def flight(self) -> tuple[int, float]:
        """Return the number of calls in flight, and for how many seconds the oldest of them has been."""
        began = [moment for server in self.servers for moment in server.began]
        return len(began), time.monotonic() - min(began) if began else 0.0

    def snapshot(self) -> Usage:
        """Return the counts so far, with the time until which a server wants no call."""
        held_until = max((each.held_until for each in self.servers), default=0.0)
        return Usage(**self.counts | {"held_until": held_until})
