"""Options of the method, and the two presets."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cache
from typing import Any, Literal, get_args, get_type_hints

from vpp.errors import InputError

Method = Literal["smc", "mh", "always-accept", "vml", "vml5", "weigh"]
Preset = Literal["recommended", "paper"]
FinalWeights = Literal["rescored", "train", "paper"]
Tempering = Literal["paper", "incremental", "adaptive"]
Mutation = Literal["every", "filtered", "duplicates"]
ScoredRows = Literal["batch", "buffer", "train"]
Start = Literal["batch", "prior"]
BatchOrder = Literal["shuffled", "fixed"]
Ties = Literal["lowest", "seeded"]
ErrorMass = Literal["whole", "shared"]
Grading = Literal["labels", "logprobs"]
WEIGHING = (
    *("seed", "learner_temperature"),
    *("tau", "likelihood", "learner_samples", "epsilon", "error_mass", "ties"),
)
"""Options with an effect where given sentences are weighed."""
HOTTEST = 2.0
"""The highest sampling temperature that servers take."""
LARGEST_BETA = 1e9
"""The largest tempering divisor; its inverse is the smallest. Arithmetic with more extreme ones can overflow."""
METHOD_NAMES: Mapping[str, str] = {
    "smc": "Sequential Monte Carlo",
    "mh": "Metropolis-Hastings",
    "always-accept": "Always accept",
    "vml": "Verbalized Machine Learning",
    "vml5": "Five VML runs",
    "weigh": "Weigh mine",
}
CHAINS_OF_VML: Mapping[str, int] = {"vml": 1, "vml5": 5}
"""Hypotheses of the methods that have no K of their own."""


def _option(default: Any, doc: str, *, least: float | None = None, most: float = math.inf) -> Any:
    """Return an option. least, most: bounds of a number, both allowed."""
    return field(default=default, metadata={"doc": doc, "range": None if least is None else (least, most)})


def _temperature(default: float, doc: str) -> Any:
    return _option(default, f"sampling temperature of {doc}", least=0, most=HOTTEST)


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """Every option of the method. Defaults are the preset `recommended`."""

    method: Method = _option(
        "smc",
        "sampler: smc (Algorithm 2), mh (Algorithm 1), always-accept (mh without its filter), vml (one hypothesis), "
        "vml5 (five vml runs), or weigh (your sentences on all rows, none rewritten)",
    )
    particles: int = _option(10, "K, the number of particles; vml always has one, vml5 five", least=1)
    epochs: int = _option(2, "passes over the training rows", least=1)
    batch_size: int = _option(10, "M, rows a step", least=1)
    seed: int = _option(0, "decides the split, the batches, every random number and the models' seeds", least=0)
    prior: str = _option("", "what you already believe, in plain words; becomes part of every hypothesis")
    batch_order: BatchOrder = _option("shuffled", "rows of each epoch: shuffled by seed, or fixed in the table's order")
    history: int = _option(0, "earlier exchanges that the optimizer is shown with a particle: 0 or 1", least=0, most=1)
    learner_temperature: float = _temperature(0.0, "the learner; 0 makes f(x; theta) a function")
    optimizer_temperature: float = _temperature(0.7, "the proposals of every method but smc")
    cautious_temperature: float = _temperature(0.3, "smc's mutations at or above the median")
    bold_temperature: float = _temperature(1.0, "smc's mutations below the median")
    initial: Start = _option("batch", "first hypotheses: from the first batch, or from the prior, without data")
    initial_temperature_low: float = _temperature(0.3, "the first initial particle")
    initial_temperature_high: float = _temperature(1.2, "the last initial particle")
    restart: float = _option(
        0.0, "chance that a proposal of mh, or a filtered one of smc, is drawn afresh from the prior", least=0, most=1
    )
    prior_temperature: float = _temperature(1.0, "every draw from the prior")
    mh_rows: ScoredRows = _option("batch", "rows on which mh compares a proposal: batch, buffer, or all training rows")
    early_rejection: bool = _option(
        False, "cancel an accept step's remaining calls once no answer can save the proposal; decisions stay the same"
    )
    buffer_size: int = _option(60, "B, the last rows seen, on which smc weighs particles", least=1)
    deduplicate_buffer: bool = _option(True, "keep each row once in the buffer, where it was seen last")
    tempering: Tempering = _option(
        "paper",
        "smc's weights: paper (each step anew, on the buffer), incremental (ratios of tempered posteriors on all "
        "training rows, with evidence) or adaptive (the same, exponents found as it goes)",
    )
    beta_start: float = _option(
        10.0,
        "first tempering divisor of the log-likelihood; 10 is flat on a buffer, incremental tempering wants 100",
        least=1 / LARGEST_BETA,
        most=LARGEST_BETA,
    )
    beta_end: float = _option(
        1.0, "last tempering divisor; 1 is the likelihood itself", least=1 / LARGEST_BETA, most=LARGEST_BETA
    )
    ess_threshold: float = _option(
        0.5, "smc resamples when ESS falls below this fraction of K; adaptive aims at it", least=0, most=1
    )
    mutate: Mutation = _option(
        "filtered",
        "smc's rewriting: every particle, filtered (as every, kept by an accept step), or duplicates of resampling; "
        "incremental and adaptive tempering always filter",
    )
    particles_max: int = _option(
        0, "let K grow to this while ideas or ESS stay few, and shrink on agreement; 0: fixed", least=0
    )
    particles_min: int = _option(3, "the fewest particles that a growing and shrinking K comes down to", least=1)
    growth_budget: int = _option(0, "calls of a whole run beyond which K does not grow; 0: no bound", least=0)
    final_weights: FinalWeights = _option(
        "train", "smc's last weights: rescored on the buffer, on all training rows (train), or the paper's"
    )
    tau: str = _option("auto", "regression's tau in squared units of the target, or auto: from the first batch")
    likelihood: Grading = _option(
        "labels", "classification's likelihood: of the label answered, or of each label's probability (logprobs)"
    )
    learner_samples: int = _option(
        1, "answers per row, at the learner's temperature; from 2, a label's probability is its share of them", least=1
    )
    epsilon: float = _option(0.05, "mass of a wrong answer in classification's likelihood")
    error_mass: ErrorMass = _option(
        "whole", "each wrong label's mass: the whole of epsilon, or its share, epsilon / (C - 1), of C labels"
    )
    ties: Ties = _option("lowest", "label of a tied vote: the lowest in sort order, or one drawn by seed")
    evaluate_every: int = _option(0, "evaluate the test rows every n steps; 0: only at the end", least=0)

    def __post_init__(self) -> None:
        object.__setattr__(self, "tau", str(self.tau))  # a number is as good as its text
        _check_choices(self)
        _check_numbers(self)
        _check_together(self)

    @property
    def size(self) -> int:
        """Number of particles the method begins with."""
        return CHAINS_OF_VML.get(self.method, self.particles)

    @property
    def largest_size(self) -> int:
        """Number of particles that a growing K may come to."""
        return max(self.size, self.particles_max)

    @property
    def is_weighted(self) -> bool:
        """True if particles have weights of their own."""
        return self.method in ("smc", "weigh")

    @property
    def is_weighing(self) -> bool:
        """True if the given sentences are weighed on all rows, and no optimizer is asked."""
        return self.method == "weigh"

    @property
    def is_telescoping(self) -> bool:
        """True if weights are ratios of tempered posteriors on fixed rows, carried from step to step."""
        return self.is_weighing or (self.method == "smc" and self.tempering != "paper")

    @property
    def scored_on(self) -> ScoredRows:
        """Rows on which a step scores each particle: its batch, the rolling buffer, or all training rows."""
        if self.is_weighted:
            return "train" if self.is_telescoping else "buffer"
        return self.mh_rows if self.method == "mh" else "batch"

    @property
    def is_on_fixed_rows(self) -> bool:
        """True if every step scores particles on all training rows."""
        return self.scored_on == "train"

    @property
    def is_filtered(self) -> bool:
        """True if an accept step decides on proposals."""
        return self.method == "mh" or (self.method == "smc" and (self.mutate == "filtered" or self.is_telescoping))

    @property
    def may_run_ahead(self) -> bool:
        """True if a particle may be ahead of the others: K must not change between steps."""
        return not self.particles_max

    @property
    def is_rescored(self) -> bool:
        """True if smc weighs its texts once more after the last rewrite.

        The paper's last weights belong to the texts before that rewrite, and `final_weights = "paper"` leaves it so.
        Telescoping weights are carried along with each rewrite.
        """
        return self.method == "smc" and not self.is_telescoping and self.final_weights != "paper"

    @property
    def draws_initial(self) -> bool:
        """True if first hypotheses are asked for; vml begins with the seed sentence, weigh with given ones."""
        return self.method not in CHAINS_OF_VML and not self.is_weighing

    def learner_calls(self, n_rows: int) -> int:
        """Number of learner calls about one hypothesis on this many rows, if every answer can be read."""
        return n_rows * self.learner_samples

    @property
    def fixed_tau(self) -> float | None:
        """tau if it was given; None if it comes from the data."""
        return None if self.tau == "auto" else float(self.tau)

    def beta(self, step: int, *, steps: int) -> float:
        """Tempering divisor of a step: linear from `beta_start` to `beta_end` over steps 0 to T - 1."""
        if steps == 1:
            return self.beta_end
        return self.beta_start + (self.beta_end - self.beta_start) * step / (steps - 1)


def choices(name: str) -> tuple[str, ...]:
    """The values an option can have; empty where it is a number or a text."""
    return _choices()[name]


@cache
def _choices() -> Mapping[str, tuple[str, ...]]:
    return {name: get_args(kind) for name, kind in get_type_hints(Config).items()}


def _check_choices(config: Config) -> None:
    for option in fields(config):
        allowed = choices(option.name)
        if allowed and getattr(config, option.name) not in allowed:
            raise InputError(f"{option.name} is {getattr(config, option.name)!r}: choose one of {', '.join(allowed)}")


def _check_numbers(config: Config) -> None:
    for option in fields(config):
        value, bounds = getattr(config, option.name), option.metadata["range"]
        if bounds and not bounds[0] <= value <= bounds[1]:
            least, most = bounds
            must = f"be at least {least:g}" if math.isinf(most) else f"lie between {least:g} and {most:g}"
            raise InputError(f"{option.name} is {value}: it must {must}")
    if not 0 < config.epsilon < 1:
        raise InputError(f"epsilon is {config.epsilon}: it must lie between 0 and 1")
    if config.tau != "auto" and not _is_positive(config.tau):
        raise InputError(f"tau is {config.tau!r}: give a positive number, or auto")


def _check_together(config: Config) -> None:
    """Refuse options that contradict each other. Raises InputError."""
    _check_grading(config)
    if config.growth_budget and not config.particles_max:
        raise InputError("growth_budget bounds a growing K alone: give particles_max too, or leave it at 0")
    if not config.particles_max:
        return
    if config.method not in ("smc", "mh", "always-accept"):
        raise InputError(f"{config.method} has a fixed number of hypotheses: leave particles_max at 0")
    if config.is_telescoping:
        raise InputError(
            f"{config.tempering} tempering carries weights from step to step, which a new particle has none of: "
            "leave particles_max at 0, or take the paper's tempering"
        )
    if not config.particles_min <= config.particles <= config.particles_max:
        raise InputError(
            f"particles is {config.particles}: it must lie between particles_min ({config.particles_min}) "
            f"and particles_max ({config.particles_max})"
        )


def _check_grading(config: Config) -> None:
    if config.likelihood == "logprobs" and config.learner_samples > 1:
        raise InputError("likelihood logprobs and learner_samples exclude each other: leave learner_samples at 1")
    if config.learner_samples > 1 and not config.learner_temperature:
        raise InputError(
            f"learner_samples is {config.learner_samples}, but at learner_temperature 0 all answers are the same: "
            "set learner_temperature above 0, for example 0.7"
        )


def _is_positive(text: str) -> bool:
    try:
        value = float(text)
    except ValueError:
        return False
    return math.isfinite(value) and value > 0


def preset(name: Preset) -> Config:
    """The two presets of the method: `paper` as published, `recommended` as this product advises."""
    if name not in get_args(Preset):
        raise InputError(f"preset is {name!r}: choose one of {', '.join(get_args(Preset))}")
    if name == "recommended":
        return Config()
    return replace(Config(), mutate="every", buffer_size=40, deduplicate_buffer=False, final_weights="paper", tau="1.0")


def option_docs() -> dict[str, str]:
    """Return the meaning of each option, by name."""
    return {f.name: f.metadata["doc"] for f in fields(Config)}
