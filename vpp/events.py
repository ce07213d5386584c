"""The records a run consists of: the sampler yields them, the journal keeps them, every view is a fold over them.

Each event is frozen; its `type` is its tag on disk. A hypothesis' text is stored by the event that
brings it (`particle_drawn`, `proposed`) and referred to by id afterwards. Steps count from 0; the initial population,
before the first step, has step -1.
"""

from dataclasses import dataclass
from typing import Annotated, Any, Literal

from vpp.posterior.prediction import Value

SCHEMA_VERSION = 2
INITIAL_STEP = -1


class _TextFirst:
    """Has a decoder try text, then number, and weigh neither against the other: no JSON value is both."""

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        return {**handler(source), "mode": "left_to_right"}


Votes = tuple[Annotated[Value, _TextFirst()] | None, ...]


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
    """Model name a role; the demo model is named `demo`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ParticleDrawn:
    """An initial particle: the optimizer's answer to the seed sentence and the first batch (choice 9)."""

    type: Literal["particle_drawn"] = "particle_drawn"
    particle: int
    """Slot k, from 0."""
    hypothesis: str
    """Id of the text."""
    text: str
    """The whole hypothesis; the seed sentence alone where no answer could be read."""
    temperature: float
    """Sampling temperature of the call; 0 where nothing was asked."""
    raw: str
    """The optimizer's raw answer; empty where nothing was asked."""
    reason: str | None = None
    """Why the answer could not be read, or was refused."""
    step: int = INITIAL_STEP
    """-1 for the initial population; the step at whose end a growing population took the particle in."""
    origin: Literal["drawn", "continued"] = "drawn"
    """`continued`: taken over from the run that this one goes on from; nothing was asked."""
    shown: int | None = None
    """How many rows of the batch, its first, the prompt had room for; null where it showed all that it should."""
    thoughts: str = ""
    """The first 2,000 characters of what a thinking model thought."""
    refused: bool = False
    """Whether the last text could be read, but is no rule for this table."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scored:
    """A hypothesis was applied to rows with known targets."""

    type: Literal["scored"] = "scored"
    step: int
    particle: int
    hypothesis: str
    """Id of the text that was scored."""
    role: Literal["forward", "proposal", "buffer", "final"]
    """Why: forward pass on the batch, a proposal on its decision's rows, the weights' rows, the final weights' rows."""
    rows: tuple[int, ...]
    """Row ids, in the order scored; a row may stand twice."""
    predictions: Votes
    """The answer for each row; null is an abstention."""
    log_likelihood: float
    """Natural log, summed over the rows (Eq. 5 or 6)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reweighted:
    """Weights were computed from the log-likelihoods (Eq. 10)."""

    type: Literal["reweighted"] = "reweighted"
    step: int
    beta: float
    """Divides the log-likelihood: 10 is flat, 1 is sharp."""
    log_weights: tuple[float, ...]
    """Unnormalised, natural log, one a particle."""
    weights: tuple[float, ...]
    """Normalised."""
    ess: float
    """Effective sample size of `weights`, between 1 and K."""
    role: Literal["step", "final"] = "step"
    """`final`: the weights that predictions use, made after the last step."""
    log_evidence: float | None = None
    """Natural log of the estimated evidence of the tempered likelihood so far; null where weights are made anew."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Resampled:
    """Systematic resampling; weights are equal afterwards."""

    type: Literal["resampled"] = "resampled"
    step: int
    u: float
    """The one uniform number."""
    ancestors: tuple[int, ...]
    """For each new slot, the old slot it copies; fewer than before where the population shrinks."""
    why: Literal["ess", "agreement"] = "ess"
    """ESS fell to the threshold, before the step's rewriting; or all particles agree, at the step's end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposed:
    """The optimizer rewrote a particle, and it was decided whether to take the text."""

    type: Literal["proposed"] = "proposed"
    step: int
    particle: int
    parent: str
    """Id of the hypothesis that was rewritten."""
    proposal: str | None
    """Id of the new text; null where none could be read."""
    text: str | None
    """The new text, kept whole whether taken or not."""
    raw: str
    """The optimizer's raw answer."""
    temperature: float
    """Sampling temperature of the call."""
    accepted: bool
    """Whether the particle now holds the proposal; false for an unchanged text."""
    why: Literal["likelihood", "taken", "unchanged", "unparsable"]
    """What decided: Eq. 9; the method takes every proposal; the text is the parent's; no text could be read."""
    reason: str | None = None
    """Why no text could be read, or why it was refused."""
    log_likelihood: float | None = None
    """Of the parent on the decision's rows; null where none was needed."""
    log_likelihood_proposal: float | None = None
    """Of the proposal on the same rows; null where some were not waited for, and so is `log_alpha`."""
    log_alpha: float | None = None
    """Natural log of the acceptance probability (Eq. 9)."""
    u: float | None = None
    """The uniform number it was compared with, drawn before the evaluation."""
    unanswered: int = 0
    """Rows that were not waited for: its rejection was certain. The `scored` line before it has the others alone."""
    log_likelihood_bound: float | None = None
    """The most that its log-likelihood could still come to, each unanswered row at its best; null where all were."""
    origin: Literal["refined", "prior"] = "refined"
    """Whether it was refined from the parent and the batch, or drawn afresh from the prior, without data."""
    shown: int | None = None
    """How many rows of the batch, its first, the prompt had room for; null where it showed all that it should."""
    thoughts: str = ""
    """The first 2,000 characters of what a thinking model thought."""
    refused: bool = False
    """Whether the last text could be read, but is no rule for this table."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ParticleState:
    """A slot at the end of a step."""

    hypothesis: str
    """Id of the text."""
    parent: int
    """Slot it came from at the previous step (its own, unless resampled)."""
    log_likelihood: float | None
    """Of the ancestor on the rows that made the weights; null where the method keeps none."""
    log_weight: float
    """Natural log, unnormalised; 0 for all after resampling."""
    exchange: tuple[int, int] | None = None
    """Step and slot of the proposal that the optimizer is reminded of; null where it remembers nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StepFinished:
    """The whole population after a step: enough to resume from."""

    type: Literal["step_finished"] = "step_finished"
    step: int
    """-1 for the initial population."""
    population: tuple[ParticleState, ...]
    """A state a slot, in order."""
    batch: tuple[int, ...]
    """Row ids of the step's batch."""
    tau: float | None
    """Regression's tau in force, in squared units of the target; null for classification."""
    exponent: float = 0.0
    """Exponent of the tempered posterior that carried weights stand for; 0 where weights are made anew."""
    log_evidence: float = 0.0
    """Natural log of the evidence up to the last time that carried weights were made equal."""
    few_for: int = 0
    """Steps in a row with few distinct texts or a low ESS, where K may grow."""
    agreed_for: int = 0
    """Steps in a row in which all particles gave the same answers, where K may shrink."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluated:
    """All particles were applied to all rows of a split."""

    type: Literal["evaluated"] = "evaluated"
    step: int
    split: Literal["train", "test"]
    """Which rows of the dataset."""
    rows: tuple[int, ...]
    """Row ids."""
    hypotheses: tuple[str, ...]
    """Id a particle."""
    predictions: tuple[Votes, ...]
    """A tuple of answers a particle, in the order of `rows`."""
    weights: tuple[float, ...]
    """Normalised; what the averaged prediction used."""
    metric: Literal["accuracy", "mse"]
    """Accuracy for classification, mean squared error in squared units of the target for regression."""
    value: float
    """Of the averaged prediction (Eq. 7 or 8); accuracies are fractions; an abstention of all is wrong."""
    averaged: Votes = ()
    """The averaged prediction for each row; empty in journals older than this field."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunPaused:
    """No more calls are sent for now."""

    type: Literal["run_paused"] = "run_paused"
    reason: Literal["user", "endpoint", "budget"]
    """Whose doing it was; `budget`: the run's cap on calls or money is reached."""
    detail: str = ""
    """The server's short reason, where it was the endpoint; where it was the budget, the cap and what is left."""
    retry_at: float | None = None
    """Unix time of the next try, where the run tries again by itself; null where it does not."""
    gives_up_at: float | None = None
    """Unix time until which it tries."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunResumed:
    """The run goes on; events of later steps than `step` that stand before this one are void."""

    type: Literal["run_resumed"] = "run_resumed"
    step: int | None
    """Last step whose events count; null voids every step, the initial population too. What follows the last step

    (final weights, evaluation) counts as step T, so T voids nothing: the run was only held."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFinished:
    """The run ended with a posterior."""

    type: Literal["run_finished"] = "run_finished"
    outcome: Literal["finished", "stopped"]
    """`stopped`: ended early at a user's word, keeping the last whole step."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFailed:
    """The run ended without; what it has can be read, and it can be resumed."""

    type: Literal["run_failed"] = "run_failed"
    reason: Literal["endpoint", "input", "error", "disk"]
    """What failed: the model's server, the data or options, the program itself, or the disk that holds the run."""
    detail: str
    """One line: what, where, the mend."""


Event = (
    RunStarted
    | ParticleDrawn
    | Scored
    | Reweighted
    | Resampled
    | Proposed
    | StepFinished
    | Evaluated
    | RunPaused
    | RunResumed
    | RunFinished
    | RunFailed
)
"""Any record of a run."""
